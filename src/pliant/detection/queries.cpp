// Proximity, impacts and the earliest impact: the narrow phases over all candidates.

#include "pliant/core/contracts.hpp"
#include "pliant/detection/detector_impl.hpp"
#include "pliant/detection/narrow.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// A pair within this much of its reach has boxes that overlap, whatever rounding did to either.
constexpr Real rounded_down = 1 - 1e-12;

[[maybe_unused]] bool are_planes(std::span<const MovingPlane> planes)
{
    const auto is_plane = [](const Plane& p) {
        return std::abs(p.normal.squaredNorm() - 1) < 1e-9 && std::isfinite(p.offset);
    };
    return std::all_of(planes.begin(), planes.end(),
                       [&](const MovingPlane& p) { return is_plane(p.t0) && is_plane(p.t1); });
}
[[maybe_unused]] bool are_lengths(std::span<const Real> lengths)
{
    return std::all_of(lengths.begin(), lengths.end(), [](Real r) { return r >= 0 && std::isfinite(r); });
}
[[maybe_unused]] bool is_valid(const ImpactOptions& o)
{
    return are_lengths(std::array{o.hard_gap, o.tolerance}) && o.max_iterations > 0 && are_planes(o.planes);
}

} // namespace

const std::vector<ContactPair>& Detector::proximity(const Vec3s& x, const ProximityOptions& o)
{
    Implementation& d = *impl_;
    assert(are_lengths(std::array{o.reach}) && are_lengths(o.radius) && are_planes(o.planes));
    assert(o.radius.empty() || count(o.radius) == d.surface.vertex_count());
    assert(o.smooth.empty() || o.smooth.size() == d.surface.edges.size());
    const VertexBalls query = {x, x, o.radius, o.radius, o.reach / 2};
    d.find_candidates(query);
    Stopwatch watch;
    const bool minima_only = o.cone_tolerance < 1;
    const auto reach_of = [&](const auto& vertices) { // farthest of some vertices of one side
        if (o.radius.empty()) return o.reach / 2;
        Real reach = 0;
        for (Index v : vertices) reach = std::max(reach, o.radius[v]);
        return reach;
    };
    const auto keep = [&](const std::optional<ContactPair>& p, std::vector<ContactPair>& list) {
        if (!p) return;
        Real reach = o.reach;
        if (!o.radius.empty()) {
            reach = 0;
            for (int k = 0; k < 4 && p->vertices[k] != none; ++k)
                reach += std::abs(p->weights[k]) * o.radius[p->vertices[k]];
        }
        if (p->distance > rounded_down * reach) return;
        if (!d.filter.can_move(*p)) return;
        if (minima_only && !d.cones.local_minimum(*p, x, o.cone_tolerance)) return;
        if (o.skip_close_at_rest && !d.filter.apart_at_rest(*p)) return;
        list.push_back(*p);
    };
    const Surface& s = d.surface;
    const auto vertex_face = [&](const Pair& p, auto& list) {
        const Real limit = reach_of(std::array{p[0]}) + reach_of(s.triangles[p[1]]);
        keep(narrow::closest_vertex_face(s, x, p[0], p[1], limit), list);
    };
    const auto edge_edge = [&](const Pair& p, auto& list) {
        const Real limit = reach_of(s.edges[p[0]]) + reach_of(s.edges[p[1]]);
        keep(narrow::closest_edge_edge(s, x, p[0], p[1], limit, minima_only), list);
    };
    const auto vertex_planes = [&](Index v, auto& list) {
        for (Index i = 0; i < count(o.planes); ++i) {
            const Plane& plane = o.planes[i].t0;
            const Real distance = plane.normal.dot(x[v]) - plane.offset;
            // a plane has no radius of its own: the vertex reaches as far as to another vertex like itself
            const Real reach = o.radius.empty() ? o.reach : 2 * o.radius[v];
            if (distance <= reach && !s.prescribed[v] && d.filter.vertex_body(v, o.planes[i].body))
                list.push_back(narrow::vertex_plane(v, i, plane, distance));
        }
    };
    d.sieve.look_at(query);
    const Implementation::Sifting sifting = {
        [](const Pair&) { return true; },
        [&](const Pair& p) { return o.smooth.empty() || !(o.smooth[p[0]] | o.smooth[p[1]]); },
        [&](const Sieve::Batch& pairs) { return d.sieve.vertex_face(pairs); },
        [&](const Sieve::Batch& pairs) { return minima_only ? d.sieve.crossing(pairs) : d.sieve.edge_edge(pairs); }};
    // Equal keys have equal geometry: it is computed from the reduced features alone.
    d.narrow(d.pairs, sifting, vertex_face, edge_edge, vertex_planes,
             [](const ContactPair&, const ContactPair&) { return false; });
    d.stats.narrow_seconds = watch.lap();
    assert(strictly_sorted(d.pairs, &ContactPair::key));
    return d.pairs;
}

