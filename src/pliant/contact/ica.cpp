#include "pliant/contact/ica.hpp"

#include "pliant/contact/anderson.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

using Visit = RowSweep::Visit;

// Bodies without a row keep their unconstrained velocity exactly: hence the connected parts.
Ica::Ica(const BlockPattern& pattern) : coloring_(color_chunks(pattern)), component_(connected_parts(pattern)) {}

void Ica::prepare(const ContactSystem& system)
{
    const ContactProblem& p = system.problem;
    const Index n = system.A.rows();
    std::vector<char> touched(static_cast<std::size_t>(n), 0), live(static_cast<std::size_t>(n), 0);
    for (const RowEntry& e : p.entries) touched[e.block] = 1;
    for (const RowArm& a : p.arms) touched[a.block] = 1;
    touched_.clear();
    for (Index i = 0; i < n; ++i)
        if (touched[i]) {
            touched_.push_back(i);
            live[component_[i]] = 1;
        }
    active_ = make_sweep_order(coloring_, component_, live);
    parts_.clear();
    for (Index q = 0; system.coarse && q < system.coarse->parts(); ++q)
        if (live[component_[system.coarse->part(q).first]]) parts_.push_back(q);
    f_.assign(static_cast<std::size_t>(n), Vec3::Zero());
    rows_.prepare(system, component_, touched_, parts_);
}

void Ica::anticipate(const ContactSystem& system, const ContactSolverOptions& options, Visit rows, const Vec3s& dv,
                     Multipliers& lambda)
{
    rows_.start(system, dv, lambda);
    rows_.sweep(system, options, rows, lambda);
    take_impulses();
}

void Ica::take_impulses()
{
    for (Index i : touched_) f_[i] = rows_.impulse(i);
}

// Block Gauss-Seidel sweeps over A dv = J^T l [Otaduy09, eq. 12; the paper takes one]. Few: solving better between
// updates of the multipliers turns the iteration into Uzawa's with too long a step, which diverges on stiff bodies.
void Ica::refine(const ContactSystem& system, int sweeps, Vec3s& dv)
{
    // The coarse motions are exact already: z = (P^T A P)^-1 P^T (f - A dv) for the new f.
    parallel_for(
        count(parts_),
        [&](Index q) {
            const CoarseSpace::Part& part = system.coarse->part(parts_[q]);
            for (Index i = part.first; i < part.first + part.size; ++i)
                dv[i] += rows_.coarse_motion(system, parts_[q], i);
        },
        4);
    for (int sweep = 0; sweep < sweeps; ++sweep)
        gauss_seidel_sweep(system.A, system.diagonal_inverse, active_, sweep % 2 == 1, f_, dv);
}

// A body that nothing pushes has dv = 0 exactly; a warm start knows better only for bodies that something does push.
void Ica::drop_unforced(const ContactProblem& p, const Multipliers& lambda, Vec3s& dv) const
{
    std::vector<char> pushed(dv.size(), 0); // at a part's first block
    for (Index j = 0; j < p.size(); ++j) {
        if (lambda[j].isZero(0)) continue;
        for (Index k = p.rows[j].entry_begin; k < p.rows[j].entry_end; ++k) pushed[component_[p.entries[k].block]] = 1;
        for (Index k = p.rows[j].arm_begin; k < p.rows[j].arm_end; ++k) pushed[component_[p.arms[k].block]] = 1;
    }
    for (std::size_t i = 0; i < dv.size(); ++i)
        if (!pushed[component_[i]]) dv[i].setZero();
}

