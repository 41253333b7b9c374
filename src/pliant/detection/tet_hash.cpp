#include "pliant/detection/tet_hash.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/geometry/tetrahedron.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

constexpr Index mixed = -2; ///< a bucket with nodes of several bodies
constexpr std::size_t tets_a_group = 16;
constexpr Index groups_a_chunk = 64;

/// The box of a tetrahedron, grown so that no point within the tolerance of the barycentric test is left out.
struct TetBox {
    Vec3 lo, hi;

    TetBox(std::span<const Vec3> x, const Tet& t)
    {
        const Vec3 &a = x[t[0]], &b = x[t[1]], &c = x[t[2]], &d = x[t[3]];
        lo = a.cwiseMin(b).cwiseMin(c.cwiseMin(d));
        hi = a.cwiseMax(b).cwiseMax(c.cwiseMax(d));
        const Vec3 margin = Vec3::Constant(4 * tet_tolerance * (hi - lo).sum());
        lo -= margin;
        hi += margin;
    }
};

template <class Box>
bool outside(const Box& box, const Vec3& p)
{
    return p.x() < box.lo.x() || p.x() > box.hi.x() || p.y() < box.lo.y() || p.y() > box.hi.y() || p.z() < box.lo.z() ||
           p.z() > box.hi.z();
}

