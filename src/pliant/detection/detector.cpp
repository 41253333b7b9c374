#include "pliant/detection/detector.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/hash_grid.hpp"
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
    HashGrid hash;
    VertexBoxes boxes;
    CandidateChunks candidates;
    bool has_candidates = false;
    Real reuse_margin = 0;
    DetectionStats stats;
    std::vector<ContactPair> pairs;
    std::vector<Impact> impacts;
    Vec3s x_end; ///< scratch of earliest_impact

    Implementation(const Surface& s, std::span<const std::array<Index, 2>> no_contact, BroadPhaseKind k)
        : surface(s), filter(s, no_contact), kind(k), tree(s), hash(s)
    {}

    /// Whether the candidates at hand hold every pair that the query can need: then boxes apart at both ends of the
    /// motion that collected them prove the same for this one.
    bool covers(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform) const
    {
        if (!has_candidates) return false;
        return parallel_sum(surface.vertex_count(), Index(0), [&](Index v) {
                   const Real r = radius.empty() ? uniform : radius[v];
                   Box b0, b1;
                   b0.add(x_t0[v], r);
                   b1.add(x_t1[v], r);
                   return inside(b0, boxes.end(0, v)) && inside(b1, boxes.end(1, v)) ? 0 : 1;
               }) == 0;
    }

    void update(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform, Real margin)
    {
        Stopwatch watch;
        boxes.compute(x_t0, x_t1, radius, uniform, margin);
        if (kind == BroadPhaseKind::tree) tree.update(boxes);
        if (kind == BroadPhaseKind::hash) hash.update(boxes);
        stats.update_seconds += watch.lap();
    }
    /// stride: see BoxTree::collect; the other broad phases collect everything.
    void collect(std::size_t stride = 1)
    {
        Stopwatch watch;
        switch (kind) {
        case BroadPhaseKind::tree:
            tree.collect(filter, candidates, stride);
            break;
        case BroadPhaseKind::hash:
            hash.collect(filter, candidates);
            break;
        case BroadPhaseKind::all_pairs:
            all_pairs(surface, filter, boxes, candidates);
            break;
        }
        has_candidates = stride == 1;
        stats.collect_seconds += watch.lap();
        for (const auto& c : candidates.vertex_face) stats.vertex_face_candidates += count(c);
        for (const auto& c : candidates.edge_edge) stats.edge_edge_candidates += count(c);
    }
    void require_positions(const Vec3s& x_t0, const Vec3s& x_t1) const
    {
        require_finite(x_t0, surface.vertex_count());
        if (&x_t1 != &x_t0) require_finite(x_t1, surface.vertex_count());
    }
    /// Candidates of the motion, or a superset that is at hand.
    void find_candidates(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform)
    {
        require_positions(x_t0, x_t1);
        stats = {};
        if (reuse_margin > 0 && covers(x_t0, x_t1, radius, uniform)) {
            stats.reused = true;
            for (const auto& c : candidates.vertex_face) stats.vertex_face_candidates += count(c);
            for (const auto& c : candidates.edge_edge) stats.edge_edge_candidates += count(c);
            return;
        }
        update(x_t0, x_t1, radius, uniform, reuse_margin);
        collect();
    }

    void plane_impacts(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o, std::vector<Impact>& out) const;

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
    d.find_candidates(x, x, o.radius, o.reach / 2);
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
    c.kind = o.kind;
    return c;
}

std::optional<CcdHit> vertex_face_hit(const Surface& s, const Vec3s& x_t0, const Vec3s& x_t1, const Pair& p,
                                      const CcdOptions& options)
{
    const Triangle& f = s.triangles[p[1]];
    return ccd::vertex_face({x_t0[p[0]], x_t0[f[0]], x_t0[f[1]], x_t0[f[2]]},
                            {x_t1[p[0]], x_t1[f[0]], x_t1[f[1]], x_t1[f[2]]}, options);
}
std::optional<CcdHit> edge_edge_hit(const Surface& s, const Vec3s& x_t0, const Vec3s& x_t1, const Pair& p,
                                    const CcdOptions& options)
{
    const Edge &a = s.edges[p[0]], &b = s.edges[p[1]];
    return ccd::edge_edge({x_t0[a[0]], x_t0[a[1]], x_t0[b[0]], x_t0[b[1]]},
                          {x_t1[a[0]], x_t1[a[1]], x_t1[b[0]], x_t1[b[1]]}, options);
}

bool earlier(const Impact& a, const Impact& b)
{
    return a.time != b.time ? a.time < b.time : a.key < b.key;
}

} // namespace

