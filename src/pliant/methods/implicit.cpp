#include "pliant/methods/implicit.hpp"

#include "pliant/contact/anticipation.hpp"
#include "pliant/contact/failsafe.hpp"
#include "pliant/contact/local_response.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace pliant {
namespace {

constexpr Real affordable_responses = 1e7; ///< numbers in response matrices that a stalled solve may build
constexpr Real diverged_merit = 10;        ///< residual over tolerance beyond which a shorter step is tried
constexpr int rounds_without_flat_crossings = 2;
constexpr int max_subdivisions = 12; ///< halvings before a scripted squeeze counts as a pinch

bool is_scripted_alone(const Surface& surface, const Impact& impact)
{
    return std::all_of(impact.vertices.begin(), impact.vertices.end(),
                       [&](Index v) { return v == none || surface.prescribed[v]; });
}

/// Impacts of scripted parts with each other come first; true if there are any. No step, however short, avoids them.
bool put_scripted_first(const Surface& surface, std::vector<Impact>& impacts)
{
    const auto end = std::stable_partition(impacts.begin(), impacts.end(),
                                           [&](const Impact& i) { return is_scripted_alone(surface, i); });
    return end != impacts.begin();
}

} // namespace

ImplicitContact::ImplicitContact(const World& world, const ImplicitOptions& options)
    : options_(options), system_(world.model), ica_(system_.A().pattern()),
      detector_(world.model.surface, world.model.no_contact), cones_(world.model.surface)
{
    smallest_gap_ = std::numeric_limits<Real>::infinity();
    for (const Body& body : world.model.bodies)
        if (body.gap > 0) smallest_gap_ = std::min(smallest_gap_, body.gap);
    if (!std::isfinite(smallest_gap_)) smallest_gap_ = 0;
    hard_gap_ = options_.hard_gap_fraction * smallest_gap_;
    detector_.set_reuse_margin(hard_gap_);
    for (Index b = 0; b < count(world.model.bodies); ++b)
        if (world.model.bodies[b].plane) plane_bodies_.push_back(b);
}

StepReport ImplicitContact::step(World& world, Real dt)
{
    StepReport report;
    report.substeps = 0;
    ImplicitReport& own = report.own.use<ImplicitReport>();
    world.state.memory.use<ImplicitMemory>();
    const Real end = world.state.time + dt;
    // Refinement may halve the step a few times; only scripted motion that outruns the gap may cut it further.
    const Real shortest = std::ldexp(dt, -options_.max_halvings), vanishing = std::ldexp(dt, -max_subdivisions);
    Real h = dt, remaining = dt;
    int successes = 0;
    while (remaining > 1e-9 * dt) {
        h = std::min(h, remaining);
        const bool refined = try_step(world, h, h > 1.5 * shortest, report);
        if (!refined && (h > 1.5 * shortest || !make_safe(world, h, report))) {
            const bool hopeless = h <= 1.5 * shortest && put_scripted_first(world.model.surface, impacts_);
            if (h <= 1.5 * vanishing || hopeless) stop_or_release(world, report);
            if (!impacts_.empty()) {
                const Impact& i = impacts_.front();
                const int other = i.key.kind == PairKind::edge_edge ? 2 : 1;
                report.limiting_a = i.vertices[0];
                report.limiting_b = i.key.kind == PairKind::vertex_plane ? none : i.vertices[other];
            }
            h = std::max(h / 2, vanishing);
            successes = 0;
            ++own.halvings;
            report.rung = std::max(report.rung, Rung::halved);
            continue;
        }
        commit(world, h, report);
        ++report.substeps;
        remaining -= h;
        if (remaining > 1e-9 * dt)
            report.inner.push_back({world.state.time, world.state.position, world.state.orientation});
        if (++successes == 2) h *= 2, successes = 0;
    }
    for (PairForce& p : report.pair_forces) {
        p.normal /= dt;
        p.friction /= dt;
    }
    world.state.time = end; // the sum of the sub-steps up to rounding
    ++world.state.step;
    return report;
}