namespace {

/// What is certified for pairs of two bodies.
class Separations {
public:
    Separations(const Surface& surface, const ImpactOptions& o)
        : surface_(surface), gaps_(o.hard_gaps), curvature_(o.curvature), tolerance_(o.tolerance),
          relax_to_start_(o.relax_to_start)
    {
        options_.min_separation = o.hard_gap;
        options_.tolerance = o.tolerance;
        options_.max_iterations = o.max_iterations;
        options_.relax_to_start = o.relax_to_start;
        options_.start_part = o.start_part;
        options_.kind = o.kind;
    }
    void stop_at(Real time) { options_.max_time = time; }
    /// For vertices of two bodies.
    const CcdOptions& of(Index v, Index w) { return of_bodies(surface_.vertex_body[v], surface_.vertex_body[w]); }
    const CcdOptions& of_bodies(Index a, Index b)
    {
        if (gaps_) {
            options_.min_separation = gaps_->between(a, b);
            options_.tolerance = tolerance_ * options_.min_separation;
        }
        if (!curvature_.empty()) {
            const Real extra = curvature_[a] + curvature_[b];
            options_.min_separation += extra;
            options_.relax_to_start = relax_to_start_ && extra == 0;
        }
        return options_;
    }

private:
    const Surface& surface_;
    const PairLengths* gaps_;
    std::span<const Real> curvature_;
    Real tolerance_;
    bool relax_to_start_;
    CcdOptions options_;
};

/// Per vertex: a radius such that pairs within their separation have boxes that overlap [m].
std::vector<Real> separation_radii(const Surface& s, const ImpactOptions& o)
{
    std::vector<Real> radius(static_cast<std::size_t>(s.vertex_count()), (o.hard_gap + o.tolerance) / 2);
    if (o.hard_gaps)
        for (Index v = 0; v < count(radius); ++v) {
            const Real hard_gap = 2 * o.hard_gaps->share(s.vertex_body[v]);
            radius[v] = (hard_gap + o.tolerance * hard_gap) / 2;
        }
    if (!o.curvature.empty())
        for (Index v = 0; v < count(radius); ++v) radius[v] += o.curvature[s.vertex_body[v]];
    return radius;
}

/// Per body and plane: beyond this distance there is no impact [m].
std::vector<Real> plane_distances(const Surface& s, const ImpactOptions& o)
{
    Separations separations(s, o);
    std::vector<Real> far;
    const Index bodies = s.vertex_body.empty() ? 0 : 1 + *std::ranges::max_element(s.vertex_body);
    for (Index b = 0; b < bodies; ++b)
        for (const MovingPlane& plane : o.planes) {
            const CcdOptions& options = separations.of_bodies(b, plane.body);
            far.push_back(options.min_separation + options.tolerance);
        }
    return far;
}

std::optional<CcdHit> vertex_face_hit(const Surface& s, const Vec3s& x_t0, const Vec3s& x_t1, const Pair& p,
                                      Separations& separations)
{
    const Triangle& f = s.triangles[p[1]];
    const CcdOptions& options = separations.of(p[0], f[0]);
    return ccd::vertex_face({x_t0[p[0]], x_t0[f[0]], x_t0[f[1]], x_t0[f[2]]},
                            {x_t1[p[0]], x_t1[f[0]], x_t1[f[1]], x_t1[f[2]]}, options);
}
std::optional<CcdHit> edge_edge_hit(const Surface& s, const Vec3s& x_t0, const Vec3s& x_t1, const Pair& p,
                                    Separations& separations)
{
    const Edge &a = s.edges[p[0]], &b = s.edges[p[1]];
    const CcdOptions& options = separations.of(a[0], b[0]);
    return ccd::edge_edge({x_t0[a[0]], x_t0[a[1]], x_t0[b[0]], x_t0[b[1]]},
                          {x_t1[a[0]], x_t1[a[1]], x_t1[b[0]], x_t1[b[1]]}, options);
}

bool earlier(const Impact& a, const Impact& b)
{
    return std::tie(a.time, a.key, a.weights) < std::tie(b.time, b.key, b.weights);
}

std::optional<Impact> vertex_plane_hit(const Surface& s, const Vec3s& x_t0, const Vec3s& x_t1, Index v, Index plane,
                                       const ImpactOptions& o)
{
    const MovingPlane& p = o.planes[plane];
    Separations separations(s, o);
    std::optional<Impact> hit =
        narrow::impact_vertex_plane(x_t0[v], x_t1[v], p.t0, p.t1, separations.of_bodies(s.vertex_body[v], p.body));
    if (hit) {
        hit->key = {PairKind::vertex_plane, v, plane};
        hit->vertices[0] = v;
    }
    return hit;
}

} // namespace

