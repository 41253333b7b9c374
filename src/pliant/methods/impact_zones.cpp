#include "pliant/methods/impact_zones.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/dynamics/strain_limit.hpp"
#include "pliant/methods/start.hpp"
#include "pliant/methods/substep_lengths.hpp"

#include <algorithm>

namespace pliant {
namespace {

constexpr Real recovery_steps = 10; ///< in which a distance comes back that is less than the certified one
/// What a pair keeps of a distance below the certified one. All but nothing may be lost of it in a sub-step, or what
/// rests would sink by as much in every one, because nothing but an impact pushes.
constexpr Real start_part = 0.999;
constexpr Real rest_distance = 1.2; ///< over the certified one: what contact keeps, above the resolution of detection
constexpr int most_attempts = 4096; ///< at sub-steps of one stable sub-step: only a squeeze by scripts takes so many

ImpactZonesReport& own(StepReport& report)
{
    return report.own.use<ImpactZonesReport>();
}

} // namespace

ImpactZones::ImpactZones(const World& world, const ImpactZonesOptions& options)
    : options_(options),
      paths_(world.model, {.ccd = options.ccd, .start_part = start_part, .culling = options.culling}),
      forces_(world.model)
{}

StepReport ImpactZones::step(World& world, Real dt)
{
    StepReport report;
    report.substeps = 0;
    own(report);
    world.state.memory.use<ImpactZonesMemory>();
    if (world.state.step == 0) require_free_start(world);
    const Real end = world.state.time + dt;
    recovery_time_ = recovery_steps * dt;
    const int substeps = stable_substeps(world.model, world.state, dt);
    for (int i = 0; i < substeps; ++i) {
        take(world, dt / substeps, report);
        if (inner_states == InnerStates::kept && i + 1 < substeps)
            report.inner.push_back({world.state.time, world.state.position, world.state.orientation});
    }
    make_means(report.pair_forces, dt);
    world.state.time = end; // the sum of the sub-steps up to rounding
    ++world.state.step;
    return report;
}

void ImpactZones::take(World& world, Real length, StepReport& report)
{
    SubstepLengths lengths(length, options_.max_halvings);
    for (int attempts = 1; !lengths.done(); ++attempts) {
        const Real longest = paths_.uninterrupted(world.model, world.state.time, lengths.longest());
        const PathStart path = paths_.begin(world, lengths.next(longest));
        predict(world, path.dt, report);
        respond(path, report);
        bool safe = tentative_.impacts.empty();
        const bool too_curved = tentative_.too_curved;
        if (!safe && !too_curved) safe = move_zones(path, report);
        if (!safe && !too_curved && !lengths.refinement_may_halve()) safe = truncate(path, report);
        if (safe) {
            commit(world, path, report);
            lengths.taken();
            if (inner_states == InnerStates::kept && !lengths.done())
                report.inner.push_back({world.state.time, world.state.position, world.state.orientation});
            continue;
        }
        const bool hopeless = !lengths.refinement_may_halve() && !too_curved &&
                              put_scripted_first(world.model.surface, tentative_.impacts);
        if (hopeless || lengths.vanishing() || attempts >= most_attempts)
            stop_or_release(world, path, hopeless ? StallCause::scripts_alone : StallCause::squeeze, report);
        report_limiting(tentative_.impacts, report);
        report.rung = std::max(report.rung, Rung::halved);
        ++own(report).halvings;
        lengths.halve();
    }
}

void ImpactZones::predict(const World& world, Real dt, StepReport& report)
{
    {
        const ScopedTimer timer(report.profile, "forces");
        forces_.evaluate(world.model, world.state, force_);
        kicked_velocities(world.model, world.state, force_, dt, v_);
    }
    const ScopedTimer timer(report.profile, "strain"); // before detection: after it, it would undo what is safe
    limit_strain(world.model, world.state, dt, v_, options_.strain_sweeps);
    assert(count(v_) == world.model.block_count() && all_finite(v_));
}

void ImpactZones::follow(const PathStart& path, Vec3s v)
{
    tentative_ = paths_.follow(path, std::move(v), path.start.memory.get<ImpactZonesMemory>().released, tentative_);
}

void ImpactZones::respond(const PathStart& path, StepReport& report)
{
    {
        const ScopedTimer timer(report.profile, "ccd");
        paths_.expect(path, v_);
        tentative_ = paths_.follow(path, v_, path.start.memory.get<ImpactZonesMemory>().released);
    }
    met_ = {};
    for (int pass = 0; pass < options_.passes && !tentative_.impacts.empty() && !tentative_.too_curved; ++pass) {
        {
            const ScopedTimer timer(report.profile, "response");
            add_impacts(path);
            // The first time as in the paper. What is met again hinders each other: some rounds bring it together.
            respond_to_all(path, pass == 0 ? 1 : 4);
        }
        const ScopedTimer timer(report.profile, "ccd");
        follow(path, v_);
        own(report).phase = std::max(own(report).phase, 1);
        report.rung = std::max(report.rung, Rung::refinement);
    }
    own(report).impacts += met_.size();
}

void ImpactZones::add_impacts(const PathStart& path)
{
    std::vector<Contact>& met = met_.contacts;
    const std::ptrdiff_t known = std::ssize(met);
    for (const Impact& impact : tentative_.impacts) {
        Contact c = paths_.contact_of(path, impact);
        const Real kept = rest_distance * paths_.hard_gaps().between(c.body_a, c.body_b);
        c.target = c.distance + path.dt / recovery_time_ * std::max(0.0, kept - c.distance);
        const auto place = std::lower_bound(met.begin(), met.begin() + known, c, by_key);
        if (place != met.begin() + known && place->key == c.key) {
            c.impulse = place->impulse;
            *place = c;
        } else {
            met.push_back(c);
        }
    }
    std::sort(met.begin() + known, met.end(), by_key);
    std::inplace_merge(met.begin(), met.begin() + known, met.end(), by_key);
}

void ImpactZones::respond_to_all(const PathStart& path, int rounds)
{
    assert(strictly_sorted(met_.contacts, &Contact::key));
    const ContactRows rows = build_rows({path.model, path.start, path.x0, tentative_.x1, path.dt}, met_, v_);
    const ContactProblem& problem = rows.problem;
    const ResponseOptions response = {options_.restitution};
    // What was answered before and has nothing to do with what is met now stays as it is: detection has looked at it.
    std::vector<char> stirred(v_.size(), 0);
    for (const Impact& impact : tentative_.impacts)
        for (const Index vertex : impact.vertices)
            if (vertex != none)
                for (const Index block : path.model.surface.blocks(vertex)) stirred[block] = 1;
    for (int round = 0; round < rounds; ++round)
        for (Index j = 0; j < problem.size(); ++j) {
            const Row& row = problem.rows[j];
            const std::span<const RowEntry> entries(problem.entries.data() + row.entry_begin,
                                                    problem.entries.data() + row.entry_end);
            if (std::ranges::none_of(entries, [&](const RowEntry& e) { return stirred[e.block] != 0; })) continue;
            const Vec3 impulse = respond_to_impact(path.model, path.start, problem, row, response, v_);
            if (impulse.isZero(0)) continue;
            met_.contacts[rows.source[j]].impulse += impulse;
            for (const RowEntry& e : entries) stirred[e.block] = 1;
        }
}

FindImpacts ImpactZones::finder(const PathStart& path)
{
    return [this, &path](const Vec3s& v) -> const std::vector<Impact>& {
        if (v != tentative_.v) follow(path, v);
        return tentative_.impacts;
    };
}

bool ImpactZones::move_zones(const PathStart& path, StepReport& report)
{
    const ScopedTimer timer(report.profile, "zones");
    Vec3s v = v_;
    const Vec3s scripted = tentative_.x1;
    const ZoneReport zones =
        resolve_by_zones({path.model, path.start, path.x0, scripted, paths_.plane_bodies(), path.dt}, finder(path), v);
    ImpactZonesReport& numbers = own(report);
    ++numbers.zone_substeps;
    numbers.phase = std::max(numbers.phase, zones.rounds > 1 ? 3 : 2);
    numbers.zones = std::max(numbers.zones, zones.zones);
    numbers.largest_zone = std::max(numbers.largest_zone, zones.largest);
    numbers.zone_rounds += zones.rounds;
    if (zones.safe) report.rung = std::max(report.rung, Rung::zones);
    return zones.safe;
}

bool ImpactZones::truncate(const PathStart& path, StepReport& report)
{
    const ScopedTimer timer(report.profile, "truncation");
    Vec3s v = v_;
    const Vec3s scripted = tentative_.x1;
    const TruncationReport truncation = resolve_by_truncation(
        {path.model, path.start, path.x0, scripted, paths_.plane_bodies(), path.dt}, finder(path), v);
    own(report).truncated += truncation.truncated;
    if (truncation.safe) report.rung = std::max(report.rung, Rung::truncation);
    return truncation.safe;
}

void ImpactZones::stop_or_release(World& world, const PathStart& path, StallCause cause, StepReport& report) const
{
    const std::vector<Impact>& impacts = tentative_.impacts;
    if (impacts.empty()) return;
    if (options_.pinch == PinchPolicy::stop)
        throw Stall(stall_words(world.model, cause, paths_.stalled_pair(path, impacts.front())));
    std::vector<ReleasedPair>& released = world.state.memory.use<ImpactZonesMemory>().released;
    for (const Impact& i : impacts) {
        // Where scripts alone are to blame, the other impacts of this attempt have a way out.
        if (cause == StallCause::scripts_alone && !is_scripted_alone(world.model.surface, i)) break;
        released.push_back({static_cast<std::int32_t>(i.key.kind), i.key.a, i.key.b});
        report.releases.push_back(paths_.release_of(world.model, i, world.state.time));
        ++own(report).released_pairs;
    }
    std::sort(released.begin(), released.end());
}

void ImpactZones::commit(World& world, const PathStart& path, StepReport& report)
{
    assert(tentative_.impacts.empty() && !tentative_.too_curved); // nothing is committed that crosses
    assert(std::ranges::is_sorted(world.state.memory.use<ImpactZonesMemory>().released));
    std::erase_if(world.state.memory.use<ImpactZonesMemory>().released,
                  [&](const ReleasedPair& pair) { return paths_.has_separated(path, tentative_, pair); });
    report.contacts.clear();
    for (PairForce& p : report.pair_forces) p.contacts = 0;
    for (const Contact& c : met_.contacts) {
        if (c.impulse.isZero(0)) continue;
        ContactPoint point;
        for (int k = 0; k < 4; ++k) // the point on side a
            if (c.vertex[k] != none && c.weight[k] > 0) point.position += c.weight[k] * path.x0[c.vertex[k]];
        point.normal = c.normal;
        point.force = c.impulse / path.dt;
        point.body_a = c.body_a;
        point.body_b = c.body_b;
        report.contacts.push_back(point);
        add_impulse(report.pair_forces, c.normal, c.impulse, c.body_a, c.body_b);
    }
    report.contact_count = met_.size();
    report.active_contacts = count(report.contacts);
    advance(world.model, world.state, tentative_.v, path.dt);
    ++report.substeps;
}

} // namespace pliant
