#pragma once
// Rays along x that count how often they cross a closed surface.

#include "pliant/core/types.hpp"

#include <utility>

namespace pliant {

/// Which side of the edge a-b of vertices x, seen along the x axis, the point lies on. Computed from the edge's smaller
/// vertex, so that the two triangles of an edge always agree and a ray never slips between them.
inline bool left_of(const Vec3s& x, Index a, Index b, const Vec3& p)
{
    const bool swapped = b < a;
    if (swapped) std::swap(a, b);
    const Vec3 &u = x[a], &v = x[b];
    const Real area = (v.y() - u.y()) * (p.z() - u.z()) - (v.z() - u.z()) * (p.y() - u.y());
    return (area > 0) != swapped;
}

} // namespace pliant
