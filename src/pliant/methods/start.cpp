#include "pliant/methods/start.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/geometry/plain_tree.hpp"
#include "pliant/geometry/predicates.hpp"

#include <cstdio>
#include <limits>
#include <map>

namespace pliant {
namespace {

constexpr Real opened_part = 1e-3; ///< of the gap: the distance that bodies which touch start with

/// Whether the segment passes from one side of the triangle to the other through it.
bool passes_through(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t)
{
    if (orientation_sign(t[0], t[1], t[2], p) * orientation_sign(t[0], t[1], t[2], q) >= 0) return false;
    const int a = orientation_sign(p, q, t[0], t[1]), b = orientation_sign(p, q, t[1], t[2]),
              c = orientation_sign(p, q, t[2], t[0]);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

Vec3 meeting_point(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t)
{
    const Vec3 n = (t[1] - t[0]).cross(t[2] - t[0]);
    const Real hp = n.dot(p - t[0]), hq = n.dot(q - t[0]);
    return p + (hp != hq ? std::clamp(hp / (hp - hq), 0.0, 1.0) : 0.5) * (q - p);
}

/// Sum of the normals of the faces at each vertex, out of closed bodies; 0 for sheets, which have no outside.
Vec3s outward_normals(const Model& model, const Vec3s& x)
{
    Vec3s normal(x.size(), Vec3::Zero());
    for (Index f = 0; f < count(model.surface.triangles); ++f) {
        if (!model.bodies[model.surface.triangle_body[f]].closed) continue;
        const Triangle& t = model.surface.triangles[f];
        const Vec3 n = (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]);
        for (const Index v : t) normal[v] += n;
    }
    return normal;
}

/// The direction from side b to side a of a pair without distance; 0 when neither side has an outside.
Vec3 opening_direction(const Model& model, const Vec3s& x, const Vec3s& outward, const ContactPair& pair)
{
    const auto& v = pair.vertices;
    Vec3 a = Vec3::Zero(), b = Vec3::Zero();
    for (int k = 0; k < 4 && v[k] != none; ++k)
        (pair.weights[k] > 0 ? a : b) += std::abs(pair.weights[k]) * outward[v[k]].normalized();
    const Vec3 guess = b - a;
    Vec3 across = Vec3::Zero();
    if (pair.key.kind == PairKind::vertex_face) {
        across = (x[v[2]] - x[v[1]]).cross(x[v[3]] - x[v[1]]);
        if (model.bodies[model.surface.vertex_body[v[1]]].closed) return across.normalized();
    } else if (pair.key.kind == PairKind::edge_edge) {
        across = (x[v[1]] - x[v[0]]).cross(x[v[3]] - x[v[2]]);
    }
    if (guess.isZero(0)) return guess;
    if (across.isZero(0)) return guess.normalized();
    return across.dot(guess) < 0 ? Vec3(-across.normalized()) : Vec3(across.normalized());
}

/// A distance that two bodies have to win along a direction.
struct Opening {
    Index a, b;     ///< bodies
    Vec3 direction; ///< from b to a
    Real distance;  ///< [m]
    bool operator<(const Opening& o) const { return std::tie(a, b) < std::tie(o.a, o.b); }
};

/// The lowest vertex of a body above a plane.
struct PlaneDistance {
    Index body, plane; ///< both are bodies
    Vec3 normal;       ///< of the plane
    Real distance;     ///< negative: behind it [m]
    Index vertex;
};

/// Of every body that may touch a plane, with every plane; in the order of planes and bodies.
std::vector<PlaneDistance> plane_distances(const Model& model, const Vec3s& x, Real time)
{
    const PairFilter filter(model.surface, model.no_contact);
    std::vector<PlaneDistance> distances;
    for (Index p = 0; p < count(model.bodies); ++p) {
        if (!model.bodies[p].plane) continue;
        const Plane plane = plane_at(model, model.bodies[p].obstacle, time);
        for (Index b = 0; b < count(model.bodies); ++b) {
            const Body& body = model.bodies[b];
            PlaneDistance lowest{b, p, plane.normal, std::numeric_limits<Real>::infinity(), none};
            for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) {
                const Real d = plane.normal.dot(x[v]) - plane.offset;
                if (d < lowest.distance && filter.vertex_body(v, p)) lowest.distance = d, lowest.vertex = v;
            }
            if (lowest.vertex != none) distances.push_back(lowest);
        }
    }
    return distances;
}

/// Openings from planes. A body that lies on a plane needs none, unless rounding has put it behind, or others that
/// give way could push it there.
void add_plane_openings(const Model& model, const Vec3s& x, Real time, std::vector<Opening>& openings)
{
    const PairLengths wanted = contact_gaps(model, opened_part);
    std::vector<Opening> of_planes;
    bool behind = false;
    for (const PlaneDistance& d : plane_distances(model, x, time)) {
        const Real distance = wanted.between(d.body, d.plane);
        if (std::abs(d.distance) >= distance / 2) continue;
        behind |= d.distance < 0;
        of_planes.push_back({d.body, d.plane, d.normal, distance - d.distance});
    }
    if (behind || !openings.empty()) openings.insert(openings.end(), of_planes.begin(), of_planes.end());
}

/// Openings of all pairs of bodies that are closer than a small part of their gap; pairs of like direction once.
std::vector<Opening> find_openings(const Model& model, const Vec3s& x, Real time)
{
    const PairLengths wanted = contact_gaps(model, opened_part);
    ProximityOptions options;
    std::vector<Real> radius;
    for (const Index body : model.surface.vertex_body) radius.push_back(wanted.share(body));
    options.radius = radius;
    Detector detector(model.surface, model.no_contact);
    const Vec3s outward = outward_normals(model, x);
    std::vector<Opening> openings;
    for (const ContactPair& pair : detector.proximity(x, options)) {
        const Index a = model.surface.vertex_body[pair.vertices[0]];
        const Index b = model.surface.vertex_body[pair.vertices[pair.key.kind == PairKind::edge_edge ? 2 : 1]];
        const Real distance = wanted.between(a, b);
        if (a == b || pair.distance >= distance / 2) continue;
        const Vec3 direction = opening_direction(model, x, outward, pair);
        if (direction.isZero(0)) continue;
        const bool known = std::any_of(openings.begin(), openings.end(), [&](const Opening& o) {
            return o.a == a && o.b == b && o.direction.dot(direction) > 0.999;
        });
        if (!known) openings.push_back({a, b, direction, distance});
    }
    add_plane_openings(model, x, time, openings);
    std::stable_sort(openings.begin(), openings.end());
    return openings;
}

/// Per body: a translation that opens all of them, by projected Gauss-Seidel [m].
Vec3s translations(const Model& model, const std::vector<Opening>& openings)
{
    constexpr int most_sweeps = 10000;               // a pile of a hundred bodies needs about the square of its height
    std::vector<Real> share(model.bodies.size(), 1); // inverse mass: all alike, or none
    for (std::size_t b = 0; b < share.size(); ++b)
        if (model.bodies[b].obstacle != none) share[b] = 0;
    for (const Pin& pin : model.pins) share[model.block_body[pin.block]] = 0;
    Vec3s moved(model.bodies.size(), Vec3::Zero());
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        Real lacking = 0; // largest part of a distance that is not won
        for (const Opening& o : openings) {
            const Real lack = o.distance - o.direction.dot(moved[o.a] - moved[o.b]), shares = share[o.a] + share[o.b];
            if (lack <= 0 || shares == 0) continue;
            lacking = std::max(lacking, lack / o.distance);
            moved[o.a] += share[o.a] / shares * lack * o.direction;
            moved[o.b] -= share[o.b] / shares * lack * o.direction;
        }
        if (lacking < 0.01) break;
    }
    return moved;
}

} // namespace

