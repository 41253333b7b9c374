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

ContactKind kind_of(PairKind kind)
{
    switch (kind) {
    case PairKind::vertex_vertex:
        return ContactKind::vertex_vertex;
    case PairKind::vertex_edge:
        return ContactKind::vertex_edge;
    case PairKind::vertex_face:
        return ContactKind::vertex_face;
    case PairKind::edge_edge:
        return ContactKind::edge_edge;
    case PairKind::vertex_plane:
        return ContactKind::plane;
    }
    return ContactKind::vertex_face;
}

Real smallest_gap(const Model& model)
{
    Real gap = std::numeric_limits<Real>::infinity();
    for (const Body& body : model.bodies)
        if (body.gap > 0) gap = std::min(gap, body.gap);
    return std::isfinite(gap) ? gap : 0;
}

/// The relative position (distance vector) that a contact's weights give.
Vec3 weighted(const Contact& c, const Vec3s& x)
{
    Vec3 d = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
        if (c.vertex[k] != none) d += c.weight[k] * x[c.vertex[k]];
    return d;
}

bool is_released(const State& state, const PairKey& key)
{
    return std::binary_search(state.released.begin(), state.released.end(),
                              ReleasedPair{static_cast<std::int32_t>(key.kind), key.a, key.b});
}

bool by_key(const Contact& a, const Contact& b)
{
    return a.key < b.key;
}

} // namespace

ImplicitContact::ImplicitContact(const World& world, const MethodOptions& options)
    : options_(options), system_(world.model), ica_(system_.A().pattern()),
      detector_(world.model.surface, world.model.no_contact), cones_(world.model.surface)
{
    hard_gap_ = options_.hard_gap_fraction * smallest_gap(world.model);
    detector_.set_reuse_margin(hard_gap_);
    for (Index b = 0; b < count(world.model.bodies); ++b)
        if (world.model.bodies[b].kind == BodyKind::plane) plane_bodies_.push_back(b);
}

