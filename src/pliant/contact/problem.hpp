#pragma once
// The constrained velocity update of one solve [Otaduy09, eq. 6 and 7], in plain arrays:
//   A dv = J^T lambda + H^T gamma,   0 <= lambda  perp  n . u >= rhs,   friction between gamma and u_t,
// with u_j = u0_j + sum_k w_k v_k the relative velocity at row j and v = v* + dv. J and H are never formed: a row is a
// gather over its blocks, all components of one row share their weights.

#include "pliant/linalg/coarse_space.hpp"
#include "pliant/linalg/tree_factor.hpp"

#include <string>

namespace pliant {

/// A weight on a particle's (or rigid body's linear) block.
struct RowEntry {
    Index block;
    Real weight;
};
/// A lever arm on a rigid body's angular block: u += omega x arm, and an impulse p turns the body by arm x p.
struct RowArm {
    Index block;
    Vec3 arm; ///< [m]
};

/// One contact: a normal and two tangent rows that share their entries. Without friction the normal alone pushes.
struct Row {
    Vec3 normal, tangent1, tangent2; ///< orthonormal
    Vec3 u0 = Vec3::Zero();          ///< velocity of scripted vertices in the relative velocity [m/s]
    Real rhs = 0;                    ///< required normal velocity, n . u >= rhs [m/s]
    Real friction = 0;               ///< coefficient mu
    Real room = 0;                   ///< distance that an error in n . u may eat before the step is unsafe [m]
    Index entry_begin = 0, entry_end = 0;
    Index arm_begin = 0, arm_end = 0;

    /// Columns normal, tangent1, tangent2: world = frame l.
    Mat3 frame() const
    {
        Mat3 R;
        R << normal, tangent1, tangent2;
        return R;
    }
    /// World vector of components in the row's frame.
    Vec3 world(const Vec3& l) const { return l[0] * normal + l[1] * tangent1 + l[2] * tangent2; }
    /// Components of a world vector in the row's frame.
    Vec3 local(const Vec3& w) const { return {normal.dot(w), tangent1.dot(w), tangent2.dot(w)}; }
};

struct ContactProblem {
    std::vector<Row> rows;
    std::vector<RowEntry> entries;
    std::vector<RowArm> arms;

    void clear()
    {
        rows.clear();
        entries.clear();
        arms.clear();
    }
    Index size() const { return count(rows); }
    /// sum_k w_k v_k + sum omega x arm of one row (without u0).
    Vec3 relative_velocity(const Row& row, const Vec3s& v) const
    {
        Vec3 u = Vec3::Zero();
        for (Index k = row.entry_begin; k < row.entry_end; ++k) u += entries[k].weight * v[entries[k].block];
        for (Index k = row.arm_begin; k < row.arm_end; ++k) u += v[arms[k].block].cross(arms[k].arm);
        return u;
    }
    /// Adds the generalized impulse of a world impulse p at one row.
    void add_impulse(const Row& row, const Vec3& p, Vec3s& f) const
    {
        for (Index k = row.entry_begin; k < row.entry_end; ++k) f[entries[k].block] += entries[k].weight * p;
        for (Index k = row.arm_begin; k < row.arm_end; ++k) f[arms[k].block] += arms[k].arm.cross(p);
    }
};

/// The rows with the given numbers.
ContactProblem subproblem(const ContactProblem& problem, const std::vector<Index>& rows);

/// Multipliers of one row in its frame: (normal, tangent1, tangent2) impulses [N s].
using Multipliers = std::vector<Vec3>;

enum class FrictionCone {
    pyramid, ///< |gamma_1|, |gamma_2| <= mu lambda, aligned with the unconstrained sliding direction [Otaduy09, 3.4]
    exact,   ///< |gamma| <= mu lambda: Coulomb's disc
};

enum class SolverKind {
    automatic,            ///< augmented_lagrangian for parts with cloth, ica for the others
    ica,                  ///< iterative constraint anticipation, accelerated, with true residuals
    ica_paper,            ///< the same as published
    anticipation,         ///< full constraint anticipation with a direct factorisation
    augmented_lagrangian, ///< nonlinear conjugate gradients with multigrid, limits of length as balls
    local,                ///< masses only, unaware of the dynamics, for comparison
};

struct ContactSolverOptions {
    SolverKind kind = SolverKind::automatic;
    Real tolerance = 1e-3;     ///< on the dynamics and complementarity residuals, both free of units
    Real gap_tolerance = 0.25; ///< on the normal velocity error, as a fraction of each row's room
    int max_iterations = 100;  ///< outer iterations
    int inner_sweeps = 3;      ///< projected Gauss-Seidel sweeps over the rows per outer iteration
    int matrix_sweeps = 2;     ///< Gauss-Seidel sweeps over A per outer iteration
    int local_passes = 1;      ///< over one row's normal and tangents each time it is visited
    int anderson = 5;          ///< depth of the acceleration, 0: none
    FrictionCone cone = FrictionCone::pyramid;
    bool may_give_up = false; ///< where it looks hopeless: something else will be tried instead

