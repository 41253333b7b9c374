#pragma once
// One contact on its own: find the multipliers l of u = W l + b with Signorini and Coulomb conditions.

#include "pliant/contact/problem.hpp"

namespace pliant {

/// Three interlaced projected Gauss-Seidel passes over (normal, tangent 1, tangent 2) [Otaduy09, 5.5 step 3.2.1].
Vec3 solve_local_pyramid(const Mat3& W, const Vec3& b, Real mu, const Vec3& start);

/// Coulomb's exact disc: separation, sticking, or sliding with the tangential impulse opposite to the tangential
/// velocity. Where no such l exists (strong coupling and large mu) the closest fixed point found is returned.
Vec3 solve_local_disc(const Mat3& W, const Vec3& b, Real mu, const Vec3& start);

} // namespace pliant
