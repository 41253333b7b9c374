#include "pliant/methods/contact_finder.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/geometry/closest.hpp"

#include <cmath>
#include <limits>
#include <set>

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

/// Adds to the vertices of all cloths with this edge length the mean displacement over the cell of a grid that each is
/// in, a few edges wide [m].
void add_mean_motion(const Model& model, Real edge, const Vec3s& x0, const Vec3s& x1, Vec3s& mean)
{
    constexpr Real edges = 8; // a cell: wider than folds, whose sides move against each other, narrower than a sheet
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
            const Body& body = model.bodies[model.surface.vertex_body[v]];
            if (body.sheet && body.edge_length == edge) mean[v] = sum / Real(end - begin);
        }
    }
}

/// Per vertex of a cloth: the mean displacement around it [m]. Other bodies get 0: a coarse obstacle may be next to
/// them without a vertex in the cell.
Vec3s mean_motion(const Model& model, const Vec3s& x0, const Vec3s& x1)
{
    Vec3s mean(x0.size(), Vec3::Zero());
    std::set<Real> edges;
    for (const Body& body : model.bodies)
        if (body.sheet && body.edge_length > 0) edges.insert(body.edge_length);
    for (const Real edge : edges) add_mean_motion(model, edge, x0, x1, mean);
    return mean;
}

/// Whether `pinch: release` lets the pair through.
bool is_released(const ImplicitMemory& memory, const PairKey& key)
{
    return std::binary_search(memory.released.begin(), memory.released.end(),
                              ReleasedPair{static_cast<std::int32_t>(key.kind), key.a, key.b});
}

/// Edges whose crossings say nothing that their vertices do not: flat ones, except where a crossing already carries.
std::vector<char> smooth_edges(const Substep& s)
{
    std::vector<char> smooth = s.flat;
    for (const ContactMemory& m : s.memory().contacts)
        if (const auto crossing = crossing_of({m.key_a, m.key_b}))
            for (Index e : *crossing) smooth[e] = 0;
    return smooth;
}

} // namespace

void warm_start(const ImplicitMemory& memory, Real dt, Contact& contact)
{
    const Real scale = memory.last_substep > 0 ? dt / memory.last_substep : 0;
    const auto it = std::lower_bound(memory.contacts.begin(), memory.contacts.end(), contact.key,
                                     [](const ContactMemory& m, const ContactKey& k) {
                                         return ContactKey{m.key_a, m.key_b} < k;
                                     });
    if (it != memory.contacts.end() && ContactKey{it->key_a, it->key_b} == contact.key)
        contact.impulse = scale * it->impulse;
}

ContactFinder::ContactFinder(const Model& model, const ImplicitOptions& options)
    : options_(options), detector_(model.surface, model.no_contact), cones_(model.surface), gaps_(contact_gaps(model)),
      hard_gaps_(contact_gaps(model, options.hard_gap_fraction))
{
    // Vertices that move by less than this between two queries share their candidates.
    Real margin = std::numeric_limits<Real>::infinity();
    for (const Body& body : model.bodies)
        if (body.gap > 0) margin = std::min(margin, options_.hard_gap_fraction * body.gap);
    if (std::isfinite(margin)) detector_.set_reuse_margin(margin);
    for (Index b = 0; b < count(model.bodies); ++b)
        if (model.bodies[b].plane) plane_bodies_.push_back(b);
    find_paths(model);
}

Substep ContactFinder::begin(const World& world, Real dt, Vec3s v_free) const
{
    assert(v_free.size() == world.state.position.size() && all_finite(v_free));
    const Model& model = world.model;
    Substep s{model, world.state, dt};
    s.v_free = std::move(v_free);
    surface_positions(model, world.state, s.x0);
    State end;
    move_configuration(model, world.state, s.v_free, dt, end);
    surface_positions(model, end, s.x1_free);
    for (Index b : plane_bodies_) {
        const Index obstacle = model.bodies[b].obstacle;
        s.planes.push_back(
            {plane_at(model, obstacle, world.state.time), plane_at(model, obstacle, world.state.time + dt), b});
    }
    s.flat.resize(model.surface.edges.size());
    parallel_for(count(s.flat), [&](Index e) { s.flat[e] = cones_.is_flat(e, s.x0, options_.flat_sine); });
    s.curvature.assign(model.bodies.size(), 0);
    for (const ScriptedPath& path : paths_) {
        const Real radius = path_radius(path, model, s.x0);
        Real& curvature = s.curvature[path.body];
        curvature = std::max(curvature, path.chord_error(s.start.time, s.start.time + dt, radius));
    }
    return s;
}

