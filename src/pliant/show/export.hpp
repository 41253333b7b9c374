#pragma once
// Motion for other programs: geometry in, files out, one frame at a time.
//   ply obj stl   one mesh file a body and frame: <out>/<body>_00012.ply
//   pc2           point caches for Blender's Mesh Cache modifier: <out>/<body>.pc2 with the mesh in <out>/<body>.obj
//   vtk           XML poly data a body and frame, with vertex fields, and <out>/motion.pvd for ParaView
//   vtu           the same of tetrahedra: XML unstructured grids
//   gltf          one animated file, <out> itself (.glb): a morph target a frame

#include "pliant/core/types.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pliant {

struct ExportBody {
    std::string name;
    std::vector<Triangle> triangles;
    Vec3 colour = Vec3(0.6, 0.6, 0.6); ///< linear RGB
    std::vector<Tet> tets = {};        ///< instead of triangles, for vtu
};

/// Values at the vertices of a body: vectors such as velocity [m/s] or contact force [N], or scalars such as stress
/// [Pa]. One of the two is filled.
struct VertexField {
    std::string name;
    Vec3s vectors;
    std::vector<Real> scalars;
};

/// A body in one frame.
struct ExportState {
    Vec3s positions; ///< [m]
    std::vector<VertexField> fields;
};

struct ExportOptions {
    Vec3 up = Vec3::UnitY();
    bool normals = true; ///< glTF: smooth normals in every frame, at the price of twice the size
    bool ascii = false;  ///< PLY and STL as text
};

class Exporter {
public:
    virtual ~Exporter() = default;
    /// `states`: one for each body, in the order given at the start. Times must grow.
    virtual void add(Real time, const std::vector<ExportState>& states) = 0;
    /// Completes the files that span all frames; without it they do not appear.
    virtual void finish() = 0;
};

/// `format`: "ply", "obj", "stl", "pc2", "vtk", "vtu" or "gltf". Creates the directory `out` (gltf: the file's parent
/// must exist). Throws Error, like everything here, when a file cannot be written.
std::unique_ptr<Exporter> make_exporter(const std::string& format, const std::filesystem::path& out,
                                        std::vector<ExportBody> bodies, const ExportOptions& options = {});

} // namespace pliant
