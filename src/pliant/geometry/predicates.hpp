#pragma once
// Signs that are exact for float64 coordinates: evaluated in doubles with an error bound, and where that cannot decide,
// in expansions (sums of doubles without rounding, Shewchuk 1997). For coordinates between 1e-70 and 1e70 in magnitude,
// and zero.

#include "pliant/core/types.hpp"

namespace pliant {

/// Sign of det(b - a, c - a, d - a): +1 when a, b, c, d form a tetrahedron of positive volume.
int orientation_sign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Sign of det(b - a, c - a) in the plane: +1 when a, b, c turn anticlockwise.
int orientation_sign(const Vec2& a, const Vec2& b, const Vec2& c);

/// What an oriented triangle adds to the winding number of a closed surface around p: the sign with which the ray from
/// p along +x leaves through it (+1 out of its front), 0 when it misses. A ray through an edge or a vertex counts as if
/// p were moved by (0, e, e^2) with an infinitesimal e > 0, so that a closed surface is crossed a whole number of
/// times. A p on the triangle is not crossed.
int ray_crossing(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c);

} // namespace pliant
