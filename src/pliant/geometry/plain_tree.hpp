#pragma once
// A plain tree of boxes in doubles, made anew for every question: for exact checks, which share nothing with
// `detection`.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <numeric>

namespace pliant {

struct TreeBox {
    Vec3 low = Vec3::Constant(1e308), high = Vec3::Constant(-1e308);

    void add(const Vec3& x)
    {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    void add(const TreeBox& b)
    {
        low = low.cwiseMin(b.low);
        high = high.cwiseMax(b.high);
    }
    bool meets(const TreeBox& b) const
    {
        return (low.array() <= b.high.array()).all() && (b.low.array() <= high.array()).all();
    }
    bool holds(const Vec3& x) const { return (low.array() <= x.array()).all() && (x.array() <= high.array()).all(); }
};

class PlainTree {
public:
    /// Over boxes numbered 0, 1, ...
    explicit PlainTree(std::vector<TreeBox> boxes) : boxes_(std::move(boxes)), items_(boxes_.size())
    {
        std::iota(items_.begin(), items_.end(), Index(0));
        if (!items_.empty()) {
            nodes_.reserve(2 * items_.size() / leaf_size + 2);
            build(0, count(items_));
        }
    }

    bool empty() const { return nodes_.empty(); }
    const TreeBox& root() const { return nodes_.front().box; }

    /// visit(i, j), once for each pair i < j whose boxes meet.
    template <class Visit>
    void for_each_pair(Visit&& visit) const
    {
        if (!nodes_.empty()) within(0, visit);
    }

    /// visit(i) for every box for which meets(box) holds; it must hold for a larger box if it does for a smaller one.
    template <class Meets, class Visit>
    void for_each(Meets&& meets, Visit&& visit) const
    {
        if (!nodes_.empty()) search(0, meets, visit);
    }

private:
    static constexpr Index leaf_size = 4;
    struct Node {
        TreeBox box;
        Index begin = 0, end = 0; ///< items of a leaf
        Index right = none;       ///< the left child follows its parent; none: a leaf
    };

    Index build(Index begin, Index end)
    {
        const Index number = count(nodes_);
        nodes_.push_back({{}, begin, end, none});
        TreeBox box, centres;
        for (Index i = begin; i < end; ++i) {
            box.add(boxes_[items_[i]]);
            centres.add(centre(items_[i]));
        }
        nodes_[number].box = box;
        if (end - begin <= leaf_size) return number;
        int axis = 0;
        (centres.high - centres.low).maxCoeff(&axis);
        const Index middle = begin + (end - begin) / 2;
        std::nth_element(items_.begin() + begin, items_.begin() + middle, items_.begin() + end,
                         [&](Index i, Index j) { return centre(i)[axis] < centre(j)[axis]; });
        build(begin, middle);
        const Index right = build(middle, end);
        nodes_[number].right = right;
        return number;
    }
    Vec3 centre(Index i) const { return boxes_[i].low / 2 + boxes_[i].high / 2; }

    template <class Visit>
    void leaf_pair(Index i, Index j, Visit& visit) const
    {
        if (boxes_[i].meets(boxes_[j])) visit(std::min(i, j), std::max(i, j));
    }
    template <class Visit>
    void within(Index n, Visit& visit) const
    {
        const Node& node = nodes_[n];
        if (node.right == none) {
            for (Index i = node.begin; i < node.end; ++i)
                for (Index j = i + 1; j < node.end; ++j) leaf_pair(items_[i], items_[j], visit);
            return;
        }
        within(n + 1, visit);
        within(node.right, visit);
        across(n + 1, node.right, visit);
    }
    template <class Visit>
    void across(Index m, Index n, Visit& visit) const
    {
        const Node &a = nodes_[m], &b = nodes_[n];
        if (!a.box.meets(b.box)) return;
        if (a.right == none && b.right == none) {
            for (Index i = a.begin; i < a.end; ++i)
                for (Index j = b.begin; j < b.end; ++j) leaf_pair(items_[i], items_[j], visit);
        } else if (b.right == none || (a.right != none && a.end - a.begin >= b.end - b.begin)) {
            across(m + 1, n, visit);
            across(a.right, n, visit);
        } else {
            across(m, n + 1, visit);
            across(m, b.right, visit);
        }
    }
    template <class Meets, class Visit>
    void search(Index n, Meets& meets, Visit& visit) const
    {
        const Node& node = nodes_[n];
        if (!meets(node.box)) return;
        if (node.right == none) {
            for (Index i = node.begin; i < node.end; ++i)
                if (meets(boxes_[items_[i]])) visit(items_[i]);
            return;
        }
        search(n + 1, meets, visit);
        search(node.right, meets, visit);
    }

    std::vector<TreeBox> boxes_;
    std::vector<Index> items_;
    std::vector<Node> nodes_;
};

} // namespace pliant