void Detector::Implementation::plane_impacts(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o,
                                             std::vector<Impact>& out) const
{
    const CcdOptions options = ccd_options(o);
    for (Index i = 0; i < count(o.planes); ++i)
        for (Index v = 0; v < surface.vertex_count(); ++v) {
            if (!filter.vertex_body(v, o.planes[i].body)) continue;
            auto hit = narrow::impact_vertex_plane(x_t0[v], x_t1[v], o.planes[i].t0, o.planes[i].t1, options);
            if (!hit) continue;
            hit->key = {PairKind::vertex_plane, v, i};
            hit->vertices = {v, none, none, none};
            out.push_back(*hit);
        }
}

const std::vector<Impact>& Detector::impacts(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o)
{
    Implementation& d = *impl_;
    d.find_candidates(x_t0, x_t1, {}, (o.hard_gap + o.tolerance) / 2);
    Stopwatch watch;
    const CcdOptions options = ccd_options(o);
    d.impacts.clear();
    const Surface& s = d.surface;
    d.narrow(
        d.impacts,
        [&](const Pair& p, auto& list) {
            if (const auto hit = vertex_face_hit(s, x_t0, x_t1, p, options))
                list.push_back(narrow::impact_vertex_face(s, *hit, p[0], p[1]));
        },
        [&](const Pair& p, auto& list) {
            if (const auto hit = edge_edge_hit(s, x_t0, x_t1, p, options))
                list.push_back(narrow::impact_edge_edge(s, *hit, p[0], p[1]));
        });
    d.plane_impacts(x_t0, x_t1, o, d.impacts);
    std::stable_sort(d.impacts.begin(), d.impacts.end(),
                     [](const Impact& a, const Impact& b) { return a.key != b.key ? a.key < b.key : a.time < b.time; });
    d.impacts.erase(std::unique(d.impacts.begin(), d.impacts.end(),
                                [](const Impact& a, const Impact& b) { return a.key == b.key; }),
                    d.impacts.end());
    d.stats.narrow_seconds = watch.lap();
    return d.impacts;
}

// A sample of the candidates bounds the time; then the boxes span the motion up to that time only, which leaves few
// candidates, and each of them has to be followed no farther than the earliest impact of its chunk so far.
std::optional<Impact> Detector::earliest_impact(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& o)
{
    Implementation& d = *impl_;
    const Surface& s = d.surface;
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
                CcdOptions options = ccd_options(o);
                options.max_time = bound;
                const auto take = [&](const Impact& impact) {
                    if (found[i].empty() || earlier(impact, found[i][0])) found[i].assign(1, impact);
                    options.max_time = std::min(options.max_time, impact.time);
                };
                for (const Pair& p : c.vertex_face[i])
                    if (const auto hit = vertex_face_hit(s, x_t0, x_t1, p, options))
                        take(narrow::impact_vertex_face(s, *hit, p[0], p[1]));
                for (const Pair& p : c.edge_edge[i])
                    if (const auto hit = edge_edge_hit(s, x_t0, x_t1, p, options))
                        take(narrow::impact_edge_edge(s, *hit, p[0], p[1]));
            },
            1);
        for (const auto& list : found) first.insert(first.end(), list.begin(), list.end());
        d.stats.narrow_seconds += watch.lap();
        for (const Impact& i : first) bound = std::min(bound, i.time);
        return bound;
    };
    const Real radius = (o.hard_gap + o.tolerance) / 2;
    d.plane_impacts(x_t0, x_t1, o, first);
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
        d.update(x_t0, d.x_end, {}, radius, bound < 1 ? 0x1p-50 * extent : 0);
        d.collect(stride);
        bound = search(bound);
    }
    d.has_candidates = false; // they are those of a part of the motion
    const auto best = std::min_element(first.begin(), first.end(), earlier);
    if (best == first.end()) return {};
    return *best;
}

Candidates Detector::candidates(const Vec3s& x_t0, const Vec3s& x_t1, Real radius)
{
    Implementation& d = *impl_;
    d.require_positions(x_t0, x_t1);
    d.stats = {};
    d.update(x_t0, x_t1, {}, radius, 0);
    d.collect();
    return d.candidates.sorted();
}

std::size_t Detector::bytes() const
{
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    const VertexBoxes& b = impl_->boxes;
    return impl_->tree.bytes() + impl_->hash.bytes() + of(b.t0) + of(b.t1) + impl_->candidates.bytes();
}

} // namespace pliant
