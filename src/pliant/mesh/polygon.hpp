#pragma once
#include "pliant/core/types.hpp"

#include <span>
#include <vector>

namespace pliant {

inline constexpr std::size_t most_polygon_corners = 10000; ///< readers refuse more: cutting takes quadratic time

/// Cuts a polygon, convex or not and nearly planar, into corners - 2 triangles of the same orientation by clipping
/// ears.
void triangulate_polygon(const Vec3s& vertices, std::span<const Index> polygon, std::vector<Triangle>& out);

} // namespace pliant
