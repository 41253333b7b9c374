#pragma once
// Four doubles that are worked on at once. The same operations, rounded the same, with and without AVX2; nothing is
// fused, so that the bits do not depend on the build.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <cmath>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

struct Real4 {
    static constexpr Index width = 4;

#ifdef __AVX2__
    __m256d v;

    Real4() : v(_mm256_setzero_pd()) {}
    Real4(__m256d x) : v(x) {}
    Real4(Real x) : v(_mm256_set1_pd(x)) {}
    Real4(Real a, Real b, Real c, Real d) : v(_mm256_setr_pd(a, b, c, d)) {}
    static Real4 load(const Real* p)
    {
        return _mm256_loadu_pd(p);
    }
    void store(Real* p) const
    {
        _mm256_storeu_pd(p, v);
    }
    friend Real4 operator+(Real4 a, Real4 b)
    {
        return _mm256_add_pd(a.v, b.v);
    }
    friend Real4 operator-(Real4 a, Real4 b)
    {
        return _mm256_sub_pd(a.v, b.v);
    }
    friend Real4 operator*(Real4 a, Real4 b)
    {
        return _mm256_mul_pd(a.v, b.v);
    }
    friend Real4 operator/(Real4 a, Real4 b)
    {
        return _mm256_div_pd(a.v, b.v);
    }
    friend Real4 min(Real4 a, Real4 b)
    {
        return _mm256_min_pd(a.v, b.v);
    }
    friend Real4 max(Real4 a, Real4 b)
    {
        return _mm256_max_pd(a.v, b.v);
    }
    friend Real4 sqrt(Real4 a)
    {
        return _mm256_sqrt_pd(a.v);
    }
    /// Bit k is set where a > b.
    friend unsigned greater(Real4 a, Real4 b)
    {
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)));
    }
    /// x where a > b, y elsewhere.
    friend Real4 choose_greater(Real4 a, Real4 b, Real4 x, Real4 y)
    {
        return _mm256_blendv_pd(y.v, x.v, _mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ));
    }
    /// The last of the four, four times.
    friend Real4 last(Real4 a)
    {
        return _mm256_permute4x64_pd(a.v, 0xff);
    }
    /// a0 + a1 + a2, four times.
    friend Real4 sum3(Real4 a)
    {
        const __m256d x = _mm256_permute4x64_pd(a.v, 0x00), y = _mm256_permute4x64_pd(a.v, 0x55);
        return _mm256_add_pd(_mm256_add_pd(x, y), _mm256_permute4x64_pd(a.v, 0xaa));
    }
    /// With 0 for the last of the four.
    friend Real4 without_last(Real4 a)
    {
        return _mm256_blend_pd(a.v, _mm256_setzero_pd(), 8);
    }
    // (a0, a0, a2, a2), (a1, a1, a3, a3), (a0, a1, a0, a1), (a2, a3, a2, a3)
    friend Real4 evens(Real4 a)
    {
        return _mm256_movedup_pd(a.v);
    }
    friend Real4 odds(Real4 a)
    {
        return _mm256_permute_pd(a.v, 0xf);
    }
    friend Real4 lower(Real4 a)
    {
        return _mm256_permute4x64_pd(a.v, 0x44);
    }
    friend Real4 upper(Real4 a)
    {
        return _mm256_permute4x64_pd(a.v, 0xee);
    }
    // (a0, b1, a2, b3), (a0, a1, b2, b3)
    friend Real4 with_odds(Real4 a, Real4 b)
    {
        return _mm256_blend_pd(a.v, b.v, 10);
    }
    friend Real4 with_upper(Real4 a, Real4 b)
    {
        return _mm256_blend_pd(a.v, b.v, 12);
    }
    Real first() const
    {
        return _mm256_cvtsd_f64(v);
    }
