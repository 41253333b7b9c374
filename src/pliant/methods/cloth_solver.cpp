#include "pliant/methods/cloth_solver.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pliant {
namespace {

constexpr Real watched = 0.97;    ///< of the allowed length: a limit this close to being reached joins the solve
constexpr Real room = 0.005;      ///< of the allowed length: the solve aims so much lower, and may miss by as much
constexpr Real least_room = 1e-3; ///< where a limit is broken at the start
constexpr Real regained = 0.5;    ///< part of an excess at the start that one step wins back
constexpr Real loose = 100;       ///< where only this solver follows, the free motion may miss its tolerance by so much
constexpr int free_iterations = 10'000; ///< a bound, for what never converges
constexpr int shown_iterations = 1000;  ///< likewise of stiff cloth
constexpr Index turns_until_asked = 16; ///< sub-steps until single precision is tried again on stiff cloth
constexpr Index small_part = 5000;      ///< blocks of stiff cloth whose contacts others can solve
constexpr Real solved = 1.01; ///< over the tolerance, in double precision: what single precision takes for solved
constexpr int max_looks = 4;  ///< at an answer in double precision, and at limits that it breaks anew

std::vector<char> held_blocks(const Model& model)
{
    std::vector<char> held(static_cast<std::size_t>(model.block_count()), 0);
    for (const Pin& pin : model.pins) held[pin.block] = 1;
    return held;
}

/// Per part of the matrix: whether it has cloth.
std::vector<char> parts_with_cloth(const Model& model, const LinearSystem& system, ClothScope scope)
{
    std::vector<char> cloth(static_cast<std::size_t>(system.parts()), scope == ClothScope::everything);
    for (Index i = 0; i < model.block_count(); ++i)
        if (model.bodies[model.block_body[i]].sheet) cloth[system.part_of_block()[i]] = 1;
    return cloth;
}

/// A limit that an answer breaks (join is 2) pulls at its neighbours, which the next answer would break: they join with
/// it. At the impact of a fine cloth they would need a solve a ring.
void join_neighbours(const std::vector<LengthLimit>& limits, std::size_t blocks, std::vector<char>& join)
{
    constexpr int rings = 2;
    if (std::find(join.begin(), join.end(), 2) == join.end()) return;
    std::vector<char> pulled(blocks, 0);
    for (int ring = 0; ring < rings; ++ring) {
        for (Index i = 0; i < count(limits); ++i)
            if (join[i] == 2) pulled[limits[i].a] = pulled[limits[i].b] = 1;
        for (Index i = 0; i < count(limits); ++i)
            if (!join[i] && (pulled[limits[i].a] || pulled[limits[i].b])) join[i] = 2;
    }
}

} // namespace

ClothSolver::ClothSolver(const Model& model, const LinearSystem& system, ClothScope scope)
    : part_of_block_(system.part_of_block()), mine_(parts_with_cloth(model, system, scope)),
      multigrid_(system.A().pattern(), part_of_block_, held_blocks(model), model.rest), linear_(multigrid_),
      lagrangian_(multigrid_)
{
    for (Index q = 0; q < count(mine_); ++q)
        if (mine_[q]) {
            sheets_.push_back(q);
            regions_.push_back(multigrid_.region({&q, 1}));
        }
    elastic_.assign(mine_.size(), 0);
    heavy_.assign(mine_.size(), 0);
    limited_.assign(mine_.size(), 0);
    for (Index i = 0; i < model.block_count(); ++i) {
        const Body& body = model.bodies[model.block_body[i]];
        const Index part = part_of_block_[i];
        elastic_[part] += body.rotor == none && !body.sheet;
        heavy_[part] |= !body.sheet;
        cloth_mass_.push_back(body.sheet ? model.mass[i] : 0);
        limited_[part] |= body.sheet && body.limit_count > 0;
    }
    size_.assign(mine_.size(), 0);
    for (const Index part : part_of_block_) ++size_[part];
    may_leave_ = scope == ClothScope::sheets;
    looseness_ = std::count(mine_.begin(), mine_.end(), 0) == 0 ? loose : 1;
    r_ = x_ = multigrid_.make_vectors();
}