bool ImplicitContact::try_step(const World& world, Real dt, bool solver_may_fail, StepReport& report)
{
    ImplicitReport& own = report.own.use<ImplicitReport>();
    impacts_.clear();
    solve_free(world, dt, report);
    find_proximity(world, dt, report);
    for (int round = 1; round <= options_.max_rounds; ++round) {
        ++own.rounds;
        own.max_rounds = std::max(own.max_rounds, round);
        solve_contacts(world, dt, report);
        if (diverged_ && solver_may_fail) return false;
        if (check_tentative(world, dt, round, report)) return true;
        if (round == options_.max_rounds && impacts_.empty()) return true; // a strain limit alone is no reason to halve
        report.rung = std::max(report.rung, Rung::refinement);
    }
    return false;
}

void ImplicitContact::solve_free(const World& world, Real dt, StepReport& report)
{
    const Model& model = world.model;
    const State& state = world.state;
    const ImplicitMemory& memory = state.memory.get<ImplicitMemory>();
    ImplicitReport& own = report.own.use<ImplicitReport>();
    {
        const ScopedTimer timer(report.profile, "assemble");
        system_.assemble(model, state, dt);
    }
    const ScopedTimer timer(report.profile, "free solve");
    extrapolate(state.velocity, memory.free_change, dt, memory.last_substep, v_free_);
    const CgResult cg = system_.solve(options_.linear_tolerance, v_free_);
    own.linear_iterations += cg.iterations;
    own.linear_residual = std::max(own.linear_residual, cg.residual);
    dv_.assign(v_free_.size(), Vec3::Zero());
    if (memory.contact_change.size() == dv_.size())
        for (std::size_t i = 0; i < dv_.size(); ++i) dv_[i] = dt / memory.last_substep * memory.contact_change[i];
}

void ImplicitContact::solve_contacts(const World& world, Real dt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "contact solve");
    const StepGeometry geometry{world.model, world.state, x0_, x1_, dt};
    contact_of_row_ = build_rows(geometry, contacts_, v_free_, problem_);
    load_impulses(problem_, contact_of_row_, contacts_, options_.solver.cone, lambda_);
    Real speed_sq = 0;
    for (const Row& r : problem_.rows) speed_sq += (r.u0 + problem_.relative_velocity(r, v_free_)).squaredNorm();
    const Real scale = std::max({problem_.size() > 0 ? std::sqrt(speed_sq / problem_.size()) : 0,
                                 world.model.gravity.norm() * dt, std::numeric_limits<Real>::min()});
    const ContactSystem system{system_.A(), system_.diagonal_inverse(), v_free_, problem_, dt,
                               scale,       &system_.coarse()};
    const ContactSolverOptions& solver = options_.solver;
    const auto merit = [&](const ContactResult& r) {
        return std::max(r.residuals.worst() / solver.tolerance, r.residuals.gap / solver.gap_tolerance);
    };
    ContactResult result =
        solver.kind == SolverKind::ica         ? ica_.solve(system, solver, dv_, lambda_)
        : solver.kind == SolverKind::ica_paper ? ica_.solve_as_published(system, solver, dv_, lambda_)
        : solver.kind == SolverKind::local     ? solve_locally(system, world.model.mass, solver, dv_, lambda_)
                                               : solve_by_anticipation(system, solver, dv_, lambda_);
    // A rate that stalls for the sake of a few stiff bodies: their factors are cheap, and a sweep over exact responses
    // does not care for stiffness.
    if (solver.kind == SolverKind::ica && !result.converged && anticipation_cost(system) < affordable_responses) {
        Vec3s dv = dv_;
        Multipliers lambda = lambda_;
        ContactResult direct = solve_by_anticipation(system, solver, dv, lambda);
        direct.iterations += result.iterations;
        if (!direct.history.empty() && merit(direct) < merit(result)) {
            dv_ = std::move(dv);
            lambda_ = std::move(lambda);
            result = std::move(direct);
        }
    }
    // The published rule and the local response promise no residual.
    const bool promises = solver.kind == SolverKind::ica || solver.kind == SolverKind::anticipation;
    diverged_ = promises && merit(result) > diverged_merit;
    store_impulses(problem_, contact_of_row_, lambda_, contacts_);
    ImplicitReport& own = report.own.use<ImplicitReport>();
    own.contact_iterations += result.iterations;
    own.residual_dynamics = std::max(own.residual_dynamics, result.residuals.dynamics);
    own.residual_gap = std::max(own.residual_gap, result.residuals.gap);
    own.residual_complementarity = std::max(own.residual_complementarity, result.residuals.complementarity);
    report.residual_history = result.history;
    v_.resize(dv_.size());
    for (std::size_t i = 0; i < dv_.size(); ++i) v_[i] = v_free_[i] + dv_[i];
}

