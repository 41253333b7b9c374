#pragma once
// Closed surfaces from simple shapes that melt together: figures, statues, animals.

#include "pliant/mesh/mesh.hpp"

#include <variant>

namespace pliant {

/// All points within a radius of the segment; the radius may change along it. A ball if both ends are one point.
struct BlendCapsule {
    Vec3 from = Vec3::Zero(), to = Vec3::Zero(); ///< [m]
    Real radius = 0.1, end_radius = 0.1;         ///< [m]
};
struct BlendEllipsoid {
    Vec3 at = Vec3::Zero();           ///< [m]
    Vec3 radii = Vec3::Constant(0.1); ///< along its axes [m]
    Quat turn = Quat::Identity();     ///< of the axes
};
struct BlendBox {
    Vec3 at = Vec3::Zero();          ///< [m]
    Vec3 size = Vec3::Constant(0.2); ///< lengths of its sides [m]
    Real round = 0;                  ///< radius of its edges [m]
    Quat turn = Quat::Identity();
};

struct BlendPart {
    std::variant<BlendCapsule, BlendEllipsoid, BlendBox> shape;
    Real melt = 0; ///< shapes closer than this run into each other [m]; 0: with a crease
};

struct BlendOptions {
    std::vector<BlendPart> parts; ///< joined in this order
    Real edge = 0.05;             ///< mean length of the triangles' edges [m]
    Real shell = 0;               ///< thickness of a hollow shell [m]; 0: the outer surface alone
    Index triangles = 0;          ///< at most so many are left, larger where the surface is plain; 0: as they come
};

/// Signed distance to a part, negative inside, rough away from its surface [m].
Real blend_distance(const BlendPart& part, const Vec3& x);
/// The same of all parts, melted together by a polynomial smooth minimum.
Real blend_distance(const std::vector<BlendPart>& parts, const Vec3& x);

/// Marching tetrahedra on a body-centred lattice, then a few rounds of smoothing along the surface. Closed and manifold
/// whatever the parts; features and gaps thinner than about three edges may get lost, however many triangles are left.
/// A shell is two such surfaces, the inner one facing in; it has no hollow where the body is thinner than two
/// thicknesses. Throws Error for parts without size, or more triangles than an Index can count.
TriangleMesh make_blend(const BlendOptions& options);

/// A teapot on the origin, spout along x. Its foot fits inside of the rim of another one's lid.
BlendOptions make_teapot(Real radius, Real edge);

/// Triangles that make_blend() will make, roughly.
Real blend_triangles(const BlendOptions& options);

} // namespace pliant
