#include "pliant/contact/ica.hpp"

#include "pliant/contact/anderson.hpp"
#include "pliant/contact/local.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {

Coloring color_rows(const BlockPattern& pattern)
{
    const Index n = pattern.rows();
    std::vector<Index> color(static_cast<std::size_t>(n), none);
    std::vector<Index> used;
    Index colors = 0;
    for (Index i = 0; i < n; ++i) {
        used.assign(static_cast<std::size_t>(colors) + 1, 0);
        for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) {
            const Index c = color[pattern.column[s]];
            if (c != none) used[c] = 1;
        }
        color[i] = Index(std::find(used.begin(), used.end(), 0) - used.begin());
        colors = std::max(colors, color[i] + 1);
    }
    Coloring result;
    result.order.resize(static_cast<std::size_t>(n));
    std::iota(result.order.begin(), result.order.end(), 0);
    std::stable_sort(result.order.begin(), result.order.end(), [&](Index a, Index b) { return color[a] < color[b]; });
    result.color_begin.assign(static_cast<std::size_t>(colors) + 1, 0);
    for (Index c : color) ++result.color_begin[c + 1];
    for (Index c = 0; c < colors; ++c) result.color_begin[c + 1] += result.color_begin[c];
    return result;
}

ContactResiduals contact_residuals(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda,
                                   FrictionCone cone)
{
    const ContactProblem& p = system.problem;
    const Index n = system.A.rows();
    Vec3s f(static_cast<std::size_t>(n), Vec3::Zero());
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        p.add_impulse(r, lambda[j][0] * r.normal + lambda[j][1] * r.tangent1 + lambda[j][2] * r.tangent2, f);
    }
    struct Sums {
        Real residual = 0, force = 0, moved = 0;
        Sums& operator+=(const Sums& o)
        {
            residual += o.residual, force += o.force, moved += o.moved;
            return *this;
        }
    };
    const Sums sums = parallel_sum(n, Sums{}, [&](Index i) {
        const Mat3& D = system.diagonal_inverse[i];
        const Vec3 Adv = system.A.row_product(i, dv), r = f[i] - Adv;
        return Sums{r.dot(D * r), f[i].dot(D * f[i]), Adv.dot(D * Adv)};
    });
    ContactResiduals residuals;
    const Real scale = std::sqrt(std::max(sums.force, sums.moved));
    residuals.dynamics = scale > 0 ? std::sqrt(sums.residual) / scale : 0;
    Real sum_sq = 0;
    Vec3s v(dv.size());
    parallel_for(n, [&](Index i) { v[i] = system.free_velocity[i] + dv[i]; });
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        const Vec3 world = r.u0 + p.relative_velocity(r, v);
        Vec3 u(r.normal.dot(world) - r.rhs, r.tangent1.dot(world), r.tangent2.dot(world));
        Real trace = 0; // of the response W, without its off-diagonal terms
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            trace += p.entries[k].weight * p.entries[k].weight * system.diagonal_inverse[p.entries[k].block].trace();
        for (Index k = r.arm_begin; k < r.arm_end; ++k)
            trace += (skew(p.arms[k].arm) * system.diagonal_inverse[p.arms[k].block] * skew(p.arms[k].arm).transpose())
                         .trace();
        if (trace <= 0) continue;
        if (r.room > 0) residuals.gap = std::max(residuals.gap, -system.dt * u[0] / r.room);
        const Real rho = 1 / trace;
        Vec3 natural;
        if (r.normal_only || r.friction == 0) {
            natural = Vec3(lambda[j][0] - std::max(0.0, lambda[j][0] - rho * u[0]), 0, 0);
        } else if (cone == FrictionCone::pyramid) {
            // Box complementarity: each component against its own bound, the bound taken from lambda itself.
            const Real bound = r.friction * lambda[j][0];
            natural[0] = lambda[j][0] - std::max(0.0, lambda[j][0] - rho * u[0]);
            natural[1] = lambda[j][1] - std::clamp(lambda[j][1] - rho * u[1], -bound, bound);
            natural[2] = lambda[j][2] - std::clamp(lambda[j][2] - rho * u[2], -bound, bound);
        } else {
            u[0] += r.friction * std::hypot(u[1], u[2]); // De Saxce
            natural = lambda[j] - project_to_cone(lambda[j] - rho * u, r.friction, cone);
        }
        sum_sq += natural.squaredNorm() / (rho * rho);
    }
    if (p.size() > 0) residuals.complementarity = std::sqrt(sum_sq / p.size()) / system.velocity_scale;
    return residuals;
}

