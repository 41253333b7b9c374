#pragma once
// Exact answers about float64 coordinates: filtered predicates of CGAL's kernel. None of this shares a line with the
// collision detection that it checks.

#include "pliant/core/types.hpp"

namespace pliant::exact {

/// Sign of det(b - a, c - a, d - a): +1 when d is on the side of the plane from which a, b, c turn anticlockwise.
int orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// The same in the plane that is left when the coordinate `axis` is dropped: +1 when c is left of a -> b in the
/// coordinates (axis + 1, axis + 2).
int orientation_2d(const Vec3& a, const Vec3& b, const Vec3& c, int axis);

/// Sign of normal . x - offset.
int side_of_plane(const Vec3& normal, Real offset, const Vec3& x);

/// Whether two closed triangles have a point in common beyond what their vertex numbers say they share: one vertex,
/// two (an edge, where only folding flat onto each other counts) or three. Triangles without area are segments or
/// points, and are treated as such.
bool triangles_meet(const Vec3s& x, const Triangle& a, const Triangle& b);

/// Whether a segment and a triangle (both closed, both possibly degenerate) have a point in common.
bool segment_meets_triangle(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c);

/// Contribution of an oriented triangle to the winding number of a closed surface around p: the sign with which the
/// ray from p along +x leaves through it, 0 when it misses. Rays through edges and vertices are counted as if p were
/// moved by (0, e, e^2) for an infinitesimal e, so that every crossing is counted once. `on` is set when p lies on the
/// triangle.
int ray_crossing(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c, bool& on);

} // namespace pliant::exact
