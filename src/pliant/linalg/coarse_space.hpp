#pragma once
// Coarse motions of groups of blocks. A stiff body answers a push first of all by moving and bending as a whole; the
// diagonal blocks of A know nothing of that, and an iteration that only uses them needs as many rounds as sqrt(h^2 k /
// m). Each group gets a grid of control points around its rest shape, which its blocks follow trilinearly, v = P z.
// Adding P (P^T A P)^-1 P^T mends what is slow: P holds all motions that are affine in the rest shape, so translations
// always and rotations as long as the body is not bent within a cell, and bending over several cells.

#include "pliant/linalg/block_matrix.hpp"

#include <span>

namespace pliant {

class CoarseSpace {
public:
    /// Consecutive blocks that are coupled with each other and with no others.
    struct Part {
        Index first = 0, size = 0;
    };
    /// How far a block follows one of its part's control points (or modes, where no grid fits).
    struct Weight {
        Index control; ///< number within the part
        Real value;
    };

    CoarseSpace() = default;
    /// rest: position of every block in a frame of its part [m].
    CoarseSpace(const BlockPattern& pattern, std::vector<Part> parts, const Vec3s& rest);

    /// Inverts P^T A P.
    void update(const BlockMatrix& A);

    Index parts() const { return count(parts_); }
    Index part_of(Index block) const { return part_of_block_.empty() ? none : part_of_block_[block]; }
    const Part& part(Index p) const { return parts_[p]; }
    Index controls(Index p) const { return control_begin_[p + 1] - control_begin_[p]; }
    Index control_begin(Index p) const { return control_begin_[p]; } ///< controls of all parts before p
    std::span<const Weight> weights(Index block) const
    {
        return {weights_.data() + weight_begin_[block], weights_.data() + weight_begin_[block + 1]};
    }
    /// (P^T A P)^-1, 3 rows a control point. In single precision: what corrects need not be exact, and reading it is
    /// what a correction costs.
    const Eigen::MatrixXf& inverse(Index p) const { return inverse_[p]; }

    /// z = (P^T A P)^-1 P^T r of one part.
    void answer(Index p, const Vec3s& r, Real* z) const;
    /// Velocity of a block when its part's control points have velocities z (3 numbers each).
    Vec3 velocity(const Real* z, Index block) const
    {
        Vec3 v = Vec3::Zero();
        for (const Weight& w : weights(block)) v += w.value * Eigen::Map<const Vec3>(z + 3 * w.control);
        return v;
    }
    /// x += P (P^T A P)^-1 P^T r.
    void add_correction(const Vec3s& r, Vec3s& x) const;
    /// The same for one part.
    void add_correction(Index p, const Vec3s& r, Vec3s& x) const;

private:
    std::vector<Part> parts_;
    std::vector<Index> part_of_block_;
    std::vector<Index> control_begin_ = {0}; ///< per part + 1
    std::vector<Index> weight_begin_;        ///< per block + 1
    std::vector<Weight> weights_;
    std::vector<Eigen::MatrixXf> inverse_;
};

} // namespace pliant
