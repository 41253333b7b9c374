#include "pliant/linalg/graph.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pliant {

ChunkColoring color_chunks(const BlockPattern& pattern, Index size)
{
    assert(size > 0);
    const Index n = pattern.rows(), chunks = (n + size - 1) / size;
    std::vector<Index> color(static_cast<std::size_t>(chunks), none);
    std::vector<char> used;
    Index colors = 0;
    for (Index c = 0; c < chunks; ++c) {
        used.assign(static_cast<std::size_t>(colors) + 1, 0);
        for (Index s = pattern.row_begin[c * size]; s < pattern.row_begin[std::min(n, (c + 1) * size)]; ++s) {
            const Index other = color[pattern.column[s] / size];
            if (other != none) used[other] = 1;
        }
        color[c] = Index(std::find(used.begin(), used.end(), 0) - used.begin());
        colors = std::max(colors, color[c] + 1);
    }
    ChunkColoring result;
    result.size = size;
    result.order.resize(static_cast<std::size_t>(chunks));
    std::iota(result.order.begin(), result.order.end(), 0);
    std::stable_sort(result.order.begin(), result.order.end(), [&](Index a, Index b) { return color[a] < color[b]; });
    result.color_begin.assign(static_cast<std::size_t>(colors) + 1, 0);
    for (Index c : color) ++result.color_begin[c + 1];
    for (Index c = 0; c < colors; ++c) result.color_begin[c + 1] += result.color_begin[c];
    return result;
}

SweepOrder make_sweep_order(const ChunkColoring& coloring, const std::vector<Index>& part,
                            const std::vector<char>& wanted)
{
    assert(wanted.size() == part.size());
    constexpr Index large = 4096, group = 256; // rows
    const Index n = count(part);
    std::vector<Index> size(part.size(), 0), place(part.size(), none);
    for (Index p : part) ++size[p];
    SweepOrder result;
    result.group_begin.push_back(0);
    result.stage_begin.push_back(0);
    const auto close_group = [&](Index end) {
        if (end > result.group_begin.back()) result.group_begin.push_back(end);
    };
    const auto close_stage = [&] {
        if (count(result.group_begin) - 1 > result.stage_begin.back())
            result.stage_begin.push_back(count(result.group_begin) - 1);
    };
    // Small parts: their rows follow each other, parts in the order of their first rows, all in one stage.
    Index total = 0;
    for (Index i = 0; i < n; ++i) {
        if (part[i] != i || !wanted[i] || size[i] > large) continue;
        place[i] = total;
        total += size[i];
        if (total - result.group_begin.back() >= group) close_group(total);
    }
    close_group(total);
    close_stage();
    result.rows.resize(static_cast<std::size_t>(total));
    for (Index i = 0; i < n; ++i)
        if (place[part[i]] != none) result.rows[place[part[i]]++] = i;
    // Large parts: chunk by chunk, a stage a colour.
    for (std::size_t c = 0; c + 1 < coloring.color_begin.size(); ++c) {
        for (Index k = coloring.color_begin[c]; k < coloring.color_begin[c + 1]; ++k) {
            const Index first = coloring.order[k] * coloring.size;
            for (Index i = first; i < std::min(n, first + coloring.size); ++i)
                if (wanted[part[i]] && size[part[i]] > large) result.rows.push_back(i);
            close_group(count(result.rows));
        }
        close_stage();
    }
    return result;
}

void gauss_seidel_sweep(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const SweepOrder& order,
                        bool backwards, const Vec3s& b, Vec3s& x)
{
    assert(count(diagonal_inverse) == A.rows() && count(b) == A.rows() && count(x) == A.rows());
    const auto relax = [&](Index i) {
        x[i] += diagonal_inverse[i] * (b[i] - A.row_product(i, x)); // D^-1 (b - (A x - D x))
    };
    const Index stages = count(order.stage_begin) - 1;
    for (Index k = 0; k < stages; ++k) {
        const Index stage = backwards ? stages - 1 - k : k, first = order.stage_begin[stage];
        parallel_for(
            order.stage_begin[stage + 1] - first,
            [&](Index g) {
                const Index begin = order.group_begin[first + g], end = order.group_begin[first + g + 1];
                if (backwards)
                    for (Index r = end; r-- > begin;) relax(order.rows[r]);
                else
                    for (Index r = begin; r < end; ++r) relax(order.rows[r]);
            },
            4);
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
