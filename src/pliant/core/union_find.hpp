#pragma once
// Disjoint sets of numbers.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pliant {

class UnionFind {
public:
    explicit UnionFind(Index n) : parent_(static_cast<std::size_t>(n)) { std::iota(parent_.begin(), parent_.end(), 0); }
    /// The smallest number of the set that i is in.
    Index find(Index i)
    {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(Index a, Index b) // the smaller number leads: independent of the order of joins
    {
        a = find(a), b = find(b);
        if (a != b) parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<Index> parent_;
};

} // namespace pliant