/// Parts of the matrix whose cloth is stiffer than single precision can tell from its inertia. A guess that is right
/// says nothing of whether their corrections can be solved: they start from rest, which shows it.
std::vector<char> ClothSolver::stiff_parts(const LinearSystem& system) const
{
    constexpr Real most = 1 / std::numeric_limits<float>::epsilon(); // of stiffness over inertia
    std::vector<char> stiff(mine_.size(), 0);
    if (!may_leave_) return stiff;
    for (Index i = 0; i < count(cloth_mass_); ++i) {
        const Mat3& D = system.A().block(system.A().pattern().diagonal[i]);
        stiff[part_of_block_[i]] |= cloth_mass_[i] > 0 && D.trace() > 3 * most * cloth_mass_[i];
    }
    return stiff;
}

CgResult ClothSolver::begin(const LinearSystem& system, std::vector<Real> fine, std::vector<Index>& turns, Vec3s& v)
{
    system_ = &system;
    fine_ = std::move(fine);
    kept_ = updated_ = mine_;
    const auto leave = [&](Index part) { // relaxation keeps no limit of stiff cloth, and takes long for a large one
        kept_[part] = mine_[part] && (limited_[part] || size_[part] > small_part);
    };
    for (Index part = 0; part < count(mine_); ++part) {
        if (turns[part] <= 0) continue;
        leave(part);
        updated_[part] = 0;
    }
    free_residual_.assign(v.size(), Vec3::Zero());
    left_over_.assign(mine_.size(), 0);
    const Vec3s start = v;
    const std::vector<char> stiff = stiff_parts(system);
    const LaneOrder& order = multigrid_.order();
    std::vector<CgResult> results(sheets_.size());
    parallel_for(
        count(sheets_),
        [&](Index k) {
            const Index part = sheets_[k];
            results[k].converged = true;
            if (turns[part] > 0) return;
            const Multigrid::Region& region = regions_[k];
            multigrid_.update(system.A(), region);
            const auto for_blocks = [&](auto&& body) {
                for_chunks(region.finest(), [&](Index first) {
                    for (Index lane = first; lane < first + Float8::width; ++lane)
                        if (const Index block = order.block_of_lane[lane]; block != none) body(lane, block);
                });
            };
            const auto residual = [&](Index block) -> Vec3 {
                return system.b()[block] - system.A().row_product(block, v);
            };
            if (stiff[part])
                for_blocks([&](Index, Index block) {
                    if (!system.diagonal_inverse()[block].isZero(0)) v[block].setZero();
                });
            for_blocks([&](Index lane, Index block) { r_.put(lane, residual(block).cast<float>()); });
            const Real looseness = stiff[part] ? 1 : looseness_;
            const int iterations = stiff[part] ? shown_iterations : free_iterations;
            results[k] = linear_.solve(region, looseness * fine_[part], iterations, r_, x_);
            for_blocks([&](Index lane, Index block) {
                if (!system.diagonal_inverse()[block].isZero(0)) v[block] += x_.get(lane).cast<Real>();
            });
            const double left_sq = sum_chunks(region.finest(), [&](Index first) {
                double sum = 0;
                for (Index lane = first; lane < first + Float8::width; ++lane) {
                    const Index block = order.block_of_lane[lane];
                    if (block == none || system.diagonal_inverse()[block].isZero(0)) continue;
                    const Vec3 left = free_residual_[block] = residual(block);
                    sum += left.dot(system.diagonal_inverse()[block] * left);
                }
                return sum;
            });
            left_over_[part] = results[k].residual = left_sq > 0 ? std::sqrt(left_sq) / fine_[part] : left_sq;
            if (!stiff[part] || left_over_[part] <= solved) return; // the latter is not so where it is no number
            turns[part] = turns_until_asked;
            for_blocks([&](Index, Index block) {
                v[block] = start[block];
                free_residual_[block].setZero();
            });
            results[k] = {.iterations = results[k].iterations, .residual = 0, .converged = true};
            left_over_[part] = 0;
            leave(part);
        },
        1);
    CgResult result;
    result.converged = true;
    for (const CgResult& r : results) {
        result.iterations = std::max(result.iterations, r.iterations);
        result.residual = std::max(result.residual, r.residual);
        result.converged &= r.converged;
    }
    return result;
}

std::vector<char> ClothSolver::choose(ContactParts& parts) const
{
    std::vector<char> chosen(static_cast<std::size_t>(parts.count), 1), cloth(chosen.size(), 0);
    std::vector<Index> elastic(chosen.size(), 0), others(chosen.size(), 0); // blocks
    std::vector<Real> fine_sq(chosen.size(), 0);
    std::vector<char> seen(mine_.size(), 0);
    for (Index i = 0; i < count(part_of_block_); ++i) {
        const Index part = part_of_block_[i];
        if (seen[part]) continue;
        seen[part] = 1;
        if (kept_[part])
            others[parts.of_block[i]] += size_[part];
        else
            elastic[parts.of_block[i]] += mine_[part] ? size_[part] : elastic_[part];
        cloth[parts.of_block[i]] |= kept_[part];
        fine_sq[parts.of_block[i]] += fine_[part] * fine_[part];
    }
    for (Index q = 0; q < parts.count; ++q) chosen[q] = cloth[q] && elastic[q] <= others[q];
    for (Index q = 0; q < parts.count; ++q) parts.fine[q] = chosen[q] ? std::sqrt(fine_sq[q]) : 0;
    return chosen;
}

