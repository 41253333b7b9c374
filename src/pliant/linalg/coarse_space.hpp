#pragma once
// The rigid motions of groups of blocks as a coarse space. A stiff body answers a push first of all by moving as a
// whole; the diagonal blocks of A know nothing of that, and an iteration that only uses them needs as many rounds as
// sqrt(h^2 k / m). Adding P (P^T A P)^-1 P^T, P the six rigid motions of each group, mends exactly this.

#include "pliant/linalg/block_matrix.hpp"

#include <span>

namespace pliant {

using Vec6 = Eigen::Matrix<Real, 6, 1>;
using Mat6 = Eigen::Matrix<Real, 6, 6>;

class CoarseSpace {
public:
    /// Consecutive blocks that move together.
    struct Part {
        Index first = 0, size = 0;
    };

    CoarseSpace() = default;
    CoarseSpace(std::vector<Part> parts, Index blocks);

    /// Factors P^T A P with the blocks at positions x.
    void update(const BlockMatrix& A, const Vec3s& x);

    Index parts() const { return count(parts_); }
    Index part_of(Index block) const { return part_of_block_.empty() ? none : part_of_block_[block]; }
    const Part& part(Index p) const { return parts_[p]; }
    const Vec3& arm(Index block) const { return arm_[block]; } ///< from the centre of its part [m]
    const Mat6& inverse(Index p) const { return inverse_[p]; } ///< (P^T A P)^-1

    /// P^T r of one part: the resultant and the torque about its centre.
    Vec6 restrict(Index p, const Vec3s& r) const;
    /// Rigid velocity z of a part at one of its blocks.
    Vec3 velocity(const Vec6& z, Index block) const { return z.head<3>() + z.tail<3>().cross(arm_[block]); }
    /// x += P (P^T A P)^-1 P^T r.
    void add_correction(const Vec3s& r, Vec3s& x) const;

private:
    std::vector<Part> parts_;
    std::vector<Index> part_of_block_;
    Vec3s arm_;
    std::vector<Mat6> inverse_;
};

} // namespace pliant
