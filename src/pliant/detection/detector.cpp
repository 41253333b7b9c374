#include "pliant/detection/detector.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/narrow.hpp"
#include "pliant/detection/tree.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace pliant {
namespace {

class Stopwatch {
public:
    Real lap()
    {
        const auto now = std::chrono::steady_clock::now();
        const Real seconds = std::chrono::duration<Real>(now - last_).count();
        last_ = now;
        return seconds;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void require_finite(const Vec3s& x, Index expected)
{
    if (count(x) != expected)
        throw Error("Collision detection got " + std::to_string(x.size()) + " positions for " +
                    std::to_string(expected) + " surface vertices.");
    for (const Vec3& p : x)
        if (!p.allFinite()) throw Error("A surface vertex has a position that is not a finite number.");
}

bool inside(const Box& inner, const Box& outer)
{
    bool in = true;
    for (int k = 0; k < 6; ++k) in &= outer.bound[k] <= inner.bound[k];
    return in;
}

} // namespace

struct Detector::Implementation {
    const Surface& surface;
    PairFilter filter;
    BroadPhaseKind kind;
    BoxTree tree;
    FeatureBoxes boxes;
    CandidateChunks candidates;
    bool has_candidates = false;
    Real reuse_margin = 0;
    DetectionStats stats;
    std::vector<ContactPair> pairs;
    std::vector<Impact> impacts;

    Implementation(const Surface& s, std::span<const std::array<Index, 2>> no_contact, BroadPhaseKind k)
        : surface(s), filter(s, no_contact), kind(k), tree(s)
    {}

    /// Whether the candidates at hand hold every pair that the query can need.
    bool covers(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform) const
    {
        if (!has_candidates) return false;
        return parallel_sum(surface.vertex_count(), Index(0), [&](Index v) {
                   Box b;
                   const Real r = radius.empty() ? uniform : radius[v];
                   b.add(x_t0[v], r);
                   b.add(x_t1[v], r);
                   return inside(b, boxes.vertex[v]) ? 0 : 1;
               }) == 0;
    }

    void collect(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform)
    {
        require_finite(x_t0, surface.vertex_count());
        if (&x_t1 != &x_t0) require_finite(x_t1, surface.vertex_count());
        stats = {};
        Stopwatch watch;
        stats.reused = reuse_margin > 0 && covers(x_t0, x_t1, radius, uniform);
        if (!stats.reused) {
            if (reuse_margin > 0 && !radius.empty()) {
                std::vector<Real> grown(radius.begin(), radius.end());
                for (Real& r : grown) r += reuse_margin;
                boxes.compute(surface, x_t0, x_t1, grown, 0);
            } else
                boxes.compute(surface, x_t0, x_t1, radius, uniform + reuse_margin);
            if (kind == BroadPhaseKind::tree) tree.update(boxes);
            stats.update_seconds = watch.lap();
            switch (kind) {
            case BroadPhaseKind::tree:
                tree.collect(filter, candidates);
                break;
            default:
                all_pairs(surface, filter, boxes, candidates);
            }
            has_candidates = true;
        }
        stats.collect_seconds = watch.lap();
        for (const auto& c : candidates.vertex_face) stats.vertex_face_candidates += count(c);
        for (const auto& c : candidates.edge_edge) stats.edge_edge_candidates += count(c);
    }

