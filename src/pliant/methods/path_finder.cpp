#include "pliant/methods/path_finder.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

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

} // namespace

bool is_released(std::span<const ReleasedPair> released, const PairKey& key)
{
    return std::binary_search(released.begin(), released.end(),
                              ReleasedPair{static_cast<std::int32_t>(key.kind), key.a, key.b});
}

PathFinder::PathFinder(const Model& model, const PathOptions& options)
    : options_(options), detector_(model.surface, model.no_contact), gaps_(contact_gaps(model)),
      hard_gaps_(contact_gaps(model, options.hard_gap_fraction))
{
    // Vertices that move by less than this between two queries share their candidates.
    Real margin = std::numeric_limits<Real>::infinity();
    for (const Body& body : model.bodies)
        if (body.gap > 0) margin = std::min(margin, options_.hard_gap_fraction * body.gap);
    if (std::isfinite(margin)) detector_.set_reuse_margin(margin);
    detector_.set_culling(options.culling);
    for (Index b = 0; b < count(model.bodies); ++b)
        if (model.bodies[b].plane) plane_bodies_.push_back(b);
    find_paths(model);
}

PathStart PathFinder::begin(const World& world, Real dt) const
{
    const Model& model = world.model;
    PathStart path{model, world.state, dt};
    surface_positions(model, world.state, path.x0);
    for (Index b : plane_bodies_) {
        const Index obstacle = model.bodies[b].obstacle;
        path.planes.push_back(
            {plane_at(model, obstacle, world.state.time), plane_at(model, obstacle, world.state.time + dt), b});
    }
    path.curvature.assign(model.bodies.size(), 0);
    for (const ScriptedPath& script : paths_) {
        const Real radius = path_radius(script, model, path.x0);
        Real& curvature = path.curvature[script.body];
        curvature = std::max(curvature, script.chord_error(world.state.time, world.state.time + dt, radius));
    }
    return path;
}

Contact PathFinder::make_contact(const Model& model, const ContactPair& pair) const
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

Contact PathFinder::contact_of(const PathStart& s, const Impact& impact) const
{
    Contact c = make_contact(s.model, impact);
    c.hard_gap = std::min(hard_gaps_.between(c.body_a, c.body_b), impact.start_distance / 2);
    const auto distance_along_normal = [&] {
        return c.kind == ContactKind::plane
                   ? s.planes[impact.key.b].t0.normal.dot(s.x0[c.vertex[0]]) - s.planes[impact.key.b].t0.offset
                   : c.normal.dot(relative_position(c, s.x0));
    };
    c.distance = distance_along_normal();
    if (c.distance <= c.hard_gap && !impact.start_normal.isZero(0)) { // the normal turned during the step
        c.normal = impact.start_normal;
        c.distance = distance_along_normal();
    }
    return c;
}

Tentative PathFinder::lead(const PathStart& s, Vec3s v) const
{
    assert(v.size() == s.start.position.size() && all_finite(v));
    Tentative t;
    t.v = std::move(v);
    move_configuration(s.model, s.start, t.v, s.dt, t.end);
    surface_positions(s.model, t.end, t.x1);
    return t;
}

Tentative PathFinder::follow(const PathStart& s, Vec3s v, std::span<const ReleasedPair> released)
{
    poll_interrupt();
    Tentative t = lead(s, std::move(v));
    find_impacts(s, released, {}, t);
    return t;
}