/// Cuts a range of tetrahedra at the median along its longest side until the parts are small; done(begin, end) for
/// each.
template <class Done>
void bisect(std::span<Index> tets, const Vec3s& centre, Done&& done)
{
    if (tets.size() <= tets_a_group) return done(tets);
    Vec3 lo = centre[tets[0]], hi = lo;
    for (const Index t : tets) {
        lo = lo.cwiseMin(centre[t]);
        hi = hi.cwiseMax(centre[t]);
    }
    int axis = 0;
    (hi - lo).maxCoeff(&axis);
    // Halves that are whole groups, so that few groups are left half empty.
    const std::size_t groups = (tets.size() + tets_a_group - 1) / tets_a_group;
    const std::size_t half = groups / 2 * tets_a_group;
    std::nth_element(tets.begin(), tets.begin() + static_cast<std::ptrdiff_t>(half), tets.end(), [&](Index a, Index b) {
        return centre[a][axis] != centre[b][axis] ? centre[a][axis] < centre[b][axis] : a < b;
    });
    bisect(tets.first(half), centre, done);
    bisect(tets.subspan(half), centre, done);
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

TetHash::TetHash(const CollisionMesh& mesh, const TetHashOptions& options) : mesh_(mesh), options_(options)
{
    make_groups();
}

void TetHash::make_groups()
{
    Vec3s centre;
    centre.reserve(mesh_.tets.size());
    for (const Tet& t : mesh_.tets)
        centre.push_back((mesh_.rest[t[0]] + mesh_.rest[t[1]] + mesh_.rest[t[2]] + mesh_.rest[t[3]]) / 4);
    group_tets_.resize(mesh_.tets.size());
    std::iota(group_tets_.begin(), group_tets_.end(), 0);
    std::stable_sort(group_tets_.begin(), group_tets_.end(),
                     [&](Index a, Index b) { return mesh_.tet_body[a] < mesh_.tet_body[b]; });
    std::vector<Index> nodes;
    const auto add_group = [&](std::span<Index> tets) {
        std::sort(tets.begin(), tets.end());
        nodes.clear();
        for (const Index t : tets) nodes.insert(nodes.end(), mesh_.tets[t].begin(), mesh_.tets[t].end());
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        group_nodes_.insert(group_nodes_.end(), nodes.begin(), nodes.end());
        const Index end = static_cast<Index>(tets.data() + tets.size() - group_tets_.data());
        groups_.push_back({mesh_.tet_body[tets[0]], end, count(group_nodes_)});
    };
    for (std::size_t begin = 0, end = 0; begin < group_tets_.size(); begin = end) {
        const Index body = mesh_.tet_body[group_tets_[begin]];
        while (end < group_tets_.size() && mesh_.tet_body[group_tets_[end]] == body) ++end;
        bisect(std::span(group_tets_).subspan(begin, end - begin), centre, add_group);
    }
}

std::optional<Vec4> TetHash::weights_inside(const CollisionMesh& mesh, const TetHashOptions& options,
                                            std::span<const Vec3> x, Index node, Index tet)
{
    if (outside(TetBox(x, mesh.tets[tet]), x[node])) return {};
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

void TetHash::fit_groups(std::span<const Vec3> x)
{
    group_box_.resize(groups_.size());
    parallel_for(
        count(groups_),
        [&](Index g) {
            const Index begin = g == 0 ? 0 : groups_[g - 1].nodes;
            Vec3 lo = x[group_nodes_[begin]], hi = lo;
            for (Index k = begin + 1; k < groups_[g].nodes; ++k) {
                lo = lo.cwiseMin(x[group_nodes_[k]]);
                hi = hi.cwiseMax(x[group_nodes_[k]]);
            }
            const Vec3 margin = Vec3::Constant(4 * tet_tolerance * (hi - lo).sum()); // as much as its tetrahedra's
            group_box_[g] = {lo - margin, hi + margin};
        },
        256);
}

void TetHash::choose_sizes()
{
    cell_ = options_.cell;
    if (!(cell_ > 0)) {
        Real sum = 0;
        for (const Bounds& box : group_box_) sum += (box.hi - box.lo).sum() / 3;
        cell_ = sum / static_cast<Real>(group_box_.size());
    }
    if (!(cell_ > 0 && std::isfinite(cell_))) cell_ = 1; // every tetrahedron is a point
    inverse_cell_ = 1 / cell_;
    const auto wanted = options_.buckets > 0 ? std::size_t(options_.buckets) : 2 * mesh_.points.size();
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

void TetHash::collect(Index group, Chunk& out) const
{
    const Bounds& box = group_box_[group];
    const Index skip = options_.self_collision == SelfCollision::off ? groups_[group].body : none;
    out.near.clear();
    const auto look = [&](Index begin, Index end, auto&& belongs) {
        for (Index e = begin; e < end; ++e) {
            if (entries_[e].body == skip) continue;
            ++out.counts.candidates;
            if (!outside(box, entries_[e].x) && belongs(entries_[e].x)) out.near.push_back(entries_[e]);
        }
    };
    Cell lo, hi;
    constexpr std::int64_t most = std::int64_t(1) << 31;
    std::int64_t cells = 1;
    for (int k = 0; k < 3; ++k) {
        lo[k] = coordinate(box.lo[k]);
        hi[k] = coordinate(box.hi[k]);
        cells = std::min(cells * (std::int64_t(hi[k]) - lo[k] + 1), most); // times 2e9 it still fits
    }
    if (cells > count(mesh_.points)) return look(0, count(entries_), [](const Vec3&) { return true; });
    out.counts.cells += cells;
    for (Index k = lo[2]; k <= hi[2]; ++k)
        for (Index j = lo[1]; j <= hi[1]; ++j)
            for (Index i = lo[0]; i <= hi[0]; ++i) {
                const std::size_t b = bucket(i, j, k);
                if (bucket_body_[b] == none || bucket_body_[b] == skip) continue;
                look(begin_[b], begin_[b + 1], [&](const Vec3& p) { // other cells of the group may share the bucket
                    return coordinate(p.x()) == i && coordinate(p.y()) == j && coordinate(p.z()) == k;
                });
            }
}

void TetHash::visit_group(std::span<const Vec3> x, Index group, Chunk& out) const
{
    collect(group, out);
    if (out.near.empty()) return;
    for (Index k = group == 0 ? 0 : groups_[group - 1].tets; k < groups_[group].tets; ++k) {
        const Index t = group_tets_[k];
        const TetBox box(x, mesh_.tets[t]);
        for (const Entry& e : out.near) {
            if (outside(box, e.x)) continue;
            if (const std::optional<Vec4> w = weights_in_box(mesh_, options_, x, e.node, t))
                out.found.push_back({e.node, groups_[group].body, t, *w});
        }
    }
}

const std::vector<PointInBody>& TetHash::find(std::span<const Vec3> x)
{
    assert(count(x) == mesh_.node_count() && all_finite(x));
    found_.clear();
    counts_ = {};
    if (mesh_.tets.empty() || x.empty()) return found_;
    fit_groups(x);
    choose_sizes();
    sort_nodes(x);

    const Index groups = count(groups_), chunks = (groups + groups_a_chunk - 1) / groups_a_chunk;
    chunks_.resize(static_cast<std::size_t>(chunks));
    parallel_for(
        chunks,
        [&](Index c) {
            Chunk& chunk = chunks_[c];
            chunk.found.clear();
            chunk.counts = {};
            const Index end = std::min(groups, (c + 1) * groups_a_chunk);
            for (Index g = c * groups_a_chunk; g < end; ++g) visit_group(x, g, chunk);
        },
        1);
    for (const Chunk& chunk : chunks_) {
        found_.insert(found_.end(), chunk.found.begin(), chunk.found.end());
        counts_.cells += chunk.counts.cells;
        counts_.candidates += chunk.counts.candidates;
    }
    // A point between tetrahedra is in several of them.
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
