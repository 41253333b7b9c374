// What becomes a row of the implicit method: pairs that are close, impacts of a tentative step, limits of strain.

#include "pliant/methods/implicit.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

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

/// Per vertex of a cloth: the mean displacement over the cell of a grid that it is in, a few edges wide [m]. Other
/// bodies get 0: a coarse obstacle may be next to them without a vertex in the cell.
Vec3s mean_motion(const Model& model, const Vec3s& x0, const Vec3s& x1)
{
    constexpr Real edges = 8;
    Real edge = 0;
    for (const Body& body : model.bodies)
        if (body.sheet) edge = std::max(edge, body.edge_length);
    Vec3s mean(x0.size(), Vec3::Zero());
    if (edge == 0) return mean;
    std::vector<std::pair<std::array<std::int64_t, 3>, Index>> cells;
    cells.reserve(x0.size());
    for (Index v = 0; v < count(x0); ++v) {
        const Vec3 c = (x0[v] / (edges * edge)).array().floor();
        cells.push_back({{std::int64_t(c[0]), std::int64_t(c[1]), std::int64_t(c[2])}, v});
    }
    std::sort(cells.begin(), cells.end());
    for (std::size_t begin = 0, end; begin < cells.size(); begin = end) {
        Vec3 sum = Vec3::Zero();
        for (end = begin; end < cells.size() && cells[end].first == cells[begin].first; ++end)
            sum += x1[cells[end].second] - x0[cells[end].second];
        for (std::size_t k = begin; k < end; ++k) {
            const Index v = cells[k].second;
            if (model.bodies[model.surface.vertex_body[v]].sheet) mean[v] = sum / Real(end - begin);
        }
    }
    return mean;
}

} // namespace

