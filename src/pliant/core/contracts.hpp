#pragma once
// What a module relies on in the arrays it is given, as questions for assert(): only debug builds ask them.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <ranges>
#include <span>

namespace pliant {

inline bool all_finite(std::span<const Vec3> x)
{
    return std::all_of(x.begin(), x.end(), [](const Vec3& v) { return v.allFinite(); });
}

/// Every number in every item (pairs, triangles) lies in [0, end).
template <class Items>
bool all_below(const Items& items, Index end)
{
    return std::ranges::all_of(
        items, [&](const auto& item) { return std::ranges::all_of(item, [&](Index i) { return i >= 0 && i < end; }); });
}

/// Each item comes before the next one: sorted, and none twice.
template <class Items, class Key = std::identity>
bool strictly_sorted(const Items& items, Key key = {})
{
    return std::ranges::adjacent_find(items, std::not_fn(std::ranges::less()), key) == std::ranges::end(items);
}

} // namespace pliant
