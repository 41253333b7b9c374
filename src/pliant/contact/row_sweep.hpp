#pragma once
// The inner loop of iterative constraint anticipation: Gauss-Seidel over the rows on anticipated velocities.

#include "pliant/contact/local.hpp"

namespace pliant {

using Vec4 = Eigen::Matrix<Real, 4, 1>;  ///< a Vec3 in one vector register, last lane 0
using Mat43 = Eigen::Matrix<Real, 4, 3>; ///< a Mat3 likewise, column by column

/// The anticipated velocity u(l) = dv + M^-1 (J^T l - A dv) is made to satisfy the rows [Otaduy09, eq. 10, 13, 14]:
/// each row sees u, changes its multipliers, and u follows at its blocks. B = J M^-1 J^T is never built. M^-1 is D^-1,
/// the diagonal blocks, plus the motions of the coarse space, without which a stiff body seems to answer a push
/// with one node's mass and an impulse comes out too large by orders.
class RowSweep {
public:
    /// Responses and right-hand sides of all rows, and an order for them. component: per block, the first block of its
    /// connected part of A; parts: those of the coarse space that have a row.
    void prepare(const ContactSystem& system, const std::vector<Index>& component, const std::vector<Index>& touched,
                 const std::vector<Index>& parts);
    /// u for these velocities and multipliers.
    void start(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda);
    /// Most rows are near misses: those that push or are about to are watched.
    enum class Visit { watched, all };
    /// Visits the rows a few times; after a first visit to all of them, the others go to those found worth watching.
    void sweep(const ContactSystem& system, const ContactSolverOptions& options, Visit rows, Multipliers& lambda);

    const std::vector<Mat3>& responses() const { return W_of_row_; }
    Vec3 impulse(Index block) const { return f_[block].head<3>(); } ///< J^T l of a touched block [N s]
    /// P z, the anticipated coarse motion at a block of a part [m/s].
    Vec3 coarse_motion(const ContactSystem& system, Index part, Index block) const;
    /// Of the two complementarity problems at the anticipated velocities [Otaduy09, eq. 13 and 14].
    struct Residuals {
        Real normal = 0, friction = 0; ///< RMS over the rows of the natural maps [m/s]
        Real gap = 0;                  ///< the largest part of its room that a row's error eats
    };
    Residuals residuals(const ContactSystem& system, FrictionCone cone, const Multipliers& lambda) const;

private:
    /// What a row has to do with the coarse motion of one of its bodies.
    struct CoarseEntry {
        Index part;
        Index rows;                     ///< 3 for each control point of the part
        std::size_t z;                  ///< where those of the part begin in z_
        std::size_t response;           ///< and in coarse_responses_ what an impulse does to them, rows x 3
        Index weight_begin, weight_end; ///< control points that the row follows, in coarse_weights_
    };
    /// One row in the order of the sweep, with all that a visit reads.
    struct LocalRow {
        Mat43 axes;   ///< normal, tangents: world = axes l
        Mat43 axes_t; ///< its transpose: (n, t1, t2) components = axes_t world
        Vec4 base;    ///< u0 + J v*, in the row's frame, minus (rhs, 0, 0)
        RowResponse response;
        Index row;                      ///< its number in the problem
        Index entry_begin, entry_end;   ///< in entries_
        Index arm_begin, arm_end;       ///< in arms_
        Index coarse_begin, coarse_end; ///< in coarse_entries_
    };

    std::vector<Index> make_units(const ContactSystem& system, const std::vector<Index>& component);
    void make_order(const ContactProblem& problem, const std::vector<Index>& unit);
    void copy_rows(const ContactProblem& problem);
    void make_coarse_entries(const CoarseSpace& coarse);
    void make_responses(const ContactSystem& system);
    Vec4 velocity(const LocalRow& row) const; ///< in the row's frame, base included
    void push(const LocalRow& row, const Vec3& change);
    void visit(const ContactSolverOptions& options, Index place, Visit rows, Multipliers& lambda);
    template <class VisitGroup>
    void for_each_group(const VisitGroup& visit_group) const;

    // Rows between the same units (bodies, or parts of them) form a group. Groups of one colour have no unit in common:
    // they are visited at the same time, with the same bits as one after the other.
    std::vector<Index> order_;       ///< rows of the problem, group by group
    std::vector<Index> group_begin_; ///< per group + 1: range in order_
    std::vector<Index> color_begin_; ///< per colour + 1: range of groups
    std::vector<LocalRow> rows_;     ///< in that order
    std::vector<RowEntry> entries_;
    std::vector<RowArm> arms_;
    std::vector<CoarseEntry> coarse_entries_;
    std::vector<CoarseSpace::Weight> coarse_weights_;
    std::vector<float> coarse_responses_;
    std::vector<Mat3> W_of_row_;     ///< as the problem numbers them
    std::vector<Real> slack_;        ///< per place: n . u - rhs at the last visit to all [m/s]
    std::vector<Index> watched_;     ///< per group, from its first place on: places that push or are about to
    std::vector<Index> watched_end_; ///< per group
    std::vector<Index> touched_;     ///< blocks with a row
    std::vector<Index> loose_;       ///< those of them outside of the coarse space
    std::vector<Index> parts_;
    std::vector<Mat43> D_inverse_; ///< per block
    std::vector<Vec4> u_, f_;      ///< per block
    std::vector<Real> z_;          ///< 3 per control point: anticipated coarse motion beyond u_ [m/s]
    Vec3s residual_;               ///< f - A dv at the blocks of parts_
};

} // namespace pliant
