#include "pliant/methods/contact_solver.hpp"

#include "pliant/contact/anticipation.hpp"
#include "pliant/contact/local_response.hpp"

#include <limits>

namespace pliant {
namespace {

constexpr Index factor_turns = 16;       ///< contact solves by the factor before relaxation is tried again
constexpr int anticipation_sweeps = 500; ///< at most, over exact responses
constexpr Real single_precision = 2e-5;  ///< tolerances below are a matter of double precision all the way
constexpr Real diverged_merit = 10;      ///< residual over tolerance beyond which a shorter step is tried

/// A velocity error is compared with the speed of what meets, or with what gravity adds in a step.
Real slowest_speed(const Substep& s)
{
    return std::max(s.model.gravity.norm() * s.dt, std::numeric_limits<Real>::min());
}

/// What iterations of relaxation on a part are worth, as anticipation_costs() counts: a solve that does not converge
/// makes shorter steps and more of them, so its answer may cost several times as much as the attempt.
Real worth_of_iterations(const ContactSystem& system, Index part, int iterations)
{
    constexpr Real block = 80, row = 4000, patience = 10; // in flops: both wait for memory
    Real worth = 0;
    for (Index i = 0; i < system.A.rows(); ++i)
        if (system.parts.of_block[i] == part)
            worth += block * (system.A.pattern().row_begin[i + 1] - system.A.pattern().row_begin[i]);
    for (const Index p : system.parts.of_row)
        if (p == part) worth += row;
    return patience * iterations * worth;
}

/// Solves some parts of a system; what belongs to others stays as it is.
template <class Solve>
ContactResult solve_some(const ContactSystem& system, const std::vector<Index>& component,
                         const std::vector<char>& chosen, Solve&& solve, Vec3s& dv, Multipliers& lambda)
{
    std::vector<Index> rows;
    for (Index j = 0; j < system.problem.size(); ++j)
        if (chosen[system.parts.of_row[j]]) rows.push_back(j);
    const ContactProblem problem = subproblem(system.problem, rows);
    const ContactParts parts = contact_parts(problem, component, system.free_velocity, system.parts.slowest);
    const auto is_chosen = [&](Index block) {
        const Index part = system.parts.of_block[block];
        return part != none && chosen[part];
    };
    Vec3s some_dv(dv.size(), Vec3::Zero());
    Multipliers some_lambda;
    for (const Index j : rows) some_lambda.push_back(lambda[j]);
    for (Index i = 0; i < count(dv); ++i)
        if (is_chosen(i)) some_dv[i] = dv[i];
    const ContactSystem some{system.A, system.diagonal_inverse, system.free_velocity, problem, system.dt,
                             parts,    system.coarse,           system.factors};
    const ContactResult result = solve(some, some_dv, some_lambda);
    for (Index i = 0; i < count(dv); ++i)
        if (is_chosen(i)) dv[i] = some_dv[i];
    for (std::size_t k = 0; k < rows.size(); ++k) lambda[rows[k]] = some_lambda[k];
    return result;
}

} // namespace

ContactSolver::ContactSolver(const Model& model, const LinearSystem& system, const ContactSolverOptions& options,
                             Real linear_tolerance)
    : options_(options), component_(connected_parts(system.A().pattern())), part_of_block_(system.part_of_block()),
      ica_(system.A().pattern()), by_rows_(model.bodies.size(), 1)
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

Real ContactSolver::merit(const ContactResiduals& r) const
{
    return std::max(r.worst() / options_.tolerance, r.gap / options_.gap_tolerance);
}

Real ContactSolver::merit(const ContactResult& result) const
{
    return merit(result.residuals);
}

bool ContactSolver::diverged(const ContactResult& result) const
{
    // The published rule and the local response promise no residual.
    const bool promises = options_.kind != SolverKind::ica_paper && options_.kind != SolverKind::local;
    return promises && (result.given_up || merit(result) > diverged_merit);
}

ContactSolverOptions ContactSolver::options_for(Effort effort) const
{
    ContactSolverOptions options = options_;
    if (effort == Effort::low) options.max_iterations = std::max(1, options_.max_iterations / 10);
    options.may_give_up = effort == Effort::tentative;
    return options;
}

FreeSolve ContactSolver::solve_free(const LinearSystem& system, Real tolerance, std::vector<Index>& turns, Vec3s& v)
{
    const std::size_t parts = static_cast<std::size_t>(system.parts());
    turns.resize(parts, 0);
    std::vector<char> others(parts, 1);
    for (std::size_t part = 0; cloth_ && part < parts; ++part) others[part] = !cloth_->parts()[part] || turns[part] > 0;
    const CgResult cg = system.solve(tolerance, others, turns, v);
    FreeSolve result{cg.iterations, cg.residual, cg.residual / tolerance};
    if (!cloth_) return result;
    std::vector<Real> fine = system.momentum_scales();
    for (Real& f : fine) f *= tolerance;
    const CgResult cloth = cloth_->begin(system, std::move(fine), turns, v);
    result.iterations = std::max(result.iterations, cloth.iterations);
    result.residual = std::max(result.residual, tolerance * cloth.residual);
    std::vector<char> left(parts, 0);
    for (std::size_t part = 0; part < parts; ++part) left[part] = !others[part] && turns[part] > 0;
    if (std::find(left.begin(), left.end(), 1) == left.end()) return result;
    const CgResult exact = system.solve(tolerance, left, turns, v);
    result.residual = std::max(result.residual, exact.residual);
    result.unsolved = std::max(result.unsolved, exact.residual / tolerance);
    return result;
}

/// Relaxation where it converges, factors where it does not: a sweep over exact responses does not care for stiffness.
/// A part that needed its factor once begins with it for a while.
ContactResult ContactSolver::run_ica(const ContactSystem& system, Effort effort, std::vector<Index>& turns, Vec3s& dv,
                                     Multipliers& lambda)
{
    const ContactParts& parts = system.parts;
    turns.resize(static_cast<std::size_t>(system.factors->parts()), 0);
    std::vector<char> by_factor(static_cast<std::size_t>(parts.count), 0);
    const Multipliers warm = lambda;
    std::vector<Real> costs;
    const auto affordable = [&](Index part) {
        if (costs.empty()) costs = anticipation_costs(system, warm);
        return costs[part] <= worth_of_iterations(system, part, options_.max_iterations);
    };
    std::vector<char> hopeless = by_factor;
    for (Index i = 0; i < count(part_of_block_); ++i)
        if (const Index part = parts.of_block[i]; part != none) {
            by_factor[part] |= turns[part_of_block_[i]] > 0;
            hopeless[part] |= turns[part_of_block_[i]] < 0;
        }
    for (Index q = 0; q < parts.count; ++q) by_factor[q] = by_factor[q] && effort != Effort::low && affordable(q);
    ContactResult result;
    result.converged = true;
    std::vector<char> by_sweeps = by_factor;
    for (char& c : by_sweeps) c = !c;
    const auto ica = [&](const ContactSystem& some, Vec3s& some_dv, Multipliers& some_lambda) {
        return ica_.solve(some, options_for(effort), some_dv, some_lambda);
    };
    if (std::find(by_factor.begin(), by_factor.end(), 1) == by_factor.end())
        result = ica(system, dv, lambda);
    else if (std::find(by_sweeps.begin(), by_sweeps.end(), 1) != by_sweeps.end())
        result = solve_some(system, component_, by_sweeps, ica, dv, lambda);
    const std::vector<ContactResiduals> before = residuals_by_part(system, dv, lambda, options_.cone);
    if (effort != Effort::low && !result.converged)
        for (Index q = 0; q < parts.count; ++q)
            if (!by_factor[q] && !hopeless[q] && merit(before[q]) > 1 && affordable(q)) by_factor[q] = 2;
    if (std::find_if(by_factor.begin(), by_factor.end(), [](char c) { return c != 0; }) != by_factor.end()) {
        Vec3s direct_dv = dv;
        Multipliers direct_lambda = warm; // a relaxation that failed pushes with rows that do not matter
        ContactSolverOptions options = options_;
        options.max_iterations = std::max(options.max_iterations, anticipation_sweeps);
        const auto anticipate = [&](const ContactSystem& some, Vec3s& some_dv, Multipliers& some_lambda) {
            return solve_by_anticipation(some, options, some_dv, some_lambda, Anticipate::thrifty);
        };
        const ContactResult direct = solve_some(system, component_, by_factor, anticipate, direct_dv, direct_lambda);
        result.iterations += direct.iterations;
        if (!direct.history.empty()) result.history = direct.history;
        const std::vector<ContactResiduals> after = residuals_by_part(system, direct_dv, direct_lambda, options_.cone);
        std::vector<Index> next_turns(by_factor.size(), 0);
        for (Index q = 0; q < parts.count; ++q) {
            if (!by_factor[q]) continue;
            next_turns[q] = merit(after[q]) > 1 ? -factor_turns : by_factor[q] == 2 ? factor_turns : 0;
            if (by_factor[q] == 2 && !(merit(after[q]) < merit(before[q]))) by_factor[q] = 0;
        }
        for (Index i = 0; i < count(dv); ++i) {
            const Index part = parts.of_block[i];
            if (part == none) continue;
            if (by_factor[part]) dv[i] = direct_dv[i];
            if (next_turns[part] != 0) turns[part_of_block_[i]] = next_turns[part];
        }
        for (Index j = 0; j < count(lambda); ++j)
            if (by_factor[parts.of_row[j]]) lambda[j] = direct_lambda[j];
    }
    result.residuals = contact_residuals(system, dv, lambda, options_.cone);
    result.converged = merit(result.residuals) <= 1;
    return result;
}

ContactResult ContactSolver::run(const ContactSystem& system, const Model& model, Effort effort,
                                 std::vector<Index>& turns, Vec3s& dv, Multipliers& lambda)
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
    return run_ica(system, effort, turns, dv, lambda);
}

