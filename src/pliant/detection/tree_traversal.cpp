#include "pliant/core/parallel.hpp"
#include "pliant/detection/self_cull.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace pliant {

/// Meets the pairs of leaves whose boxes overlap, and gathers the pairs of features in them whose boxes do.
template <bool moving>
class SurfaceTrees::Traversal {
public:
    Traversal(const SurfaceTrees& trees, const Sift& sift, Leaves leaves)
        : trees_(trees), sift_(sift), cull_(sift.cull && sift.cull->any() ? sift.cull : nullptr), leaves_(leaves)
    {}

    void run(const Task& task, std::vector<Pair>& vertex_face, std::vector<Pair>& edge_edge)
    {
        vertex_face_out_ = &vertex_face;
        edge_edge_out_ = &edge_edge;
        ask_ = task.ask;
        if (task.a == task.b)
            self(task.a);
        else if (task.same_body)
            pair<true>(task.a, task.b);
        else
            pair<false>(task.a, task.b);
        flush_vertex_face();
        flush_edge_edge();
    }

    /// Pairs of nodes that together cover the whole traversal: enough of them to share out evenly, few enough to keep a
    /// buffer each.
    std::vector<Task> tasks() const
    {
        const auto wanted = static_cast<std::size_t>(std::clamp(trees_.leaf_count() / 16, 1, 1024));
        std::vector<Task> now = pairs_of_trees(), next;
        for (bool divided = true; divided && now.size() < wanted; now.swap(next)) {
            next.clear();
            divided = false;
            for (const Task& t : now) {
                if (is_leaf(t.a) && is_leaf(t.b)) {
                    next.push_back(t);
                    continue;
                }
                divided = true;
                const auto add = [&](Index a, Index b) {
                    if (a == b ? is_wanted(a) : is_wanted(a, b, t.same_body))
                        next.push_back({a, b, t.same_body, t.ask});
                };
                if (t.a == t.b) {
                    add(t.a + 1, t.a + 1);
                    add(second(t.a), second(t.a));
                    add(t.a + 1, second(t.a));
                } else {
                    for_children(t.a, t.b, add);
                }
            }
        }
        return now;
    }

private:
    bool is_leaf(Index node) const { return trees_.nodes_[node].second == none; }
    Index second(Index node) const { return trees_.nodes_[node].second; }
    bool concerns(Index a, Index b) const { return leaves_ == Leaves::all || trees_.changed_[a] || trees_.changed_[b]; }

