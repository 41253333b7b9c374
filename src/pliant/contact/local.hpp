#pragma once
// One contact on its own: find the multipliers l of u = W l + b with Signorini and Coulomb conditions.

#include "pliant/contact/problem.hpp"

#include <algorithm>

namespace pliant {

/// Interlaced projected Gauss-Seidel passes over (normal, tangent 1, tangent 2) [Otaduy09, 5.5 step 3.2.1]; the paper
/// takes three. inverse: 1 / W_ii.
inline Vec3 solve_local_pyramid(const Mat3& W, const Vec3& inverse, const Vec3& b, Real mu, const Vec3& start,
                                int passes = 3)
{
    if (b[0] >= 0 && start[0] == 0) return Vec3::Zero(); // leaves on its own
    Vec3 l = start;
    for (int pass = 0; pass < passes; ++pass) {
        l[0] = std::max(0.0, -(b[0] + W(0, 1) * l[1] + W(0, 2) * l[2]) * inverse[0]);
        const Real bound = mu * l[0];
        l[1] = std::clamp(-(b[1] + W(1, 0) * l[0] + W(1, 2) * l[2]) * inverse[1], -bound, bound);
        l[2] = std::clamp(-(b[2] + W(2, 0) * l[0] + W(2, 1) * l[1]) * inverse[2], -bound, bound);
    }
    return l;
}

/// Coulomb's exact disc: separation, sticking, or sliding with the tangential impulse opposite to the tangential
/// velocity. Where no such l exists (strong coupling and large mu) the closest fixed point found is returned.
Vec3 solve_local_disc(const Mat3& W, const Vec3& b, Real mu, const Vec3& start);

} // namespace pliant
