#include "pliant/core/parallel.hpp"
#include "pliant/detection/tree.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>

namespace pliant {

/// Self-traversal of the tree. All pairs of nodes are of one level, so a pair of inner nodes has four pairs of
/// children.
template <bool moving>
struct SurfaceTree::Traversal {
    const SurfaceTree& tree;
    const PairFilter& filter;
    std::vector<Pair>&vertex_face, &edge_edge;
    Leaves leaves = Leaves::all;

    bool concerns(Index a, Index b) const { return leaves == Leaves::all || tree.changed_[a] || tree.changed_[b]; }

    bool nodes_overlap(Index a, Index b) const
    {
        if (!concerns(a, b) || filter.never(tree.groups_[a], tree.groups_[b])) return false;
#ifdef __AVX2__
        // lanes: lo against hi, -hi against -lo; the last two are 0 > 0
        const __m256 sign = _mm256_set1_ps(-0.0f);
        const auto beyond = [&](const Box& p, const Box& q) {
            const __m256 v = _mm256_load_ps(q.bound.data());
            const __m256 swapped = _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(3, 4, 5, 0, 1, 2, 6, 7));
            return _mm256_cmp_ps(_mm256_load_ps(p.bound.data()), _mm256_xor_ps(swapped, sign), _CMP_GT_OQ);
        };
        __m256 separated = beyond(tree.nodes_t0_[a], tree.nodes_t0_[b]);
        if constexpr (moving) separated = _mm256_and_ps(separated, beyond(tree.nodes_t1_[a], tree.nodes_t1_[b]));
        return _mm256_testz_ps(separated, separated);
#else
        if constexpr (moving)
            return overlap(MovingBox{tree.nodes_t0_[a], tree.nodes_t1_[a]},
                           MovingBox{tree.nodes_t0_[b], tree.nodes_t1_[b]});
        else
            return overlap(tree.nodes_t0_[a], tree.nodes_t0_[b]);
#endif
    }

    MovingBox node(Index i) const
    {
        MovingBox b;
        b.t0 = tree.nodes_t0_[i];
        if constexpr (moving) b.t1 = tree.nodes_t1_[i];
        return b;
    }

    void self(Index a)
    {
        if (!concerns(a, a) || filter.never(tree.groups_[a], tree.groups_[a])) return;
        if (a >= tree.leaf_count_) return leaf_self(a - tree.leaf_count_);
        self(2 * a);
        if (nodes_overlap(2 * a, 2 * a + 1)) pair(2 * a, 2 * a + 1);
        self(2 * a + 1);
    }
    void pair(Index a, Index b)
    {
        if (a >= tree.leaf_count_) return leaf_pair(a - tree.leaf_count_, b - tree.leaf_count_);
        for (Index i : {2 * a, 2 * a + 1})
            for (Index j : {2 * b, 2 * b + 1})
                if (nodes_overlap(i, j)) pair(i, j);
    }

    /// visit(i) for every box of lanes[begin, end) that overlaps q and is not in the mask ignore(i) of eight.
    template <class Ignore, class Visit>
    static void for_overlaps(const BoxLanes& lanes, Index begin, Index end, const MovingBox& q, Ignore&& ignore,
                             Visit&& visit)
    {
        for (Index i = begin; i < end; i += BoxLanes::width) {
            unsigned mask = lanes.overlaps<moving>(i, std::min(BoxLanes::width, end - i), q);
            if (mask) mask &= ~ignore(i);
            for (; mask; mask &= mask - 1) visit(i + std::countr_zero(mask));
        }
    }
    static unsigned ignore_none(Index)
    {
        return 0;
    }

    // Neighbours, which share a vertex, are most of what overlaps in a sheet. They are dropped eight at a time; the
    // filter has the last word on the others.
    void edge_against(Index i, Index begin, Index end)
    {
        const auto& [ends0, ends1] = tree.edge_ends_;
        const Index a0 = ends0[i], a1 = ends1[i], e = tree.edges_[i];
        const auto neighbours = [&](Index j) {
            return ends0.equal(j, a0) | ends0.equal(j, a1) | ends1.equal(j, a0) | ends1.equal(j, a1);
        };
        for_overlaps(tree.edge_lanes_, begin, end, tree.edge_lanes_.get<moving>(i), neighbours, [&](Index j) {
            const Index g = tree.edges_[j];
            if (filter.edge_edge(e, g)) edge_edge.push_back({std::min(e, g), std::max(e, g)});
        });
    }
    void vertex_against(Index i, Index begin, Index end)
    {
        const auto& [corners0, corners1, corners2] = tree.face_corners_;
        const Index v = tree.vertices_[i];
        const auto neighbours = [&](Index j) {
            return corners0.equal(j, v) | corners1.equal(j, v) | corners2.equal(j, v);
        };
        for_overlaps(tree.face_lanes_, begin, end, tree.vertex_lanes_.get<moving>(i), neighbours, [&](Index j) {
            if (filter.vertex_face(v, tree.faces_[j])) vertex_face.push_back({v, tree.faces_[j]});
        });
    }
    void leaf_pair(Index a, Index b)
    {
        const Leaf &a0 = tree.leaves_[a], &a1 = tree.leaves_[a + 1];
        const Leaf &b0 = tree.leaves_[b], &b1 = tree.leaves_[b + 1];
        const MovingBox box_a = node(tree.leaf_count_ + a), box_b = node(tree.leaf_count_ + b);
        for_overlaps(tree.edge_lanes_, a0.edge, a1.edge, box_b, ignore_none,
                     [&](Index i) { edge_against(i, b0.edge, b1.edge); });
        for_overlaps(tree.vertex_lanes_, a0.vertex, a1.vertex, box_b, ignore_none,
                     [&](Index i) { vertex_against(i, b0.face, b1.face); });
        for_overlaps(tree.vertex_lanes_, b0.vertex, b1.vertex, box_a, ignore_none,
                     [&](Index i) { vertex_against(i, a0.face, a1.face); });
    }
    void leaf_self(Index a)
    {
        const Leaf &a0 = tree.leaves_[a], &a1 = tree.leaves_[a + 1];
        for (Index i = a0.edge; i < a1.edge; ++i) edge_against(i, i + 1, a1.edge);
        for (Index i = a0.vertex; i < a1.vertex; ++i) vertex_against(i, a0.face, a1.face);
    }

