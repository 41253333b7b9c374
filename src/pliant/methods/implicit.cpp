#include "pliant/methods/implicit.hpp"

#include "pliant/contact/failsafe.hpp"
#include "pliant/methods/start.hpp"
#include "pliant/world/strain.hpp"

#include <cassert>
#include <optional>

namespace pliant {
namespace {

/// The change of velocity by contact that the last sub-step had, scaled to the length of this one.
Vec3s last_contact_change(const Substep& s)
{
    const ImplicitMemory& memory = s.memory();
    Vec3s dv(s.v_free.size(), Vec3::Zero());
    if (memory.contact_change.size() == dv.size())
        for (std::size_t i = 0; i < dv.size(); ++i) dv[i] = s.dt / memory.last_substep * memory.contact_change[i];
    return dv;
}

Vec3s sum(const Vec3s& a, const Vec3s& b)
{
    Vec3s c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) c[i] = a[i] + b[i];
    return c;
}

/// Notes the pair that makes the step shorter.
void report_halving(const std::vector<Impact>& impacts, StepReport& report)
{
    report_limiting(impacts, report);
    ++report.own.use<ImplicitReport>().halvings;
    report.rung = std::max(report.rung, Rung::halved);
}

void report_solve(const ContactResult& result, StepReport& report)
{
    ImplicitReport& own = report.own.use<ImplicitReport>();
    own.contact_iterations += result.iterations;
    own.residual_dynamics = std::max(own.residual_dynamics, result.residuals.dynamics);
    own.residual_gap = std::max(own.residual_gap, result.residuals.gap);
    own.residual_complementarity = std::max(own.residual_complementarity, result.residuals.complementarity);
    report.residual_history = result.history;
}

void report_contacts(const Substep& s, const ContactSet& set, StepReport& report)
{
    ImplicitReport& own = report.own.use<ImplicitReport>();
    own.contacts_vertex_face = own.contacts_edge_edge = own.contacts_plane = 0;
    own.strain_rows = count(set.limits) + count(set.lengths);
    report.active_contacts = 0;
    report.contacts.clear();
    for (PairForce& p : report.pair_forces) p.contacts = 0;
    for (const Contact& c : set.contacts) {
        switch (c.kind) {
        case ContactKind::edge_edge:
            ++own.contacts_edge_edge;
            break;
        case ContactKind::plane:
            ++own.contacts_plane;
            break;
        default:
            ++own.contacts_vertex_face;
            break;
        }
        if (c.impulse.isZero(0)) continue;
        ++report.active_contacts;
        ContactPoint point;
        point.normal = c.normal;
        point.force = c.impulse / s.dt;
        point.body_a = c.body_a;
        point.body_b = c.body_b;
        point.position = Vec3::Zero();
        for (int k = 0; k < 4; ++k) // the point on side a
            if (c.vertex[k] != none && c.weight[k] > 0) point.position += c.weight[k] * s.x0[c.vertex[k]];
        report.contacts.push_back(point);
        add_impulse(report.pair_forces, c.normal, c.impulse, c.body_a, c.body_b);
    }
    report.contact_count = own.contacts_vertex_face + own.contacts_edge_edge + own.contacts_plane;
}

/// Those that contact does not move.
std::vector<FreeBody> not_pushed(std::vector<FreeBody> bodies, const Vec3s& contact_change)
{
    std::erase_if(bodies, [&](const FreeBody& b) {
        return std::any_of(contact_change.begin() + b.first, contact_change.begin() + b.first + b.size,
                           [](const Vec3& dv) { return !dv.isZero(0); });
    });
    return bodies;
}

/// Whether more elements are inside out at the end than at the start, of materials that must not be.
bool turns_elements(const Substep& s, const Tentative& tentative)
{
    Index more = 0;
    for (const auto& batch : s.model.batches)
        if (batch->keeps_orientation())
            more += batch->inverted(tentative.end.position) - batch->inverted(s.start.position);
    return more > 0;
}

/// The largest gain of energy of a body in free flight, over what is tolerated. Elements that are linearised too far
/// from where a stiff body ends, about a radian, store more energy than it moves with.
Real energy_gain(const Substep& s, const Tentative& tentative)
{
    constexpr Real tolerated = 0.01;
    Real gain = 0;
    for (const FreeBody& body : s.foreseen.spinning) {
        const Real before = energy_about_centre(s.model, body, s.start.position, s.start.velocity);
        const Real after = energy_about_centre(s.model, body, tentative.end.position, tentative.v);
        gain = std::max(gain, (after - before) / (tolerated * before));
    }
    return gain;
}

void report_convergence(Real residual, ImplicitReport& own)
{
    if (residual > 1) ++own.unconverged;
    own.worst_residual = std::max(own.worst_residual, residual);
}

/// Moves the world and remembers what the next sub-step starts from.
void commit(World& world, const Substep& s, const Attempt& attempt, StepReport& report)
{
    report_contacts(s, attempt.set, report);
    report_convergence(s.residual, report.own.use<ImplicitReport>());
    report_convergence(attempt.residual, report.own.use<ImplicitReport>());
    report_convergence(std::max(attempt.gain, attempt.nonlinearity), report.own.use<ImplicitReport>());
    if (attempt.effort == Effort::low) {
        ++report.own.use<ImplicitReport>().over_budget;
        if (attempt.residual <= 1) ++report.own.use<ImplicitReport>().unconverged;
    }
    State& state = world.state;
    ImplicitMemory& memory = state.memory.use<ImplicitMemory>();
    memory.free_change.resize(s.v_free.size());
    for (std::size_t i = 0; i < s.v_free.size(); ++i) memory.free_change[i] = s.v_free[i] - state.velocity[i];
    memory.contact_change = attempt.dv;
    memory.last_substep = s.dt;
    memory.contacts.clear();
    for (const Contact& c : attempt.set.contacts)
        if (!c.impulse.isZero(0)) memory.contacts.push_back({c.key.a, c.key.b, c.impulse});
    memory.lengths.clear();
    for (const LengthImpulse& l : attempt.set.lengths)
        if (!l.impulse.isZero(0)) memory.lengths.push_back(l);
    const auto one_less = [](std::vector<Index> turns) {
        for (Index& t : turns) t -= t > 0 ? 1 : t < 0 ? -1 : 0; // towards none
        return turns;
    };
    memory.free_turns = one_less(s.free_turns);
    memory.contact_turns = one_less(attempt.contact_turns);
    advance(world.model, state, attempt.tentative.v, s.dt);
    ++report.substeps;
}

} // namespace