const std::vector<Impact>& Detector::impacts(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o)
{
    Implementation& d = *impl_;
    assert(is_valid(o));
    const std::vector<Real> radius = separation_radii(d.surface, o);
    const VertexBalls query = {x_t0, x_t1, radius, radius};
    d.find_candidates(query);
    Stopwatch watch;
    const Surface& s = d.surface;
    d.prepare_own(query);
    const bool all = o.changed.empty();
    const char* changed = o.changed.data();
    if (!all) d.mark_features(o.changed);
    const auto vertex_face = [&](const Pair& p, auto& list) {
        if (!d.wanted_vertex_face(query, p)) return;
        Separations separations(s, o);
        if (const auto hit = vertex_face_hit(s, x_t0, x_t1, p, separations))
            list.push_back(narrow::impact_vertex_face(s, *hit, p[0], p[1]));
    };
    const auto edge_edge = [&](const Pair& p, auto& list) {
        if (!d.wanted_edge_edge(query, p)) return;
        Separations separations(s, o);
        if (const auto hit = edge_edge_hit(s, x_t0, x_t1, p, separations))
            list.push_back(narrow::impact_edge_edge(s, *hit, p[0], p[1]));
    };
    const std::vector<Real> far = o.planes.empty() ? std::vector<Real>() : plane_distances(s, o);
    const auto vertex_planes = [&](Index v, auto& list) {
        if (!all && !changed[v]) return;
        for (Index i = 0; i < count(o.planes); ++i) {
            if (!d.filter.vertex_body(v, o.planes[i].body)) continue;
            const Real least = far[s.vertex_body[v] * count(o.planes) + i];
            if (narrow::stays_far_from_plane(x_t0[v], x_t1[v], o.planes[i].t0, o.planes[i].t1, least)) continue;
            if (const auto hit = vertex_plane_hit(s, x_t0, x_t1, v, i, o)) list.push_back(*hit);
        }
    };
    d.sieve.look_at(query);
    const Implementation::Sifting sifting = {
        [&](const Pair& p) { return all || (changed[p[0]] | d.marked_faces[p[1]]) != 0; },
        [&](const Pair& p) { return all || (d.marked_edges[p[0]] | d.marked_edges[p[1]]) != 0; },
        [&](const Sieve::Batch& pairs) { return d.sieve.vertex_face(pairs); },
        [&](const Sieve::Batch& pairs) { return d.sieve.edge_edge(pairs); }};
    d.narrow(d.impacts, sifting, vertex_face, edge_edge, vertex_planes, [](const Impact& a, const Impact& b) {
        const auto content = [](const Impact& i) {
            return std::tie(i.time, i.weights, i.normal.x(), i.normal.y(), i.normal.z(), i.start_distance);
        };
        return content(a) < content(b);
    });
    d.stats.narrow_seconds = watch.lap();
    assert(strictly_sorted(d.impacts, &Impact::key));
    return d.impacts;
}

