#include "pliant/detection/pair_depth.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

constexpr Index most_in_list = 512; ///< faces: more are put into a grid
constexpr Index at_once = 256;      ///< edges or points that a thread takes

constexpr Real slack = 1e-10; ///< closes the cracks between neighbouring faces

struct Hit {
    Real t;       ///< from the free end (0) to the colliding one (1)
    Vec3 weights; ///< barycentric
    bool front;   ///< enters through the outside of the face
};

Vec3 weights_of(Real area_sq, Real u, Real v)
{
    const Vec3 w(std::max(area_sq - u - v, 0.0), std::max(u, 0.0), std::max(v, 0.0));
    return w / w.sum();
}

/// Where the segment q -> p meets the face.
std::optional<Hit> cut(const Vec3& q, const Vec3& p, const PairDepth::Face& f)
{
    const Real above = f.area.dot(q - f.corner), below = f.area.dot(p - f.corner), all = above - below;
    if (all > 0 ? above < -slack * all || below > slack * all : above > -slack * all || below < slack * all) return {};
    if (all == 0) return {};
    const Real t = std::clamp(above / all, 0.0, 1.0);
    const Vec3 r = q + t * (p - q) - f.corner;
    const Real area_sq = f.area.squaredNorm();
    const Real u = r.cross(f.e2).dot(f.area), v = f.e1.cross(r).dot(f.area);
    if (!(u >= -slack * area_sq && v >= -slack * area_sq && u + v <= (1 + slack) * area_sq)) return {};
    return Hit{t, weights_of(area_sq, u, v), all > 0};
}

/// The same for four faces and the segment from q: found(lane, Hit) for those that are met.
template <class Found>
void cut_four(const FourVec& q, const FourVec& way, const FourFaces& f, Found&& found)
{
    const FourVec from = q - f.corner;
    const Four above = dot(f.area, from), all = -dot(f.area, way);
    unsigned hits = at_least(slack * all * all, above * (above - all)); // the ends are on different sides
    if (hits == 0) return;
    const Four part = above / all; // not a number for a way along the face: then nothing below holds
    hits &= at_least(part, Four::Constant(-slack)) & at_least(Four::Constant(1 + slack), part);
    const Four t = part.max(0).min(1);
    const FourVec r = from + t * way;
    const Four u = dot(r, f.first), v = dot(r, f.second), least = -slack * f.area_sq;
    hits &= at_least(u, least) & at_least(v, least) & at_least((1 + slack) * f.area_sq, u + v);
    for (; hits != 0; hits &= hits - 1) {
        const int i = std::countr_zero(hits);
        found(i, Hit{t[i], weights_of(f.area_sq[i], u[i], v[i]), all[i] > 0});
    }
}

/// Normal to the face, twice its area long.
Vec3 face_area(std::span<const Vec3> x, const Triangle& f)
{
    return (x[f[1]] - x[f[0]]).cross(x[f[2]] - x[f[0]]);
}

/// Weighted averages of depth and direction [Heidelberger04, eqs. 1 to 4 and 5 to 7].
class Average {
public:
    /// L: a length of the mesh [m]; points closer than 1e-6 of it weigh no more than at that distance.
    explicit Average(Real L) : least_sq_(std::max(1e-12 * L * L, std::numeric_limits<Real>::min())) {}

    void add(Real distance_sq, Real depth, const Vec3& direction)
    {
        const Real w = 1 / std::max(distance_sq, least_sq_); // eqs. 1 and 5
        sum_ += w;
        depth_ += w * depth;
        direction_ += w * direction;
        if (w > largest_) {
            largest_ = w;
            dominant_ = direction;
        }
    }
    bool empty() const { return sum_ == 0; }
    PointDepth result(Index layer, DepthOrigin origin) const
    {
        const Vec3 r = direction_ / sum_; // eqs. 3 and 6
        const Real length = r.norm();
        return {length < 1e-3 ? dominant_ : Vec3(r / length), std::max(depth_ / sum_, 0.0), layer, origin};
    }

private:
    Real least_sq_, sum_ = 0, depth_ = 0, largest_ = 0;
    Vec3 direction_ = Vec3::Zero(), dominant_ = Vec3::Zero();
};

} // namespace

