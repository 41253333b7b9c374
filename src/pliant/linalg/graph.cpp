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

void gauss_seidel_sweep(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Coloring& rows,
                        const Vec3s& b, Vec3s& x)
{
    for (std::size_t c = 0; c + 1 < rows.color_begin.size(); ++c) {
        const Index begin = rows.color_begin[c];
        parallel_for(
            rows.color_begin[c + 1] - begin,
            [&](Index k) {
                const Index i = rows.order[begin + k];
                x[i] += diagonal_inverse[i] * (b[i] - A.row_product(i, x)); // D^-1 (b - (A x - D x))
            },
            512);
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
