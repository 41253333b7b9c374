#include "pliant/linalg/aggregates.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

/// Groups of lanes on the way to aggregates, numbered by their first member.
struct Groups {
    std::vector<Index> of_lane; ///< none: in no group
    Vec3s position;             ///< means [m]
    std::vector<Index> size;
};

/// Joins each group with the nearest neighbour that is still alone; the earlier number wins a draw.
Groups join_pairs(const LanePattern& pattern, const Groups& groups)
{
    const Index n = count(groups.size);
    std::vector<Index> begin, member;
    children(groups.of_lane, n, begin, member);
    std::vector<Index> partner(static_cast<std::size_t>(n), none);
    for (Index g = 0; g < n; ++g) {
        if (partner[g] != none) continue;
        Index nearest = g; // alone, if nobody is left
        Real nearest_sq = std::numeric_limits<Real>::infinity();
        for (Index k = begin[g]; k < begin[g + 1]; ++k)
            for (Index s = pattern.row_begin[member[k]]; s < pattern.row_begin[member[k] + 1]; ++s) {
                const Index other = groups.of_lane[pattern.column[s]];
                if (other == none || other == g || partner[other] != none) continue;
                const Real distance_sq = (groups.position[other] - groups.position[g]).squaredNorm();
                // Equal in exact arithmetic is equal here: a grid's rounding must not decide.
                const bool nearer = distance_sq < nearest_sq * (1 - 1e-9);
                const bool earlier = distance_sq <= nearest_sq * (1 + 1e-9) && other < nearest;
                if (nearest == g || nearer || earlier) {
                    nearest = other;
                    nearest_sq = distance_sq;
                }
            }
        partner[g] = nearest;
        partner[nearest] = g;
    }
    std::vector<Index> number(static_cast<std::size_t>(n), none);
    Groups joined;
    for (Index g = 0; g < n; ++g) {
        const Index other = partner[g];
        if (other < g) {
            number[g] = number[other];
            continue;
        }
        number[g] = count(joined.size);
        const Index size = groups.size[g] + (other == g ? 0 : groups.size[other]);
        Vec3 sum = groups.size[g] * groups.position[g];
        if (other != g) sum += groups.size[other] * groups.position[other];
        joined.size.push_back(size);
        joined.position.push_back(sum / size);
    }
    joined.of_lane.resize(groups.of_lane.size(), none);
    for (std::size_t i = 0; i < joined.of_lane.size(); ++i)
        if (groups.of_lane[i] != none) joined.of_lane[i] = number[groups.of_lane[i]];
    return joined;
}

} // namespace

Aggregates aggregate_by_four(const LanePattern& pattern, const std::vector<Index>& chunk_begin,
                             const std::vector<char>& free, const Vec3s& position, Index smallest)
{
    const Index lanes = pattern.lanes(), components = count(chunk_begin) - 1;
    assert(count(free) == lanes && count(position) == lanes);
    Groups groups;
    groups.of_lane.assign(static_cast<std::size_t>(lanes), none);
    for (Index c = 0; c < components; ++c) {
        const Index first = Float8::width * chunk_begin[c], end = Float8::width * chunk_begin[c + 1];
        if (std::count(free.begin() + first, free.begin() + end, 1) <= smallest) continue;
        for (Index lane = first; lane < end; ++lane) {
            if (!free[lane]) continue;
            groups.of_lane[lane] = count(groups.size);
            groups.size.push_back(1);
            groups.position.push_back(position[lane]);
        }
    }
    groups = join_pairs(pattern, join_pairs(pattern, groups));

    // Groups are numbered by their first member, so those of a component are consecutive.
    Aggregates result;
    result.parent.assign(static_cast<std::size_t>(lanes), none);
    result.chunk_begin = {0};
    Index done = 0; // groups of earlier components
    for (Index c = 0; c < components; ++c) {
        const Index first = Float8::width * result.chunk_begin.back();
        Index end = done;
        for (Index lane = Float8::width * chunk_begin[c]; lane < Float8::width * chunk_begin[c + 1]; ++lane) {
            const Index g = groups.of_lane[lane];
            if (g == none) continue;
            result.parent[lane] = first + g - done;
            end = std::max(end, g + 1);
        }
        const Index chunks = (end - done + Float8::width - 1) / Float8::width;
        result.chunk_begin.push_back(result.chunk_begin.back() + chunks);
        result.position.resize(static_cast<std::size_t>(Float8::width * result.chunk_begin.back()), Vec3::Zero());
        result.free.resize(result.position.size(), 0);
        for (Index g = done; g < end; ++g) {
            result.position[first + g - done] = groups.position[g];
            result.free[first + g - done] = 1;
        }
        done = end;
    }
    return result;
}

LanePattern coarse_pattern(const LanePattern& fine, const std::vector<Index>& parent, Index lanes,
                           std::vector<Index>& coarse_slot)
{
    std::vector<Index> begin, member;
    children(parent, lanes, begin, member);
    LanePattern coarse;
    coarse_slot.assign(fine.column.size(), none);
    std::vector<Index> columns;
    for (Index i = 0; i < lanes; ++i) {
        columns.clear();
        const auto for_each_slot = [&](auto&& visit) {
            for (Index k = begin[i]; k < begin[i + 1]; ++k)
                for (Index s = fine.row_begin[member[k]]; s < fine.row_begin[member[k] + 1]; ++s)
                    if (parent[fine.column[s]] != none) visit(s, parent[fine.column[s]]);
        };
        for_each_slot([&](Index, Index column) { columns.push_back(column); });
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        const Index first = count(coarse.column);
        for_each_slot([&](Index s, Index column) {
            coarse_slot[s] = first + Index(std::lower_bound(columns.begin(), columns.end(), column) - columns.begin());
        });
        for (const Index column : columns) {
            coarse.slot.push_back(count(coarse.column));
            coarse.column.push_back(column);
        }
        coarse.row_begin.push_back(count(coarse.column));
    }
    return coarse;
}

void children(const std::vector<Index>& parent, Index groups, std::vector<Index>& begin, std::vector<Index>& child)
{
    begin.assign(static_cast<std::size_t>(groups) + 1, 0);
    for (const Index g : parent)
        if (g != none) ++begin[g + 1];
    for (Index g = 0; g < groups; ++g) begin[g + 1] += begin[g];
    child.resize(static_cast<std::size_t>(begin.back()));
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (Index i = 0; i < count(parent); ++i)
        if (parent[i] != none) child[next[parent[i]]++] = i;
}

} // namespace pliant