Vec3 vertex_normal(const CollisionMesh& mesh, std::span<const Vec3> x, Index node)
{
    Vec3 sum = Vec3::Zero();
    for (Index i = mesh.node_faces.begin[node]; i < mesh.node_faces.begin[node + 1]; ++i) {
        const Triangle& v = mesh.faces[mesh.node_faces.items[i]];
        const Vec3 n = (x[v[1]] - x[v[0]]).cross(x[v[2]] - x[v[0]]);
        const Real length = n.norm();
        if (length > 0) sum += mesh.face_angle[i] / length * n;
    }
    const Real length = sum.norm();
    return length > 0 ? Vec3(sum / length) : Vec3::Zero();
}

void VertexNormals::compute(const CollisionMesh& mesh, std::span<const Vec3> x, Index node)
{
    const std::atomic_ref round(round_[node]);
    if (round.load(std::memory_order_relaxed) == now_) return; // the usual answer, cheaper than an exchange
    if (round.exchange(now_, std::memory_order_relaxed) != now_) normal_[node] = vertex_normal(mesh, x, node);
}

Vec3 interpolated_normal(const Vec3& across, const Vec3& n0, const Vec3& n1, const Vec3& n2, const Vec3& weights)
{
    const Vec3 n = weights.x() * n0 + weights.y() * n1 + weights.z() * n2;
    constexpr Real cos_60 = 0.5, sin_60 = 0.86602540378443864676;
    const Real length = n.norm(), up = n.dot(across);
    if (up > 0 && up * up >= cos_60 * cos_60 * (length * length) * across.squaredNorm()) return n / length;
    const Vec3 face_normal = across.stableNormalized();
    const Vec3 along = n - n.dot(face_normal) * face_normal;
    const Real a = along.norm();
    return a > 1e-12 * length ? Vec3(cos_60 * face_normal + sin_60 / a * along) : face_normal;
}

void PairDepth::find_samples(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x,
                             const PointGroups& groups, const PointGroups::Pair& pair, VertexNormals& normals)
{
    edges_.clear();
    samples_.clear();
    sample_begin_.assign(static_cast<std::size_t>(pair.end - pair.begin) + 1, 0);
    face_tests_ = 0;
    enclosed_ = 0;
    if (groups.half_space[pair.inside] != none) return; // known without samples
    for (Index e = pair.begin; e < pair.end; ++e)
        for (Index q : mesh.neighbours[groups.entries[e].node])
            if (groups.find(q, pair.inside) == none) edges_.push_back({e, q, x[q]});
    if (mesh.is_shell[pair.body]) add_inward_edges(mesh, x, groups, pair);
    if (edges_.empty()) return;
    collect_faces(mesh, tree, x, groups, pair);
    cut_edges(mesh, x, groups, pair);
    for (const Sample& sample : samples_)
        for (const Index v : mesh.faces[sample.face]) normals.compute(mesh, x, v);
}

void PairDepth::collect_faces(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x,
                              const PointGroups& groups, const PointGroups::Pair& pair)
{
    Vec3 lo = edges_[0].free_end, hi = lo;
    Real length = 0;
    for (const BorderEdge& edge : edges_) {
        const Vec3 &p = x[groups.entries[edge.entry].node], &q = edge.free_end;
        lo = lo.cwiseMin(p).cwiseMin(q);
        hi = hi.cwiseMax(p).cwiseMax(q);
        length += (p - q).norm();
    }
    faces_.clear();
    tree.for_overlapping(pair.inside, box_of(lo, hi), [&](Index f) { faces_.push_back(f); });
    few_ = count(faces_) <= most_in_list;
    if (few_) return list_faces(mesh, x);
    face_data_.clear();
    for (const Index f : faces_) {
        const Triangle& v = mesh.faces[f];
        const Vec3 e1 = x[v[1]] - x[v[0]], e2 = x[v[2]] - x[v[0]];
        face_data_.push_back({x[v[0]], e1, e2, e1.cross(e2)});
    }
    // Half the mean edge: measured best between 0.35 and 1.
    grid_.reset(lo, hi, 0.5 * length / count(edges_), 8 * (count(edges_) + count(faces_)));
    grid_.fill(face_data_);
}

