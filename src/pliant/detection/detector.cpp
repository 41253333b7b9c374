#include "pliant/detection/detector_impl.hpp"

#include "pliant/core/error.hpp"

#include <cmath>
#include <limits>

namespace pliant {
void Detector::Implementation::require_positions(const Vec3s& x_t0, const Vec3s& x_t1) const
{
    for (const Vec3s* x : {&x_t0, &x_t1}) {
        if (count(*x) != surface.vertex_count())
            throw Error("Collision detection got " + std::to_string(x->size()) + " positions for " +
                        std::to_string(surface.vertex_count()) + " surface vertices.");
        constexpr Real largest = std::numeric_limits<Real>::max();
        const Index bad = parallel_sum(count(*x), Index(0), [&](Index v) {
            const Vec3& p = (*x)[v];
            return Index(!(std::abs(p[0]) <= largest)) | Index(!(std::abs(p[1]) <= largest)) |
                   Index(!(std::abs(p[2]) <= largest));
        });
        if (bad > 0)
            throw Error("The positions of " + std::to_string(bad) + " surface vertices are not finite numbers.");
    }
}

// Boxes apart at both ends of the motion that collected the candidates are then apart at both ends of the query's. A
// single state may be at either end: boxes that overlap at one end are not proved apart.
Index Detector::Implementation::find_escaped(const VertexBalls& query)
{
    const Index n = surface.vertex_count();
    if (!has_candidates || (query.moving() && !rooms.moving())) return n;
    escaped.resize(static_cast<std::size_t>(n));
    const auto held = [&](int room, int t, Index v) {
        return rooms.hold(room, v, query.centre(t, v), query.radius(t, v));
    };
    const auto mark = [&](auto&& is_held) {
        return parallel_sum(n, Index(0), [&](Index v) { return Index(escaped[v] = !is_held(v)); });
    };
    if (!query.moving() && rooms.moving()) {
        constexpr Index stride = 61; // where many have left, a few say so
        bool some = false;
        for (Index v = 0; v < n && !some; v += stride) some = !held(1, 0, v);
        if (!some && mark([&](Index v) { return held(1, 0, v); }) == 0) return 0;
    }
    return mark([&](Index v) { return held(0, 0, v) && (!query.moving() || held(1, 1, v)); });
}

// All pairs of escaped vertices are collected anew, so that neither their old rooms matter any more nor that their
// patches were flat in them.
bool Detector::Implementation::collect_escaped(Index escaped_count, const VertexBalls& wanted)
{
    constexpr Real few = 0.1;      // of the vertices: a leaf has as many neighbours
    constexpr Real too_many = 1.5; // times the candidates of a whole collection, most of them twice, or the vertices
    const bool sound = !self_cull || self_cull->is_sound(); // or what is left out would come back
    if (kind != BroadPhaseKind::tree || !sound || !has_candidates || escaped_count > few * surface.vertex_count() ||
        Real(candidates.size()) > too_many * Real(std::max<std::int64_t>(collected, surface.vertex_count())))
        return false;
    Stopwatch watch;
    rooms.replace(wanted, escaped);
    trees.update(rooms.boxes(), rooms.changed());
    room_sieve.look_at(rooms);
    stats.update_seconds += watch.lap();
    trees.collect_changed({filter, &room_sieve}, candidates);
    stats.collect_seconds += watch.lap();
    return true;
}

void Detector::Implementation::prepare_own(const VertexBalls& query)
{
    has_own = reuse_margin > 0 && candidates.size() > surface.vertex_count();
    if (has_own) own.set(query);
}

void Detector::Implementation::mark_features(std::span<const char> vertices)
{
    const auto mark = [&](const auto& features, std::vector<char>& marked) {
        marked.resize(features.size());
        parallel_for(
            count(features),
            [&](Index i) {
                char any = 0;
                for (const Index v : features[i]) any |= vertices[v];
                marked[i] = any;
            },
            4096);
    };
    mark(surface.edges, marked_edges);
    mark(surface.triangles, marked_faces);
}

void Detector::Implementation::collect(const VertexBalls& motion, Leave leave, std::size_t stride)
{
    Stopwatch watch;
    rooms.set(motion);
    room_sieve.look_from_the_middle_of(motion.x_t0);
    sieve.look_from_the_middle_of(motion.x_t0);
    const bool is_tree = kind == BroadPhaseKind::tree, sift = is_tree && leave == Leave::patches_and_pairs;
    const bool cull = is_tree && leave != Leave::nothing && self_cull;
    if (is_tree) trees.update(rooms.boxes(), rooms.changed());
    if (kind == BroadPhaseKind::hash) hash.update(rooms.boxes());
    if (sift) room_sieve.look_at(rooms);
    if (cull) self_cull->look_at(rooms);
    stats.culled = cull ? self_cull->share() : 0;
    stats.update_seconds += watch.lap();
    if (is_tree)
        trees.collect({filter, sift ? &room_sieve : nullptr, cull ? &*self_cull : nullptr}, candidates, stride);
    if (kind == BroadPhaseKind::hash) hash.collect(filter, candidates);
    if (kind == BroadPhaseKind::all_pairs) all_pairs(surface, filter, rooms.boxes(), candidates);
    has_candidates = stride == 1;
    collected = candidates.size();
    stats.collect_seconds += watch.lap();
    stats.count(candidates);
}

void Detector::Implementation::find_candidates(const VertexBalls& query)
{
    require_positions(query.x_t0, query.x_t1);
    stats = {};
    VertexBalls wider = query;
    wider.margin = reuse_margin;
    if (reuse_margin > 0) {
        Stopwatch watch;
        const Index beyond = find_escaped(query);
        stats.update_seconds += watch.lap();
        stats.reused = beyond == 0 || collect_escaped(beyond, wider);
    }
    if (stats.reused) return stats.count(candidates);
    collect(wider, reuse_margin > 0 ? Leave::patches_and_pairs : Leave::patches);
}

void DetectionStats::count(const CandidateChunks& candidates)
{
    for (const auto& c : candidates.vertex_face) vertex_face_candidates += pliant::count(c);
    for (const auto& c : candidates.edge_edge) edge_edge_candidates += pliant::count(c);
}

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

void Detector::set_culling(Culling culling)
{
    impl_->self_cull.reset();
    if (culling != Culling::off) impl_->self_cull.emplace(impl_->surface, impl_->trees, impl_->filter, culling);
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

void Detector::expect(const Vec3s& x_t0, const Vec3s& x_t1, const Expectation& e)
{
    Implementation& d = *impl_;
    d.require_positions(x_t0, x_t1);
    assert(d.reuse_margin > 0); // or no query looks for candidates at hand
    const Index beyond = d.find_escaped({x_t0, x_t1, e.least_t0, e.least_t1});
    if (beyond == 0) return;
    const VertexBalls wanted = {x_t0, x_t1, e.radius_t0, e.radius_t1};
    if (d.rooms.moving() && d.collect_escaped(beyond, wanted)) return;
    d.collect(wanted, Implementation::Leave::patches_and_pairs);
}

Candidates Detector::candidates(const Vec3s& x_t0, const Vec3s& x_t1, Real radius)
{
    Implementation& d = *impl_;
    d.require_positions(x_t0, x_t1);
    d.stats = {};
    d.collect({.x_t0 = x_t0, .x_t1 = x_t1, .uniform = radius}, Implementation::Leave::patches);
    return d.candidates.sorted();
}

std::size_t Detector::bytes() const
{
    return impl_->trees.bytes() + impl_->hash.bytes() + impl_->rooms.bytes() + impl_->own.bytes() +
           impl_->candidates.bytes();
}

} // namespace pliant
