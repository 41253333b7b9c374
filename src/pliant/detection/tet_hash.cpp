#include "pliant/detection/tet_hash.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/geometry/tetrahedron.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pliant {
namespace {

constexpr Index mixed = -2; ///< a bucket with nodes of several bodies
constexpr Index tets_a_chunk = 1024;

struct Bounds {
    Vec3 lo, hi;
};

Bounds bounds_of(std::span<const Vec3> x, const Tet& t)
{
    const Vec3 &a = x[t[0]], &b = x[t[1]], &c = x[t[2]], &d = x[t[3]];
    return {a.cwiseMin(b).cwiseMin(c.cwiseMin(d)), a.cwiseMax(b).cwiseMax(c.cwiseMax(d))};
}

/// Grown so that no point within the tolerance of the barycentric test is left out.
Bounds grown(const Bounds& box)
{
    const Real margin = 4 * tet_tolerance * (box.hi - box.lo).sum();
    return {(box.lo.array() - margin).matrix(), (box.hi.array() + margin).matrix()};
}

bool outside(const Bounds& box, const Vec3& x)
{
    return (x.array() < box.lo.array()).any() || (x.array() > box.hi.array()).any();
}

/// The test after that of the box.
std::optional<Vec4> weights_in_box(const CollisionMesh& mesh, const TetHashOptions& options, std::span<const Vec3> x,
                                   Index node, Index t)
{
    const Tet& tet = mesh.tets[t];
    if (mesh.node_body[node] == mesh.tet_body[t] &&
        (options.self_collision == SelfCollision::off || !far_at_rest(mesh, node, tet)))
        return {};
    const TetFrame frame(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]);
    if (!(frame.det > options.least_volume * mesh.rest_det[t])) return {};
    const Vec4 w = frame.weights(x[node]);
    if (!(w.minCoeff() >= -tet_tolerance)) return {};
    return w;
}

} // namespace

std::optional<Vec4> TetHash::weights_inside(const CollisionMesh& mesh, const TetHashOptions& options,
                                            std::span<const Vec3> x, Index node, Index tet)
{
    if (outside(grown(bounds_of(x, mesh.tets[tet])), x[node])) return {};
    return weights_in_box(mesh, options, x, node, tet);
}

Index TetHash::coordinate(Real x) const
{
    // Monotone, also where it is clamped: a point in a box has its cell in the box's range of cells.
    return static_cast<Index>(std::floor(std::clamp(x * inverse_cell_, -1e9, 1e9)));
}

std::size_t TetHash::bucket(Index i, Index j, Index k) const
{
    const auto u = [](Index c) { return static_cast<std::uint32_t>(c); };
    return ((u(i) * 73856093U) ^ (u(j) * 19349663U) ^ (u(k) * 83492791U)) & mask_;
}

void TetHash::choose_sizes(std::span<const Vec3> x)
{
    const Index tets = count(mesh_.tets), stride = (tets + 1023) / 1024;
    cell_ = options_.cell;
    if (!(cell_ > 0)) {
        Real sum = 0;
        Index samples = 0;
        for (Index t = 0; t < tets; t += stride, ++samples) {
            const Bounds box = bounds_of(x, mesh_.tets[t]);
            sum += (box.hi - box.lo).sum() / 3;
        }
        cell_ = sum / samples;
    }
    if (!(cell_ > 0 && std::isfinite(cell_))) cell_ = 1; // every tetrahedron is a point
    inverse_cell_ = 1 / cell_;
    const auto wanted = options_.buckets > 0 ? std::size_t(options_.buckets) : 4 * mesh_.points.size();
    mask_ = std::bit_ceil(std::max<std::size_t>(wanted, 1)) - 1;
}

