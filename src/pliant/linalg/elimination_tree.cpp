#include "pliant/linalg/elimination_tree.hpp"

#include "pliant/core/contracts.hpp"

#include <algorithm>

namespace pliant {
namespace {

constexpr Index leaf_size = 16; ///< blocks: below, dense arithmetic is cheaper than more nodes

int longest_side(const std::vector<Index>& blocks, const Vec3s& rest)
{
    Vec3 low = rest[blocks.front()], high = low;
    for (const Index b : blocks) {
        low = low.cwiseMin(rest[b]);
        high = high.cwiseMax(rest[b]);
    }
    int axis = 0;
    (high - low).maxCoeff(&axis);
    return axis;
}

} // namespace

EliminationTree::EliminationTree(const BlockPattern& pattern, const std::vector<Index>& blocks, const Vec3s& rest)
    : side_(static_cast<std::size_t>(pattern.rows()), none)
{
    assert(!blocks.empty() && count(rest) == pattern.rows() && all_finite(rest));
    bisect(pattern, rest, blocks);
    assert(block_count() == count(blocks)); // each eliminated once
    std::vector<Index> place_of(static_cast<std::size_t>(pattern.rows()), none);
    for (Index place = 0; place < block_count(); ++place) place_of[block_at_[place]] = place;
    find_borders(pattern, place_of);
    find_levels();
    side_ = {};
}

/// Returns the number of the node that is eliminated last.
Index EliminationTree::bisect(const BlockPattern& pattern, const Vec3s& rest, std::vector<Index> blocks)
{
    std::vector<Index> own, children;
    if (count(blocks) <= leaf_size) {
        own = std::move(blocks);
    } else {
        const int axis = longest_side(blocks, rest);
        const auto middle = blocks.begin() + std::ptrdiff_t(blocks.size() / 2);
        const auto before = [&](Index a, Index b) {
            return rest[a][axis] < rest[b][axis] || (rest[a][axis] == rest[b][axis] && a < b);
        };
        std::nth_element(blocks.begin(), middle, blocks.end(), before);
        // The cut is the layer of the first half that touches the second.
        for (auto it = middle; it != blocks.end(); ++it) side_[*it] = 1;
        std::vector<Index> first, second(middle, blocks.end());
        for (auto it = blocks.begin(); it != middle; ++it) {
            bool touches = false;
            for (Index s = pattern.row_begin[*it]; s < pattern.row_begin[*it + 1] && !touches; ++s)
                touches = side_[pattern.column[s]] == 1;
            (touches ? own : first).push_back(*it);
        }
        for (const Index b : second) side_[b] = none;
        blocks = {};
        if (!first.empty()) children.push_back(bisect(pattern, rest, std::move(first)));
        children.push_back(bisect(pattern, rest, std::move(second)));
    }
    std::sort(own.begin(), own.end());
    EliminationNode node;
    node.begin = block_count();
    block_at_.insert(block_at_.end(), own.begin(), own.end());
    node.end = block_count();
    node.children = std::move(children);
    node_of_.insert(node_of_.end(), own.size(), count(nodes_));
    nodes_.push_back(std::move(node));
    return count(nodes_) - 1;
}

void EliminationTree::find_borders(const BlockPattern& pattern, const std::vector<Index>& place_of)
{
    std::vector<Index> row_of(static_cast<std::size_t>(block_count()), none); // in the front at hand
    for (EliminationNode& node : nodes_) {
        for (Index place = node.begin; place < node.end; ++place) row_of[place] = place - node.begin;
        const auto meet = [&](Index place) {
            assert(place != none); // or the blocks are no whole part of the pattern
            if (place < node.end || row_of[place] != none) return;
            row_of[place] = 0;
            node.border.push_back(place);
        };
        for (Index place = node.begin; place < node.end; ++place) {
            const Index block = block_at_[place];
            for (Index s = pattern.row_begin[block]; s < pattern.row_begin[block + 1]; ++s)
                meet(place_of[pattern.column[s]]);
        }
        for (const Index child : node.children)
            for (const Index place : nodes_[child].border) meet(place);
        std::sort(node.border.begin(), node.border.end());
        for (Index k = 0; k < count(node.border); ++k) row_of[node.border[k]] = node.own() + k;
        for (Index place = node.begin; place < node.end; ++place) {
            const Index block = block_at_[place];
            for (Index s = pattern.row_begin[block]; s < pattern.row_begin[block + 1]; ++s)
                if (const Index other = place_of[pattern.column[s]]; other >= place)
                    node.sources.push_back({s, row_of[other], place - node.begin});
        }
        for (const Index child : node.children)
            for (const Index place : nodes_[child].border) {
                assert(row_of[place] != none); // what a child leaves has a place in its parent
                nodes_[child].up.push_back(row_of[place]);
            }
        for (Index place = node.begin; place < node.end; ++place) row_of[place] = none;
        for (const Index place : node.border) row_of[place] = none;
        const Real own = 3.0 * node.own(), border = 3.0 * count(node.border);
        flops_ += own * own * own / 3 + own * own * border + own * border * border;
    }
}

void EliminationTree::find_levels()
{
    std::vector<Index> level(nodes_.size(), 0);
    for (Index k = 0; k < count(nodes_); ++k) {
        for (const Index child : nodes_[k].children) level[k] = std::max(level[k], level[child] + 1);
        if (level[k] >= count(levels_)) levels_.resize(static_cast<std::size_t>(level[k]) + 1);
        levels_[level[k]].push_back(k);
    }
}

} // namespace pliant
