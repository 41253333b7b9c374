#pragma once
// The `mesh` entries of a scene: one row a generator, with its size known before anything is allocated.

#include "pliant/mesh/garment.hpp"
#include "pliant/mesh/mesh.hpp"
#include "pliant/scene/value.hpp"
#include "pliant/world/builder.hpp"

#include <optional>
#include <variant>

namespace pliant {

inline constexpr Real max_elements = 2e7; ///< triangles and tetrahedra of a whole scene

struct BodyMesh {
    std::variant<TriangleMesh, TetMesh> shape;
    std::optional<GridShape> grid;                    ///< of a rectangular cloth
    bool generated = true;                            ///< made with y up, so that `up: z` turns it
    std::shared_ptr<const Garment> garment = nullptr; ///< where cloth starts and how it is sewn; `shape` is flat

    bool has_tets() const { return shape.index() == 1; }
    Vec3s& vertices();
    const Vec3s& vertices() const { return const_cast<BodyMesh*>(this)->vertices(); }
};

/// Triangles or tetrahedra that a validated `mesh` entry will make, roughly; exact within a factor of a few.
Real estimate_elements(const Value& mesh);

/// What a mesh is made for. A .msh file gives tetrahedra to a solid; a lattice leaves out vertices that nothing uses.
enum class MeshUse { surface, solid, lattice };

/// Makes the meshes of an entry: one, or one a letter. Throws Error.
std::vector<BodyMesh> make_meshes(const Value& mesh, MeshUse use);

/// The outer surface of a mesh: itself, or the boundary of its tetrahedra with vertices renumbered.
TriangleMesh surface_of(const BodyMesh& mesh);

} // namespace pliant
