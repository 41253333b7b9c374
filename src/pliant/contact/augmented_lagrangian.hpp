#pragma once
// The solver `augmented-lagrangian`: for cloth, whose contact problems are large and soft.
//
// With multipliers l and penalties rho fixed, the velocities minimise a smooth convex function,
//   1/2 dv.A dv - dv.r0 + sum of penalties,   gradient  A dv - r0 - J^T y(u(dv)),
// (y in row_lanes.hpp; r0 = b - A v* is what the unconstrained solve left), by nonlinear conjugate gradients with a
// multigrid cycle on A + J^T rho J as preconditioner. Every few iterations l becomes y. Iterations hardly depend on the
// number of vertices, where relaxation needs as many as there are edges across the cloth. Where they do not get there
// soon, Newton directions take over: the same preconditioner in a linear solve with J^T rho J as it is. Where rigid
// bodies lie on cloth, that is from the start, and penalties follow the load. Contacts are on the diagonal of the
// preconditioner, limits of length are between their ends, as stiff springs would be: a taut cloth moves as a whole.

#include "pliant/contact/row_lanes.hpp"
#include "pliant/linalg/multigrid.hpp"

namespace pliant {

/// One connected part of a contact problem, with the limits of length in it.
struct LagrangianPart {
    std::vector<Index> components; ///< of the multigrid
    std::vector<Index> rows;       ///< of the problem
    std::vector<LengthBall> balls; ///< those that may matter
    bool loaded = false;           ///< bodies far heavier than the cloth are in it
    Real velocity_scale = 0;       ///< what a velocity error is compared with [m/s]
    Real fine = 0;                 ///< norm of a residual of the dynamics that is fine, however small the forces are
};

class AugmentedLagrangian {
public:
    explicit AugmentedLagrangian(Multigrid& multigrid);

    /// free_residual: r0, per block [N s]. dv and lambda are the warm start and the answer; so are the impulses of the
    /// balls. Single precision is that of the change from the warm start, so that a second call refines the first one's
    /// answer; its residuals are those of single precision, too: contact_residuals() judges.
    ContactResult solve(const ContactSystem& system, const Vec3s& free_residual, const ContactSolverOptions& options,
                        LagrangianPart& part, Vec3s& dv, Multipliers& lambda);

private:
    double norm_sq(const Multigrid::Region& region, const LaneVectors& v) const;
    double norm_sq_with_start(const Multigrid::Region& region,
                              const LaneVectors& v) const; ///< of v + A dv at the start
    double product(const Multigrid::Region& region, const LaneVectors& a, const LaneVectors& b) const;
    /// Where rows are much stiffer than the bodies between them the diagonal is as good as a cycle, and much cheaper.
    enum class Precondition { multigrid, diagonal };
    /// d = about (A + J^T K J)^-1 g with the stiffness K of the rows' last answer, and Ad.
    void find_newton_direction(const Multigrid::Region& region, Precondition by, int most_steps, const LaneVectors& g,
                               RowLanes& rows);

    Multigrid& multigrid_;
    // Scratch. Different parts may be solved at the same time: each works on lanes of its own.
    LaneVectors dv_, Adv_;    ///< change from the warm start, and what it does
    LaneVectors start_, r0_;  ///< A dv at the warm start, and what it leaves of the free residual
    LaneVectors force_;       ///< J^T y
    LaneVectors gradient_[2]; ///< with the minus: J^T y + r0 - A dv, now and before
    LaneVectors d_, Ad_;      ///< direction
    LaneVectors p_, Ap_, Hp_; ///< direction within the solve for a Newton direction, H = A + J^T K J
    LaneVectors left_;        ///< its residual
};

} // namespace pliant