Ica::Ica(const BlockPattern& pattern) : coloring_(color_rows(pattern))
{
    // Connected parts of the pattern: bodies without a row keep their unconstrained velocity exactly.
    const Index n = pattern.rows();
    component_.assign(static_cast<std::size_t>(n), none);
    std::vector<Index> stack;
    for (Index seed = 0; seed < n; ++seed) {
        if (component_[seed] != none) continue;
        stack.push_back(seed);
        component_[seed] = seed;
        while (!stack.empty()) {
            const Index i = stack.back();
            stack.pop_back();
            for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) {
                const Index j = pattern.column[s];
                if (component_[j] == none) {
                    component_[j] = seed;
                    stack.push_back(j);
                }
            }
        }
    }
}

// W_j = R^T (sum_k w_k^2 D_k^-1 + sum [arm] I^-1 [arm]^T) R. Blocks that appear twice in a row are merged by whoever
// builds it, so no cross terms are lost.
void Ica::prepare(const ContactSystem& system)
{
    const ContactProblem& p = system.problem;
    const Index n = system.A.rows(), m = p.size();
    W_.resize(static_cast<std::size_t>(m));
    base_.resize(static_cast<std::size_t>(m));
    inverse_.resize(static_cast<std::size_t>(m));
    slack_.assign(static_cast<std::size_t>(m), 0);
    parallel_for(m, [&](Index j) {
        const Row& r = p.rows[j];
        Mat3 W = Mat3::Zero();
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            W += p.entries[k].weight * p.entries[k].weight * system.diagonal_inverse[p.entries[k].block];
        for (Index k = r.arm_begin; k < r.arm_end; ++k) {
            const Mat3 S = skew(p.arms[k].arm);
            W += S * system.diagonal_inverse[p.arms[k].block] * S.transpose();
        }
        Mat3 R;
        R << r.normal, r.tangent1, r.tangent2;
        W_[j] = R.transpose() * W * R;
        inverse_[j] = W_[j].diagonal().cwiseInverse();
        const Vec3 u = R.transpose() * (r.u0 + p.relative_velocity(r, system.free_velocity));
        base_[j] = u - Vec3(r.rhs, 0, 0);
    });
    std::vector<char> touched(static_cast<std::size_t>(n), 0), live(static_cast<std::size_t>(n), 0);
    for (const RowEntry& e : p.entries) touched[e.block] = 1;
    for (const RowArm& a : p.arms) touched[a.block] = 1;
    touched_.clear();
    for (Index i = 0; i < n; ++i)
        if (touched[i]) {
            touched_.push_back(i);
            live[component_[i]] = 1;
        }
    active_.clear();
    active_begin_.assign(1, 0);
    for (std::size_t c = 0; c + 1 < coloring_.color_begin.size(); ++c) {
        for (Index k = coloring_.color_begin[c]; k < coloring_.color_begin[c + 1]; ++k)
            if (live[component_[coloring_.order[k]]]) active_.push_back(coloring_.order[k]);
        active_begin_.push_back(count(active_));
    }
    u_.resize(static_cast<std::size_t>(n));
    f_.assign(static_cast<std::size_t>(n), Vec3::Zero());
}