/// Per vertex: how much farther than the gap to look, twice what it travels against its surroundings, at most a quarter
/// of an edge [m]. What moves along together does not meet.
std::vector<Real> ContactFinder::look_ahead(const Substep& s) const
{
    const Surface& surface = s.model.surface;
    const Vec3s drift = mean_motion(s.model, s.x0, s.x1_free);
    const Real fall = s.model.gravity.norm() * s.dt * s.dt; // what a body at rest moves in the unconstrained step
    std::vector<Real> ahead(static_cast<std::size_t>(surface.vertex_count()));
    for (Index v = 0; v < surface.vertex_count(); ++v) {
        const Body& body = s.model.bodies[surface.vertex_body[v]];
        const Vec3 path = s.x1_free[v] - s.x0[v];
        const Real moved = std::max((path - drift[v]).norm(), std::min(fall, path.norm()));
        ahead[v] = 2 * moved;
        if (body.gap > 0) ahead[v] = std::min({ahead[v], options_.reach_fraction / 2 * body.edge_length, 5 * body.gap});
    }
    return ahead;
}

/// Per vertex: a radius so large that no pair within its reach is missed, whatever the bodies [m].
std::vector<Real> ContactFinder::reaches(const Model& model, const std::vector<Real>& ahead) const
{
    std::vector<Real> radius(ahead.size());
    for (Index v = 0; v < count(radius); ++v) {
        const Index body = model.surface.vertex_body[v];
        const Real share = gaps_.share(body);
        radius[v] = share + (model.bodies[body].gap > 0 ? ahead[v] : std::min(ahead[v], 2 * share));
    }
    return radius;
}

/// The gap of the two bodies, and what either side looks ahead: the gap at most for a body without one of its own.
bool ContactFinder::within_reach(const Model& model, const Contact& c, const std::vector<Real>& ahead) const
{
    const Real gap = gaps_.between(c.body_a, c.body_b);
    Real reach = gap;
    for (int k = 0; k < 4 && c.vertex[k] != none; ++k) {
        const Index v = c.vertex[k];
        const bool own_gap = model.bodies[model.surface.vertex_body[v]].gap > 0;
        reach += std::abs(c.weight[k]) * (own_gap ? ahead[v] : std::min(ahead[v], gap));
    }
    if (c.kind == ContactKind::plane) reach += ahead[c.vertex[0]]; // as to another vertex like itself
    return c.distance <= reach;
}

Contact ContactFinder::make_contact(const Model& model, const ContactPair& pair) const
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

/// What a row asks for at the end of the step: the gap, or to win back a part of what is lost of it [m].
Real ContactFinder::target(Real distance, Real gap) const
{
    return distance >= gap ? gap : distance + options_.recovery * (gap - distance);
}

/// One collection of candidates for the proximity of this sub-step and the impacts of its rounds; while little moves,
/// for later sub-steps too.
void ContactFinder::expect_queries(const Substep& s, const std::vector<Real>& reach)
{
    const Surface& surface = s.model.surface;
    const Index n = surface.vertex_count();
    // The end is the unconstrained one with the change that contact made in the last sub-step.
    Vec3s v = s.v_free;
    if (s.memory().contact_change.size() == v.size())
        parallel_for(count(v), [&](Index i) { v[i] += s.dt / s.memory().last_substep * s.memory().contact_change[i]; });
    State end;
    move_configuration(s.model, s.start, v, s.dt, end);
    Vec3s x1;
    surface_positions(s.model, end, x1);
    const Real fall = s.model.gravity.norm() * s.dt * s.dt;
    constexpr Real fast = 1.0 / 30;    // of an edge in a step
    constexpr Real fast_share = 0.005; // of the vertices: where more are fast, candidates serve this step only
    constexpr Real steps_ahead = 6, widest = 0.25; // of an edge
    const Index fast_vertices = parallel_sum(n, Index(0), [&](Index k) {
        const Body& body = s.model.bodies[surface.vertex_body[k]];
        return Index(body.gap > 0 && (x1[k] - s.x0[k]).norm() > fast * body.edge_length);
    });
    const bool slow = fast_vertices <= fast_share * n;
    std::vector<Real> least_t0(static_cast<std::size_t>(n)), least_t1(least_t0), radius_t0(least_t0),
        radius_t1(least_t0);
    parallel_for(n, [&](Index k) {
        const Index b = surface.vertex_body[k];
        const Body& body = s.model.bodies[b];
        const Real hard_gap = hard_gaps_.share(b) * 2,
                   separation = (1 + options_.ccd_fraction) * hard_gap / 2 + s.curvature[b];
        const Real moved = (x1[k] - s.x0[k]).norm();
        Real room = hard_gap + std::min(moved / 4, fall);
        if (slow && body.edge_length > 0)
            room = std::clamp(steps_ahead * moved, room, std::max(room, widest * body.edge_length));
        least_t0[k] = std::max(reach[k], separation);
        least_t1[k] = separation;
        radius_t0[k] = least_t0[k] + room;
        radius_t1[k] = separation + room;
    });
    detector_.expect(s.x0, x1, {radius_t0, radius_t1, least_t0, least_t1});
}