ImplicitContact::ImplicitContact(const World& world, const ImplicitOptions& options)
    : options_(options), system_(world.model), free_bodies_(free_bodies(world.model)), finder_(world.model, options),
      solver_(world.model, system_, options.solver, options.linear_tolerance)
{}

StepReport ImplicitContact::step(World& world, Real dt)
{
    StepReport report;
    report.substeps = 0;
    report.own.use<ImplicitReport>();
    world.state.memory.use<ImplicitMemory>();
    if (world.state.step == 0) require_free_start(world);
    const Real end = world.state.time + dt;
    SubstepLengths lengths(dt, options_.max_halvings);
    WorkBudget budget(options_);
    while (!lengths.done()) {
        const Real longest = finder_.paths().uninterrupted(world.model, world.state.time, lengths.longest());
        const Real h = lengths.next(longest);
        const bool may_halve = lengths.refinement_may_halve() && !budget.spent();
        const Effort effort = budget.spent() ? Effort::low : may_halve ? Effort::tentative : Effort::full;
        Solved solved = solve(world, h, effort, report);
        Substep& substep = solved.substep;
        Attempt& attempt = solved.attempt;
        const bool too_curved = attempt.tentative.too_curved;
        const bool may_straighten = too_curved && !budget.spent() && !lengths.vanishing(); // by a shorter step
        if (!attempt.safe && !may_halve && !may_straighten) make_safe(substep, attempt, report);
        budget.use(report.own.use<ImplicitReport>());
        const bool unforeseen =
            (attempt.turned || attempt.gain > 1 || attempt.nonlinearity > 1) && lengths.turning_may_halve();
        if (!attempt.safe || (attempt.strained && may_halve) || unforeseen) {
            std::vector<Impact>& impacts = attempt.tentative.impacts;
            const bool hopeless = !may_halve && !too_curved && put_scripted_first(world.model.surface, impacts);
            if (hopeless || lengths.vanishing() || budget.overdrawn())
                stop_or_release(world, substep, attempt,
                                hopeless         ? StallCause::scripts_alone
                                : budget.spent() ? StallCause::budget
                                                 : StallCause::squeeze,
                                report);
            report_halving(impacts, report);
            lengths.halve();
            continue;
        }
        std::erase_if(world.state.memory.use<ImplicitMemory>().released, [&](const ReleasedPair& pair) {
            return finder_.paths().has_separated(substep, attempt.tentative, pair);
        });
        commit(world, substep, attempt, report);
        lengths.taken();
        if (!lengths.done()) report.inner.push_back({world.state.time, world.state.position, world.state.orientation});
    }
    make_means(report.pair_forces, dt);
    last_forces_ = report.pair_forces;
    report.residual_over_tolerance = report.own.use<ImplicitReport>().worst_residual;
    world.state.time = end; // the sum of the sub-steps up to rounding
    ++world.state.step;
    return report;
}