// The Jacobi-anticipated velocity u(l) = dv + D^-1 (J^T l - A dv) is made to satisfy the rows [Otaduy09, eq. 10, 13,
// 14]: each row sees u, changes its multipliers, and u follows at its blocks. B = J D^-1 J^T is never built.
void Ica::anticipate(const ContactSystem& system, const ContactSolverOptions& options, bool visit_all, const Vec3s& dv,
                     Multipliers& lambda)
{
    constexpr Real watch_margin = 0.1; // of the velocity scale
    const ContactProblem& p = system.problem;
    for (Index i : touched_) f_[i].setZero();
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        p.add_impulse(r, lambda[j][0] * r.normal + lambda[j][1] * r.tangent1 + lambda[j][2] * r.tangent2, f_);
    }
    parallel_for(count(touched_), [&](Index t) {
        const Index i = touched_[t];
        u_[i] = dv[i] + system.diagonal_inverse[i] * (f_[i] - system.A.row_product(i, dv));
    });
    // Most rows are near misses: only those that push or are about to are visited every time, all of them now and then.
    for (int sweep = 0; sweep < options.inner_sweeps; ++sweep) {
        const bool all = sweep == 0 && visit_all;
        const Index visits = all ? p.size() : count(watched_);
        for (Index visit = 0; visit < visits; ++visit) {
            const Index j = all ? visit : watched_[visit];
            const Row& r = p.rows[j];
            const Mat3& W = W_[j];
            if (W(0, 0) <= 0) continue; // nothing that this row could move
            const Vec3 world = p.relative_velocity(r, u_);
            Vec3 u(r.normal.dot(world) + base_[j][0], 0, 0), next = Vec3::Zero();
            if (all) slack_[j] = u[0];
            if (r.normal_only || r.friction == 0) {
                next[0] = std::max(0.0, lambda[j][0] - u[0] / W(0, 0));
            } else {
                u[1] = r.tangent1.dot(world) + base_[j][1];
                u[2] = r.tangent2.dot(world) + base_[j][2];
                const Vec3 b = u - W * lambda[j];
                next = options.cone == FrictionCone::pyramid
                           ? solve_local_pyramid(W, inverse_[j], b, r.friction, lambda[j], options.local_passes)
                           : solve_local_disc(W, b, r.friction, lambda[j]);
            }
            const Vec3 change = next - lambda[j];
            if (change.isZero(0)) continue;
            lambda[j] = next;
            const Vec3 impulse = change[0] * r.normal + change[1] * r.tangent1 + change[2] * r.tangent2;
            for (Index k = r.entry_begin; k < r.entry_end; ++k) {
                const RowEntry& e = p.entries[k];
                u_[e.block] += system.diagonal_inverse[e.block] * (e.weight * impulse);
                f_[e.block] += e.weight * impulse;
            }
            for (Index k = r.arm_begin; k < r.arm_end; ++k) {
                const RowArm& a = p.arms[k];
                const Vec3 twist = a.arm.cross(impulse);
                u_[a.block] += system.diagonal_inverse[a.block] * twist;
                f_[a.block] += twist;
            }
        }
        if (all) {
            watched_.clear();
            for (Index j = 0; j < p.size(); ++j)
                if (lambda[j][0] > 0 || slack_[j] < watch_margin * system.velocity_scale) watched_.push_back(j);
        }
    }
}