std::vector<StartCrossing> start_crossings(const World& world)
{
    const Surface& s = world.model.surface;
    Vec3s x;
    surface_positions(world.model, world.state, x);
    std::vector<TreeBox> boxes(s.triangles.size());
    for (std::size_t t = 0; t < boxes.size(); ++t)
        for (const Index v : s.triangles[t]) boxes[t].add(x[v]);
    const PlainTree tree(std::move(boxes));
    const PairFilter filter(s, world.model.no_contact);
    constexpr Index edges_a_chunk = 1024;
    std::vector<std::vector<StartCrossing>> found(s.edges.size() / edges_a_chunk + 1);
    parallel_for(
        count(found),
        [&](Index chunk) {
            const Index end = std::min(count(s.edges), (chunk + 1) * edges_a_chunk);
            for (Index e = chunk * edges_a_chunk; e < end; ++e) {
                const Index v = s.edges[e][0], w = s.edges[e][1];
                TreeBox box;
                box.add(x[v]);
                box.add(x[w]);
                tree.for_each(
                    [&](const TreeBox& b) { return b.meets(box); },
                    [&](Index f) {
                        if (!filter.vertex_face(v, f) || !filter.vertex_face(w, f)) return;
                        const Triangle& t = s.triangles[f];
                        const std::array<Vec3, 3> corners = {x[t[0]], x[t[1]], x[t[2]]};
                        if (!passes_through(x[v], x[w], corners)) return;
                        const Index a = s.edge_body[e], b = s.triangle_body[f];
                        found[chunk].push_back({std::min(a, b), std::max(a, b), meeting_point(x[v], x[w], corners)});
                    });
            }
        },
        1);
    std::map<std::array<Index, 2>, StartCrossing> first; // of each pair of bodies
    for (const auto& list : found)
        for (const StartCrossing& c : list) first.insert({{c.body_a, c.body_b}, c});
    for (const PlaneDistance& d : plane_distances(world.model, x, world.state.time)) {
        const auto [a, b] = std::minmax(d.body, d.plane);
        if (d.distance < 0) first.insert({{a, b}, {a, b, x[d.vertex]}});
    }
    std::vector<StartCrossing> crossings;
    for (const auto& [bodies, crossing] : first) crossings.push_back(crossing);
    return crossings;
}