ImplicitContact::Solved ImplicitContact::solve(const World& world, Real dt, Effort effort, StepReport& report)
{
    const auto rotated = [&](std::vector<FreeBody> bodies) {
        Foreseen foreseen;
        if (!bodies.empty()) foreseen.w.assign(world.state.position.size(), Vec3::Zero());
        for (const FreeBody& body : bodies) predict_rotation(world.model, world.state, body, dt, foreseen.w);
        foreseen.spinning = std::move(bodies);
        return foreseen;
    };
    std::optional<Substep> substep(begin(world, dt, rotated(spinning(world, dt)), report));
    Attempt attempt = refine(*substep, nullptr, effort, report);
    if (std::vector<FreeBody> left = not_pushed(substep->foreseen.spinning, attempt.dv);
        left.size() < substep->foreseen.spinning.size()) { // what meets something begins from where it is
        substep.emplace(begin(world, dt, rotated(std::move(left)), report));
        attempt = refine(*substep, nullptr, effort, report);
    }
    for (int n = 1; attempt.safe && options_.linearisations > 1; ++n) {
        Foreseen next = not_foreseen(*substep, attempt);
        if (next.met.empty() || n == options_.linearisations || effort == Effort::low) break;
        substep.emplace(begin(world, dt, std::move(next), report));
        attempt = refine(*substep, &attempt, effort, report);
    }
    return {std::move(*substep), std::move(attempt)};
}

Foreseen ImplicitContact::not_foreseen(const Substep& s, Attempt& attempt) const
{
    constexpr Real tolerated = 1; // of the energy that a body has: more would be made of nothing
    const Vec3s &v = attempt.tentative.v, &v0 = s.start.velocity;
    Vec3s x = s.start.position, y = x, d(x.size(), Vec3::Zero());
    parallel_for(free_bodies_.empty() ? 0 : count(x), [&](Index i) {
        const Vec3 w = s.foreseen.empty() ? Vec3::Zero() : s.foreseen.w[i];
        x[i] += s.dt * v[i];
        y[i] += s.dt * w;
        d[i] = s.dt * (v[i] - w);
    });
    std::vector<char> again(free_bodies_.size(), 0);
    bool any = false;
    attempt.nonlinearity = 0;
    for (std::size_t k = 0; k < free_bodies_.size(); ++k) {
        const FreeBody& body = free_bodies_[k];
        const auto is_body = [&](const FreeBody& b) { return b.first == body.first; };
        if (std::ranges::any_of(s.foreseen.spinning, is_body)) continue;
        again[k] = std::ranges::any_of(s.foreseen.met, is_body);
        if (!again[k] && !changes_shape(s.model, s.start, body, v, s.dt)) continue;
        Real energy = 0;
        for (Index i = body.first; i < body.first + body.size; ++i)
            energy += s.model.mass[i] / 2 * (v[i].squaredNorm() + v0[i].squaredNorm());
        for (const Index batch : body.batches) energy += s.model.batches[batch]->energy(s.start.position);
        const Real error = system_.energy_error(s.model, body, x, y, d, s.dt) / (tolerated * energy);
        attempt.nonlinearity = std::max(attempt.nonlinearity, error);
        if (error > 1) again[k] = any = true;
    }
    Foreseen next;
    if (!any) return next;
    next.spinning = s.foreseen.spinning;
    next.w = s.foreseen.w;
    next.w.resize(v.size(), Vec3::Zero());
    for (std::size_t k = 0; k < free_bodies_.size(); ++k) {
        if (!again[k]) continue;
        const FreeBody& body = free_bodies_[k];
        next.met.push_back(body);
        std::copy_n(v.begin() + body.first, body.size, next.w.begin() + body.first);
    }
    return next;
}

