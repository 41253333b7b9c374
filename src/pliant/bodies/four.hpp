#pragma once
// Four elements at a time: the same arithmetic on vectors of four numbers, for loops over elements that do nothing but
// arithmetic.

#include "pliant/core/types.hpp"

#include <span>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

using Four = Eigen::Array<Real, 4, 1>;

struct FourVec {
    Four x, y, z;

    Vec3 operator[](Index lane) const { return {x[lane], y[lane], z[lane]}; }
    friend FourVec operator+(const FourVec& a, const FourVec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend FourVec operator-(const FourVec& a, const FourVec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend FourVec operator*(const Four& s, const FourVec& a) { return {s * a.x, s * a.y, s * a.z}; }
    friend FourVec operator-(const FourVec& a) { return {-a.x, -a.y, -a.z}; }
};

inline Four dot(const FourVec& a, const FourVec& b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

inline FourVec cross(const FourVec& a, const FourVec& b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Matrices by their columns.
using FourMat = std::array<FourVec, 3>;

/// M a.
inline FourVec times(const FourMat& M, const FourVec& a)
{
    return a.x * M[0] + a.y * M[1] + a.z * M[2];
}

/// sum_k a_k b_k^T over three pairs of vectors.
inline FourMat sum_of_products(const FourVec& a0, const FourVec& b0, const FourVec& a1, const FourVec& b1,
                               const FourVec& a2, const FourVec& b2)
{
    return {b0.x * a0 + b1.x * a1 + b2.x * a2, b0.y * a0 + b1.y * a1 + b2.y * a2, b0.z * a0 + b1.z * a1 + b2.z * a2};
}

/// A vector with room for a fourth number, so that it is read and written at once.
struct alignas(32) PaddedVec {
    std::array<Real, 4> v = {0, 0, 0, 0};

    Vec3 vec() const { return {v[0], v[1], v[2]}; }
};

#ifdef __AVX2__
inline Four four(__m256d v)
{
    Four f;
    _mm256_storeu_pd(f.data(), v);
    return f;
}
#endif

/// Vectors of four places; numbers may repeat.
inline FourVec gather(std::span<const Vec3> x, const Index* numbers, Index stride)
{
    const Vec3 &a = x[numbers[0]], &b = x[numbers[stride]], &c = x[numbers[2 * stride]], &d = x[numbers[3 * stride]];
#ifdef __AVX2__
    const auto pair = [](const Real* low, const Real* high) {
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
    };
    const auto last = [](const Vec3& low, const Vec3& high) {
        return _mm_loadh_pd(_mm_load_sd(low.data() + 2), high.data() + 2);
    };
    const __m256d ac = pair(a.data(), c.data()), bd = pair(b.data(), d.data());
    const __m256d z = _mm256_insertf128_pd(_mm256_castpd128_pd256(last(a, b)), last(c, d), 1);
    return {four(_mm256_unpacklo_pd(ac, bd)), four(_mm256_unpackhi_pd(ac, bd)), four(z)};
#else
    return {Four(a.x(), b.x(), c.x(), d.x()), Four(a.y(), b.y(), c.y(), d.y()), Four(a.z(), b.z(), c.z(), d.z())};
#endif
}

/// The same vector four times.
inline FourVec four_times(const Vec3& a)
{
    return {Four::Constant(a.x()), Four::Constant(a.y()), Four::Constant(a.z())};
}

/// Bit i is set where a_i >= b_i.
inline unsigned at_least(const Four& a, const Four& b)
{
#ifdef __AVX2__
    const __m256d mask = _mm256_cmp_pd(_mm256_loadu_pd(a.data()), _mm256_loadu_pd(b.data()), _CMP_GE_OQ);
    return static_cast<unsigned>(_mm256_movemask_pd(mask));
#else
    unsigned bits = 0;
    for (int i = 0; i < 4; ++i) bits |= static_cast<unsigned>(a[i] >= b[i]) << i;
    return bits;
#endif
}

/// Adds the four vectors to four sums, one after the other: numbers may repeat.
inline void scatter_add(const FourVec& f, const Index* numbers, PaddedVec* sums)
{
#ifdef __AVX2__
    const __m256d x = _mm256_loadu_pd(f.x.data()), y = _mm256_loadu_pd(f.y.data()), z = _mm256_loadu_pd(f.z.data());
    const __m256d zero = _mm256_setzero_pd();
    const __m256d xy02 = _mm256_unpacklo_pd(x, y), xy13 = _mm256_unpackhi_pd(x, y);
    const __m256d z02 = _mm256_unpacklo_pd(z, zero), z13 = _mm256_unpackhi_pd(z, zero);
    const auto add = [&](int lane, __m256d row) {
        Real* sum = sums[numbers[lane]].v.data();
        _mm256_store_pd(sum, _mm256_add_pd(_mm256_load_pd(sum), row));
    };
    add(0, _mm256_permute2f128_pd(xy02, z02, 0x20));
    add(1, _mm256_permute2f128_pd(xy13, z13, 0x20));
    add(2, _mm256_permute2f128_pd(xy02, z02, 0x31));
    add(3, _mm256_permute2f128_pd(xy13, z13, 0x31));
#else
    for (int lane = 0; lane < 4; ++lane) {
        std::array<Real, 4>& sum = sums[numbers[lane]].v;
        sum[0] += f.x[lane];
        sum[1] += f.y[lane];
        sum[2] += f.z[lane];
    }
#endif
}

} // namespace pliant