void PairDepth::list_faces(const CollisionMesh& mesh, std::span<const Vec3> x)
{
    while (count(faces_) % 4 != 0) faces_.push_back(faces_.back()); // twice the same is the same
    const Index fours = count(faces_) / 4;
    fours_.resize(static_cast<std::size_t>(fours));
    boxes_.resize(fours);
    for (Index i = 0; i < fours; ++i) {
        std::array<std::array<Index, 4>, 3> corners;
        for (int lane = 0; lane < 4; ++lane)
            for (int k = 0; k < 3; ++k) corners[k][lane] = mesh.faces[faces_[4 * i + lane]][k];
        const FourVec a = gather(x, corners[0].data(), 1), b = gather(x, corners[1].data(), 1),
                      c = gather(x, corners[2].data(), 1);
        const FourVec e1 = b - a, e2 = c - a, area = cross(e1, e2);
        const FourVec low = {a.x.min(b.x).min(c.x), a.y.min(b.y).min(c.y), a.z.min(b.z).min(c.z)};
        const FourVec high = {a.x.max(b.x).max(c.x), a.y.max(b.y).max(c.y), a.z.max(b.z).max(c.z)};
        fours_[i] = {a, area, cross(e2, area), cross(area, e1), dot(area, area)};
        const Vec3 lo(low.x.minCoeff(), low.y.minCoeff(), low.z.minCoeff());
        const Vec3 hi(high.x.maxCoeff(), high.y.maxCoeff(), high.z.maxCoeff());
        boxes_.set(i, box_of(lo, hi));
    }
}

/// A shell has no nodes inside, and where it lies flat on a body its edges lead along it, not out. So each of its
/// points gets an edge straight inwards. If that ends in the body too, no face is met from outside, and it is no
/// sample.
void PairDepth::add_inward_edges(const CollisionMesh& mesh, std::span<const Vec3> x, const PointGroups& groups,
                                 const PointGroups::Pair& pair)
{
    const Index along = count(edges_);
    for (Index e = pair.begin; e < pair.end; ++e) {
        const Index node = groups.entries[e].node;
        edges_.push_back({e, node, x[node] - mesh.edge[pair.body] * vertex_normal(mesh, x, node)});
    }
    std::inplace_merge(edges_.begin(), edges_.begin() + along, edges_.end(),
                       [](const BorderEdge& a, const BorderEdge& b) { return a.entry < b.entry; });
}

/// accepts(face): whether the face counts for this edge.
template <class Accepts>
void PairDepth::cut_by_list(const Vec3& q, const Vec3& p, Accepts&& accepts, Cut& nearest) const
{
    const Vec3 lo = q.cwiseMin(p), hi = q.cwiseMax(p);
    const Vec3 margin = Vec3::Constant(1e-8 * (hi - lo).sum()); // a hit may be that far off by its slack
    const Box box = box_of(lo - margin, hi + margin);
    const FourVec start = four_times(q), way = four_times(p - q);
    const Index fours = count(fours_);
    for (Index i = 0; i < fours; i += BoxLanes::width) {
        const Index n = std::min(BoxLanes::width, fours - i);
        for (unsigned near = boxes_.overlaps(i, n, box); near != 0; near &= near - 1) {
            const Index four = i + std::countr_zero(near);
            nearest.tests += 4;
            cut_four(start, way, fours_[four], [&](int lane, const Hit& hit) {
                const Index f = faces_[4 * four + lane];
                if (hit.t > nearest.t || (hit.t == nearest.t && f >= nearest.face) || !accepts(f)) return;
                nearest = {hit.t, hit.weights, f, hit.front, nearest.tests};
            });
        }
    }
}