Tentative PathFinder::follow(const PathStart& s, Vec3s v, std::span<const ReleasedPair> released,
                             const Tentative& known)
{
    poll_interrupt();
    Tentative t = lead(s, std::move(v));
    if (curvatures(s, t.v) != curvatures(s, known.v)) { // what is certified changes with them
        find_impacts(s, released, {}, t);
        return t;
    }
    std::vector<char> changed(t.x1.size());
    for (std::size_t k = 0; k < changed.size(); ++k) changed[k] = t.x1[k] != known.x1[k];
    find_impacts(s, released, changed, t);
    t.too_curved |= known.too_curved;
    // Between vertices that go where they went before they meet as they did, whatever features around them do now.
    for (const Impact& i : known.impacts)
        if (std::none_of(i.vertices.begin(), i.vertices.end(), [&](Index k) { return k != none && changed[k]; }))
            t.impacts.push_back(i);
    std::sort(t.impacts.begin(), t.impacts.end(), [](const Impact& x, const Impact& y) {
        return std::tie(x.key, x.time, x.weights) < std::tie(y.key, y.time, y.weights);
    });
    const auto same = [](const Impact& x, const Impact& y) { return x.key == y.key; };
    t.impacts.erase(std::unique(t.impacts.begin(), t.impacts.end(), same), t.impacts.end());
    return t;
}

void PathFinder::find_impacts(const PathStart& s, std::span<const ReleasedPair> released, std::span<const char> changed,
                              Tentative& t)
{
    ImpactOptions options;
    options.hard_gaps = &hard_gaps_;
    options.tolerance = options_.ccd_fraction;
    options.kind = options_.ccd;
    options.start_part = options_.start_part;
    options.planes = s.planes;
    options.changed = changed;
    const std::vector<Real> curvature = curvatures(s, t.v);
    options.curvature = curvature;
    t.impacts = detector_.impacts(s.x0, t.x1, options);
    std::erase_if(t.impacts, [&](const Impact& i) { return is_released(released, i.key); });
    for (const Impact& i : t.impacts) {
        const Contact c = make_contact(s.model, i);
        if (!curvature.empty() && curvature[c.body_a] + curvature[c.body_b] > 0) t.too_curved = true;
    }
}

void PathFinder::expect(const PathStart& s, const Vec3s& v)
{
    constexpr Real steps_ahead = 12, widest = 0.125; // of an edge
    const Tentative t = lead(s, v);
    const Surface& surface = s.model.surface;
    std::vector<Real> least(t.x1.size()), radius(t.x1.size());
    for (Index k = 0; k < count(least); ++k) {
        const Index b = surface.vertex_body[k];
        const Real edge = s.model.bodies[b].edge_length;
        least[k] = (1 + options_.ccd_fraction) * hard_gaps_.share(b) + s.curvature[b];
        Real room = 2 * hard_gaps_.share(b);
        if (edge > 0) room = std::clamp(steps_ahead * (t.x1[k] - s.x0[k]).norm(), room, std::max(room, widest * edge));
        radius[k] = least[k] + room;
    }
    detector_.expect(s.x0, t.x1, {radius, radius, least, least});
}

StalledPair PathFinder::stalled_pair(const PathStart& s, const Impact& impact) const
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

Release PathFinder::release_of(const Model& model, const Impact& impact, Real time) const
{
    const Contact c = make_contact(model, impact);
    return {time, c.body_a, c.body_b, impact.vertices};
}

bool PathFinder::has_separated(const PathStart& s, const Tentative& t, const ReleasedPair& pair) const
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

bool is_scripted_alone(const Surface& surface, const Impact& impact)
{
    return std::all_of(impact.vertices.begin(), impact.vertices.end(),
                       [&](Index v) { return v == none || surface.prescribed[v]; });
}

bool put_scripted_first(const Surface& surface, std::vector<Impact>& impacts)
{
    const auto end = std::stable_partition(impacts.begin(), impacts.end(),
                                           [&](const Impact& i) { return is_scripted_alone(surface, i); });
    return end != impacts.begin();
}

void report_limiting(const std::vector<Impact>& impacts, StepReport& report)
{
    if (impacts.empty()) return;
    const Impact& i = impacts.front();
    const int other = i.key.kind == PairKind::edge_edge ? 2 : 1;
    report.limiting_a = i.vertices[0];
    report.limiting_b = i.key.kind == PairKind::vertex_plane ? none : i.vertices[other];
}

} // namespace pliant