    bool is_wanted(Index a) const { return concerns(a, a) && !(cull_ && cull_->within(a)); }
    bool is_wanted(Index a, Index b, bool same_body) const
    {
        return overlap(a, b) && !(same_body && cull_ && cull_->between(a, b));
    }
    bool overlap(Index a, Index b) const
    {
        if (!concerns(a, b)) return false;
#ifdef __AVX2__
        // lanes: lo against hi, -hi against -lo; the last two are 0 > 0
        const __m256 sign = _mm256_set1_ps(-0.0f);
        const auto beyond = [&](const Box& p, const Box& q) {
            const __m256 v = _mm256_load_ps(q.bound.data());
            const __m256 swapped = _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(3, 4, 5, 0, 1, 2, 6, 7));
            return _mm256_cmp_ps(_mm256_load_ps(p.bound.data()), _mm256_xor_ps(swapped, sign), _CMP_GT_OQ);
        };
        __m256 separated = beyond(trees_.boxes_t0_[a], trees_.boxes_t0_[b]);
        if constexpr (moving) separated = _mm256_and_ps(separated, beyond(trees_.boxes_t1_[a], trees_.boxes_t1_[b]));
        return _mm256_testz_ps(separated, separated);
#else
        return pliant::overlap(box(a), box(b));
#endif
    }
    MovingBox box(Index node) const
    {
        return {trees_.boxes_t0_[node], (moving ? trees_.boxes_t1_ : trees_.boxes_t0_)[node]};
    }
    BoxLimits limits(Index node) const
    {
        return {trees_.boxes_t0_[node], (moving ? trees_.boxes_t1_ : trees_.boxes_t0_)[node]};
    }

    /// Bodies that may meet: by their boxes over the step along the first axis, then by all of them.
    std::vector<Task> pairs_of_trees() const
    {
        struct Interval {
            float lo, hi;
            Index tree;
        };
        std::vector<Task> tasks;
        std::vector<Interval> order;
        for (Index i = 0; i < count(trees_.trees_); ++i) {
            const Tree& t = trees_.trees_[i];
            if (is_wanted(t.root) && sift_.filter.bodies(t.body, t.body))
                tasks.push_back({t.root, t.root, true, sift_.filter.asks(t.body)});
            const MovingBox b = box(t.root);
            order.push_back({std::min(b.t0.lo(0), b.t1.lo(0)), std::max(b.t0.hi(0), b.t1.hi(0)), i});
        }
        std::sort(order.begin(), order.end(),
                  [](const Interval& x, const Interval& y) { return std::tie(x.lo, x.tree) < std::tie(y.lo, y.tree); });
        for (std::size_t i = 0; i < order.size(); ++i)
            for (std::size_t j = i + 1; j < order.size() && !(order[j].lo > order[i].hi); ++j) {
                const auto [first, last] = std::minmax(order[i].tree, order[j].tree);
                const Tree &a = trees_.trees_[first], &b = trees_.trees_[last];
                if (sift_.filter.bodies(a.body, b.body) && overlap(a.root, b.root))
                    tasks.push_back({a.root, b.root, a.body == b.body, a.body == b.body && sift_.filter.asks(a.body)});
            }
        return tasks;
    }

    /// visit(a', b') for the pairs of nodes below that cover a pair that is not two leaves: the larger of the two is
    /// divided, or both.
    template <class Visit>
    void for_children(Index a, Index b, Visit&& visit) const
    {
        const Index in_a = trees_.nodes_[a].leaves, in_b = trees_.nodes_[b].leaves;
        const bool divide_a = !is_leaf(a) && 2 * in_a > in_b, divide_b = !is_leaf(b) && 2 * in_b > in_a;
        if (divide_a && divide_b) {
            for (const Index i : {a + 1, second(a)})
                for (const Index j : {b + 1, second(b)}) visit(i, j);
        } else if (divide_a) {
            visit(a + 1, b);
            visit(second(a), b);
        } else {
            visit(a, b + 1);
            visit(a, second(b));
        }
    }

    void self(Index a)
    {
        if (!is_wanted(a)) return;
        if (is_leaf(a)) return leaf_self(trees_.nodes_[a].leaf);
        self(a + 1);
        if (is_wanted(a + 1, second(a), true)) pair<true>(a + 1, second(a));
        self(second(a));
    }
    template <bool same_body>
    void pair(Index a, Index b)
    {
        if (is_leaf(a) && is_leaf(b)) return leaf_pair<same_body>(trees_.nodes_[a].leaf, trees_.nodes_[b].leaf);
        for_children(a, b, [&](Index i, Index j) {
            if (is_wanted(i, j, same_body)) pair<same_body>(i, j);
        });
    }

    // Neighbours, which share a vertex, are most of what overlaps in a sheet. They are dropped eight at a time.
    template <bool same_body>
    void edge_against(const FeatureBlock<2>& from, int lane, Index begin, Index end)
    {
        const BoxLimits limits(from, lane);
        for (Index i = begin; i < end; ++i) edge_against<same_body>(from, lane, limits, trees_.edges_[i], 255u);
    }
    template <bool same_body>
    void edge_against(const FeatureBlock<2>& from, int lane, const BoxLimits& limits, const FeatureBlock<2>& to,
                      unsigned wanted)
    {
        unsigned mask = to.template overlaps<moving>(limits) & wanted;
        if constexpr (same_body) mask &= ~(to.having(from.vertex[0][lane]) | to.having(from.vertex[1][lane]));
        edge_edge_.add_ordered(from.id[lane], to.id, mask);
        if (edge_edge_.full()) flush_edge_edge();
    }
    template <bool same_body>
    void vertex_against(const FeatureBlock<1>& from, int lane, Index begin, Index end)
    {
        const BoxLimits limits(from, lane);
        for (Index i = begin; i < end; ++i) {
            const FeatureBlock<3>& to = trees_.faces_[i];
            unsigned mask = to.template overlaps<moving>(limits);
            if constexpr (same_body) mask &= ~to.having(from.id[lane]);
            vertex_face_.add(from.id[lane], to.id, mask);
            if (vertex_face_.full()) flush_vertex_face();
        }
    }
    /// visit(block, lane) for those of the blocks whose boxes overlap.
    template <int corners, class Visit>
    static void for_overlaps(const std::vector<FeatureBlock<corners>>& blocks, Index begin, Index end,
                             const BoxLimits& limits, Visit&& visit)
    {
        for (Index i = begin; i < end; ++i)
            for (unsigned mask = blocks[i].template overlaps<moving>(limits); mask; mask &= mask - 1)
                visit(blocks[i], std::countr_zero(mask));
    }
    template <bool same_body>
    void leaf_pair(Index a, Index b)
    {
        const Leaf &a0 = trees_.leaves_[a], &a1 = trees_.leaves_[a + 1];
        const Leaf &b0 = trees_.leaves_[b], &b1 = trees_.leaves_[b + 1];
        const BoxLimits of_a = limits(a0.node), of_b = limits(b0.node);
        for_overlaps(trees_.edges_, a0.edge, a1.edge, of_b,
                     [&](const auto& block, int lane) { edge_against<same_body>(block, lane, b0.edge, b1.edge); });
        for_overlaps(trees_.vertices_, a0.vertex, a1.vertex, of_b,
                     [&](const auto& block, int lane) { vertex_against<same_body>(block, lane, b0.face, b1.face); });
        for_overlaps(trees_.vertices_, b0.vertex, b1.vertex, of_a,
                     [&](const auto& block, int lane) { vertex_against<same_body>(block, lane, a0.face, a1.face); });
    }
    void leaf_self(Index a)
    {
        const Leaf &a0 = trees_.leaves_[a], &a1 = trees_.leaves_[a + 1];
        for (Index i = a0.edge; i < a1.edge; ++i)
            for (int lane = 0; lane < std::popcount(trees_.edges_[i].valid); ++lane) {
                const FeatureBlock<2>& block = trees_.edges_[i];
                edge_against<true>(block, lane, BoxLimits(block, lane), block, 255u & ~((2u << lane) - 1));
                edge_against<true>(block, lane, i + 1, a1.edge);
            }
        for (Index i = a0.vertex; i < a1.vertex; ++i)
            for (int lane = 0; lane < std::popcount(trees_.vertices_[i].valid); ++lane)
                vertex_against<true>(trees_.vertices_[i], lane, a0.face, a1.face);
    }

    void flush_vertex_face()
    {
        flush(
            vertex_face_, *vertex_face_out_, [&](const Pair& p) { return sift_.filter.vertex_face(p[0], p[1]); },
            [&](const Sieve::Batch& batch) { return sift_.sieve->vertex_face(batch); });
    }
    void flush_edge_edge()
    {
        flush(
            edge_edge_, *edge_edge_out_, [&](const Pair& p) { return sift_.filter.edge_edge(p[0], p[1]); },
            [&](const Sieve::Batch& batch) { return sift_.sieve->edge_edge(batch); });
    }
    template <class Passes, class Near>
    void flush(PairBuffer& buffer, std::vector<Pair>& out, Passes&& passes, Near&& near)
    {
        const auto put = [&](const Pair& p) {
            if (!ask_ || passes(p)) out.push_back(p);
        };
        if (sift_.sieve)
            Sieve::for_each(buffer.pairs(), near, put);
        else if (ask_)
            std::ranges::for_each(buffer.pairs(), put);
        else
            out.insert(out.end(), buffer.pairs().begin(), buffer.pairs().end());
        buffer.clear();
    }

    const SurfaceTrees& trees_;
    const Sift& sift_;
    const SelfCull* cull_; ///< null where it culls nothing
    Leaves leaves_;
    bool ask_ = false;
    PairBuffer vertex_face_, edge_edge_;
    std::vector<Pair>*vertex_face_out_ = nullptr, *edge_edge_out_ = nullptr;
};

