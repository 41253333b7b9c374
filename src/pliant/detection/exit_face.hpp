#pragma once
// Which triangle of the surface a point has penetrated: the face through which it leaves the body along the direction
// of its penetration, T_i of [Spillmann07, section 3.1].

#include "pliant/detection/collision_mesh.hpp"

#include <optional>

namespace pliant {

struct ExitFace {
    Index face = none;
    Vec3 weights = Vec3::Zero(); ///< barycentric, of the point projected along the direction
    Real distance = 0;           ///< along the direction [m]
};

/// Walks from tetrahedron to tetrahedron, from the one that holds the point, so that the cost follows the depth and not
/// the size of the body. Nothing when the way leads through an inverted or flat tetrahedron.
std::optional<ExitFace> find_exit_face(const CollisionMesh& mesh, std::span<const Vec3> x, const PointInBody& point,
                                       const Vec3& direction);

} // namespace pliant