    /// Pairs of nodes that together cover the whole traversal: enough of them to share out evenly, few enough to keep a
    /// buffer each.
    std::vector<Task> tasks() const
    {
        const auto wanted = static_cast<std::size_t>(std::clamp(tree.leaf_count_ / 16, 1, 1024));
        std::vector<Task> now = {{1, 1}}, next;
        for (Index level = 0; level < tree.leaf_level_ && now.size() < wanted; ++level) {
            next.clear();
            for (auto [a, b] : now) {
                if (a == b) {
                    if (concerns(2 * a, 2 * a)) next.push_back({2 * a, 2 * a});
                    if (concerns(2 * a + 1, 2 * a + 1)) next.push_back({2 * a + 1, 2 * a + 1});
                    if (nodes_overlap(2 * a, 2 * a + 1)) next.push_back({2 * a, 2 * a + 1});
                    continue;
                }
                for (Index i : {2 * a, 2 * a + 1})
                    for (Index j : {2 * b, 2 * b + 1})
                        if (nodes_overlap(i, j)) next.push_back({i, j});
            }
            now.swap(next);
        }
        return now;
    }
};

template <bool moving>
void SurfaceTree::collect_tasks(const PairFilter& filter, CandidateChunks& out, std::size_t stride, Leaves leaves) const
{
    std::vector<Pair> unused;
    const std::vector<Task> tasks = Traversal<moving>{*this, filter, unused, unused, leaves}.tasks();
    const std::size_t n = (tasks.size() + stride - 1) / stride;
    const std::size_t first = leaves == Leaves::all ? 0 : out.vertex_face.size();
    if (leaves == Leaves::all)
        out.reset(n);
    else
        out.add(n);
    parallel_for(
        static_cast<Index>(n),
        [&](Index i) {
            const std::size_t chunk = first + static_cast<std::size_t>(i);
            Traversal<moving> traversal{*this, filter, out.vertex_face[chunk], out.edge_edge[chunk], leaves};
            const Task& task = tasks[static_cast<std::size_t>(i) * stride];
            if (task.a == task.b)
                traversal.self(task.a);
            else
                traversal.pair(task.a, task.b);
        },
        1);
}

/// The bodies of all nodes, so that what never meets is left out at once.
void SurfaceTree::group_nodes(const PairFilter& filter)
{
    groups_.resize(2 * static_cast<std::size_t>(leaf_count_));
    for (Index leaf = 0; leaf < leaf_count_; ++leaf) {
        const Leaf &begin = leaves_[leaf], &end = leaves_[leaf + 1];
        std::optional<PairFilter::Group> all;
        const auto add = [&](Index vertex) {
            const PairFilter::Group one = filter.group(surface_.vertex_body[vertex]);
            all = all ? PairFilter::join(*all, one) : one;
        };
        for (Index i = begin.face; i < end.face; ++i) add(surface_.triangles[faces_[i]][0]);
        for (Index i = begin.vertex; i < end.vertex; ++i) add(vertices_[i]);
        groups_[leaf_count_ + leaf] = all.value_or(PairFilter::Group());
    }
    for (Index node = leaf_count_ - 1; node > 0; --node)
        groups_[node] = PairFilter::join(groups_[2 * node], groups_[2 * node + 1]);
}

void SurfaceTree::collect(const PairFilter& filter, CandidateChunks& out, std::size_t stride)
{
    if (item_count_ == 0) return out.reset(0);
    if (groups_.empty()) group_nodes(filter);
    if (moving_)
        collect_tasks<true>(filter, out, stride, Leaves::all);
    else
        collect_tasks<false>(filter, out, stride, Leaves::all);
}

void SurfaceTree::collect_changed(const PairFilter& filter, CandidateChunks& out)
{
    assert(!groups_.empty()); // or it was built anew
    if (moving_)
        collect_tasks<true>(filter, out, 1, Leaves::changed);
    else
        collect_tasks<false>(filter, out, 1, Leaves::changed);
}

} // namespace pliant