/// Relaxation has a try at those of the given parts that have not converged; what is better is kept. Returns
/// iterations.
int ContactSolver::relax_again(ContactSystem& system, std::vector<char> again, const Vec3s& load, const Vec3s& warm_dv,
                               const Multipliers& warm, Vec3s& dv, Multipliers& lambda)
{
    if (std::find(again.begin(), again.end(), 1) == again.end()) return 0;
    const auto merits = [&](const Vec3s& some_dv, const Multipliers& some_lambda) {
        system.load = &load;
        std::vector<Real> all;
        for (const ContactResiduals& r : residuals_by_part(system, some_dv, some_lambda, options_.cone))
            all.push_back(merit(r));
        system.load = nullptr;
        return all;
    };
    const std::vector<Real> before = merits(dv, lambda);
    for (std::size_t q = 0; q < again.size(); ++q) again[q] = again[q] && before[q] > 1;
    if (std::find(again.begin(), again.end(), 1) == again.end()) return 0;
    Vec3s other_dv = warm_dv;
    Multipliers other_lambda = warm;
    const auto ica = [&](const ContactSystem& some, Vec3s& some_dv, Multipliers& some_lambda) {
        return ica_.solve(some, options_, some_dv, some_lambda);
    };
    const ContactResult result = solve_some(system, component_, again, ica, other_dv, other_lambda);
    const std::vector<Real> after = merits(other_dv, other_lambda);
    const auto is_better = [&](Index part) { return again[part] && after[part] < before[part]; };
    for (Index i = 0; i < count(dv); ++i)
        if (is_better(system.parts.of_block[i])) dv[i] = other_dv[i];
    for (Index j = 0; j < count(lambda); ++j)
        if (is_better(system.parts.of_row[j])) lambda[j] = other_lambda[j];
    return result.iterations;
}