/// seen_by: per face the last edge it was compared with.
template <class Accepts>
void PairDepth::cut_by_grid(const Vec3& q, const Vec3& p, Index edge, std::vector<Index>& seen_by, Accepts&& accepts,
                            Cut& nearest) const
{
    grid_.along(q, p, [&](std::span<const Index> items, Real t_out) {
        for (const Index i : items) {
            if (seen_by[i] == edge) continue; // in an earlier cell
            seen_by[i] = edge;
            const Index f = faces_[i];
            ++nearest.tests;
            const std::optional<Hit> hit = cut(q, p, face_data_[i]);
            if (!hit || hit->t > nearest.t || (hit->t == nearest.t && f >= nearest.face) || !accepts(f)) continue;
            nearest = {hit->t, hit->weights, f, hit->front, nearest.tests};
        }
        return nearest.t < t_out;
    });
}

void PairDepth::cut_edges(const CollisionMesh& mesh, std::span<const Vec3> x, const PointGroups& groups,
                          const PointGroups::Pair& pair)
{
    const bool self = pair.body == pair.inside;
    cuts_.resize(edges_.size());
    parallel_ranges(count(edges_), at_once, [&](Index begin, Index end) {
        std::vector<Index> seen_by(few_ ? 0 : faces_.size(), none);
        for (Index e = begin; e < end; ++e) {
            const Index node = groups.entries[edges_[e].entry].node, free_node = edges_[e].free_node;
            const auto accepts = [&](Index f) {
                return !self || (far_at_rest(mesh, node, mesh.faces[f]) && far_at_rest(mesh, free_node, mesh.faces[f]));
            };
            cuts_[e] = {};
            if (few_)
                cut_by_list(edges_[e].free_end, x[node], accepts, cuts_[e]);
            else
                cut_by_grid(edges_[e].free_end, x[node], e, seen_by, accepts, cuts_[e]);
        }
    });
    for (Index e = 0; e < count(edges_); ++e) {
        const Cut& nearest = cuts_[e];
        face_tests_ += nearest.tests;
        // No face (an end on the surface, up to rounding) is no sample. Neither is a back face: the free end is not
        // really free then.
        if (nearest.face == none || !nearest.front) continue;
        const Vec3 &p = x[groups.entries[edges_[e].entry].node], &q = edges_[e].free_end;
        samples_.push_back({q + nearest.t * (p - q), nearest.weights, nearest.face});
        ++sample_begin_[edges_[e].entry - pair.begin + 1];
    }
    for (std::size_t i = 1; i < sample_begin_.size(); ++i) sample_begin_[i] += sample_begin_[i - 1];
}

void PairDepth::compute(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x,
                        const VertexNormals& normals, PointGroups& groups, const PointGroups::Pair& pair)
{
    const auto border_point = [&](Index i) {
        const Index e = pair.begin + i;
        groups.depth[e] = {};
        const Vec3& p = x[groups.entries[e].node];
        Average average(mesh.edge[pair.body]);
        for (Index s = sample_begin_[e - pair.begin]; s < sample_begin_[e - pair.begin + 1]; ++s) {
            const Sample& sample = samples_[s];
            const Triangle& f = mesh.faces[sample.face];
            const Vec3 n = interpolated_normal(face_area(x, f), normals.at(f[0]), normals.at(f[1]), normals.at(f[2]),
                                               sample.weights);
            // Where the interpolated normal leans so far that the depth would be negative it counts as 0: dropping the
            // sample instead would make the depth jump.
            const Vec3 out = sample.x - p;
            average.add(out.squaredNorm(), std::max(out.dot(n), 0.0), n); // eq. 2
        }
        // Otherwise it is not a border point after all: filled by its neighbours.
        if (!average.empty()) groups.depth[e] = average.result(0, DepthOrigin::surface);
    };
    parallel_for(pair.end - pair.begin, border_point, at_once);
    layer_.clear();
    for (Index e = pair.begin; e < pair.end; ++e)
        if (groups.depth[e].layer == 0) layer_.push_back(e);
    propagate(mesh, x, groups, pair, DepthOrigin::propagated);
    release_enclosed(mesh, tree, x, groups, pair);
}

