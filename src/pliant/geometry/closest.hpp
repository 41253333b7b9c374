#pragma once
// Closest points between points, segments and triangles, for lengths between 1e-70 and 1e70. Weights are exactly 0 for
// a vertex that takes no part, so the closest features (vertex, edge, face) can be read off them. Degenerate input is
// allowed: the weights are always a convex combination, and the distance is that of the points they give.

#include "pliant/core/types.hpp"

namespace pliant {

/// Parameter in [0, 1] of the point of the segment a -> b closest to p; 1/2 for a segment of length 0.
Real closest_on_segment(const Vec3& p, const Vec3& a, const Vec3& b);

struct PointTriangle {
    Vec3 weights;      ///< barycentric, each >= 0, sum 1
    Vec3 difference;   ///< point - closest point of the triangle [m]
    Real distance = 0; ///< [m]
};
PointTriangle closest_point_triangle(const Vec3& p, const Vec3& f0, const Vec3& f1, const Vec3& f2);

struct EdgeEdge {
    Real s = 0, t = 0; ///< closest points (1 - s) a0 + s a1 and (1 - t) b0 + t b1
    Vec3 difference;   ///< point of a - point of b [m]
    Real distance = 0; ///< [m]
};
/// Where the closest pair is not unique (parallel edges side by side) it is the middle of the overlap.
EdgeEdge closest_edge_edge(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1);

namespace kernel {

// The same in difference space, as CCD uses it: the point closest to the origin.

/// Parameter in [0, 1] of the point of p + t e closest to the origin.
inline Real segment_to_origin(const Vec3& p, const Vec3& e)
{
    const Real ee = e.squaredNorm();
    if (!(ee > 0)) return 0.5;
    const Real t = -p.dot(e) / ee;
    return t > 0 ? (t < 1 ? t : 1) : 0; // a NaN from 0/0 underflow becomes 0
}

/// Weights of the point of the triangle (c0, c1, c2) closest to the origin.
Vec3 triangle_to_origin(const Vec3& c0, const Vec3& c1, const Vec3& c2);

/// (s, t) of the point c + s a - t b, 0 <= s, t <= 1, closest to the origin.
Vec2 parallelogram_to_origin(const Vec3& c, const Vec3& a, const Vec3& b);

} // namespace kernel
} // namespace pliant
