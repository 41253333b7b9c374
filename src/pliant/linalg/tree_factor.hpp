#pragma once
// A Cholesky factor A = L L^T of one part of a block matrix along its elimination tree, by dense fronts [Duff and Reid
// 1983]. What a contact does to a body is L^-1 J^T, and a row's column of it is non-zero on one path of the tree only.

#include "pliant/linalg/elimination_tree.hpp"

#include <memory>
#include <span>

namespace pliant {

/// Up to three columns of J^T at one block.
struct ColumnEntry {
    Index block;
    Index first_column, columns;
    Mat3 value; ///< its first `columns` columns count
};

class TreeFactor {
public:
    TreeFactor(const BlockPattern& pattern, const std::vector<Index>& blocks, const Vec3s& rest);

    /// False when A is not positive definite.
    bool factorise(const BlockMatrix& A);

    /// x = A^-1 b on the part's blocks; others of x stay as they are.
    void solve(const Vec3s& b, Vec3s& x) const;
    /// J A^-1 J^T for `columns` columns of J^T.
    Eigen::MatrixXd responses(std::span<const ColumnEntry> entries, Index columns) const;

    Real factor_flops() const { return tree_.factor_flops(); }
    Real response_flops(std::span<const ColumnEntry> entries, Index columns) const;
    std::span<const Index> blocks() const { return blocks_; }

private:
    struct Front {
        Eigen::MatrixXd L;      ///< 3 (own + border) x 3 own
        Eigen::MatrixXd update; ///< what is left for the parent; empty once it was taken
    };
    /// Per node: columns that reach it, ascending.
    std::vector<std::vector<Index>> columns_of_nodes(std::span<const ColumnEntry> entries) const;
    bool factorise_node(const BlockMatrix& A, Index k);

    std::vector<Index> blocks_;
    EliminationTree tree_;
    std::vector<Index> place_of_; ///< per block of the pattern
    std::vector<Front> fronts_;   ///< per node
};

/// The factors of the parts of a matrix, each made when it is first asked for.
class PartFactors {
public:
    /// part: per block, 0 to parts - 1. rest: positions of the blocks.
    PartFactors(const BlockPattern& pattern, const std::vector<Index>& part, Index parts, Vec3s rest);

    /// The matrix has changed: all factors are to be made anew.
    void forget();
    /// Null when the part is not positive definite. Different parts may be asked for at the same time.
    const TreeFactor* factor(const BlockMatrix& A, Index part) const;
    /// The part's factor without its numbers, for its costs.
    const TreeFactor& symbolic(const BlockPattern& pattern, Index part) const;
    Index part_of(Index block) const { return part_[block]; }
    Index parts() const { return count(entries_); }

private:
    struct Entry {
        std::vector<Index> blocks;
        std::unique_ptr<TreeFactor> factor;
        bool made = false, positive = false;
    };
    std::vector<Index> part_;
    Vec3s rest_;
    mutable std::vector<Entry> entries_; ///< per part
};

} // namespace pliant
