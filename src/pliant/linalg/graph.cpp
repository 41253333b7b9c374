#include "pliant/linalg/graph.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <numeric>

namespace pliant {

Coloring color_rows(const BlockPattern& pattern)
{
    const Index n = pattern.rows();
    std::vector<Index> color(static_cast<std::size_t>(n), none);
    std::vector<Index> used;
    Index colors = 0;
    for (Index i = 0; i < n; ++i) {
        used.assign(static_cast<std::size_t>(colors) + 1, 0);
        for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) {
            const Index c = color[pattern.column[s]];
            if (c != none) used[c] = 1;
        }
        color[i] = Index(std::find(used.begin(), used.end(), 0) - used.begin());
        colors = std::max(colors, color[i] + 1);
    }
    Coloring result;
    result.order.resize(static_cast<std::size_t>(n));
    std::iota(result.order.begin(), result.order.end(), 0);
    std::stable_sort(result.order.begin(), result.order.end(), [&](Index a, Index b) { return color[a] < color[b]; });
    result.color_begin.assign(static_cast<std::size_t>(colors) + 1, 0);
    for (Index c : color) ++result.color_begin[c + 1];
    for (Index c = 0; c < colors; ++c) result.color_begin[c + 1] += result.color_begin[c];
    return result;
}

std::vector<Index> SweepOrder::rows() const
{
    std::vector<Index> all = grouped;
    all.insert(all.end(), colored.order.begin(), colored.order.end());
    return all;
}

SweepOrder make_sweep_order(const Coloring& coloring, const std::vector<Index>& part, const std::vector<char>& wanted)
{
    constexpr Index large = 4096, group = 256; // rows
    const Index n = count(part);
    std::vector<Index> size(part.size(), 0), place(part.size(), none);
    for (Index p : part) ++size[p];
    SweepOrder result;
    // Rows of a part follow each other, parts in the order of their first rows.
    Index total = 0;
    result.group_begin.push_back(0);
    for (Index i = 0; i < n; ++i) {
        if (part[i] != i || !wanted[i] || size[i] > large) continue;
        place[i] = total;
        total += size[i];
        if (total - result.group_begin.back() >= group) result.group_begin.push_back(total);
    }
    if (result.group_begin.back() != total) result.group_begin.push_back(total);
    result.grouped.resize(static_cast<std::size_t>(total));
    for (Index i = 0; i < n; ++i)
        if (place[part[i]] != none) result.grouped[place[part[i]]++] = i;
    result.colored.color_begin.push_back(0);
    for (std::size_t c = 0; c + 1 < coloring.color_begin.size(); ++c) {
        for (Index k = coloring.color_begin[c]; k < coloring.color_begin[c + 1]; ++k) {
            const Index i = coloring.order[k];
            if (wanted[part[i]] && size[part[i]] > large) result.colored.order.push_back(i);
        }
        result.colored.color_begin.push_back(count(result.colored.order));
    }
    return result;
}

void gauss_seidel_sweep(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const SweepOrder& order,
                        bool backwards, const Vec3s& b, Vec3s& x)
{
    const auto relax = [&](Index i) {
        x[i] += diagonal_inverse[i] * (b[i] - A.row_product(i, x)); // D^-1 (b - (A x - D x))
    };
    parallel_for(
        count(order.group_begin) - 1,
        [&](Index g) {
            const Index begin = order.group_begin[g], end = order.group_begin[g + 1];
            if (backwards)
                for (Index k = end; k-- > begin;) relax(order.grouped[k]);
            else
                for (Index k = begin; k < end; ++k) relax(order.grouped[k]);
        },
        2);
    const Index colors = count(order.colored.color_begin) - 1;
    for (Index k = 0; k < colors; ++k) {
        const Index c = backwards ? colors - 1 - k : k, begin = order.colored.color_begin[c];
        parallel_for(
            order.colored.color_begin[c + 1] - begin, [&](Index r) { relax(order.colored.order[begin + r]); }, 512);
    }
}

std::vector<Index> connected_parts(const BlockPattern& pattern)
{
    const Index n = pattern.rows();
    std::vector<Index> part(static_cast<std::size_t>(n), none), stack;
    for (Index seed = 0; seed < n; ++seed) {
        if (part[seed] != none) continue;
        stack.push_back(seed);
        part[seed] = seed;
        while (!stack.empty()) {
            const Index i = stack.back();
            stack.pop_back();
            for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) {
                const Index j = pattern.column[s];
                if (part[j] != none) continue;
                part[j] = seed;
                stack.push_back(j);
            }
        }
    }
    return part;
}

} // namespace pliant