std::vector<FreeBody> ImplicitContact::spinning(const World& world, Real dt) const
{
    const Vec3s& pushed = world.state.memory.get<ImplicitMemory>().contact_change;
    std::vector<FreeBody> bodies = pushed.empty() ? free_bodies_ : not_pushed(free_bodies_, pushed);
    std::erase_if(bodies, [&](const FreeBody& b) { return !turns_fast(world.model, world.state, b, dt); });
    return bodies;
}

Substep ImplicitContact::begin(const World& world, Real dt, Foreseen foreseen, StepReport& report)
{
    {
        const ScopedTimer timer(report.profile, "assemble");
        system_.assemble(world.model, world.state, dt, foreseen);
    }
    Vec3s v_free;
    Real residual = 0;
    std::vector<Index> turns;
    {
        const ScopedTimer timer(report.profile, "free solve");
        const ImplicitMemory& memory = world.state.memory.get<ImplicitMemory>();
        extrapolate(world.state.velocity, memory.free_change, dt, memory.last_substep, v_free);
        turns = memory.free_turns;
        // An error that is small beside the momentum of a rotation is large beside that of a vibration.
        const Real tolerance = options_.linear_tolerance * (foreseen.empty() ? 1 : 0.01);
        const FreeSolve free = solver_.solve_free(system_, tolerance, turns, v_free);
        ImplicitReport& own = report.own.use<ImplicitReport>();
        own.linear_iterations += free.iterations;
        own.linear_residual = std::max(own.linear_residual, free.residual);
        residual = free.unsolved;
        for (const FreeBody& body : foreseen.spinning)
            keep_angular_momentum(world.model, world.state, body, dt, v_free);
    }
    const ScopedTimer timer(report.profile, "proximity");
    Substep substep = finder_.begin(world, dt, std::move(v_free));
    substep.residual = residual;
    substep.free_turns = std::move(turns);
    substep.foreseen = std::move(foreseen);
    return substep;
}

Attempt ImplicitContact::refine(const Substep& substep, const Attempt* earlier, Effort effort, StepReport& report)
{
    ImplicitReport& own = report.own.use<ImplicitReport>();
    Attempt attempt;
    attempt.effort = effort;
    attempt.dv = earlier ? earlier->dv : last_contact_change(substep);
    attempt.contact_turns = earlier ? earlier->contact_turns : substep.memory().contact_turns;
    if (earlier) {
        attempt.set = earlier->set;
    } else {
        const ScopedTimer timer(report.profile, "proximity");
        attempt.set = finder_.near(substep);
        attempt.set.lengths = substep.memory().lengths;
        for (LengthImpulse& l : attempt.set.lengths) l.impulse *= substep.dt / substep.memory().last_substep;
    }
    // A limit that is broken already may stay so while it is won back.
    const Real bearable =
        std::max(options_.strain_tolerance, strain_excess(substep.model, substep.start.position).amount);
    const int rounds = effort == Effort::low ? 1 : options_.max_rounds;
    for (int round = 1; round <= rounds; ++round) {
        ++own.rounds;
        own.max_rounds = std::max(own.max_rounds, round);
        const ContactResult result = solve_contacts(substep, attempt, report);
        if (effort == Effort::tentative && solver_.diverged(result)) {
            attempt.safe = false;
            return attempt;
        }
        const ScopedTimer timer(report.profile, "ccd");
        attempt.tentative = finder_.follow(substep, sum(substep.v_free, attempt.dv));
        attempt.safe = attempt.tentative.impacts.empty();
        if (attempt.tentative.too_curved) return attempt; // no row describes a path that is not followed
        attempt.gain = energy_gain(substep, attempt.tentative);
        attempt.strained = strain_excess(substep.model, attempt.tentative.end.position).amount > bearable;
        attempt.turned = turns_elements(substep, attempt.tentative);
        if (!finder_.refine(substep, attempt.tentative, round, solver_.lengths_by_rows(), attempt.set)) return attempt;
        if (round < rounds || !attempt.safe) report.rung = std::max(report.rung, Rung::refinement);
    }
    return attempt;
}

