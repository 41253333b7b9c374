#pragma once
// Symmetric sparse matrices of 3x3 blocks with a fixed pattern, stored row by row in full.

#include "pliant/core/types.hpp"

namespace pliant {

/// Compressed rows: the blocks of row i are slots row_begin[i] .. row_begin[i+1], columns sorted.
struct BlockPattern {
    std::vector<Index> row_begin = {0};
    std::vector<Index> column;
    std::vector<Index> diagonal; ///< per row: slot of its diagonal block

    Index rows() const { return count(row_begin) - 1; }
    Index slots() const { return count(column); }
    Index slot(Index row, Index col) const; ///< none when the block is not in the pattern
};

/// Pattern of `rows` rows with every diagonal block and (a, b), (b, a) for every pair.
BlockPattern make_pattern(Index rows, std::vector<std::array<Index, 2>> pairs);

/// Values over a pattern: 9 doubles a block, column-major, so that a product is three broadcast multiply-adds.
class BlockMatrix {
public:
    BlockMatrix() = default;
    explicit BlockMatrix(BlockPattern pattern);

    const BlockPattern& pattern() const { return pattern_; }
    Index rows() const { return pattern_.rows(); }
    Eigen::Map<Mat3> block(Index slot) { return Eigen::Map<Mat3>(values_.data() + 9 * std::size_t(slot)); }
    Eigen::Map<const Mat3> block(Index slot) const
    {
        return Eigen::Map<const Mat3>(values_.data() + 9 * std::size_t(slot));
    }
    const Real* data() const { return values_.data(); }
    std::size_t bytes() const; ///< what one product reads

    /// (A x)_row.
    Vec3 row_product(Index row, const Vec3s& x) const
    {
        // Four-wide loads of three-wide columns: the fourth lane is thrown away, the array is padded for it. A sum of
        // its own for every column: one sum for all would wait for its last addition three times a block.
        using Column = Eigen::Matrix<Real, 4, 1>;
        Column sum[3] = {Column::Zero(), Column::Zero(), Column::Zero()};
        const Real* a = values_.data() + 9 * std::size_t(pattern_.row_begin[row]);
        for (Index s = pattern_.row_begin[row]; s < pattern_.row_begin[row + 1]; ++s, a += 9) {
            const Vec3& xj = x[pattern_.column[s]];
            for (int k = 0; k < 3; ++k) sum[k] += Eigen::Map<const Column>(a + 3 * k) * xj[k];
        }
        return (sum[0] + sum[1] + sum[2]).eval().head<3>();
    }
    void multiply(const Vec3s& x, Vec3s& y) const; ///< y = A x
    void set_zero();

private:
    BlockPattern pattern_;
    std::vector<Real> values_; ///< 9 a slot, one more at the end
};

/// Fixed-order dot product.
Real dot(const Vec3s& a, const Vec3s& b);

} // namespace pliant