    bool operator==(const ContactSolverOptions&) const = default;
};

/// Residuals, all free of units (0 is solved), each that of the connected part where it is largest.
struct ContactResiduals {
    Real dynamics = 0;        ///< |J^T l - A dv| / max(|J^T l|, |A dv|) in the norm of D^-1
    Real gap = 0;             ///< max over rows of h (rhs - n . u) / room
    Real complementarity = 0; ///< RMS over the rows of the natural map |l - P(l - rho u~)| / (rho v_ref)
    Real worst() const { return dynamics > complementarity ? dynamics : complementarity; }
};

struct ContactResult {
    int iterations = 0;
    bool converged = false;
    bool given_up = false;
    bool judged = false; ///< the residuals are those of the answer in double precision
    ContactResiduals residuals;
    std::vector<Real> history; ///< worst() at every check
};

/// The connected parts of a problem: blocks and rows that have to do with each other. Each part is solved to the
/// tolerance by itself, whatever else there is in the scene.
struct ContactParts {
    Index count = 0;
    std::vector<Index> of_block; ///< none: no row reaches it
    std::vector<Index> of_row;
    std::vector<Real> velocity_scale; ///< per part: what a velocity error is compared with [m/s]
    Real slowest = 0;                 ///< least velocity scale [m/s]
    std::vector<Real> fine;           ///< per part: a residual of the dynamics this small is fine whatever the forces
};
/// Whether what no row reaches is in a part, too.
enum class Rowless { left_out, included };
/// component: connected_parts() of the matrix. The velocity scale is the root mean square of the relative velocities
/// that a part's rows would have without contact, and at least `slowest` [m/s].
ContactParts contact_parts(const ContactProblem& problem, const std::vector<Index>& component,
                           const Vec3s& free_velocity, Real slowest, Rowless rowless = Rowless::left_out);

/// What a solver works on; the caller owns all of it.
struct ContactSystem {
    const BlockMatrix& A;
    const std::vector<Mat3>& diagonal_inverse; ///< 0 for prescribed blocks, so that no impulse moves them
    const Vec3s& free_velocity;                ///< v*
    const ContactProblem& problem;
    Real dt;
    const ContactParts& parts;
    const CoarseSpace* coarse = nullptr;  ///< motions of stiff bodies as a whole, which anticipation includes
    const PartFactors* factors = nullptr; ///< of A, by connected part; null: made by who needs them
    const Vec3s* load =
        nullptr; ///< impulses beside those of the rows: what the free solve left, limits of length [N s]
};

/// Residuals of a candidate solution, from scratch, of each connected part.
std::vector<ContactResiduals> residuals_by_part(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda,
                                                FrictionCone cone);
/// The worst of them.
ContactResiduals worst_of(std::span<const ContactResiduals> parts);
ContactResiduals contact_residuals(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda,
                                   FrictionCone cone);

/// Projects multipliers (in the row frame) into the friction cone.
Vec3 project_to_cone(const Vec3& l, Real mu, FrictionCone cone);

} // namespace pliant