ContactResult ImplicitContact::solve_contacts(const Substep& substep, Attempt& attempt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "contact solve");
    ContactResult result =
        solver_.solve(system_, substep, attempt.effort, attempt.contact_turns, attempt.set, attempt.dv);
    attempt.residual = solver_.merit(result);
    report_solve(result, report);
    return result;
}

void ImplicitContact::make_safe(const Substep& substep, Attempt& attempt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "fail-safe");
    ImplicitReport& own = report.own.use<ImplicitReport>();
    const FailsafeStep step{substep.model, substep.start, substep.x0, substep.x1_free, finder_.paths().plane_bodies(),
                            substep.dt};
    Tentative tried;
    const FindImpacts find = [&](const Vec3s& v) -> const std::vector<Impact>& {
        tried = finder_.follow(substep, v);
        return tried.impacts;
    };
    Tentative& tentative = attempt.tentative;
    Vec3s v = tentative.v;
    const ZoneReport zones = resolve_by_zones(step, find, v);
    own.zones += zones.zones;
    own.failsafe_rounds += zones.rounds;
    if (zones.safe) {
        report.rung = std::max(report.rung, Rung::zones);
    } else {
        v = tentative.v;
        TruncationReport truncation = resolve_by_truncation(step, find, v);
        own.truncated_vertices += truncation.truncated;
        own.failsafe_rounds += truncation.rounds;
        if (!truncation.safe) {
            tentative.impacts = std::move(truncation.left);
            return;
        }
        report.rung = std::max(report.rung, Rung::truncation);
    }
    // The answer replaces the contact solution: its impulses do not describe this motion.
    for (std::size_t i = 0; i < v.size(); ++i) attempt.dv[i] += v[i] - tentative.v[i];
    tentative = std::move(tried); // both end with a look at their answer
    assert(tentative.v == v && tentative.impacts.empty());
    attempt.set.clear_impulses();
    attempt.safe = true;
    attempt.turned = turns_elements(substep, tentative);
    if (options_.linearisations > 1) not_foreseen(substep, attempt);
}

void ImplicitContact::stall(const Substep& substep, const Impact& impact, StallCause cause) const
{
    StalledPair pair = finder_.paths().stalled_pair(substep, impact);
    const auto [a, b] = std::minmax(pair.body_a, pair.body_b);
    for (const PairForce& f : last_forces_)
        if (f.body_a == a && f.body_b == b) pair.force = (f.normal + f.friction).norm();
    throw Stall(stall_words(substep.model, cause, pair));
}

void ImplicitContact::stop_or_release(World& world, const Substep& substep, const Attempt& attempt, StallCause cause,
                                      StepReport& report) const
{
    const std::vector<Impact>& impacts = attempt.tentative.impacts;
    if (impacts.empty()) return;
    if (options_.pinch == PinchPolicy::stop) stall(substep, impacts.front(), cause);
    std::vector<ReleasedPair>& released = world.state.memory.use<ImplicitMemory>().released;
    for (const Impact& i : impacts) {
        // Where scripts alone are to blame, the other impacts of this attempt have a way out.
        if (cause == StallCause::scripts_alone && !is_scripted_alone(world.model.surface, i)) break;
        released.push_back({static_cast<std::int32_t>(i.key.kind), i.key.a, i.key.b});
        report.releases.push_back(finder_.paths().release_of(world.model, i, world.state.time));
        ++report.own.use<ImplicitReport>().released_pairs;
    }
    std::sort(released.begin(), released.end());
}

} // namespace pliant