std::vector<char> ClothSolver::also_relaxable(const ContactParts& parts, std::vector<char> chosen) const
{
    std::vector<char> loaded(chosen.size(), 0);
    for (Index i = 0; i < count(part_of_block_); ++i) {
        loaded[parts.of_block[i]] |= heavy_[part_of_block_[i]];
        if (limited_[part_of_block_[i]]) chosen[parts.of_block[i]] = 0; // relaxation keeps none under a heavy body
    }
    for (std::size_t q = 0; q < chosen.size(); ++q) chosen[q] &= loaded[q];
    return chosen;
}

std::vector<LagrangianPart> ClothSolver::gather(const ContactSystem& system) const
{
    std::vector<LagrangianPart> parts(static_cast<std::size_t>(system.parts.count));
    for (Index j = 0; j < count(system.parts.of_row); ++j) parts[system.parts.of_row[j]].rows.push_back(j);
    std::vector<char> seen(mine_.size(), 0);
    for (Index i = 0; i < count(part_of_block_); ++i) {
        const Index part = part_of_block_[i];
        if (seen[part]) continue;
        seen[part] = 1;
        parts[system.parts.of_block[i]].components.push_back(part);
        parts[system.parts.of_block[i]].loaded |= heavy_[part] != 0;
    }
    for (Index q = 0; q < count(parts); ++q) {
        parts[q].velocity_scale = system.parts.velocity_scale[q];
        parts[q].fine = system.parts.fine[q];
    }
    return parts;
}

/// Makes balls of the limits that are known already and of those that dv makes longer than `longest` times the allowed
/// length. True if there are new ones.
bool ClothSolver::watch_lengths(const Substep& s, const Vec3s& dv, Real longest, const ContactParts& contact_parts,
                                const std::vector<char>& chosen_parts, std::vector<LagrangianPart>& parts,
                                ContactSet& set) const
{
    const std::vector<LengthLimit>& limits = s.model.length_limits;
    std::vector<char> join(limits.size(), 0);
    for (const LengthImpulse& known : set.lengths) join[known.limit] = 1;
    const auto start_of = [&](const LengthLimit& limit) -> Vec3 {
        return (s.start.position[limit.a] - s.start.position[limit.b]) / s.dt + s.v_free[limit.a] - s.v_free[limit.b];
    };
    parallel_for(count(limits), [&](Index i) {
        const LengthLimit& limit = limits[i];
        const Real allowed = limit.ratio * limit.rest_length / s.dt;
        if (!join[i] && (start_of(limit) + dv[limit.a] - dv[limit.b]).squaredNorm() > std::pow(longest * allowed, 2))
            join[i] = 2;
    });
    if (longest == 1) join_neighbours(limits, s.v_free.size(), join);
    for (LagrangianPart& part : parts) part.balls.clear();
    std::vector<LengthImpulse> lengths;
    std::size_t known = 0;
    bool more = false;
    for (Index i = 0; i < count(limits); ++i) {
        const bool chosen = chosen_parts[contact_parts.of_block[limits[i].a]];
        if (join[i] == 1 && !chosen) ++known; // what other solvers do to it is not known as a ball
        if (!join[i] || !chosen) continue;
        more |= join[i] == 2;
        const LengthLimit& limit = limits[i];
        const Real allowed = limit.ratio * limit.rest_length, aim = (1 - room) * allowed;
        const Real now = (s.start.position[limit.a] - s.start.position[limit.b]).norm();
        const Real target = now > aim ? now - regained * (now - aim) : aim;
        const Real miss = std::max(allowed - target, least_room * allowed);
        lengths.push_back({i, join[i] == 1 ? set.lengths[known++].impulse : Vec3(Vec3::Zero())});
        parts[contact_parts.of_block[limit.a]].balls.push_back(
            {limit.a, limit.b, start_of(limit), target / s.dt, miss / s.dt, lengths.back().impulse});
    }
    set.lengths = std::move(lengths);
    return more;
}