ContactSet ContactFinder::near(const Substep& s)
{
    poll_interrupt();
    const std::vector<Real> ahead = look_ahead(s), radius = reaches(s.model, ahead);
    const std::vector<char> smooth = smooth_edges(s);
    expect_queries(s, radius);
    ProximityOptions proximity;
    proximity.radius = radius;
    proximity.planes = s.planes;
    proximity.cone_tolerance = 0.1; // a pair that leans out of its cones is no local minimum: a ghost on a flat edge
    proximity.smooth = smooth;
    ContactSet set;
    const Real slack = 2 * s.model.gravity.norm() * s.dt * s.dt;
    for (const ContactPair& pair : detector_.proximity(s.x0, proximity)) {
        if (is_released(s.memory(), pair.key)) continue;
        Contact c = make_contact(s.model, pair);
        c.distance = pair.distance;
        if (!within_reach(s.model, c, ahead)) continue;
        const Real gap = gaps_.between(c.body_a, c.body_b);
        c.hard_gap = std::min(hard_gaps_.between(c.body_a, c.body_b), pair.distance / 2);
        c.target = target(pair.distance, gap);
        warm_start(s.memory(), s.dt, c);
        const bool carries = !c.impulse.isZero(0);
        if (!carries && c.kind == ContactKind::edge_edge && (s.flat[pair.key.a] || s.flat[pair.key.b])) continue;
        Real predicted; // distance along the normal after the unconstrained step
        if (c.kind == ContactKind::plane) {
            const MovingPlane& plane = s.planes[pair.key.b];
            predicted = plane.t1.normal.dot(s.x1_free[c.vertex[0]]) - plane.t1.offset;
        } else {
            predicted = c.normal.dot(relative_position(c, s.x1_free));
        }
        if (carries || predicted < c.target + std::min(slack, gap / 2)) set.contacts.push_back(c);
    }
    std::sort(set.contacts.begin(), set.contacts.end(), by_key);
    return set;
}

Tentative ContactFinder::follow(const Substep& s, Vec3s v)
{
    poll_interrupt();
    assert(v.size() == s.v_free.size() && all_finite(v));
    Tentative t;
    t.v = std::move(v);
    move_configuration(s.model, s.start, t.v, s.dt, t.end);
    surface_positions(s.model, t.end, t.x1);
    ImpactOptions options;
    options.hard_gaps = &hard_gaps_;
    options.tolerance = options_.ccd_fraction;
    options.kind = options_.ccd;
    options.planes = s.planes;
    const std::vector<Real> curvature = curvatures(s, t.v);
    options.curvature = curvature;
    t.impacts = detector_.impacts(s.x0, t.x1, options);
    std::erase_if(t.impacts, [&](const Impact& i) { return is_released(s.memory(), i.key); });
    for (const Impact& i : t.impacts) {
        const Contact c = make_contact(s.model, i);
        if (!curvature.empty() && curvature[c.body_a] + curvature[c.body_b] > 0) t.too_curved = true;
    }
    return t;
}

StalledPair ContactFinder::stalled_pair(const Substep& s, const Impact& impact) const
{
    const Contact pair = make_contact(s.model, impact);
    const Index v = impact.vertices[0];
    StalledPair out;
    out.body_a = pair.body_a;
    out.body_b = pair.body_b;
    out.vertex = v - s.model.bodies[pair.body_a].first_vertex;
    out.position = s.x0[v];
    out.time = s.start.time;
    out.gap = gaps_.between(pair.body_a, pair.body_b);
    out.certified = hard_gaps_.between(pair.body_a, pair.body_b);
    out.friction = pair.friction;
    return out;
}

Release ContactFinder::release_of(const Model& model, const Impact& impact, Real time) const
{
    const Contact c = make_contact(model, impact);
    return {time, c.body_a, c.body_b, impact.vertices};
}

bool ContactFinder::has_separated(const Substep& s, const Tentative& t, const ReleasedPair& pair) const
{
    const Surface& surface = s.model.surface;
    const Vec3s& x = t.x1;
    const auto apart = [&](Real distance, Index body_a, Index body_b) {
        return distance > gaps_.between(body_a, body_b);
    };
    const auto vertex = [&](Index v) { return surface.vertex_body[v]; };
    switch (static_cast<PairKind>(pair.kind)) {
    case PairKind::vertex_vertex:
        return apart((x[pair.a] - x[pair.b]).norm(), vertex(pair.a), vertex(pair.b));
    case PairKind::vertex_edge: {
        const Edge& e = surface.edges[pair.b];
        const Real u = closest_on_segment(x[pair.a], x[e[0]], x[e[1]]);
        return apart((x[pair.a] - (1 - u) * x[e[0]] - u * x[e[1]]).norm(), vertex(pair.a), vertex(e[0]));
    }
    case PairKind::vertex_face: {
        const Triangle& f = surface.triangles[pair.b];
        return apart(closest_point_triangle(x[pair.a], x[f[0]], x[f[1]], x[f[2]]).distance, vertex(pair.a),
                     vertex(f[0]));
    }
    case PairKind::edge_edge: {
        const Edge &e = surface.edges[pair.a], &g = surface.edges[pair.b];
        return apart(closest_edge_edge(x[e[0]], x[e[1]], x[g[0]], x[g[1]]).distance, vertex(e[0]), vertex(g[0]));
    }
    case PairKind::vertex_plane: {
        const MovingPlane& plane = s.planes[pair.b];
        return apart(plane.t1.normal.dot(x[pair.a]) - plane.t1.offset, vertex(pair.a), plane.body);
    }
    }
    return false;
}

} // namespace pliant
