#pragma once
// Eight floats that are worked on at once. The same operations, rounded the same, with and without AVX2; nothing is
// fused, so that the bits do not depend on the build.

#include "pliant/core/types.hpp"

#include <algorithm>
#include <cmath>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

struct Float8 {
    static constexpr Index width = 8;

#ifdef __AVX2__
    __m256 v;

    Float8() : v(_mm256_setzero_ps()) {}
    Float8(__m256 x) : v(x) {}
    Float8(float x) : v(_mm256_set1_ps(x)) {}
    static Float8 load(const float* p)
    {
        return _mm256_loadu_ps(p);
    }
    void store(float* p) const
    {
        _mm256_storeu_ps(p, v);
    }
    /// p[index[0]] .. p[index[7]].
    static Float8 gather(const float* p, const Index* index)
    {
        return _mm256_i32gather_ps(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index)), 4);
    }
    friend Float8 operator+(Float8 a, Float8 b)
    {
        return _mm256_add_ps(a.v, b.v);
    }
    friend Float8 operator-(Float8 a, Float8 b)
    {
        return _mm256_sub_ps(a.v, b.v);
    }
    friend Float8 operator*(Float8 a, Float8 b)
    {
        return _mm256_mul_ps(a.v, b.v);
    }
    friend Float8 operator/(Float8 a, Float8 b)
    {
        return _mm256_div_ps(a.v, b.v);
    }
    friend Float8 min(Float8 a, Float8 b)
    {
        return _mm256_min_ps(a.v, b.v);
    }
    friend Float8 max(Float8 a, Float8 b)
    {
        return _mm256_max_ps(a.v, b.v);
    }
    friend Float8 sqrt(Float8 a)
    {
        return _mm256_sqrt_ps(a.v);
    }
    friend Float8 abs(Float8 a)
    {
        return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v);
    }
    /// x where a > b, 0 elsewhere.
    friend Float8 where_greater(Float8 a, Float8 b, Float8 x)
    {
        return _mm256_and_ps(_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ), x.v);
    }
    /// The sum of the eight, in double and in a fixed order.
    double sum() const
    {
        const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                      high = _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
        const __m256d four = _mm256_add_pd(low, high);
        const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
        return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
    }
#else
    float v[8];

    Float8() : Float8(0.0f) {}
    Float8(float x)
    {
        std::fill(v, v + width, x);
    }
    static Float8 load(const float* p)
    {
        Float8 r;
        std::copy(p, p + width, r.v);
        return r;
    }
    void store(float* p) const
    {
        std::copy(v, v + width, p);
    }
    static Float8 gather(const float* p, const Index* index)
    {
        Float8 r;
        for (int i = 0; i < width; ++i) r.v[i] = p[index[i]];
        return r;
    }
    template <class Operation>
    static Float8 each(Float8 a, Float8 b, Operation&& operation)
    {
        for (int i = 0; i < width; ++i) a.v[i] = operation(a.v[i], b.v[i]);
        return a;
    }
    friend Float8 operator+(Float8 a, Float8 b)
    {
        return each(a, b, [](float x, float y) { return x + y; });
    }
    friend Float8 operator-(Float8 a, Float8 b)
    {
        return each(a, b, [](float x, float y) { return x - y; });
    }
    friend Float8 operator*(Float8 a, Float8 b)
    {
        return each(a, b, [](float x, float y) { return x * y; });
    }
    friend Float8 operator/(Float8 a, Float8 b)
    {
        return each(a, b, [](float x, float y) { return x / y; });
    }
    friend Float8 min(Float8 a, Float8 b)
    {
        return each(a, b, [](float x, float y) { return x < y ? x : y; });
    }
    friend Float8 max(Float8 a, Float8 b)
    {
        return each(a, b, [](float x, float y) { return x > y ? x : y; });
    }
    friend Float8 sqrt(Float8 a)
    {
        return each(a, a, [](float x, float) { return std::sqrt(x); });
    }
    friend Float8 abs(Float8 a)
    {
        return each(a, a, [](float x, float) { return std::abs(x); });
    }
    friend Float8 where_greater(Float8 a, Float8 b, Float8 x)
    {
        for (int i = 0; i < width; ++i)
            if (!(a.v[i] > b.v[i])) x.v[i] = 0;
        return x;
    }
    double sum() const
    {
        double four[4];
        for (int i = 0; i < 4; ++i) four[i] = double(v[i]) + double(v[i + 4]);
        return (four[0] + four[2]) + (four[1] + four[3]);
    }
#endif

    Float8& operator+=(Float8 b)
    {
        return *this = *this + b;
    }
    Float8& operator-=(Float8 b)
    {
        return *this = *this - b;
    }
};

/// Eight vectors.
struct Float8x3 {
    Float8 x, y, z;

    friend Float8x3 operator+(const Float8x3& a, const Float8x3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend Float8x3 operator-(const Float8x3& a, const Float8x3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend Float8x3 operator*(Float8 s, const Float8x3& a) { return {s * a.x, s * a.y, s * a.z}; }
    friend Float8 dot(const Float8x3& a, const Float8x3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
    friend Float8x3 cross(const Float8x3& a, const Float8x3& b)
    {
        return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    }
    Float8x3& operator+=(const Float8x3& b) { return *this = *this + b; }
};

} // namespace pliant