void open_touching(World& world)
{
    const Model& model = world.model;
    Vec3s x;
    surface_positions(model, world.state, x);
    const std::vector<Opening> openings = find_openings(model, x, world.state.time);
    if (openings.empty()) return;
    const Vec3s moved = translations(model, openings);
    for (Index i = 0; i < model.block_count(); ++i) world.state.position[i] += moved[model.block_body[i]];
    for (const Rotor& rotor : model.rotors) world.state.position[rotor.angular_block()].setZero();
}

std::vector<StartDistance> start_distances(const World& world, Real gaps)
{
    const Model& model = world.model;
    const PairLengths gap = contact_gaps(model), reach = contact_gaps(model, gaps);
    Vec3s x;
    surface_positions(model, world.state, x);
    std::vector<Real> radius;
    for (const Index body : model.surface.vertex_body) radius.push_back(reach.share(body));
    std::vector<MovingPlane> planes;
    for (Index b = 0; b < count(model.bodies); ++b)
        if (model.bodies[b].plane) {
            const Plane plane = plane_at(model, model.bodies[b].obstacle, world.state.time);
            planes.push_back({plane, plane, b});
        }
    ProximityOptions options;
    options.radius = radius;
    options.planes = planes;
    Detector detector(model.surface, model.no_contact);
    std::map<std::array<Index, 2>, Real> nearest;
    for (const ContactPair& pair : detector.proximity(x, options)) {
        Index a = model.surface.vertex_body[pair.vertices[0]];
        Index b = pair.key.kind == PairKind::vertex_plane
                      ? planes[pair.key.b].body
                      : model.surface.vertex_body[pair.vertices[pair.key.kind == PairKind::edge_edge ? 2 : 1]];
        if (b < a) std::swap(a, b);
        if (a == b || pair.distance > reach.between(a, b)) continue;
        const auto [it, is_new] = nearest.insert({{a, b}, pair.distance});
        it->second = std::min(it->second, pair.distance);
    }
    std::vector<StartDistance> distances;
    for (const auto& [bodies, distance] : nearest)
        distances.push_back({bodies[0], bodies[1], distance, gap.between(bodies[0], bodies[1])});
    return distances;
}

void fit_gaps(World& world)
{
    constexpr Real all_but_touching = 0.02; // of the gap
    std::vector<PairLengths::Exception> exceptions;
    for (const StartDistance& d : start_distances(world, 1)) {
        const Body &a = world.model.bodies[d.body_a], &b = world.model.bodies[d.body_b];
        const bool a_asks = a.gap > 0 && a.gap == d.gap, b_asks = b.gap > 0 && b.gap == d.gap;
        if ((a_asks && !a.default_gap) || (b_asks && !b.default_gap)) continue;
        if (d.distance < d.gap && d.distance > all_but_touching * d.gap)
            exceptions.push_back({d.body_a, d.body_b, d.distance / 2});
    }
    world.model.pair_gaps = std::move(exceptions);
}

void require_free_start(World& world)
{
    open_touching(world); // first: surfaces that lie in each other may cross by what rounding did to them
    std::string faults;
    for (const StartCrossing& c : start_crossings(world)) {
        const auto name = [&](Index body) { return "'" + world.model.bodies[body].name + "'"; };
        char place[100];
        std::snprintf(place, sizeof place, " intersect at (%.6g, %.6g, %.6g) m; ", c.position.x(), c.position.y(),
                      c.position.z());
        faults += (c.body_a == c.body_b ? "two parts of " + name(c.body_a) : name(c.body_a) + " and " + name(c.body_b));
        faults += place;
    }
    if (!faults.empty()) throw Error("at the start " + faults + "move them apart");
}

} // namespace pliant
