#pragma once
// An order of elimination for a part of a block matrix by nested bisection of its rest shape [George 1973]: a body is
// cut in two along its longest side again and again, and the blocks of a cut are eliminated after both halves. Thin
// bodies have short cuts, so their Cholesky factors are small.

#include "pliant/linalg/block_matrix.hpp"

namespace pliant {

/// Blocks that are eliminated together: a leaf of the bisection, or a cut. Places count in the order of elimination.
struct EliminationNode {
    /// A block of A in a row of this node, and where its transpose goes in the front.
    struct Source {
        Index slot;
        Index row, column; ///< of blocks
    };
    Index begin = 0, end = 0;    ///< its own places
    std::vector<Index> border;   ///< later places that it is coupled with, ascending
    std::vector<Index> children; ///< the nodes of the two halves
    std::vector<Index> up;       ///< per place of the border: row in the front of the parent
    std::vector<Source> sources;

    Index own() const { return end - begin; }
    Index size() const { return own() + count(border); } ///< of its front, in blocks
};

class EliminationTree {
public:
    /// blocks: a connected part of the pattern. rest: positions of all blocks, which decide the cuts; only the cost
    /// depends on them.
    EliminationTree(const BlockPattern& pattern, const std::vector<Index>& blocks, const Vec3s& rest);

    const std::vector<EliminationNode>& nodes() const { return nodes_; } ///< children before their parent
    /// Nodes by level, children below their parent: those of one level may be worked on at the same time.
    const std::vector<std::vector<Index>>& levels() const { return levels_; }
    Index block_count() const { return count(block_at_); }
    Index block_at(Index place) const { return block_at_[place]; }
    Index node_of(Index place) const { return node_of_[place]; }
    Real factor_flops() const { return flops_; } ///< of a Cholesky factorisation

private:
    Index bisect(const BlockPattern& pattern, const Vec3s& rest, std::vector<Index> blocks);
    void find_borders(const BlockPattern& pattern, const std::vector<Index>& place_of);
    void find_levels();

    std::vector<EliminationNode> nodes_;
    std::vector<std::vector<Index>> levels_;
    std::vector<Index> block_at_; ///< per place
    std::vector<Index> node_of_;  ///< per place
    std::vector<Index> side_;     ///< scratch of bisect(), per block
    Real flops_ = 0;
};

} // namespace pliant
