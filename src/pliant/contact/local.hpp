#pragma once
// One row on its own: find the multipliers l of u = W l + b with Signorini and Coulomb conditions. All solvers visit
// their rows with solve_row(); what they differ in is the response W.

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

/// What a row's own multipliers do to its relative velocity, in its frame.
struct RowResponse {
    RowResponse() = default;
    RowResponse(const Mat3& response, Real mu) : W(response), inverse(W.diagonal().cwiseInverse()), friction(mu) {}
    /// Whether the row can move anything.
    bool moves() const { return W(0, 0) > 0; }

    Mat3 W = Mat3::Zero();
    Vec3 inverse = Vec3::Zero(); ///< 1 / diagonal of W
    Real friction = 0;           ///< 0: the normal alone
};

/// Multipliers that solve the row for itself, where `before` gives the relative velocity u (minus rhs along the normal)
/// in its frame. passes: of the pyramid.
inline Vec3 solve_row(const RowResponse& row, const Vec3& u, const Vec3& before, FrictionCone cone, int passes = 3)
{
    if (u[0] >= 0 && before[0] == 0) return before; // leaves on its own
    if (row.friction == 0) return {std::max(0.0, before[0] - u[0] / row.W(0, 0)), 0, 0};
    const Vec3 b = u - row.W * before;
    return cone == FrictionCone::pyramid ? solve_local_pyramid(row.W, row.inverse, b, row.friction, before, passes)
                                         : solve_local_disc(row.W, b, row.friction, before);
}

/// W_jj = sum_k w_k^2 D_k^-1 + sum_k [arm_k] D_k^-1 [arm_k]^T, in world axes, of a row whose blocks answer with
/// inverse(block) = D_k^-1 alone. Blocks that appear twice in a row are merged by whoever builds it, so no cross terms
/// are lost.
template <class Inverse>
Mat3 response_of_blocks(const ContactProblem& p, const Row& row, const Inverse& inverse)
{
    Mat3 W = Mat3::Zero();
    for (Index k = row.entry_begin; k < row.entry_end; ++k)
        W += p.entries[k].weight * p.entries[k].weight * inverse(p.entries[k].block);
    for (Index k = row.arm_begin; k < row.arm_end; ++k) {
        const Mat3 S = skew(p.arms[k].arm);
        W += S * inverse(p.arms[k].block) * S.transpose();
    }
    return W;
}

} // namespace pliant