bool ImplicitContact::check_tentative(const World& world, Real dt, int round, StepReport& report)
{
    const ScopedTimer timer(report.profile, "ccd");
    const Model& model = world.model;
    const std::vector<Impact>& impacts = find_impacts(world, v_, dt);
    // Two flat surfaces that meet hit at every crossing of their edges at once. The vertices say all of it: crossings
    // of flat edges next to another impact wait, and are added only if the next rounds still find them.
    std::vector<char> near_impact(x0_.size(), 0);
    const auto is_flat_crossing = [&](const Impact& i) {
        return i.key.kind == PairKind::edge_edge && (flat_[i.key.a] || flat_[i.key.b]);
    };
    if (round <= rounds_without_flat_crossings)
        for (const Impact& i : impacts)
            if (!is_flat_crossing(i))
                for (Index v : i.vertices)
                    if (v != none) near_impact[v] = 1;
    const Index known = count(contacts_);
    for (const Impact& i : impacts) {
        const auto near = [&](int a, int b) { return near_impact[i.vertices[a]] || near_impact[i.vertices[b]]; };
        if (is_flat_crossing(i) && near(0, 1) && near(2, 3)) continue;
        add_impact(world, i, dt, known);
    }
    const bool strained = add_strain_rows(world);
    if (impacts.empty() && !strained) return true;
    // What a linear row misses of a rotation is added to its right-hand side for the next round.
    for (Contact& c : contacts_) {
        if (model.bodies[c.body_a].rotor == none && model.bodies[c.body_b].rotor == none) continue;
        if (c.kind == ContactKind::strain) continue;
        const Real moved = c.kind == ContactKind::plane
                               ? c.normal.dot(x1_[c.vertex[0]] - x0_[c.vertex[0]])
                               : c.normal.dot(relative_position(c, x1_) - relative_position(c, x0_));
        Real linear = 0;
        for (int k = 0; k < 4; ++k) {
            const Index v = c.vertex[k];
            if (v == none) continue;
            Vec3 u;
            if (const Rotor* rotor = model.rotor_of_vertex(v))
                u = v_[rotor->block] +
                    Vec3(v_[rotor->angular_block()]).cross(x0_[v] - world.state.position[rotor->block]);
            else
                u = (x1_[v] - x0_[v]) / dt;
            linear += c.weight[k] * c.normal.dot(u);
        }
        c.correction = moved - dt * linear;
    }
    std::sort(contacts_.begin(), contacts_.end(), by_key);
    return false;
}

const std::vector<Impact>& ImplicitContact::find_impacts(const World& world, const Vec3s& v, Real dt)
{
    move_configuration(world.model, world.state, v, dt, end_);
    surface_positions(world.model, end_, x1_);
    ImpactOptions options;
    options.hard_gap = hard_gap_;
    options.tolerance = options_.ccd_fraction * hard_gap_;
    options.kind = options_.ccd;
    options.planes = planes_;
    impacts_ = detector_.impacts(x0_, x1_, options);
    const ImplicitMemory& memory = world.state.memory.get<ImplicitMemory>();
    std::erase_if(impacts_, [&](const Impact& i) { return is_released(memory, i.key); });
    return impacts_;
}

bool ImplicitContact::make_safe(const World& world, Real dt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "fail-safe");
    ImplicitReport& own = report.own.use<ImplicitReport>();
    const FailsafeStep step{world.model, world.state, x0_, plane_bodies_, dt};
    const FindImpacts find = [&](const Vec3s& v) -> const std::vector<Impact>& { return find_impacts(world, v, dt); };
    Vec3s v = v_;
    const ZoneReport zones = resolve_by_zones(step, find, v);
    own.zones += zones.zones;
    if (zones.safe) {
        report.rung = std::max(report.rung, Rung::zones);
    } else {
        v = v_;
        const TruncationReport truncation = resolve_by_truncation(step, find, v);
        own.truncated_vertices += truncation.truncated;
        if (!truncation.safe) {
            impacts_ = truncation.left;
            return false;
        }
        report.rung = std::max(report.rung, Rung::truncation);
    }
    // The answer replaces the contact solution: its impulses do not describe this motion.
    for (std::size_t i = 0; i < v.size(); ++i) dv_[i] += v[i] - v_[i];
    v_ = v;
    for (Contact& c : contacts_) c.impulse.setZero();
    return true;
}

