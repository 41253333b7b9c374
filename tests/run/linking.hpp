#pragma once
// The linking number of two closed polygons: how often one winds around the other.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {

/// Gauss's integral as a sum over pairs of edges: the signed area of the part of the sphere of directions from which
/// the two edges are seen to cross, over 4 pi. A whole number up to rounding for polygons that do not meet.
inline Real linking_number(const Vec3s& a, const Vec3s& b)
{
    Real sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) {
            const Vec3 &a0 = a[i], &a1 = a[(i + 1) % a.size()], &b0 = b[j], &b1 = b[(j + 1) % b.size()];
            const Vec3 r00 = b0 - a0, r01 = b1 - a0, r10 = b0 - a1, r11 = b1 - a1;
            const Vec3 n[4] = {r00.cross(r01).stableNormalized(), r01.cross(r11).stableNormalized(),
                               r11.cross(r10).stableNormalized(), r10.cross(r00).stableNormalized()};
            Real area = 0;
            for (int k = 0; k < 4; ++k) area += std::asin(std::clamp(n[k].dot(n[(k + 1) % 4]), -1.0, 1.0));
            const Real sign = (b1 - b0).cross(a1 - a0).dot(r00);
            sum += sign > 0 ? area : sign < 0 ? -area : 0;
        }
    return sum / (4 * std::numbers::pi);
}

} // namespace pliant
