#include "pliant/methods/contact_solver.hpp"

#include "pliant/contact/anticipation.hpp"
#include "pliant/contact/local_response.hpp"

#include <limits>

namespace pliant {
namespace {

constexpr Real affordable_responses = 1e7; ///< numbers in response matrices that a stalled solve may build
constexpr Real single_precision = 2e-5;    ///< tolerances below are a matter of double precision all the way
constexpr Real diverged_merit = 10;        ///< residual over tolerance beyond which a shorter step is tried

/// A velocity error is compared with the speed of what meets, or with what gravity adds in a step.
Real slowest_speed(const Substep& s)
{
    return std::max(s.model.gravity.norm() * s.dt, std::numeric_limits<Real>::min());
}

} // namespace

ContactSolver::ContactSolver(const Model& model, const LinearSystem& system, const ContactSolverOptions& options,
                             Real linear_tolerance)
    : options_(options), component_(connected_parts(system.A().pattern())), ica_(system.A().pattern()),
      by_rows_(model.bodies.size(), 1)
{
    const bool by_multigrid =
        options_.kind == SolverKind::augmented_lagrangian ||
        (options_.kind == SolverKind::automatic && std::min(options.tolerance, linear_tolerance) >= single_precision);
    if (by_multigrid) {
        cloth_.emplace(model, system,
                       options_.kind == SolverKind::automatic ? ClothScope::sheets : ClothScope::everything);
        if (!cloth_->has_work()) cloth_.reset();
    }
}

Real ContactSolver::merit(const ContactResult& r) const
{
    return std::max(r.residuals.worst() / options_.tolerance, r.residuals.gap / options_.gap_tolerance);
}

bool ContactSolver::diverged(const ContactResult& result) const
{
    // The published rule and the local response promise no residual.
    const bool promises = options_.kind != SolverKind::ica_paper && options_.kind != SolverKind::local;
    return promises && merit(result) > diverged_merit;
}

ContactSolverOptions ContactSolver::options_for(Effort effort) const
{
    ContactSolverOptions options = options_;
    if (effort == Effort::low) options.max_iterations = std::max(1, options_.max_iterations / 10);
    return options;
}

CgResult ContactSolver::solve_free(const LinearSystem& system, Real tolerance, Vec3s& v)
{
    if (!cloth_) return system.solve(tolerance, v);
    std::vector<char> others = cloth_->parts();
    for (char& other : others) other = !other;
    CgResult result = system.solve(tolerance, others, v);
    std::vector<Real> fine = system.momentum_scales();
    for (Real& f : fine) f *= tolerance;
    const CgResult cloth = cloth_->begin(system, std::move(fine), v);
    result.iterations = std::max(result.iterations, cloth.iterations);
    return result;
}

ContactResult ContactSolver::run_ica(const ContactSystem& system, Effort effort, Vec3s& dv, Multipliers& lambda)
{
    ContactResult result = ica_.solve(system, options_for(effort), dv, lambda);
    if (result.converged || effort == Effort::low || anticipation_cost(system) >= affordable_responses) return result;
    // A rate that stalls for the sake of a few stiff bodies: their factors are cheap, and a sweep over exact responses
    // does not care for stiffness.
    Vec3s direct_dv = dv;
    Multipliers direct_lambda = lambda;
    ContactResult direct = solve_by_anticipation(system, options_, direct_dv, direct_lambda);
    direct.iterations += result.iterations;
    if (direct.history.empty() || merit(direct) >= merit(result)) {
        result.iterations = direct.iterations;
        return result;
    }
    dv = std::move(direct_dv);
    lambda = std::move(direct_lambda);
    return direct;
}

ContactResult ContactSolver::run(const ContactSystem& system, const Model& model, Effort effort, Vec3s& dv,
                                 Multipliers& lambda)
{
    const ContactSolverOptions options = options_for(effort);
    switch (options.kind) {
    case SolverKind::ica_paper:
        return ica_.solve_as_published(system, options, dv, lambda);
    case SolverKind::anticipation:
        return solve_by_anticipation(system, options, dv, lambda);
    case SolverKind::local:
        return solve_locally(system, model.mass, options, dv, lambda);
    case SolverKind::automatic:
    case SolverKind::augmented_lagrangian:
    case SolverKind::ica:
        break;
    }
    return run_ica(system, effort, dv, lambda);
}

/// Parts with cloth by the augmented Lagrangian, the others by relaxation.
ContactResult ContactSolver::run_by_parts(ContactSystem& system, const Substep& s, Effort effort, ContactParts& parts,
                                          ContactSet& set, Vec3s& dv, Multipliers& lambda)
{
    const std::vector<char> chosen = cloth_->choose(parts);
    by_rows_.assign(s.model.bodies.size(), 0);
    for (Index i = 0; i < s.model.block_count(); ++i) by_rows_[s.model.block_body[i]] |= !chosen[parts.of_block[i]];
    Vec3s load;
    ContactResult result = cloth_->solve(system, s, options_for(effort), chosen, set, dv, lambda, load);
    std::vector<Index> others;
    for (Index j = 0; j < system.problem.size(); ++j)
        if (!chosen[parts.of_row[j]]) others.push_back(j);
    if (!others.empty()) {
        const ContactProblem problem = subproblem(system.problem, others);
        const ContactParts other_parts = contact_parts(problem, component_, s.v_free, slowest_speed(s));
        Vec3s other_dv(dv.size(), Vec3::Zero());
        Multipliers other_lambda;
        for (const Index j : others) other_lambda.push_back(lambda[j]);
        for (std::size_t i = 0; i < dv.size(); ++i)
            if (!chosen[parts.of_block[i]]) other_dv[i] = dv[i];
        const ContactSystem other{
            system.A, system.diagonal_inverse, system.free_velocity, problem, system.dt, other_parts, system.coarse};
        const ContactResult ica = run_ica(other, effort, other_dv, other_lambda);
        result.iterations = std::max(result.iterations, ica.iterations);
        for (std::size_t i = 0; i < dv.size(); ++i)
            if (!chosen[parts.of_block[i]]) dv[i] = other_dv[i];
        for (std::size_t k = 0; k < others.size(); ++k) lambda[others[k]] = other_lambda[k];
    } else {
        for (std::size_t i = 0; i < dv.size(); ++i)
            if (!chosen[parts.of_block[i]]) dv[i].setZero();
    }
    system.load = &load;
    result.residuals = contact_residuals(system, dv, lambda, options_.cone);
    system.load = nullptr;
    return result;
}

ContactResult ContactSolver::solve(const LinearSystem& linear, const Substep& s, Effort effort, ContactSet& set,
                                   Vec3s& dv)
{
    const ContactRows rows = build_rows({s.model, s.start, s.x0, s.x1_free, s.dt}, set, s.v_free);
    Multipliers lambda = load_impulses(rows, set, options_.cone);
    ContactParts parts = contact_parts(rows.problem, component_, s.v_free, slowest_speed(s),
                                       cloth_ ? Rowless::included : Rowless::left_out);
    ContactSystem system{linear.A(), linear.diagonal_inverse(), s.v_free, rows.problem, s.dt, parts, &linear.coarse()};
    ContactResult result =
        cloth_ ? run_by_parts(system, s, effort, parts, set, dv, lambda) : run(system, s.model, effort, dv, lambda);
    store_impulses(rows, lambda, set);
    return result;
}

} // namespace pliant
