#include "pliant/detection/hash_grid.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

bool is_prime(std::size_t n)
{
    for (std::size_t d = 3; d * d <= n; d += 2)
        if (n % d == 0) return false;
    return n % 2 == 1;
}

std::array<float, 3> lower(const MovingBox& b)
{
    return {std::min(b.t0.lo(0), b.t1.lo(0)), std::min(b.t0.lo(1), b.t1.lo(1)), std::min(b.t0.lo(2), b.t1.lo(2))};
}
std::array<float, 3> upper(const MovingBox& b)
{
    return {std::max(b.t0.hi(0), b.t1.hi(0)), std::max(b.t0.hi(1), b.t1.hi(1)), std::max(b.t0.hi(2), b.t1.hi(2))};
}

} // namespace

HashGrid::Cell HashGrid::cell_of(const std::array<float, 3>& x) const
{
    // Monotone, also where it is clamped, so that two overlapping boxes always share a cell.
    Cell c;
    for (int k = 0; k < 3; ++k) c[k] = static_cast<Index>(std::floor(std::clamp(x[k] / cell_, -1e9, 1e9)));
    return c;
}

std::size_t HashGrid::bucket(const Cell& c, std::size_t buckets) const
{
    const auto u = [](Index i) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)); };
    return ((u(c[0]) * 73856093) ^ (u(c[1]) * 19349663) ^ (u(c[2]) * 83492791)) % buckets;
}

void HashGrid::update(const VertexBoxes& boxes)
{
    assert(count(boxes.t0) == surface_.vertex_count());
    const auto compute = [&](Table& table, Index n, const auto& vertices_of) {
        table.boxes.resize(static_cast<std::size_t>(n));
        parallel_for(n, [&](Index i) { table.boxes[i] = boxes.both(vertices_of(i)); });
    };
    compute(vertices_, surface_.vertex_count(), [](Index v) { return v; });
    compute(edges_, count(surface_.edges), [&](Index e) { return surface_.edges[e]; });
    compute(faces_, count(surface_.triangles), [&](Index f) { return surface_.triangles[f]; });
    if (edges_.boxes.empty()) return;

    const Real total = parallel_sum(count(edges_.boxes), 0.0, [&](Index e) {
        const auto lo = lower(edges_.boxes[e]), hi = upper(edges_.boxes[e]);
        return static_cast<Real>(std::max({hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}));
    });
    cell_ = total / count(edges_.boxes);
    if (!(cell_ > 0)) cell_ = 1; // every edge is a point
    buckets_ = 2 * edges_.boxes.size() + 1;
    while (!is_prime(buckets_)) buckets_ += 2;
    fill(vertices_);
    fill(edges_);
    fill(faces_);
}

void HashGrid::fill(Table& table) const
{
    const Index n = count(table.boxes);
    std::vector<Index> first(static_cast<std::size_t>(n) + 1, 0); // of a feature's entries
    const auto cells = [&](Index i) {
        return std::pair(cell_of(lower(table.boxes[i])), cell_of(upper(table.boxes[i])));
    };
    parallel_for(n, [&](Index i) {
        const auto [lo, hi] = cells(i);
        std::int64_t size = 1;
        for (int k = 0; k < 3 && size <= most_cells; ++k) size *= static_cast<std::int64_t>(hi[k]) - lo[k] + 1;
        first[i + 1] = size <= most_cells ? static_cast<Index>(size) : 0;
    });
    table.large.clear();
    for (Index i = 0; i < n; ++i) {
        if (first[i + 1] == 0) table.large.push_back(i);
        first[i + 1] += first[i];
    }
    std::vector<Entry> unsorted(static_cast<std::size_t>(first[n]));
    std::vector<Index> place(unsorted.size());
    parallel_for(n, [&](Index i) {
        if (first[i] == first[i + 1]) return;
        const auto [lo, hi] = cells(i);
        Index at = first[i];
        for (Index x = lo[0]; x <= hi[0]; ++x)
            for (Index y = lo[1]; y <= hi[1]; ++y)
                for (Index z = lo[2]; z <= hi[2]; ++z, ++at) {
                    unsorted[at] = {{x, y, z}, i};
                    place[at] = static_cast<Index>(bucket({x, y, z}, buckets_));
                }
    });
    // Counting sort by bucket; entries of a bucket stay in the order of their features.
    table.begin.assign(buckets_ + 1, 0);
    for (Index b : place) ++table.begin[b + 1];
    for (std::size_t b = 0; b < buckets_; ++b) table.begin[b + 1] += table.begin[b];
    table.entries.resize(unsorted.size());
    std::vector<Index> next(table.begin.begin(), table.begin.end() - 1);
    for (std::size_t i = 0; i < unsorted.size(); ++i) table.entries[next[place[i]]++] = unsorted[i];
}

