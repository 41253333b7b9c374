#pragma once
// Mesh files, chosen by extension: .obj .ply .stl for triangles, .msh (Gmsh 2.2 and 4.1, ASCII) for triangles and
// tetrahedra. Vertex order is kept and doubles survive a round trip, with the exceptions that a format imposes: STL
// stores corners, not vertices (equal corners are welded in order of appearance), and its binary form stores floats.
// Every fault of a file is an Error that names the file and the line or byte; nothing else escapes, whatever the bytes.

#include "pliant/mesh/mesh.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace pliant {

struct MeshWriteOptions {
    bool ascii = false;            ///< PLY and STL: text instead of binary
    bool single_precision = false; ///< PLY: float instead of double coordinates
    bool msh_2 = false;            ///< MSH: version 2.2 instead of 4.1
};

/// Polygons with more than three corners are cut into triangles. An .msh file gives its triangles and quadrangles;
/// nodes that none of them uses are left out.
TriangleMesh read_triangle_mesh(const std::filesystem::path& path);
/// Reads .msh; nodes that no tetrahedron uses (Gmsh writes construction points) are left out.
TetMesh read_tet_mesh(const std::filesystem::path& path);

/// Written under a temporary name and renamed, so that a file is whole or absent.
void write_triangle_mesh(const std::filesystem::path& path, const TriangleMesh& mesh,
                         const MeshWriteOptions& options = {});
void write_tet_mesh(const std::filesystem::path& path, const TetMesh& mesh, const MeshWriteOptions& options = {});

/// The formats on bytes in memory; `name` is what errors call the file.
TriangleMesh parse_obj(std::string_view bytes, const std::string& name);
TriangleMesh parse_ply(std::string_view bytes, const std::string& name);
TriangleMesh parse_stl(std::string_view bytes, const std::string& name);
TriangleMesh parse_msh_triangles(std::string_view bytes, const std::string& name);
TetMesh parse_msh_tets(std::string_view bytes, const std::string& name);

std::string format_obj(const TriangleMesh& mesh);
std::string format_ply(const TriangleMesh& mesh, const MeshWriteOptions& options = {});
std::string format_stl(const TriangleMesh& mesh, const MeshWriteOptions& options = {});
std::string format_msh(const TriangleMesh& mesh, const MeshWriteOptions& options = {});
std::string format_msh(const TetMesh& mesh, const MeshWriteOptions& options = {});

/// A point cache: places of the same points at several times.
struct PointCache {
    std::vector<Vec3s> samples;
    std::vector<Real> times; ///< of an MDD file, one a sample, increasing; empty: the file has none [s]
    Real start_frame = 0;    ///< PC2: frame of the first sample
    Real frame_step = 1;     ///< PC2: frames from one sample to the next
};
/// Reads .pc2 or .mdd.
PointCache read_point_cache(const std::filesystem::path& path);
PointCache parse_pc2(std::string_view bytes, const std::string& name);
PointCache parse_mdd(std::string_view bytes, const std::string& name);

/// Whole files; errors are Error with the path and the system's reason.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

} // namespace pliant