// One block Gauss-Seidel sweep over A dv = J^T l [Otaduy09, eq. 12]. Exactly one: solving better between updates of
// the multipliers turns the iteration into Uzawa's with too long a step, which diverges on stiff bodies.
void Ica::refine(const ContactSystem& system, Vec3s& dv)
{
    for (std::size_t c = 0; c + 1 < active_begin_.size(); ++c) {
        const Index begin = active_begin_[c], size = active_begin_[c + 1] - begin;
        parallel_for(
            size,
            [&](Index k) {
                const Index i = active_[begin + k];
                // D^-1 (f - (A dv - D dv)) = dv + D^-1 (f - A dv)
                dv[i] += system.diagonal_inverse[i] * (f_[i] - system.A.row_product(i, dv));
            },
            512);
    }
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
    {
        std::vector<char> live(dv.size(), 0);
        for (Index i : active_) live[i] = 1;
        for (std::size_t i = 0; i < dv.size(); ++i)
            if (!live[i]) dv[i].setZero();
    }
    Anderson anderson(options.anderson, active_, system.diagonal_inverse, W_);
    constexpr int check_every = 4;
    Vec3s best_dv;
    Multipliers best_lambda;
    Real best = std::numeric_limits<Real>::infinity();
    while (result.iterations < options.max_iterations) {
        anderson.begin(dv, lambda);
        anticipate(system, options, result.iterations % check_every == 0, dv, lambda);
        refine(system, dv);
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
            if (merit <= 1) {
                result.converged = true;
                return result;
            }
        }
        anderson.mix(system.problem, options.cone, dv, lambda);
    }
    if (!best_dv.empty()) {
        dv = std::move(best_dv);
        lambda = std::move(best_lambda);
        result.residuals = contact_residuals(system, dv, lambda, options.cone);
    }
    return result;
}

Real Ica::inner_residual(const ContactSystem& system, FrictionCone cone, const Multipliers& lambda) const
{
    const ContactProblem& p = system.problem;
    Real sum_sq = 0;
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        const Real trace = W_[j].trace();
        if (trace <= 0) continue;
        const Vec3 world = p.relative_velocity(r, u_);
        const Vec3 u(r.normal.dot(world) + base_[j][0], r.tangent1.dot(world) + base_[j][1],
                     r.tangent2.dot(world) + base_[j][2]);
        const Vec3 step = lambda[j] - u / trace;
        Vec3 natural = lambda[j] - project_to_cone(step, r.friction, cone);
        if (r.normal_only || r.friction == 0) natural = Vec3(lambda[j][0] - std::max(0.0, step[0]), 0, 0);
        sum_sq += natural.squaredNorm() * trace * trace;
    }
    return std::sqrt(sum_sq / std::max<Index>(1, p.size()));
}

// Step numbers are those of [Otaduy09, 5.5].
ContactResult Ica::solve_as_published(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                      Multipliers& lambda)
{
    constexpr Real change = 0.05;  // "change less than 5 %"
    constexpr Real distance = 0.5; // "larger than half the collision detection tolerance"
    constexpr int max_inner = 100;
    ContactSolverOptions inner = options;
    inner.inner_sweeps = 1;
    inner.local_passes = 3;
    const auto settled = [&](Real now, Real before) { return std::abs(now - before) <= change * before; };
    ContactResult result;
    if (system.problem.size() == 0) {
        for (Vec3& x : dv) x.setZero();
        result.converged = true;
        return result;
    }
    prepare(system); // 2
    Real dynamics_before = std::numeric_limits<Real>::infinity(), lcp_before = dynamics_before;
    while (result.iterations < options.max_iterations) { // 3
        Real before = std::numeric_limits<Real>::infinity();
        for (int k = 0; k < max_inner; ++k) {            // 3.2
            anticipate(system, inner, true, dv, lambda); // 3.1 and one sweep of 3.2.1
            const Real now = inner_residual(system, options.cone, lambda);
            if (settled(now, before) || now == 0) break;
            before = now;
        }
        refine(system, dv); // 3.3
        ++result.iterations;
        result.residuals = contact_residuals(system, dv, lambda, options.cone);
        result.history.push_back(result.residuals.worst());
        if (settled(result.residuals.dynamics, dynamics_before) &&
            settled(result.residuals.complementarity, lcp_before) && result.residuals.gap <= distance) {
            result.converged = true;
            break;
        }
        dynamics_before = result.residuals.dynamics;
        lcp_before = result.residuals.complementarity;
    }
    return result;
}

} // namespace pliant