/// A part without rows or limits has a linear problem left: what the free solve left over.
void ClothSolver::finish_free(const LagrangianPart& part, const Vec3s& residual, Vec3s& dv, ContactResult& result)
{
    const Multigrid::Region region = multigrid_.region(part.components);
    const LaneOrder& order = multigrid_.order();
    const auto for_blocks = [&](auto&& body) {
        for_chunks(region.finest(), [&](Index first) {
            for (Index lane = first; lane < first + Float8::width; ++lane)
                if (const Index block = order.block_of_lane[lane]; block != none) body(lane, block);
        });
    };
    for_blocks([&](Index lane, Index block) { r_.put(lane, residual[block].cast<float>()); });
    const CgResult r = linear_.solve(region, part.fine, free_iterations, r_, x_);
    for_blocks([&](Index lane, Index block) { dv[block] = x_.get(lane).cast<Real>(); });
    result.iterations = r.iterations;
    result.converged = r.converged;
}

namespace {

/// In double precision, with what is left of the loads.
std::vector<ContactResiduals> judge(ContactSystem system, FrictionCone cone, const Vec3s& load, const Vec3s& dv,
                                    const Multipliers& lambda)
{
    system.load = &load;
    return residuals_by_part(system, dv, lambda, cone);
}

} // namespace

/// The multigrid of bodies that touch cloth, once a sub-step.
void ClothSolver::update_others(const std::vector<char>& chosen, const std::vector<LagrangianPart>& parts)
{
    std::vector<Index> others;
    for (Index q = 0; q < count(parts); ++q) {
        if (!chosen[q]) continue;
        for (const Index part : parts[q].components)
            if (!updated_[part]) others.push_back(part);
    }
    if (others.empty()) return;
    std::sort(others.begin(), others.end());
    for (const Index part : others) updated_[part] = 1;
    multigrid_.update(system_->A(), multigrid_.region(others));
}

ContactResult ClothSolver::solve(const ContactSystem& system, const Substep& s, const ContactSolverOptions& options,
                                 const std::vector<char>& chosen, ContactSet& set, Vec3s& dv, Multipliers& lambda,
                                 Vec3s& load)
{
    std::vector<LagrangianPart> parts = gather(system);
    update_others(chosen, parts);
    watch_lengths(s, dv, watched, system.parts, chosen, parts, set);
    ContactResult result;
    std::vector<ContactResult> results(parts.size());
    std::vector<char> open = chosen;
    for (int look = 1; look <= max_looks; ++look) {
        parallel_for(
            count(parts),
            [&](Index q) {
                if (!open[q]) return;
                if (parts[q].rows.empty() && parts[q].balls.empty())
                    finish_free(parts[q], free_residual_, dv, results[q]);
                else
                    results[q] = lagrangian_.solve(system, free_residual_, options, parts[q], dv, lambda);
            },
            1);
        bool converged = true;
        int iterations = 0;
        for (Index q = 0; q < count(parts); ++q) {
            if (!chosen[q]) continue;
            converged &= results[q].converged;
            result.given_up |= results[q].given_up;
            if (!open[q]) continue;
            iterations = std::max(iterations, results[q].iterations);
            if (!parts[q].rows.empty()) result.history = results[q].history;
        }
        result.iterations += iterations;
        load = free_residual_;
        for (Index i = 0; i < count(load); ++i) // what was solved to the tolerance before
            if (!chosen[system.parts.of_block[i]] && left_over_[part_of_block_[i]] < solved) load[i].setZero();
        std::vector<std::size_t> next(parts.size(), 0);
        for (LengthImpulse& length : set.lengths) {
            const Index part = system.parts.of_block[s.model.length_limits[length.limit].a];
            const LengthBall& ball = parts[part].balls[next[part]++];
            length.impulse = ball.impulse;
            load[ball.a] += ball.impulse;
            load[ball.b] -= ball.impulse;
        }
        result.converged = converged;
        if (result.given_up) break;
        result.judged = !watch_lengths(s, dv, 1, system.parts, chosen, parts, set);
        if (result.judged) {
            const std::vector<ContactResiduals> residuals = judge(system, options.cone, load, dv, lambda);
            for (Index q = 0; q < count(open); ++q) // those that converged in single precision and have not in double
                open[q] = results[q].converged && residuals[q].worst() > options.tolerance;
            result.residuals = worst_of(residuals);
        } else {
            open = chosen;
        }
        if (std::find(open.begin(), open.end(), 1) == open.end()) break;
    }
    return result;
}

} // namespace pliant