ContactResult Ica::solve(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                         Multipliers& lambda)
{
    ContactResult result;
    if (system.problem.size() == 0) {
        for (Vec3& x : dv) x.setZero();
        result.converged = true;
        return result;
    }
    prepare(system);
    drop_unforced(system.problem, lambda, dv);
    ContactSolverOptions inner = options; // with the number of sweeps that the residuals ask for
    Anderson anderson(options.anderson, active_.rows, system.diagonal_inverse, rows_.responses());
    constexpr int check_every = 4;    // a residual costs about what an iteration costs: a fifth of the time
    constexpr int max_patience = 4;   // more checks for squeezed rows, about as many iterations as a usual solve takes
    constexpr int most_sweeps = 4;    // times as many sweeps at most, or rows cost more than the dynamics,
    constexpr int slow = 40;          // except in a solve that is not there after so many iterations: then rows are
    constexpr int slow_sweeps = 32;   // what holds it up, as where light cloth lies between heavy bodies
    constexpr Real near_enough = 0.8; // of the room: a fifth is left before continuous detection says no
    int patience = 0;
    Vec3s best_dv;
    Multipliers best_lambda;
    Real best = std::numeric_limits<Real>::infinity();
    while (result.iterations < options.max_iterations) {
        poll_interrupt();
        anderson.begin(dv, lambda);
        anticipate(system, inner, result.iterations % check_every == 0 ? Visit::all : Visit::watched, dv, lambda);
        refine(system, options.matrix_sweeps, dv);
        ++result.iterations;
        if (result.iterations % check_every == 0 || result.iterations == 1 ||
            result.iterations == options.max_iterations) {
            result.residuals = contact_residuals(system, dv, lambda, options.cone);
            result.history.push_back(result.residuals.worst());
            const Real merit =
                std::max(result.residuals.worst() / options.tolerance, result.residuals.gap / options.gap_tolerance);
            if (merit < best) {
                best = merit;
                best_dv = dv;
                best_lambda = lambda;
            }
            // Rows that lag behind the dynamics are swept more often, and the other way round.
            const Real rows = std::max(result.residuals.complementarity / options.tolerance,
                                       result.residuals.gap / options.gap_tolerance);
            const int most = result.iterations < slow ? most_sweeps : slow_sweeps;
            inner.inner_sweeps = rows > result.residuals.dynamics / options.tolerance
                                     ? std::min(2 * inner.inner_sweeps, most * options.inner_sweeps)
                                     : std::max(inner.inner_sweeps / 2, options.inner_sweeps);
            // A few rows squeezed close to the certified distance may ask for far more than all the others: once those
            // are solved, they get some more rounds, then continuous detection judges.
            const bool solved = result.residuals.worst() <= options.tolerance;
            if (solved) ++patience;
            if (merit <= 1 || (solved && patience > max_patience && result.residuals.gap <= near_enough)) {
                result.converged = true;
                drop_unforced(system.problem, lambda, dv);
                return result;
            }
        }
        anderson.mix(system.problem, options.cone, dv, lambda);
    }
    if (!best_dv.empty()) {
        dv = std::move(best_dv);
        lambda = std::move(best_lambda);
        drop_unforced(system.problem, lambda, dv);
        result.residuals = contact_residuals(system, dv, lambda, options.cone);
    }
    return result;
}

// Step numbers are those of [Otaduy09, 5.5]. The paper leaves open what a distance is measured from: here it is the
// certified distance, so that half of a row's room must be left.
ContactResult Ica::solve_as_published(const ContactSystem& given, const ContactSolverOptions& options, Vec3s& dv,
                                      Multipliers& lambda)
{
    constexpr Real change = 0.05;    // "change less than 5 %"
    constexpr Real eaten = 0.5;      // "larger than half the collision detection tolerance"
    constexpr Real rounding = 1e-12; // a residual below is rounding, whose changes say nothing
    constexpr int max_inner = 100;   // the paper has no bound; rows that contradict each other would never end
    ContactSystem system = given;
    system.coarse = nullptr; // D_A has the 3x3 blocks only
    ContactSolverOptions inner = options;
    inner.inner_sweeps = 1;
    inner.local_passes = 3;
    ContactResult result;
    if (system.problem.size() == 0) {
        for (Vec3& x : dv) x.setZero();
        result.converged = true;
        return result;
    }
    const std::vector<Real>& scales = system.parts.velocity_scale;
    const Real fastest = *std::max_element(scales.begin(), scales.end());
    const auto settled = [&](Real now, Real before, Real scale) {
        return now <= rounding * scale || std::abs(now - before) < change * before;
    };
    const auto rows_settled = [&](const RowSweep::Residuals& now, const RowSweep::Residuals& before) {
        return settled(now.normal, before.normal, fastest) && settled(now.friction, before.friction, fastest);
    };
    prepare(system); // 2
    RowSweep::Residuals rows_before;
    Real response_before = 0;
    while (result.iterations < options.max_iterations && !result.converged) { // 3
        rows_.start(system, dv, lambda);                                      // 3.1
        RowSweep::Residuals before;
        for (int sweep = 1; sweep <= max_inner; ++sweep) { // 3.2
            poll_interrupt();
            rows_.sweep(system, inner, Visit::all, lambda);
            const RowSweep::Residuals now = rows_.residuals(system, options.cone, lambda);
            if (sweep > 1 && rows_settled(now, before) && now.gap < eaten) break;
            before = now;
        }
        take_impulses();
        refine(system, 1, dv); // 3.3
        ++result.iterations;
        rows_.start(system, dv, lambda); // "re-evaluated after applying collision response"
        const RowSweep::Residuals rows = rows_.residuals(system, options.cone, lambda);
        result.residuals = contact_residuals(system, dv, lambda, options.cone);
        result.history.push_back(result.residuals.worst());
        result.converged = result.iterations > 1 && rows_settled(rows, rows_before) && result.residuals.gap < eaten &&
                           settled(result.residuals.dynamics, response_before, 1);
        rows_before = rows;
        response_before = result.residuals.dynamics;
    }
    return result;
}

} // namespace pliant
