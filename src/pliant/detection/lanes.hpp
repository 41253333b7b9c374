#pragma once
// Boxes as six arrays, tested eight at a time against one box.

#include "pliant/geometry/box.hpp"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

class BoxLanes {
public:
    static constexpr Index width = 8;

    void resize(Index n)
    {
        const std::size_t padded = static_cast<std::size_t>(n + width); // loads past the end are masked by the caller
        for (auto& b : bound_) b.assign(padded, Box::inf);
    }
    void set(Index i, const Box& box)
    {
        for (int k = 0; k < 6; ++k) bound_[k][i] = box.bound[k];
    }
    /// Bit j is set when box i + j overlaps q; n <= 8 boxes are looked at.
    unsigned overlaps(Index i, Index n, const Box& q) const
    {
        const unsigned wanted = (1u << n) - 1;
#ifdef __AVX2__
        __m256 hit = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
        for (int k = 0; k < 3; ++k) {
            const __m256 lo = _mm256_loadu_ps(&bound_[k][i]), minus_hi = _mm256_loadu_ps(&bound_[3 + k][i]);
            hit = _mm256_and_ps(hit, _mm256_cmp_ps(lo, _mm256_set1_ps(-q.bound[3 + k]), _CMP_LE_OQ));
            hit = _mm256_and_ps(hit, _mm256_cmp_ps(minus_hi, _mm256_set1_ps(-q.bound[k]), _CMP_LE_OQ));
        }
        return static_cast<unsigned>(_mm256_movemask_ps(hit)) & wanted;
#else
        unsigned mask = 0;
        for (Index j = 0; j < n; ++j) {
            bool hit = true;
            for (int k = 0; k < 3; ++k)
                hit = hit && bound_[k][i + j] <= -q.bound[3 + k] && bound_[3 + k][i + j] <= -q.bound[k];
            mask |= static_cast<unsigned>(hit) << j;
        }
        return mask & wanted;
#endif
    }

private:
    std::array<std::vector<float>, 6> bound_;
};

} // namespace pliant
