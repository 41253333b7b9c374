#include "pliant/methods/contact_solver.hpp"

#include "pliant/contact/anticipation.hpp"
#include "pliant/contact/local_response.hpp"

#include <limits>

namespace pliant {
namespace {

constexpr Real affordable_responses = 1e7; ///< numbers in response matrices that a stalled solve may build
constexpr Real diverged_merit = 10;        ///< residual over tolerance beyond which a shorter step is tried

} // namespace

ContactSolver::ContactSolver(const LinearSystem& system, const ContactSolverOptions& options)
    : options_(options), component_(connected_parts(system.A().pattern())), ica_(system.A().pattern())
{}

Real ContactSolver::merit(const ContactResult& r) const
{
    return std::max(r.residuals.worst() / options_.tolerance, r.residuals.gap / options_.gap_tolerance);
}

bool ContactSolver::diverged(const ContactResult& result) const
{
    // The published rule and the local response promise no residual.
    const bool promises = options_.kind == SolverKind::ica || options_.kind == SolverKind::anticipation;
    return promises && merit(result) > diverged_merit;
}

ContactResult ContactSolver::run(const ContactSystem& system, const Model& model, Effort effort, Vec3s& dv,
                                 Multipliers& lambda)
{
    ContactSolverOptions options = options_;
    if (effort == Effort::low) options.max_iterations = std::max(1, options_.max_iterations / 10);
    switch (options.kind) {
    case SolverKind::ica_paper:
        return ica_.solve_as_published(system, options, dv, lambda);
    case SolverKind::anticipation:
        return solve_by_anticipation(system, options, dv, lambda);
    case SolverKind::local:
        return solve_locally(system, model.mass, options, dv, lambda);
    case SolverKind::ica:
        break;
    }
    ContactResult result = ica_.solve(system, options, dv, lambda);
    if (result.converged || effort == Effort::low || anticipation_cost(system) >= affordable_responses) return result;
    // A rate that stalls for the sake of a few stiff bodies: their factors are cheap, and a sweep over exact responses
    // does not care for stiffness.
    Vec3s direct_dv = dv;
    Multipliers direct_lambda = lambda;
    ContactResult direct = solve_by_anticipation(system, options, direct_dv, direct_lambda);
    direct.iterations += result.iterations;
    if (direct.history.empty() || merit(direct) >= merit(result)) {
        result.iterations = direct.iterations;
        return result;
    }
    dv = std::move(direct_dv);
    lambda = std::move(direct_lambda);
    return direct;
}

ContactResult ContactSolver::solve(const LinearSystem& linear, const Substep& s, Effort effort, ContactSet& set,
                                   Vec3s& dv)
{
    const ContactRows rows = build_rows({s.model, s.start, s.x0, s.x1_free, s.dt}, set, s.v_free);
    Multipliers lambda = load_impulses(rows, set, options_.cone);
    // A velocity error is compared with the speed of what meets, or with what gravity adds in a step.
    const Real slowest = std::max(s.model.gravity.norm() * s.dt, std::numeric_limits<Real>::min());
    const ContactParts parts = contact_parts(rows.problem, component_, s.v_free, slowest);
    const ContactSystem system{linear.A(), linear.diagonal_inverse(), s.v_free, rows.problem, s.dt,
                               parts,      &linear.coarse()};
    ContactResult result = run(system, s.model, effort, dv, lambda);
    store_impulses(rows, lambda, set);
    return result;
}

} // namespace pliant