/// Parts with cloth by the augmented Lagrangian, the others by relaxation.
ContactResult ContactSolver::run_by_parts(ContactSystem& system, const Substep& s, Effort effort, ContactParts& parts,
                                          std::vector<Index>& turns, ContactSet& set, Vec3s& dv, Multipliers& lambda)
{
    const std::vector<char> chosen = cloth_->choose(parts);
    by_rows_.assign(s.model.bodies.size(), 0);
    for (Index i = 0; i < s.model.block_count(); ++i) by_rows_[s.model.block_body[i]] |= !chosen[parts.of_block[i]];
    std::vector<char> has_rows(chosen.size(), 0);
    for (const Index part : parts.of_row) has_rows[part] = 1;
    Vec3s load;
    const Vec3s warm_dv = dv;
    const Multipliers warm = lambda;
    ContactResult result = cloth_->solve(system, s, options_for(effort), chosen, set, dv, lambda, load);
    std::vector<char> others = chosen;
    for (char& c : others) c = !c;
    for (Index i = 0; i < count(dv); ++i)
        if (!chosen[parts.of_block[i]] && !has_rows[parts.of_block[i]]) dv[i].setZero();
    if (std::find(others.begin(), others.end(), 1) != others.end()) {
        result.judged = false;
        const auto ica = [&](const ContactSystem& some, Vec3s& some_dv, Multipliers& some_lambda) {
            return run_ica(some, effort, turns, some_dv, some_lambda);
        };
        const ContactResult ica_result = solve_some(system, component_, others, ica, dv, lambda);
        result.iterations = std::max(result.iterations, ica_result.iterations);
    }
    if (effort != Effort::low && !result.given_up && options_.kind == SolverKind::automatic) {
        const int more = relax_again(system, cloth_->also_relaxable(parts, chosen), load, warm_dv, warm, dv, lambda);
        result.iterations += more;
        result.judged &= more == 0;
    }
    if (result.judged) return result;
    system.load = &load;
    result.residuals = contact_residuals(system, dv, lambda, options_.cone);
    system.load = nullptr;
    return result;
}

ContactResult ContactSolver::solve(const LinearSystem& linear, const Substep& s, Effort effort,
                                   std::vector<Index>& turns, ContactSet& set, Vec3s& dv)
{
    const ContactRows rows = build_rows({s.model, s.start, s.x0, s.x1_free, s.dt}, set, s.v_free);
    Multipliers lambda = load_impulses(rows, set, options_.cone);
    ContactParts parts = contact_parts(rows.problem, component_, s.v_free, slowest_speed(s),
                                       cloth_ ? Rowless::included : Rowless::left_out);
    ContactSystem system{linear.A(), linear.diagonal_inverse(), s.v_free,         rows.problem, s.dt,
                         parts,      &linear.coarse(),          &linear.factors()};
    ContactResult result = cloth_ ? run_by_parts(system, s, effort, parts, turns, set, dv, lambda)
                                  : run(system, s.model, effort, turns, dv, lambda);
    store_impulses(rows, lambda, set);
    return result;
}

} // namespace pliant
