#pragma once
// Axis-aligned boxes in single precision, rounded outward: half the memory traffic of doubles, and never too small.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace pliant {

/// The largest float <= x (x not NaN).
inline float round_down(double x)
{
    const float f = static_cast<float>(x);
    if (static_cast<double>(f) <= x) return f;
    // the next float below: one step in the ordered integers behind the bits
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    if (f > 0) return std::bit_cast<float>(bits - 1);
    return f == 0 ? -std::numeric_limits<float>::denorm_min() : std::bit_cast<float>(bits + 1);
}
/// The smallest float >= x (x not NaN).
inline float round_up(double x)
{
    return -round_down(-x);
}

/// Stored as (lo, -hi): growing is a minimum over six numbers, overlap one comparison of six numbers.
struct Box {
    static constexpr float inf = std::numeric_limits<float>::infinity();
    alignas(32) std::array<float, 8> bound = {inf, inf, inf, inf, inf, inf, 0, 0}; ///< lo x y z, -hi x y z, 0, 0

    float lo(int axis) const { return bound[axis]; }
    float hi(int axis) const { return -bound[3 + axis]; }
    bool empty() const { return !(lo(0) <= hi(0)); }

    /// Grows to hold the ball of the given radius around x.
    void add(const Vec3& x, Real radius = 0)
    {
        for (int k = 0; k < 3; ++k) {
            // x - radius is rounded to a double first; half an ulp more keeps the ball inside
            const Real r = radius > 0 ? radius + 0x1p-52 * (std::abs(x[k]) + radius) : 0;
            bound[k] = std::min(bound[k], round_down(x[k] - r));
            bound[3 + k] = std::min(bound[3 + k], -round_up(x[k] + r));
        }
    }
    void add(const Box& b)
    {
        for (int k = 0; k < 8; ++k) bound[k] = std::min(bound[k], b.bound[k]);
    }
    /// Boxes are closed: those that only touch overlap.
    friend bool overlap(const Box& a, const Box& b)
    {
        bool apart = false;
        for (int k = 0; k < 3; ++k) apart |= a.bound[k] > -b.bound[3 + k] || b.bound[k] > -a.bound[3 + k];
        return !apart;
    }
};

} // namespace pliant