StepReport ImplicitContact::step(World& world, Real dt)
{
    StepReport report;
    report.substeps = 0;
    const Real end = world.state.time + dt;
    // Refinement may halve the step a few times; only scripted motion that outruns the gap may cut it further.
    const Real shortest = std::ldexp(dt, -options_.max_halvings), vanishing = std::ldexp(dt, -max_subdivisions);
    Real h = dt, remaining = dt;
    int successes = 0;
    while (remaining > 1e-9 * dt) {
        h = std::min(h, remaining);
        const bool refined = try_step(world, h, h > 1.5 * shortest, report);
        if (!refined && (h > 1.5 * shortest || !make_safe(world, h, report))) {
            if (h <= 1.5 * vanishing) stop_or_release(world, report);
            if (!impacts_.empty()) {
                const Impact& i = impacts_.front();
                const int other = i.key.kind == PairKind::edge_edge ? 2 : 1;
                report.limiting_a = i.vertices[0];
                report.limiting_b = i.key.kind == PairKind::vertex_plane ? none : i.vertices[other];
            }
            h = std::max(h / 2, vanishing);
            successes = 0;
            ++report.halvings;
            report.rung = std::max(report.rung, Rung::halved);
            continue;
        }
        commit(world, h, report);
        ++report.substeps;
        remaining -= h;
        if (remaining > 1e-9 * dt) {
            report.inner.push_back({world.state.time, {}});
            surface_positions(world.model, world.state, report.inner.back().surface);
        }
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
    impacts_.clear();
    solve_free(world, dt, report);
    find_proximity(world, dt, report);
    for (int round = 1; round <= options_.max_rounds; ++round) {
        ++report.refinement_rounds;
        report.max_rounds = std::max(report.max_rounds, round);
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
    {
        const ScopedTimer timer(report.profile, "assemble");
        system_.assemble(model, state, dt);
    }
    const ScopedTimer timer(report.profile, "free solve");
    const CgResult cg = system_.solve(state, dt, options_.linear_tolerance_or_default(), v_free_);
    report.linear_iterations += cg.iterations;
    report.linear_residual = std::max(report.linear_residual, cg.residual);
    dv_.assign(v_free_.size(), Vec3::Zero());
    if (state.contact_change.size() == dv_.size())
        for (std::size_t i = 0; i < dv_.size(); ++i) dv_[i] = dt / state.last_substep * state.contact_change[i];
}

Contact ImplicitContact::make_contact(const Model& model, const ContactPair& pair) const
{
    const Surface& surface = model.surface;
    Contact c;
    c.kind = kind_of(pair.key.kind);
    c.vertex = pair.vertices;
    c.weight = pair.weights;
    c.normal = pair.normal;
    c.body_a = surface.vertex_body[pair.vertices[0]];
    if (c.kind == ContactKind::plane) {
        c.body_b = plane_bodies_[pair.key.b];
        c.key = make_key(c.kind, pair.key.a, c.body_b);
    } else {
        c.key = make_key(c.kind, pair.key.a, pair.key.b);
        const Index other = c.kind == ContactKind::edge_edge ? 2 : 1;
        c.body_b = surface.vertex_body[pair.vertices[other]];
    }
    c.friction = model.friction.between(c.body_a, c.body_b);
    return c;
}

void ImplicitContact::warm_start(const State& state, Contact& contact, Real scale) const
{
    const auto it = std::lower_bound(state.contacts.begin(), state.contacts.end(), contact.key,
                                     [](const ContactMemory& m, const ContactKey& k) {
                                         return ContactKey{m.key_a, m.key_b} < k;
                                     });
    if (it != state.contacts.end() && ContactKey{it->key_a, it->key_b} == contact.key)
        contact.impulse = scale * it->impulse;
}

void ImplicitContact::find_proximity(const World& world, Real dt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "proximity");
    const Model& model = world.model;
    const Surface& surface = model.surface;
    surface_positions(model, world.state, x0_);
    // The end of the unconstrained step: where proximity looks ahead, and where scripted vertices go.
    end_ = State();
    move_configuration(model, world.state, v_free_, dt, end_);
    surface_positions(model, end_, x1_);
    planes_.clear();
    for (Index b : plane_bodies_) {
        const Index obstacle = model.bodies[b].model;
        planes_.push_back(
            {plane_at(model, obstacle, world.state.time), plane_at(model, obstacle, world.state.time + dt), b});
    }
    // Half of the gap plus what a vertex travels, at most a quarter of an edge: reach is the sum over both sides.
    const Real gap = smallest_gap(model);
    std::vector<Real> radius(static_cast<std::size_t>(surface.vertex_count()));
    for (Index v = 0; v < surface.vertex_count(); ++v) {
        const Body& body = model.bodies[surface.vertex_body[v]];
        const Real own = body.gap > 0 ? body.gap : gap;
        const Real ahead = body.gap > 0 ? options_.reach_fraction / 2 * body.edge_length : own;
        radius[v] = own / 2 + std::min(2 * (x1_[v] - x0_[v]).norm(), std::min(ahead, 5 * own));
    }
    ProximityOptions proximity;
    proximity.radius = radius;
    proximity.planes = planes_;
    proximity.cone_tolerance = 0.01; // a pair that leans out of its cones is no local minimum: a ghost on a flat edge
    contacts_.clear();
    const Real slack = 2 * model.gravity.norm() * dt * dt;
    const Real impulse_scale = world.state.last_substep > 0 ? dt / world.state.last_substep : 0;
    for (const ContactPair& pair : detector_.proximity(x0_, proximity)) {
        if (is_released(world.state, pair.key)) continue;
        Contact c = make_contact(model, pair);
        const Real pair_gap_here = pair_gap(model, c.body_a, c.body_b);
        c.distance = pair.distance;
        c.hard_gap = std::min(hard_gap_, pair.distance / 2);
        c.target = pair.distance >= pair_gap_here ? pair_gap_here
                                                  : pair.distance + options_.recovery * (pair_gap_here - pair.distance);
        warm_start(world.state, c, impulse_scale);
        if (c.impulse.isZero(0) && c.kind == ContactKind::edge_edge &&
            (cones_.is_flat(pair.key.a, x0_, options_.flat_sine) ||
             cones_.is_flat(pair.key.b, x0_, options_.flat_sine)))
            continue;
        Real predicted; // distance along the normal after the unconstrained step
        if (c.kind == ContactKind::plane) {
            const MovingPlane& plane = planes_[pair.key.b];
            predicted = plane.t1.normal.dot(x1_[c.vertex[0]]) - plane.t1.offset;
        } else {
            predicted = c.normal.dot(weighted(c, x1_));
        }
        if (predicted < c.target + std::min(slack, pair_gap_here / 2) || !c.impulse.isZero(0)) contacts_.push_back(c);
    }
    std::sort(contacts_.begin(), contacts_.end(), by_key);
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
        : solver.kind == SolverKind::local     ? solve_locally(system, system_.mass(), solver, dv_, lambda_)
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
    report.contact_iterations += result.iterations;
    report.residual_dynamics = std::max(report.residual_dynamics, result.residuals.dynamics);
    report.residual_gap = std::max(report.residual_gap, result.residuals.gap);
    report.residual_complementarity = std::max(report.residual_complementarity, result.residuals.complementarity);
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
        return i.key.kind == PairKind::edge_edge &&
               (cones_.is_flat(i.key.a, x0_, options_.flat_sine) || cones_.is_flat(i.key.b, x0_, options_.flat_sine));
    };
    if (round <= rounds_without_flat_crossings)
        for (const Impact& i : impacts)
            if (!is_flat_crossing(i))
                for (Index v : i.vertices)
                    if (v != none) near_impact[v] = 1;
    for (const Impact& i : impacts) {
        const auto near = [&](int a, int b) { return near_impact[i.vertices[a]] || near_impact[i.vertices[b]]; };
        if (is_flat_crossing(i) && near(0, 1) && near(2, 3)) continue;
        add_impact(world, i, dt);
    }
    const bool strained = add_strain_rows(world);
    if (impacts.empty() && !strained) return true;
    // What a linear row misses of a rotation is added to its right-hand side for the next round.
    for (Contact& c : contacts_) {
        if (model.bodies[c.body_a].kind != BodyKind::rigid && model.bodies[c.body_b].kind != BodyKind::rigid) continue;
        if (c.kind == ContactKind::strain) continue;
        const Real moved = c.kind == ContactKind::plane ? c.normal.dot(x1_[c.vertex[0]] - x0_[c.vertex[0]])
                                                        : c.normal.dot(weighted(c, x1_) - weighted(c, x0_));
        Real linear = 0;
        for (int k = 0; k < 4; ++k) {
            const Index v = c.vertex[k];
            if (v == none) continue;
            const Surface& s = model.surface;
            Vec3 u;
            if (s.carrier[v] == Carrier::rigid) {
                const Index block = model.bodies[s.vertex_body[v]].first_block;
                u = v_[block] + Vec3(v_[block + 1]).cross(x0_[v] - world.state.position[block]);
            } else {
                u = (x1_[v] - x0_[v]) / dt;
            }
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
    std::erase_if(impacts_, [&](const Impact& i) { return is_released(world.state, i.key); });
    return impacts_;
}

bool ImplicitContact::make_safe(const World& world, Real dt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "fail-safe");
    const FailsafeStep step{world.model, world.state, x0_, system_.mass(), plane_bodies_, dt};
    const FindImpacts find = [&](const Vec3s& v) -> const std::vector<Impact>& { return find_impacts(world, v, dt); };
    Vec3s v = v_;
    const ZoneReport zones = resolve_by_zones(step, find, v);
    report.zones += zones.zones;
    if (zones.safe) {
        report.rung = std::max(report.rung, Rung::zones);
    } else {
        v = v_;
        const TruncationReport truncation = resolve_by_truncation(step, find, v);
        report.truncated_vertices += truncation.truncated;
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
        for (const Impact& i : impacts_)
            world.state.released.push_back({static_cast<std::int32_t>(i.key.kind), i.key.a, i.key.b});
        std::sort(world.state.released.begin(), world.state.released.end());
        report.released_pairs += count(impacts_);
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
    throw Stall("pinched: scripted motion squeezes body " + name(a) + " (vertex " +
                std::to_string(i.vertices[0] - world.model.bodies[a].first_vertex) + ") against body " + name(b) +
                where +
                ", and no step however small is free of crossings; change the script, or set contact.pinch: release to "
                "let such pairs through");
}

void ImplicitContact::add_impact(const World& world, const Impact& impact, Real dt)
{
    const Model& model = world.model;
    Contact c = make_contact(model, impact);
    const Real gap = pair_gap(model, c.body_a, c.body_b);
    c.hard_gap = std::min(hard_gap_, impact.start_distance / 2);
    const auto distance_along_normal = [&] {
        return c.kind == ContactKind::plane
                   ? planes_[impact.key.b].t0.normal.dot(x0_[c.vertex[0]]) - planes_[impact.key.b].t0.offset
                   : c.normal.dot(weighted(c, x0_));
    };
    c.distance = distance_along_normal();
    if (c.distance <= c.hard_gap && !impact.start_normal.isZero(0)) { // the normal turned during the step
        c.normal = impact.start_normal;
        c.distance = distance_along_normal();
    }
    c.target = c.distance >= gap ? gap : c.distance + options_.recovery * std::max(0.0, gap - c.distance);
    const Real impulse_scale = world.state.last_substep > 0 ? dt / world.state.last_substep : 0;
    // Up to four rows for one pair of features: a new geometry replaces one like it, else it is added.
    for (int slot = 0; slot < 4; ++slot) {
        ContactKey key = c.key;
        key.b |= static_cast<std::uint64_t>(slot) << 40;
        const auto it =
            std::find_if(contacts_.begin(), contacts_.end(), [&](const Contact& o) { return o.key == key; });
        if (it == contacts_.end()) {
            c.key = key;
            warm_start(world.state, c, impulse_scale);
            contacts_.push_back(c);
            return;
        }
        Real change = 0;
        for (int k = 0; k < 4; ++k) change = std::max(change, std::abs(it->weight[k] - c.weight[k]));
        if (slot == 3 || (it->normal.dot(c.normal) > 0.999 && change < 0.05)) {
            c.key = key;
            c.impulse = it->impulse;
            *it = c;
            return;
        }
    }
}

bool ImplicitContact::add_strain_rows(const World& world)
{
    const Model& model = world.model;
    bool changed = false;
    const Index old = count(contacts_);
    std::sort(contacts_.begin(), contacts_.end(), by_key); // impacts may just have been added
    for (Index b = 0; b < count(model.bodies); ++b) {
        const Body& body = model.bodies[b];
        if (body.kind != BodyKind::cloth) continue;
        const Cloth& cloth = model.cloths[body.model];
        if (!std::isfinite(cloth.material.max_strain)) continue;
        const Real limit = 1 + cloth.material.max_strain;
        for (Index i = 0; i < count(cloth.springs); ++i) {
            const Spring& s = cloth.springs[i];
            if (s.kind == SpringKind::flexion) break; // they come last
            const Index a = body.first_block + s.a, e = body.first_block + s.b;
            if ((end_.position[e] - end_.position[a]).norm() <= limit * s.rest_length) continue;
            Contact c;
            c.kind = ContactKind::strain;
            c.key = make_key(c.kind, b, i);
            c.body_a = c.body_b = b;
            c.vertex = {a, e, none, none};
            c.weight = {1, -1, 0, 0}; // n . (v_a - v_e) >= (length - limit L) / h with n from a to e
            const Vec3 d0 = world.state.position[e] - world.state.position[a];
            c.normal = d0.normalized();
            // "distance" is what is left of the allowed length; the row asks for it not to become negative, a little
            // less than the limit so that the direction's change within the step does not break it.
            c.distance = limit * (1 - 2e-3) * s.rest_length - d0.norm();
            c.target = std::min(0.0, c.distance * (1 - options_.recovery));
            c.hard_gap = c.target - 2e-3 * s.rest_length;
            // The linear row sees the length along the old direction only.
            const Vec3 d1 = end_.position[e] - end_.position[a];
            c.correction = c.normal.dot(d1) - d1.norm();
            const auto it = std::lower_bound(contacts_.begin(), contacts_.begin() + old, c, by_key);
            if (it == contacts_.begin() + old || it->key != c.key) {
                contacts_.push_back(c);
                changed = true;
            } else if (it->correction - c.correction > 1e-4 * s.rest_length) {
                it->correction = c.correction;
                changed = true;
            }
        }
    }
    return changed;
}

void ImplicitContact::commit(World& world, Real dt, StepReport& report)
{
    State& state = world.state;
    state.free_change.resize(v_.size());
    state.contact_change.resize(v_.size());
    for (std::size_t i = 0; i < v_.size(); ++i) {
        state.free_change[i] = v_free_[i] - state.velocity[i];
        state.contact_change[i] = dv_[i];
    }
    report_contacts(world, dt, report);
    advance(world.model, state, v_, dt);
    state.last_substep = dt;
    state.contacts.clear();
    for (const Contact& c : contacts_)
        if (!c.impulse.isZero(0)) state.contacts.push_back({c.key.a, c.key.b, c.impulse});
}

void ImplicitContact::report_contacts(const World& world, Real dt, StepReport& report) const
{
    report.contacts_vertex_face = report.contacts_edge_edge = report.contacts_plane = report.strain_rows = 0;
    report.active_contacts = 0;
    report.contacts.clear();
    for (PairForce& p : report.pair_forces) p.contacts = 0;
    for (const Contact& c : contacts_) {
        switch (c.kind) {
        case ContactKind::edge_edge:
            ++report.contacts_edge_edge;
            break;
        case ContactKind::plane:
            ++report.contacts_plane;
            break;
        case ContactKind::strain:
            ++report.strain_rows;
            continue;
        default:
            ++report.contacts_vertex_face;
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
    (void)world;
}

} // namespace pliant