// A sample of the candidates bounds the time; then the boxes span the motion up to that time only, which leaves few
// candidates, and each of them has to be followed no farther than the earliest impact of its chunk so far.
std::optional<Impact> Detector::earliest_impact(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o)
{
    Implementation& d = *impl_;
    const Surface& s = d.surface;
    assert(is_valid(o));
    d.require_positions(x_t0, x_t1);
    d.stats = {};
    std::vector<Impact> first; // of every chunk
    const auto search = [&](Real bound) {
        Stopwatch watch;
        const CandidateChunks& c = d.candidates;
        std::vector<std::vector<Impact>> found(c.vertex_face.size());
        parallel_for(
            count(found),
            [&](Index i) {
                Separations separations(s, o);
                Real first_time = bound;
                separations.stop_at(bound);
                const auto take = [&](const Impact& impact) {
                    if (found[i].empty() || earlier(impact, found[i][0])) found[i].assign(1, impact);
                    first_time = std::min(first_time, impact.time);
                    separations.stop_at(first_time);
                };
                for (const Pair& p : c.vertex_face[i])
                    if (const auto hit = vertex_face_hit(s, x_t0, x_t1, p, separations))
                        take(narrow::impact_vertex_face(s, *hit, p[0], p[1]));
                for (const Pair& p : c.edge_edge[i])
                    if (const auto hit = edge_edge_hit(s, x_t0, x_t1, p, separations))
                        take(narrow::impact_edge_edge(s, *hit, p[0], p[1]));
            },
            1);
        for (const auto& list : found) first.insert(first.end(), list.begin(), list.end());
        d.stats.narrow_seconds += watch.lap();
        for (const Impact& i : first) bound = std::min(bound, i.time);
        return bound;
    };
    const std::vector<Real> radius = separation_radii(s, o);
    for (Index v = 0; v < s.vertex_count(); ++v)
        for (Index i = 0; i < count(o.planes); ++i) {
            if (!d.filter.vertex_body(v, o.planes[i].body)) continue;
            if (const auto hit = vertex_plane_hit(s, x_t0, x_t1, v, i, o)) first.push_back(*hit);
        }
    Real bound = 1;
    for (const Impact& i : first) bound = std::min(bound, i.time);
    const Real extent = parallel_max(count(x_t0), 0, [&](Index v) {
        return std::max(x_t0[v].cwiseAbs().maxCoeff(), x_t1[v].cwiseAbs().maxCoeff());
    });
    d.x_end = x_t1;
    for (std::size_t stride : {16, 1}) {
        if (d.kind != BroadPhaseKind::tree && stride > 1) continue;
        if (bound < 1)
            parallel_for(count(x_t0), [&](Index v) { d.x_end[v] = (1 - bound) * x_t0[v] + bound * x_t1[v]; });
        const Real margin = bound < 1 ? 0x1p-50 * extent : 0;
        d.collect({.x_t0 = x_t0, .x_t1 = d.x_end, .radius_t0 = radius, .radius_t1 = radius, .margin = margin},
                  Implementation::Leave::nothing, stride);
        bound = search(bound);
    }
    d.has_candidates = false; // they are those of a part of the motion
    const auto best = std::min_element(first.begin(), first.end(), earlier);
    if (best == first.end()) return {};
    return *best;
}

} // namespace pliant