void TetHash::sort_nodes(std::span<const Vec3> x)
{
    const Index n = count(mesh_.points);
    node_bucket_.resize(mesh_.points.size());
    parallel_for(
        n,
        [&](Index k) {
            const Index i = mesh_.points[k];
            node_bucket_[k] =
                static_cast<Index>(bucket(coordinate(x[i].x()), coordinate(x[i].y()), coordinate(x[i].z())));
        },
        2048);
    // Counting sort; nodes of a bucket stay in order. It is a small part of the whole, and serial.
    begin_.assign(mask_ + 2, 0);
    bucket_body_.assign(mask_ + 1, none);
    for (Index k = 0; k < n; ++k) {
        const Index b = node_bucket_[k], own = mesh_.node_body[mesh_.points[k]];
        ++begin_[b + 1];
        Index& body = bucket_body_[b];
        body = body == none || body == own ? own : mixed;
    }
    for (std::size_t b = 0; b <= mask_; ++b) begin_[b + 1] += begin_[b];
    entries_.resize(mesh_.points.size());
    for (Index k = n; k-- > 0;) { // from the back, so that begin_[b + 1] ends where the bucket begins
        const Index i = mesh_.points[k];
        entries_[--begin_[node_bucket_[k] + 1]] = {x[i], i, mesh_.node_body[i]};
    }
    // Now begin_[b + 1] is the begin of bucket b: shift it down.
    for (std::size_t b = 0; b <= mask_; ++b) begin_[b] = begin_[b + 1];
    begin_[mask_ + 1] = n;
}

void TetHash::visit_tet(std::span<const Vec3> x, Index t, Chunk& out) const
{
    const Index own = mesh_.tet_body[t];
    const Index skip = options_.self_collision == SelfCollision::off ? own : none;
    const Bounds box = grown(bounds_of(x, mesh_.tets[t]));
    const auto visit = [&](const Entry& e) {
        ++out.counts.candidates;
        if (outside(box, e.x)) return;
        if (const std::optional<Vec4> w = weights_in_box(mesh_, options_, x, e.node, t))
            out.found.push_back({e.node, own, t, *w});
    };

    Cell lo, hi;
    std::int64_t cells = 1;
    for (int k = 0; k < 3; ++k) {
        lo[k] = coordinate(box.lo[k]);
        hi[k] = coordinate(box.hi[k]);
        cells = std::min<std::int64_t>(cells * (std::int64_t(hi[k]) - lo[k] + 1), std::int64_t(1) << 40);
    }
    if (cells > count(mesh_.points)) {
        for (const Entry& e : entries_)
            if (e.body != skip) visit(e);
        return;
    }
    out.counts.cells += cells;
    for (Index k = lo[2]; k <= hi[2]; ++k)
        for (Index j = lo[1]; j <= hi[1]; ++j)
            for (Index i = lo[0]; i <= hi[0]; ++i) {
                const std::size_t b = bucket(i, j, k);
                if (bucket_body_[b] == none || bucket_body_[b] == skip) continue;
                for (Index e = begin_[b]; e < begin_[b + 1]; ++e)
                    if (entries_[e].body != skip) visit(entries_[e]);
            }
}

const std::vector<PointInBody>& TetHash::find(std::span<const Vec3> x)
{
    assert(count(x) == mesh_.node_count() && all_finite(x));
    found_.clear();
    counts_ = {};
    if (mesh_.tets.empty() || x.empty()) return found_;
    choose_sizes(x);
    sort_nodes(x);

    const Index tets = count(mesh_.tets), chunks = (tets + tets_a_chunk - 1) / tets_a_chunk;
    chunks_.resize(static_cast<std::size_t>(chunks));
    parallel_for(
        chunks,
        [&](Index c) {
            Chunk& chunk = chunks_[c];
            chunk.found.clear();
            chunk.counts = {};
            const Index end = std::min(tets, (c + 1) * tets_a_chunk);
            for (Index t = c * tets_a_chunk; t < end; ++t) visit_tet(x, t, chunk);
        },
        1);
    for (const Chunk& chunk : chunks_) {
        found_.insert(found_.end(), chunk.found.begin(), chunk.found.end());
        counts_.cells += chunk.counts.cells;
        counts_.candidates += chunk.counts.candidates;
    }
    // Two cells of a tetrahedron may share a bucket, so the same point can be there twice.
    parallel_sort(found_.begin(), found_.end(), [](const PointInBody& a, const PointInBody& b) {
        if (a.node != b.node || a.body != b.body) return a < b;
        const Real deep_a = a.weights.minCoeff(), deep_b = b.weights.minCoeff();
        return deep_a != deep_b ? deep_a > deep_b : a.tet < b.tet;
    });
    found_.erase(
        std::unique(found_.begin(), found_.end(),
                    [](const PointInBody& a, const PointInBody& b) { return a.node == b.node && a.body == b.body; }),
        found_.end());
    return found_;
}

} // namespace pliant