    /// One list a chunk, filled in parallel by visit(chunk's pairs, list); the lists are then joined in order.
    template <class T, class VertexFace, class EdgeEdge>
    void narrow(std::vector<T>& out, VertexFace&& vertex_face, EdgeEdge&& edge_edge) const
    {
        const Index vf = count(candidates.vertex_face), ee = count(candidates.edge_edge);
        std::vector<std::vector<T>> found(static_cast<std::size_t>(vf + ee));
        parallel_for(
            vf + ee,
            [&](Index i) {
                if (i < vf)
                    for (const Pair& p : candidates.vertex_face[i]) vertex_face(p, found[i]);
                else
                    for (const Pair& p : candidates.edge_edge[i - vf]) edge_edge(p, found[i]);
            },
            1);
        for (const auto& list : found) out.insert(out.end(), list.begin(), list.end());
    }
};

Detector::Detector(const Surface& surface, std::span<const std::array<Index, 2>> no_contact, BroadPhaseKind kind)
    : impl_(std::make_unique<Implementation>(surface, no_contact, kind))
{}
Detector::~Detector() = default;
Detector::Detector(Detector&&) noexcept = default;

void Detector::set_reuse_margin(Real margin)
{
    impl_->reuse_margin = margin;
    impl_->has_candidates = false;
}

const DetectionStats& Detector::stats() const
{
    return impl_->stats;
}
const PairFilter& Detector::filter() const
{
    return impl_->filter;
}

const std::vector<ContactPair>& Detector::proximity(const Vec3s& x, const ProximityOptions& o)
{
    Implementation& d = *impl_;
    d.collect(x, x, o.radius, o.reach / 2);
    Stopwatch watch;
    d.pairs.clear();
    const auto keep = [&](const ContactPair& p, std::vector<ContactPair>& list) {
        Real reach = o.reach;
        if (!o.radius.empty()) {
            reach = 0;
            for (int k = 0; k < 4 && p.vertices[k] != none; ++k)
                reach += std::abs(p.weights[k]) * o.radius[p.vertices[k]];
        }
        if (p.distance <= reach && (!o.skip_close_at_rest || d.filter.apart_at_rest(p))) list.push_back(p);
    };
    d.narrow(
        d.pairs, [&](const Pair& p, auto& list) { keep(narrow::closest_vertex_face(d.surface, x, p[0], p[1]), list); },
        [&](const Pair& p, auto& list) { keep(narrow::closest_edge_edge(d.surface, x, p[0], p[1]), list); });
    for (Index i = 0; i < count(o.planes); ++i)
        for (Index v = 0; v < d.surface.vertex_count(); ++v) {
            const Plane& plane = o.planes[i].t0;
            const Real distance = plane.normal.dot(x[v]) - plane.offset;
            // a plane has no thickness of its own: the vertex reaches as far as to another vertex like itself
            const Real reach = o.radius.empty() ? o.reach : 2 * o.radius[v];
            if (!(distance <= reach) || !d.filter.vertex_body(v, o.planes[i].body)) continue;
            ContactPair p;
            p.key = {PairKind::vertex_plane, v, i};
            p.vertices = {v, none, none, none};
            p.weights = {1, 0, 0, 0};
            p.normal = plane.normal;
            p.distance = distance;
            d.pairs.push_back(p);
        }
    std::sort(d.pairs.begin(), d.pairs.end(), [](const ContactPair& a, const ContactPair& b) { return a.key < b.key; });
    // Equal keys have equal geometry: it is computed from the reduced features alone.
    d.pairs.erase(std::unique(d.pairs.begin(), d.pairs.end(),
                              [](const ContactPair& a, const ContactPair& b) { return a.key == b.key; }),
                  d.pairs.end());
    d.stats.narrow_seconds = watch.lap();
    return d.pairs;
}

namespace {

CcdOptions ccd_options(const ImpactOptions& o)
{
    CcdOptions c;
    c.min_separation = o.hard_gap;
    c.tolerance = o.tolerance;
    c.max_iterations = o.max_iterations;
    c.relax_to_start = o.relax_to_start;
    return c;
}

bool earlier(const Impact& a, const Impact& b)
{
    return a.time != b.time ? a.time < b.time : a.key < b.key;
}

} // namespace

const std::vector<Impact>& Detector::impacts(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o)
{
    Implementation& d = *impl_;
    d.collect(x_t0, x_t1, {}, (o.hard_gap + o.tolerance) / 2);
    Stopwatch watch;
    const CcdOptions options = ccd_options(o);
    d.impacts.clear();
    const Surface& s = d.surface;
    d.narrow(
        d.impacts,
        [&](const Pair& p, auto& list) {
            const Triangle& f = s.triangles[p[1]];
            const auto hit = vertex_face_ccd({x_t0[p[0]], x_t0[f[0]], x_t0[f[1]], x_t0[f[2]]},
                                             {x_t1[p[0]], x_t1[f[0]], x_t1[f[1]], x_t1[f[2]]}, options);
            if (hit) list.push_back(narrow::impact_vertex_face(s, *hit, p[0], p[1]));
        },
        [&](const Pair& p, auto& list) {
            const Edge &a = s.edges[p[0]], &b = s.edges[p[1]];
            const auto hit = edge_edge_ccd({x_t0[a[0]], x_t0[a[1]], x_t0[b[0]], x_t0[b[1]]},
                                           {x_t1[a[0]], x_t1[a[1]], x_t1[b[0]], x_t1[b[1]]}, options);
            if (hit) list.push_back(narrow::impact_edge_edge(s, *hit, p[0], p[1]));
        });
    for (Index i = 0; i < count(o.planes); ++i)
        for (Index v = 0; v < s.vertex_count(); ++v) {
            if (!d.filter.vertex_body(v, o.planes[i].body)) continue;
            auto hit = narrow::impact_vertex_plane(x_t0[v], x_t1[v], o.planes[i].t0, o.planes[i].t1, options);
            if (!hit) continue;
            hit->key = {PairKind::vertex_plane, v, i};
            hit->vertices = {v, none, none, none};
            d.impacts.push_back(*hit);
        }
    std::stable_sort(d.impacts.begin(), d.impacts.end(),
                     [](const Impact& a, const Impact& b) { return a.key != b.key ? a.key < b.key : a.time < b.time; });
    d.impacts.erase(std::unique(d.impacts.begin(), d.impacts.end(),
                                [](const Impact& a, const Impact& b) { return a.key == b.key; }),
                    d.impacts.end());
    d.stats.narrow_seconds = watch.lap();
    return d.impacts;
}

std::optional<Impact> Detector::earliest_impact(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o)
{
    const std::vector<Impact>& all = impacts(x_t0, x_t1, o);
    const auto first = std::min_element(all.begin(), all.end(), earlier);
    if (first == all.end()) return {};
    return *first;
}

Candidates Detector::candidates(const Vec3s& x_t0, const Vec3s& x_t1, Real radius)
{
    Implementation& d = *impl_;
    const Real margin = d.reuse_margin;
    d.reuse_margin = 0;
    d.collect(x_t0, x_t1, {}, radius);
    d.reuse_margin = margin;
    return d.candidates.sorted();
}

std::size_t Detector::bytes() const
{
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    std::size_t n = impl_->tree.bytes() + of(impl_->boxes.vertex) + of(impl_->boxes.edge) + of(impl_->boxes.face);
    for (const auto& c : impl_->candidates.vertex_face) n += of(c);
    for (const auto& c : impl_->candidates.edge_edge) n += of(c);
    return n;
}

} // namespace pliant
