#include "pliant/linalg/block_matrix.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <utility>

namespace pliant {

Index BlockPattern::slot(Index row, Index col) const
{
    assert(row >= 0 && row < rows() && col >= 0 && col < rows());
    const auto begin = column.begin() + row_begin[row], end = column.begin() + row_begin[row + 1];
    const auto it = std::lower_bound(begin, end, col);
    return it != end && *it == col ? Index(it - column.begin()) : none;
}

BlockPattern make_pattern(Index rows, std::vector<std::array<Index, 2>> pairs)
{
    assert(rows >= 0 && all_below(pairs, rows));
    const std::size_t given = pairs.size();
    pairs.reserve(2 * given + static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < given; ++i) pairs.push_back({pairs[i][1], pairs[i][0]});
    for (Index i = 0; i < rows; ++i) pairs.push_back({i, i});
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    BlockPattern p;
    p.row_begin.assign(static_cast<std::size_t>(rows) + 1, 0);
    p.column.reserve(pairs.size());
    p.diagonal.resize(static_cast<std::size_t>(rows));
    for (const auto& [i, j] : pairs) {
        if (i == j) p.diagonal[i] = count(p.column);
        ++p.row_begin[i + 1];
        p.column.push_back(j);
    }
    for (Index i = 0; i < rows; ++i) p.row_begin[i + 1] += p.row_begin[i];
    return p;
}

namespace {

[[maybe_unused]] bool is_valid(const BlockPattern& p)
{
    if (count(p.diagonal) != p.rows() || p.row_begin.back() != p.slots()) return false;
    for (Index i = 0; i < p.rows(); ++i) {
        const std::span row(p.column.data() + p.row_begin[i], p.column.data() + p.row_begin[i + 1]);
        if (p.slot(i, i) != p.diagonal[i] || !strictly_sorted(row)) return false;
    }
    return true;
}

} // namespace

BlockMatrix::BlockMatrix(BlockPattern pattern) : pattern_(std::move(pattern))
{
    assert(is_valid(pattern_));
    values_.assign(9 * static_cast<std::size_t>(pattern_.slots()) + 1, 0);
}

std::size_t BlockMatrix::bytes() const
{
    return values_.size() * sizeof(Real) + pattern_.column.size() * sizeof(Index) +
           static_cast<std::size_t>(rows()) * 2 * sizeof(Vec3);
}

void BlockMatrix::multiply(const Vec3s& x, Vec3s& y) const
{
    assert(count(x) == rows() && &x != &y);
    y.resize(x.size());
    parallel_for(
        rows(), [&](Index i) { y[i] = row_product(i, x); }, 512);
}

void BlockMatrix::set_zero()
{
    std::fill(values_.begin(), values_.end(), 0.0);
}

Real dot(const Vec3s& a, const Vec3s& b)
{
    assert(a.size() == b.size());
    return parallel_sum(count(a), 0.0, [&](Index i) { return a[i].dot(b[i]); });
}

} // namespace pliant