template <bool moving>
void SurfaceTrees::collect_tasks(const Sift& sift, CandidateChunks& out, std::size_t stride, Leaves leaves) const
{
    const std::vector<Task> tasks = Traversal<moving>(*this, sift, leaves).tasks();
    const std::size_t n = (tasks.size() + stride - 1) / stride;
    const std::size_t first = leaves == Leaves::all ? 0 : out.vertex_face.size();
    if (leaves == Leaves::all)
        out.reset(n);
    else
        out.add(n);
    parallel_ranges(static_cast<Index>(n), 1, [&](Index begin, Index end) {
        Traversal<moving> traversal(*this, sift, leaves);
        for (Index i = begin; i < end; ++i) {
            const std::size_t chunk = first + static_cast<std::size_t>(i);
            traversal.run(tasks[static_cast<std::size_t>(i) * stride], out.vertex_face[chunk], out.edge_edge[chunk]);
        }
    });
}

void SurfaceTrees::collect(const Sift& sift, CandidateChunks& out, std::size_t stride) const
{
    if (moving_)
        collect_tasks<true>(sift, out, stride, Leaves::all);
    else
        collect_tasks<false>(sift, out, stride, Leaves::all);
}

void SurfaceTrees::collect_changed(const Sift& sift, CandidateChunks& out) const
{
    if (moving_)
        collect_tasks<true>(sift, out, 1, Leaves::changed);
    else
        collect_tasks<false>(sift, out, 1, Leaves::changed);
}

} // namespace pliant