#else
    Real v[4];

    Real4() : Real4(0.0) {}
    Real4(Real x)
    {
        std::fill(v, v + width, x);
    }
    Real4(Real a, Real b, Real c, Real d) : v{a, b, c, d} {}
    static Real4 load(const Real* p)
    {
        Real4 r;
        std::copy(p, p + width, r.v);
        return r;
    }
    void store(Real* p) const
    {
        std::copy(v, v + width, p);
    }
    template <class Operation>
    static Real4 each(Real4 a, const Real4& b, Operation&& operation)
    {
        for (int i = 0; i < width; ++i) a.v[i] = operation(a.v[i], b.v[i]);
        return a;
    }
    friend Real4 operator+(Real4 a, Real4 b)
    {
        return each(a, b, [](Real x, Real y) { return x + y; });
    }
    friend Real4 operator-(Real4 a, Real4 b)
    {
        return each(a, b, [](Real x, Real y) { return x - y; });
    }
    friend Real4 operator*(Real4 a, Real4 b)
    {
        return each(a, b, [](Real x, Real y) { return x * y; });
    }
    friend Real4 operator/(Real4 a, Real4 b)
    {
        return each(a, b, [](Real x, Real y) { return x / y; });
    }
    friend Real4 min(Real4 a, Real4 b)
    {
        return each(a, b, [](Real x, Real y) { return x < y ? x : y; });
    }
    friend Real4 max(Real4 a, Real4 b)
    {
        return each(a, b, [](Real x, Real y) { return x > y ? x : y; });
    }
    friend Real4 sqrt(Real4 a)
    {
        return each(a, a, [](Real x, Real) { return std::sqrt(x); });
    }
    friend unsigned greater(Real4 a, Real4 b)
    {
        unsigned bits = 0;
        for (int i = 0; i < width; ++i) bits |= static_cast<unsigned>(a.v[i] > b.v[i]) << i;
        return bits;
    }
    friend Real4 choose_greater(Real4 a, Real4 b, Real4 x, Real4 y)
    {
        for (int i = 0; i < width; ++i)
            if (a.v[i] > b.v[i]) y.v[i] = x.v[i];
        return y;
    }
    friend Real4 last(Real4 a)
    {
        return Real4(a.v[3]);
    }
    friend Real4 sum3(Real4 a)
    {
        return Real4(a.v[0] + a.v[1] + a.v[2]);
    }
    friend Real4 without_last(Real4 a)
    {
        return {a.v[0], a.v[1], a.v[2], 0};
    }
    friend Real4 evens(Real4 a)
    {
        return {a.v[0], a.v[0], a.v[2], a.v[2]};
    }
    friend Real4 odds(Real4 a)
    {
        return {a.v[1], a.v[1], a.v[3], a.v[3]};
    }
    friend Real4 lower(Real4 a)
    {
        return {a.v[0], a.v[1], a.v[0], a.v[1]};
    }
    friend Real4 upper(Real4 a)
    {
        return {a.v[2], a.v[3], a.v[2], a.v[3]};
    }
    friend Real4 with_odds(Real4 a, Real4 b)
    {
        return {a.v[0], b.v[1], a.v[2], b.v[3]};
    }
    friend Real4 with_upper(Real4 a, Real4 b)
    {
        return {a.v[0], a.v[1], b.v[2], b.v[3]};
    }
    Real first() const
    {
        return v[0];
    }
#endif

    /// The least and the largest of the four.
    friend Real least(Real4 a)
    {
        const Real4 two = min(evens(a), odds(a));
        return min(two, upper(two)).first();
    }
    friend Real largest(Real4 a)
    {
        const Real4 two = max(evens(a), odds(a));
        return max(two, upper(two)).first();
    }
    Real4& operator+=(Real4 b)
    {
        return *this = *this + b;
    }
    Real4& operator-=(Real4 b)
    {
        return *this = *this - b;
    }
};

/// Four vectors.
struct Real4x3 {
    Real4 x, y, z;

    friend Real4x3 operator+(const Real4x3& a, const Real4x3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend Real4x3 operator-(const Real4x3& a, const Real4x3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend Real4x3 operator*(Real4 s, const Real4x3& a) { return {s * a.x, s * a.y, s * a.z}; }
    friend Real4 dot(const Real4x3& a, const Real4x3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
    friend Real4x3 cross(const Real4x3& a, const Real4x3& b)
    {
        return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    }
    Real4x3& operator+=(const Real4x3& b) { return *this = *this + b; }

    /// The first three numbers of each.
    static Real4x3 of(Real4 a, Real4 b, Real4 c, Real4 d)
    {
#ifdef __AVX2__
        const __m256d xz_ab = _mm256_unpacklo_pd(a.v, b.v), xz_cd = _mm256_unpacklo_pd(c.v, d.v);
        const __m256d y_ab = _mm256_unpackhi_pd(a.v, b.v), y_cd = _mm256_unpackhi_pd(c.v, d.v);
        return {_mm256_permute2f128_pd(xz_ab, xz_cd, 0x20), _mm256_permute2f128_pd(y_ab, y_cd, 0x20),
                _mm256_permute2f128_pd(xz_ab, xz_cd, 0x31)};
#else
        return {{a.v[0], b.v[0], c.v[0], d.v[0]}, {a.v[1], b.v[1], c.v[1], d.v[1]}, {a.v[2], b.v[2], c.v[2], d.v[2]}};
#endif
    }
};

} // namespace pliant