void ImplicitContact::stop_or_release(World& world, StepReport& report)
{
    const Surface& surface = world.model.surface;
    if (impacts_.empty()) return;
    if (options_.pinch == PinchPolicy::release) {
        std::vector<ReleasedPair>& released = world.state.memory.use<ImplicitMemory>().released;
        for (const Impact& i : impacts_) released.push_back({static_cast<std::int32_t>(i.key.kind), i.key.a, i.key.b});
        std::sort(released.begin(), released.end());
        report.own.use<ImplicitReport>().released_pairs += count(impacts_);
        return;
    }
    const Impact& i = impacts_.front();
    const auto name = [&](Index body) { return "'" + world.model.bodies[body].name + "'"; };
    const Index a = surface.vertex_body[i.vertices[0]];
    const Index b = i.key.kind == PairKind::vertex_plane ? plane_bodies_[i.key.b]
                    : i.key.kind == PairKind::edge_edge  ? surface.vertex_body[i.vertices[2]]
                                                         : surface.vertex_body[i.vertices[1]];
    char where[200];
    std::snprintf(where, sizeof where, " at (%.4g, %.4g, %.4g) m, time %.6g s", x0_[i.vertices[0]].x(),
                  x0_[i.vertices[0]].y(), x0_[i.vertices[0]].z(), world.state.time);
    const std::string vertex = std::to_string(i.vertices[0] - world.model.bodies[a].first_vertex);
    const std::string cure = "; change the script, or set contact.pinch: release to let such pairs through";
    if (is_scripted_alone(surface, i))
        throw Stall("pinched: scripts alone move body " + name(a) + " (pinned vertex " + vertex + ") into body " +
                    name(b) + where + ", and nothing there can give way" + cure);
    throw Stall("pinched: scripted motion squeezes body " + name(a) + " (vertex " + vertex + ") against body " +
                name(b) + where + ", and no step however small is free of crossings" + cure);
}

void ImplicitContact::commit(World& world, Real dt, StepReport& report)
{
    State& state = world.state;
    ImplicitMemory& memory = state.memory.use<ImplicitMemory>();
    memory.free_change.resize(v_.size());
    memory.contact_change.resize(v_.size());
    for (std::size_t i = 0; i < v_.size(); ++i) {
        memory.free_change[i] = v_free_[i] - state.velocity[i];
        memory.contact_change[i] = dv_[i];
    }
    report_contacts(dt, report);
    advance(world.model, state, v_, dt);
    memory.last_substep = dt;
    memory.contacts.clear();
    for (const Contact& c : contacts_)
        if (!c.impulse.isZero(0)) memory.contacts.push_back({c.key.a, c.key.b, c.impulse});
}

void ImplicitContact::report_contacts(Real dt, StepReport& report) const
{
    ImplicitReport& own = report.own.use<ImplicitReport>();
    own.contacts_vertex_face = own.contacts_edge_edge = own.contacts_plane = own.strain_rows = 0;
    report.active_contacts = 0;
    report.contacts.clear();
    for (PairForce& p : report.pair_forces) p.contacts = 0;
    for (const Contact& c : contacts_) {
        switch (c.kind) {
        case ContactKind::edge_edge:
            ++own.contacts_edge_edge;
            break;
        case ContactKind::plane:
            ++own.contacts_plane;
            break;
        case ContactKind::strain:
            ++own.strain_rows;
            continue;
        default:
            ++own.contacts_vertex_face;
            break;
        }
        if (c.impulse.isZero(0)) continue;
        ++report.active_contacts;
        ContactPoint point;
        point.normal = c.normal;
        point.force = c.impulse / dt;
        point.body_a = c.body_a;
        point.body_b = c.body_b;
        point.position = Vec3::Zero();
        for (int k = 0; k < 4; ++k) // the point on side a
            if (c.vertex[k] != none && c.weight[k] > 0) point.position += c.weight[k] * x0_[c.vertex[k]];
        report.contacts.push_back(point);
        add_impulse(report.pair_forces, c.normal, c.impulse, c.body_a, c.body_b);
    }
    report.contact_count = own.contacts_vertex_face + own.contacts_edge_edge + own.contacts_plane;
}

} // namespace pliant