void PairDepth::propagate(const CollisionMesh& mesh, std::span<const Vec3> x, PointGroups& groups,
                          const PointGroups::Pair& pair, DepthOrigin origin)
{
    constexpr Index waiting = -2;
    for (Index layer = 1; !layer_.empty(); ++layer) {
        next_.clear();
        for (Index e : layer_)
            for (Index q : mesh.neighbours[groups.entries[e].node]) {
                const Index other = groups.find(q, pair.inside);
                if (other == none || groups.depth[other].layer != none) continue;
                groups.depth[other].layer = waiting;
                next_.push_back(other);
            }
        const auto average_of = [&](Index i) {
            const Index e = next_[i];
            const Vec3& p = x[groups.entries[e].node];
            Average average(mesh.edge[pair.body]);
            for (Index q : mesh.neighbours[groups.entries[e].node]) {
                const Index other = groups.find(q, pair.inside);
                if (other == none) continue;
                const PointDepth& from = groups.depth[other];
                if (from.layer < 0 || from.layer >= layer) continue;
                const Vec3 step = x[q] - p;
                average.add(step.squaredNorm(), step.dot(from.direction) + from.depth, from.direction);
            }
            // The layer stays `waiting` until all of the layer is done: neighbours read it meanwhile.
            const PointDepth found = average.result(layer, origin);
            groups.depth[e].direction = found.direction;
            groups.depth[e].depth = found.depth;
            groups.depth[e].origin = found.origin;
        };
        parallel_for(count(next_), average_of, at_once);
        for (Index e : next_) groups.depth[e].layer = layer;
        layer_.swap(next_);
    }
}

/// Points without a way out along an edge. The paper leaves them where they are; here the point of each connected part
/// that is nearest to the surface shows the way, and the others follow as in stage 4, so that all leave together.
void PairDepth::release_enclosed(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x,
                                 PointGroups& groups, const PointGroups::Pair& pair)
{
    constexpr Index gathered = -3;
    for (Index start = pair.begin; start < pair.end; ++start) {
        if (groups.depth[start].layer != none) continue;
        next_.assign(1, start);
        groups.depth[start].layer = gathered;
        for (std::size_t i = 0; i < next_.size(); ++i)
            for (Index q : mesh.neighbours[groups.entries[next_[i]].node]) {
                const Index other = groups.find(q, pair.inside);
                if (other == none || groups.depth[other].layer != none) continue;
                groups.depth[other].layer = gathered;
                next_.push_back(other);
            }
        enclosed_ += count(next_);
        std::sort(next_.begin(), next_.end());
        Index nearest = none;
        PointDepth seed;
        for (Index e : next_) {
            groups.depth[e].layer = none;
            const PointDepth d = closest_feature_depth(mesh, tree, x, pair.inside, x[groups.entries[e].node]);
            if (nearest != none && d.depth >= seed.depth) continue;
            nearest = e;
            seed = d;
        }
        seed.origin = DepthOrigin::enclosed;
        groups.depth[nearest] = seed;
        layer_.assign(1, nearest);
        propagate(mesh, x, groups, pair, DepthOrigin::enclosed);
    }
}

PointDepth closest_feature_depth(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x, Index body,
                                 const Vec3& p)
{
    const FaceTree::Closest c = tree.closest(x, body, p);
    const bool on_surface = c.distance <= 1e-12 * mesh.edge[body];
    return {on_surface ? face_area(x, mesh.faces[c.face]).stableNormalized() : Vec3(c.to_surface / c.distance),
            c.distance, 0, DepthOrigin::surface};
}

} // namespace pliant
