#pragma once
// Axis-aligned boxes in single precision, rounded outward: half the memory traffic of doubles, and never too small.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

/// The largest float <= x (x not NaN).
inline float round_down(double x)
{
    const float f = static_cast<float>(x);
    // The next float below is one step in the ordered integers behind the bits. Without a branch: half of all numbers
    // would take either side.
    const std::int32_t bits = std::bit_cast<std::int32_t>(f);
    const std::int32_t step = f > 0 ? -1 : f < 0 ? 1 : std::numeric_limits<std::int32_t>::min() + 1;
    const std::int32_t down = static_cast<double>(f) <= x ? 0 : step;
    return std::bit_cast<float>(static_cast<std::int32_t>((f == 0 ? 0 : bits) + down));
}
/// The smallest float >= x (x not NaN).
inline float round_up(double x)
{
    return -round_down(-x);
}

#ifdef __AVX2__
/// Of four numbers, bit for bit the same.
inline __m128 round_down(__m256d v)
{
    const __m128 f = _mm256_cvtpd_ps(v);
    const __m256d above = _mm256_cmp_pd(_mm256_cvtps_pd(f), v, _CMP_GT_OQ); // rounded up: one step down
    const __m128i up = _mm256_castsi256_si128(
        _mm256_permutevar8x32_epi32(_mm256_castpd_si256(above), _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0)));
    const __m128 zero = _mm_cmpeq_ps(f, _mm_setzero_ps());
    const __m128i bits = _mm_andnot_si128(_mm_castps_si128(zero), _mm_castps_si128(f));
    // in the order of the integers: -1 for positive numbers, +1 for negative ones, below 0 the first negative
    // one
    const __m128i step = _mm_or_si128(_mm_srai_epi32(bits, 31), _mm_set1_epi32(1)); // -1 or 1
    const __m128i to_negative = _mm_and_si128(_mm_castps_si128(zero), _mm_set1_epi32(int(0x80000000)));
    const __m128i moved =
        _mm_or_si128(_mm_andnot_si128(_mm_castps_si128(zero), _mm_sub_epi32(bits, step)),
                     _mm_and_si128(_mm_castps_si128(zero), _mm_or_si128(to_negative, _mm_set1_epi32(1))));
    return _mm_castsi128_ps(_mm_blendv_epi8(bits, moved, up));
}
#endif

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
    /// The box of the ball of the given radius around x: what add() makes of an empty box, bit for bit.
    static Box of_ball(const Vec3& x, Real radius)
    {
        Box b;
#ifdef __AVX2__
        const __m256d centre = _mm256_setr_pd(x[0], x[1], x[2], 0), r = _mm256_set1_pd(radius);
        const __m256d sign = _mm256_set1_pd(-0.0), ulp = _mm256_set1_pd(0x1p-52);
        __m256d grown = _mm256_add_pd(r, _mm256_mul_pd(ulp, _mm256_add_pd(_mm256_andnot_pd(sign, centre), r)));
        if (!(radius > 0)) grown = _mm256_setzero_pd();
        b.set(_mm256_sub_pd(centre, grown), _mm256_xor_pd(_mm256_add_pd(centre, grown), sign));
#else
        b.add(x, radius);
#endif
        return b;
    }
    /// Everything between two corners, low <= high along each axis: what add() makes of both.
    static Box between(const Vec3& low, const Vec3& high)
    {
        Box b;
#ifdef __AVX2__
        b.set(_mm256_setr_pd(low[0], low[1], low[2], 0), _mm256_setr_pd(-high[0], -high[1], -high[2], 0));
#else
        for (int k = 0; k < 3; ++k) {
            b.bound[k] = round_down(low[k]);
            b.bound[3 + k] = -round_up(high[k]);
        }
#endif
        return b;
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

#ifdef __AVX2__
private:
    /// From lo and -hi, whose last number is 0.
    void set(__m256d low, __m256d minus_high)
    {
        alignas(16) float lo[4], minus_hi[4];
        _mm_store_ps(lo, round_down(low));
        _mm_store_ps(minus_hi, round_down(minus_high));
        for (int k = 0; k < 3; ++k) bound[k] = lo[k], bound[3 + k] = minus_hi[k];
    }
#endif
};

} // namespace pliant
