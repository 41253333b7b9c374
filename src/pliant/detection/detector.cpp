#include "pliant/detection/detector_impl.hpp"

#include "pliant/core/error.hpp"

namespace pliant {
namespace {

bool inside(const Box& inner, const Box& outer)
{
    bool in = true;
    for (int k = 0; k < 6; ++k) in &= outer.bound[k] <= inner.bound[k];
    return in;
}

} // namespace

void Detector::Implementation::require_positions(const Vec3s& x_t0, const Vec3s& x_t1) const
{
    for (const Vec3s* x : {&x_t0, &x_t1}) {
        if (count(*x) != surface.vertex_count())
            throw Error("Collision detection got " + std::to_string(x->size()) + " positions for " +
                        std::to_string(surface.vertex_count()) + " surface vertices.");
        const Index bad = parallel_sum(count(*x), Index(0), [&](Index v) { return (*x)[v].allFinite() ? 0 : 1; });
        if (bad > 0)
            throw Error("The positions of " + std::to_string(bad) + " surface vertices are not finite numbers.");
    }
}

// Boxes apart at both ends of the motion that collected the candidates are then apart at both ends of the query's. A
// single state may be at either end: boxes that overlap at one end are not proved apart.
Index Detector::Implementation::find_escaped()
{
    const Index n = surface.vertex_count();
    if (!has_candidates || (query.moving() && !boxes.moving())) return n;
    escaped.resize(static_cast<std::size_t>(n));
    const auto beyond = [&](auto&& is_inside) {
        return parallel_sum(n, Index(0), [&](Index v) { return Index(escaped[v] = !is_inside(v)); });
    };
    if (!query.moving() && boxes.moving() &&
        beyond([&](Index v) { return inside(query.end(0, v), boxes.end(1, v)); }) == 0)
        return 0;
    return beyond([&](Index v) {
        return inside(query.end(0, v), boxes.end(0, v)) &&
               (!query.moving() || inside(query.end(1, v), boxes.end(1, v)));
    });
}

bool Detector::Implementation::collect_escaped(Index escaped_count, const VertexBoxes& wanted)
{
    constexpr Real few = 0.1;      // of the vertices: a leaf has as many neighbours
    constexpr Real too_many = 1.5; // times the candidates of a whole collection, most of them twice
    if (kind != BroadPhaseKind::tree || !has_candidates || escaped_count > few * surface.vertex_count() ||
        Real(candidates.size()) > too_many * Real(collected))
        return false;
    Stopwatch watch;
    parallel_for(surface.vertex_count(), [&](Index v) {
        if (!escaped[v]) return;
        boxes.t0[v].add(wanted.end(0, v));
        if (boxes.moving()) boxes.t1[v].add(wanted.end(wanted.moving() ? 1 : 0, v));
    });
    trees.update(boxes);
    stats.update_seconds += watch.lap();
    trees.collect_changed(filter, candidates);
    stats.collect_seconds += watch.lap();
    return true;
}

void Detector::Implementation::update(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform,
                                      Real margin)
{
    Stopwatch watch;
    boxes.compute(x_t0, x_t1, radius, uniform, margin);
    refit();
    stats.update_seconds += watch.lap();
}

void Detector::Implementation::refit()
{
    if (kind == BroadPhaseKind::tree) trees.update(boxes);
    if (kind == BroadPhaseKind::hash) hash.update(boxes);
}

void Detector::Implementation::collect(std::size_t stride)
{
    Stopwatch watch;
    if (kind == BroadPhaseKind::tree) trees.collect(filter, candidates, stride);
    if (kind == BroadPhaseKind::hash) hash.collect(filter, candidates);
    if (kind == BroadPhaseKind::all_pairs) all_pairs(surface, filter, boxes, candidates);
    has_candidates = stride == 1;
    collected = candidates.size();
    stats.collect_seconds += watch.lap();
    stats.count(candidates);
}

void Detector::Implementation::find_candidates(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius,
                                               Real uniform)
{
    require_positions(x_t0, x_t1);
    stats = {};
    if (reuse_margin > 0) {
        Stopwatch watch;
        query.compute(x_t0, x_t1, radius, uniform, 0);
        const Index beyond = find_escaped();
        stats.update_seconds += watch.lap();
        if (beyond > 0) wider.compute(x_t0, x_t1, radius, uniform, reuse_margin);
        stats.reused = beyond == 0 || collect_escaped(beyond, wider);
    }
    if (stats.reused) return stats.count(candidates);
    update(x_t0, x_t1, radius, uniform, reuse_margin);
    collect();
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
    d.query.compute_ends(x_t0, e.least_t0, x_t1, e.least_t1);
    const Index beyond = d.find_escaped();
    if (beyond == 0) return;
    d.wider.compute_ends(x_t0, e.radius_t0, x_t1, e.radius_t1);
    if (d.boxes.moving() && d.collect_escaped(beyond, d.wider)) return;
    std::swap(d.boxes, d.wider);
    d.refit();
    d.collect();
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
    return impl_->trees.bytes() + impl_->hash.bytes() + of(b.t0) + of(b.t1) + impl_->candidates.bytes();
}

} // namespace pliant
