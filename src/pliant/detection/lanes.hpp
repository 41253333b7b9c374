#pragma once
// Boxes as arrays of bounds, tested eight at a time against one box.

#include "pliant/detection/broad_phase.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

/// Moving: boxes at both ends of a step; otherwise the end is the start and is not stored.
class BoxLanes {
public:
    static constexpr Index width = 8;

    void resize(Index n, bool moving)
    {
        const std::size_t padded = static_cast<std::size_t>(n + width); // loads past the end are masked
        for (int k = 0; k < 12; ++k) bound_[k].resize(k < 6 || moving ? padded : 0, Box::inf);
    }
    void set(Index i, int end, const Box& box)
    {
        for (int k = 0; k < 6; ++k) bound_[6 * end + k][i] = box.bound[k];
    }
    template <bool moving>
    MovingBox get(Index i) const
    {
        MovingBox b;
        for (int k = 0; k < 6; ++k) b.t0.bound[k] = bound_[k][i];
        if constexpr (moving)
            for (int k = 0; k < 6; ++k) b.t1.bound[k] = bound_[6 + k][i];
        return b;
    }
    /// Bit j is set when box i + j overlaps q; n <= 8 boxes are looked at.
    template <bool moving>
    unsigned overlaps(Index i, Index n, const MovingBox& q) const
    {
        const unsigned wanted = (1u << n) - 1;
#ifdef __AVX2__
        __m256 apart = _mm256_setzero_ps();
        for (int k = 0; k < 6; ++k) { // lanes lo against hi of q, and -hi against -lo
            const int other = k < 3 ? k + 3 : k - 3;
            __m256 beyond =
                _mm256_cmp_ps(_mm256_loadu_ps(&bound_[k][i]), _mm256_set1_ps(-q.t0.bound[other]), _CMP_GT_OQ);
            if constexpr (moving)
                beyond = _mm256_and_ps(beyond, _mm256_cmp_ps(_mm256_loadu_ps(&bound_[6 + k][i]),
                                                             _mm256_set1_ps(-q.t1.bound[other]), _CMP_GT_OQ));
            apart = _mm256_or_ps(apart, beyond);
        }
        return ~static_cast<unsigned>(_mm256_movemask_ps(apart)) & wanted;
#else
        unsigned apart = 0;
        for (Index j = 0; j < n; ++j)
            for (int k = 0; k < 6; ++k) {
                const int other = k < 3 ? k + 3 : k - 3;
                bool beyond = bound_[k][i + j] > -q.t0.bound[other];
                if constexpr (moving) beyond = beyond && bound_[6 + k][i + j] > -q.t1.bound[other];
                apart |= static_cast<unsigned>(beyond) << j;
            }
        return ~apart & wanted;
#endif
    }
    std::size_t bytes() const
    {
        std::size_t n = 0;
        for (const auto& b : bound_) n += b.capacity() * sizeof(float);
        return n;
    }

private:
    std::array<std::vector<float>, 12> bound_; ///< lo, -hi at the start, lo, -hi at the end
};

/// Vertex numbers of features in the order of their boxes, compared eight at a time with one number.
class IndexLanes {
public:
    void clear() { index_.clear(); }
    void push_back(Index i) { index_.push_back(i); }
    void pad() { index_.insert(index_.end(), BoxLanes::width, none); } ///< once, after the last one
    Index operator[](Index i) const { return index_[i]; }
    /// Bit j is set when number i + j is v.
    unsigned equal(Index i, Index v) const
    {
#ifdef __AVX2__
        const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&index_[i]));
        return static_cast<unsigned>(
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(lanes, _mm256_set1_epi32(v)))));
#else
        unsigned mask = 0;
        for (Index j = 0; j < BoxLanes::width; ++j) mask |= static_cast<unsigned>(index_[i + j] == v) << j;
        return mask;
#endif
    }
    std::size_t bytes() const
    {
        return index_.capacity() * sizeof(Index);
    }

private:
    std::vector<Index> index_;
};

} // namespace pliant