bool ImplicitContact::is_released(const ImplicitMemory& memory, const PairKey& key)
{
    return std::binary_search(memory.released.begin(), memory.released.end(),
                              ReleasedPair{static_cast<std::int32_t>(key.kind), key.a, key.b});
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

void ImplicitContact::warm_start(const ImplicitMemory& memory, Contact& contact, Real dt)
{
    const Real scale = memory.last_substep > 0 ? dt / memory.last_substep : 0;
    const auto it = std::lower_bound(memory.contacts.begin(), memory.contacts.end(), contact.key,
                                     [](const ContactMemory& m, const ContactKey& k) {
                                         return ContactKey{m.key_a, m.key_b} < k;
                                     });
    if (it != memory.contacts.end() && ContactKey{it->key_a, it->key_b} == contact.key)
        contact.impulse = scale * it->impulse;
}

void ImplicitContact::find_proximity(const World& world, Real dt, StepReport& report)
{
    const ScopedTimer timer(report.profile, "proximity");
    const Model& model = world.model;
    const Surface& surface = model.surface;
    const ImplicitMemory& memory = world.state.memory.get<ImplicitMemory>();
    surface_positions(model, world.state, x0_);
    // The end of the unconstrained step: where proximity looks ahead, and where scripted vertices go.
    end_ = State();
    move_configuration(model, world.state, v_free_, dt, end_);
    surface_positions(model, end_, x1_);
    planes_.clear();
    for (Index b : plane_bodies_) {
        const Index obstacle = model.bodies[b].obstacle;
        planes_.push_back(
            {plane_at(model, obstacle, world.state.time), plane_at(model, obstacle, world.state.time + dt), b});
    }
    // Half of the gap plus what a vertex travels against its surroundings, at most a quarter of an edge: reach is the
    // sum over both sides. What moves along together does not meet.
    const Real gap = smallest_gap_;
    const Vec3s drift = mean_motion(model, x0_, x1_);
    const Real fall = model.gravity.norm() * dt * dt; // what a body at rest moves in the unconstrained step
    std::vector<Real> radius(static_cast<std::size_t>(surface.vertex_count()));
    for (Index v = 0; v < surface.vertex_count(); ++v) {
        const Body& body = model.bodies[surface.vertex_body[v]];
        const Real own = body.gap > 0 ? body.gap : gap;
        const Real ahead = body.gap > 0 ? options_.reach_fraction / 2 * body.edge_length : own;
        const Real moved = std::max((x1_[v] - x0_[v] - drift[v]).norm(), std::min(fall, (x1_[v] - x0_[v]).norm()));
        radius[v] = own / 2 + std::min(2 * moved, std::min(ahead, 5 * own));
    }
    ProximityOptions proximity;
    proximity.radius = radius;
    proximity.planes = planes_;
    proximity.cone_tolerance = 0.1; // a pair that leans out of its cones is no local minimum: a ghost on a flat edge
    // Where flat surfaces lie on each other their vertices say all of it, except for crossings that already carry.
    flat_.resize(surface.edges.size());
    parallel_for(count(flat_), [&](Index e) { flat_[e] = cones_.is_flat(e, x0_, options_.flat_sine); });
    smooth_ = flat_;
    for (const ContactMemory& m : memory.contacts)
        if (const auto crossing = crossing_of({m.key_a, m.key_b}))
            for (Index e : *crossing) smooth_[e] = 0;
    proximity.smooth = smooth_;
    contacts_.clear();
    const Real slack = 2 * model.gravity.norm() * dt * dt;
    for (const ContactPair& pair : detector_.proximity(x0_, proximity)) {
        if (is_released(memory, pair.key)) continue;
        Contact c = make_contact(model, pair);
        const Real pair_gap_here = pair_gap(model, c.body_a, c.body_b);
        c.distance = pair.distance;
        c.hard_gap = std::min(hard_gap_, pair.distance / 2);
        c.target = pair.distance >= pair_gap_here ? pair_gap_here
                                                  : pair.distance + options_.recovery * (pair_gap_here - pair.distance);
        warm_start(memory, c, dt);
        if (c.impulse.isZero(0) && c.kind == ContactKind::edge_edge && (flat_[pair.key.a] || flat_[pair.key.b]))
            continue;
        Real predicted; // distance along the normal after the unconstrained step
        if (c.kind == ContactKind::plane) {
            const MovingPlane& plane = planes_[pair.key.b];
            predicted = plane.t1.normal.dot(x1_[c.vertex[0]]) - plane.t1.offset;
        } else {
            predicted = c.normal.dot(relative_position(c, x1_));
        }
        if (predicted < c.target + std::min(slack, pair_gap_here / 2) || !c.impulse.isZero(0)) contacts_.push_back(c);
    }
    std::sort(contacts_.begin(), contacts_.end(), by_key);
}

void ImplicitContact::add_impact(const World& world, const Impact& impact, Real dt, Index known)
{
    const Model& model = world.model;
    Contact c = make_contact(model, impact);
    const Real gap = pair_gap(model, c.body_a, c.body_b);
    c.hard_gap = std::min(hard_gap_, impact.start_distance / 2);
    const auto distance_along_normal = [&] {
        return c.kind == ContactKind::plane
                   ? planes_[impact.key.b].t0.normal.dot(x0_[c.vertex[0]]) - planes_[impact.key.b].t0.offset
                   : c.normal.dot(relative_position(c, x0_));
    };
    c.distance = distance_along_normal();
    if (c.distance <= c.hard_gap && !impact.start_normal.isZero(0)) { // the normal turned during the step
        c.normal = impact.start_normal;
        c.distance = distance_along_normal();
    }
    c.target = c.distance >= gap ? gap : c.distance + options_.recovery * std::max(0.0, gap - c.distance);
    const auto find = [&](const ContactKey& key) {
        const auto sorted_end = contacts_.begin() + known;
        const auto it = std::lower_bound(contacts_.begin(), sorted_end, key,
                                         [](const Contact& o, const ContactKey& k) { return o.key < k; });
        if (it != sorted_end && it->key == key) return it;
        return std::find_if(sorted_end, contacts_.end(), [&](const Contact& o) { return o.key == key; });
    };
    // Up to four rows for one pair of features: a new geometry replaces one like it, else it is added.
    for (int slot = 0; slot < 4; ++slot) {
        ContactKey key = c.key;
        key.b |= static_cast<std::uint64_t>(slot) << 40;
        const auto it = find(key);
        if (it == contacts_.end()) {
            c.key = key;
            warm_start(world.state.memory.get<ImplicitMemory>(), c, dt);
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
        for (Index i = 0; i < body.limit_count; ++i) {
            const LengthLimit& s = model.length_limits[body.first_limit + i];
            const Real limit = s.ratio;
            const Index a = s.a, e = s.b;
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

} // namespace pliant