/// visit(i, j) for overlapping features of a bucket, each pair in one cell only; with `same`, i < j of one table.
template <class Visit>
void HashGrid::for_pairs_in_bucket(std::size_t bucket, const Table& a, const Table& b, bool same, Visit&& visit) const
{
    for (Index i = a.begin[bucket]; i < a.begin[bucket + 1]; ++i)
        for (Index j = same ? i + 1 : b.begin[bucket]; j < b.begin[bucket + 1]; ++j) {
            const Entry &p = a.entries[i], &q = b.entries[j];
            if (p.cell != q.cell) continue;
            const MovingBox &box_p = a.boxes[p.feature], &box_q = b.boxes[q.feature];
            if (!overlap(box_p, box_q)) continue;
            const auto lo_p = lower(box_p), lo_q = lower(box_q);
            std::array<float, 3> corner;
            for (int k = 0; k < 3; ++k) corner[k] = std::max(lo_p[k], lo_q[k]);
            if (cell_of(corner) == p.cell) visit(p.feature, q.feature);
        }
}

void HashGrid::collect(const PairFilter& filter, CandidateChunks& out) const
{
    if (edges_.boxes.empty()) return out.reset(0);
    constexpr std::size_t buckets_a_chunk = 1024;
    const std::size_t chunks = (buckets_ + buckets_a_chunk - 1) / buckets_a_chunk;
    out.reset(chunks + 1); // the last one for the large features
    parallel_for(
        static_cast<Index>(chunks),
        [&](Index c) {
            const std::size_t begin = static_cast<std::size_t>(c) * buckets_a_chunk;
            for (std::size_t b = begin; b < std::min(buckets_, begin + buckets_a_chunk); ++b) {
                for_pairs_in_bucket(b, vertices_, faces_, false, [&](Index v, Index f) {
                    if (filter.vertex_face(v, f)) out.vertex_face[c].push_back({v, f});
                });
                for_pairs_in_bucket(b, edges_, edges_, true, [&](Index e, Index g) {
                    if (filter.edge_edge(e, g)) out.edge_edge[c].push_back({std::min(e, g), std::max(e, g)});
                });
            }
        },
        1);

    const auto is_large = [](const Table& t, Index i) { return std::binary_search(t.large.begin(), t.large.end(), i); };
    for (Index f : faces_.large)
        for (Index v = 0; v < count(vertices_.boxes); ++v)
            if (overlap(vertices_.boxes[v], faces_.boxes[f]) && filter.vertex_face(v, f))
                out.vertex_face[chunks].push_back({v, f});
    for (Index v : vertices_.large)
        for (Index f = 0; f < count(faces_.boxes); ++f)
            if (overlap(vertices_.boxes[v], faces_.boxes[f]) && !is_large(faces_, f) && filter.vertex_face(v, f))
                out.vertex_face[chunks].push_back({v, f});
    for (Index e : edges_.large)
        for (Index g = 0; g < count(edges_.boxes); ++g) {
            if (g == e || (g < e && is_large(edges_, g))) continue;
            if (overlap(edges_.boxes[e], edges_.boxes[g]) && filter.edge_edge(e, g))
                out.edge_edge[chunks].push_back({std::min(e, g), std::max(e, g)});
        }
}

std::size_t HashGrid::bytes() const
{
    std::size_t n = 0;
    for (const Table* t : {&vertices_, &edges_, &faces_})
        n += t->entries.capacity() * sizeof(Entry) + t->begin.capacity() * sizeof(Index) +
             t->boxes.capacity() * sizeof(MovingBox);
    return n;
}

} // namespace pliant
