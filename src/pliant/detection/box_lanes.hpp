#pragma once
// Boxes in the order of a list, compared eight at a time with one box.

#include "pliant/detection/broad_phase.hpp"

#include <array>
#include <vector>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

class BoxLanes {
public:
    static constexpr Index width = 8;

    void resize(Index n)
    {
        for (auto& b : bound_) b.resize(static_cast<std::size_t>(n + width), Box::inf); // loads past the end are masked
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
        __m256 apart = _mm256_setzero_ps();
        for (int k = 0; k < 6; ++k) // lanes lo against hi of q, and -hi against -lo
            apart = _mm256_or_ps(apart, _mm256_cmp_ps(_mm256_loadu_ps(&bound_[k][i]),
                                                      _mm256_set1_ps(-q.bound[(k + 3) % 6]), _CMP_GT_OQ));
        return ~static_cast<unsigned>(_mm256_movemask_ps(apart)) & wanted;
#else
        unsigned apart = 0;
        for (Index j = 0; j < n; ++j)
            for (int k = 0; k < 6; ++k) apart |= static_cast<unsigned>(bound_[k][i + j] > -q.bound[(k + 3) % 6]) << j;
        return ~apart & wanted;
#endif
    }

private:
    std::array<std::vector<float>, 6> bound_; ///< lo, -hi
};

} // namespace pliant
