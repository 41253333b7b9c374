#pragma once
// Features of the surface with their boxes, eight at a time.

#include "pliant/detection/broad_phase.hpp"

#include <bit>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

template <int corners>
struct FeatureBlock;

/// What boxes are compared with: those that are beyond one of these numbers are apart.
struct BoxLimits {
    float limit[12]; ///< hi x y z, -lo x y z at the start; the same at the end

    BoxLimits(const Box& t0, const Box& t1)
    {
        for (int k = 0; k < 3; ++k) {
            limit[k] = -t0.bound[3 + k], limit[3 + k] = -t0.bound[k];
            limit[6 + k] = -t1.bound[3 + k], limit[9 + k] = -t1.bound[k];
        }
    }
    template <int corners>
    BoxLimits(const FeatureBlock<corners>& block, int lane)
    {
        for (int k = 0; k < 3; ++k) {
            limit[k] = -block.bound[3 + k][lane], limit[3 + k] = -block.bound[k][lane];
            limit[6 + k] = -block.bound[9 + k][lane], limit[9 + k] = -block.bound[6 + k][lane];
        }
    }
};

/// Eight features (faces, edges or vertices) and their boxes, bound by bound.
template <int corners>
struct FeatureBlock {
    static constexpr Index width = 8;

    alignas(32) float bound[12][width] = {}; ///< lo x y z, -hi x y z at the start; the same at the end, if it moves
    alignas(32) Index vertex[corners][width] = {}; ///< of each feature
    alignas(32) Index id[width] = {};              ///< of each feature
    unsigned valid = 0;                            ///< bit j: there is a feature j; the others repeat the last one

    void add(Index number, const std::array<Index, corners>& vertices)
    {
        const int first = std::popcount(valid);
        for (int j = first; j < width; ++j) {
            id[j] = number;
            for (int k = 0; k < corners; ++k) vertex[k][j] = vertices[k];
        }
        valid |= 1u << first;
    }
    bool full() const { return valid == 255u; }

    /// Bit j is set when feature j is there and its box overlaps the one that the limits are of.
    template <bool moving>
    unsigned overlaps(const BoxLimits& q) const
    {
#ifdef __AVX2__
        __m256 apart = _mm256_setzero_ps();
        for (int k = 0; k < 6; ++k) {
            __m256 beyond = _mm256_cmp_ps(_mm256_load_ps(bound[k]), _mm256_broadcast_ss(&q.limit[k]), _CMP_GT_OQ);
            if constexpr (moving)
                beyond = _mm256_and_ps(beyond, _mm256_cmp_ps(_mm256_load_ps(bound[6 + k]),
                                                             _mm256_broadcast_ss(&q.limit[6 + k]), _CMP_GT_OQ));
            apart = _mm256_or_ps(apart, beyond);
        }
        return ~static_cast<unsigned>(_mm256_movemask_ps(apart)) & valid;
#else
        unsigned apart = 0;
        for (int j = 0; j < width; ++j)
            for (int k = 0; k < 6; ++k) {
                bool beyond = bound[k][j] > q.limit[k];
                if constexpr (moving) beyond = beyond && bound[6 + k][j] > q.limit[6 + k];
                apart |= static_cast<unsigned>(beyond) << j;
            }
        return ~apart & valid;
#endif
    }
    /// Bit j is set when feature j has vertex v.
    unsigned having(Index v) const
    {
#ifdef __AVX2__
        __m256i equal = _mm256_setzero_si256();
        for (int k = 0; k < corners; ++k)
            equal =
                _mm256_or_si256(equal, _mm256_cmpeq_epi32(_mm256_load_si256(lanes(vertex[k])), _mm256_set1_epi32(v)));
        return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
#else
        unsigned mask = 0;
        for (int j = 0; j < width; ++j)
            for (int k = 0; k < corners; ++k) mask |= static_cast<unsigned>(vertex[k][j] == v) << j;
        return mask;
#endif
    }
    /// Makes the boxes of one end of the step from those of the vertices, and adds them to `all`.
    void fit(int end, const std::vector<Box>& boxes, Box& all)
    {
#ifdef __AVX2__
        const auto box = [&](int j) {
            __m256 b = _mm256_load_ps(boxes[vertex[0][j]].bound.data());
            for (int k = 1; k < corners; ++k) b = _mm256_min_ps(b, _mm256_load_ps(boxes[vertex[k][j]].bound.data()));
            return b;
        };
        const __m256 b0 = box(0), b1 = box(1), b2 = box(2), b3 = box(3), b4 = box(4), b5 = box(5), b6 = box(6),
                     b7 = box(7);
        const __m256 four = _mm256_min_ps(_mm256_min_ps(b0, b1), _mm256_min_ps(b2, b3));
        const __m256 eight = _mm256_min_ps(four, _mm256_min_ps(_mm256_min_ps(b4, b5), _mm256_min_ps(b6, b7)));
        _mm256_store_ps(all.bound.data(), _mm256_min_ps(_mm256_load_ps(all.bound.data()), eight));
        // transposed: rows of boxes become rows of bounds
        const __m256 a0 = _mm256_unpacklo_ps(b0, b1), a1 = _mm256_unpackhi_ps(b0, b1);
        const __m256 a2 = _mm256_unpacklo_ps(b2, b3), a3 = _mm256_unpackhi_ps(b2, b3);
        const __m256 a4 = _mm256_unpacklo_ps(b4, b5), a5 = _mm256_unpackhi_ps(b4, b5);
        const __m256 a6 = _mm256_unpacklo_ps(b6, b7), a7 = _mm256_unpackhi_ps(b6, b7);
        const __m256 c0 = _mm256_shuffle_ps(a0, a2, 0x44), c1 = _mm256_shuffle_ps(a0, a2, 0xEE);
        const __m256 c2 = _mm256_shuffle_ps(a1, a3, 0x44), c3 = _mm256_shuffle_ps(a1, a3, 0xEE);
        const __m256 c4 = _mm256_shuffle_ps(a4, a6, 0x44), c5 = _mm256_shuffle_ps(a4, a6, 0xEE);
        const __m256 c6 = _mm256_shuffle_ps(a5, a7, 0x44), c7 = _mm256_shuffle_ps(a5, a7, 0xEE);
        float(*row)[width] = bound + 6 * end;
        _mm256_store_ps(row[0], _mm256_permute2f128_ps(c0, c4, 0x20));
        _mm256_store_ps(row[1], _mm256_permute2f128_ps(c1, c5, 0x20));
        _mm256_store_ps(row[2], _mm256_permute2f128_ps(c2, c6, 0x20));
        _mm256_store_ps(row[3], _mm256_permute2f128_ps(c3, c7, 0x20));
        _mm256_store_ps(row[4], _mm256_permute2f128_ps(c0, c4, 0x31));
        _mm256_store_ps(row[5], _mm256_permute2f128_ps(c1, c5, 0x31));
#else
        for (int j = 0; j < width; ++j) {
            Box b = boxes[vertex[0][j]];
            for (int k = 1; k < corners; ++k) b.add(boxes[vertex[k][j]]);
            for (int k = 0; k < 6; ++k) bound[6 * end + k][j] = b.bound[k];
            all.add(b);
        }
#endif
    }

private:
#ifdef __AVX2__
    static const __m256i* lanes(const Index* p)
    {
        return reinterpret_cast<const __m256i*>(p);
    }
#endif
};

/// Pairs of one feature with some of eight others, gathered without a branch a pair and handed on many at a time.
class PairBuffer {
public:
    static constexpr Index width = 8;

    bool full() const { return size_ + width > capacity; }
    std::span<const Pair> pairs() const { return {pairs_.data(), static_cast<std::size_t>(size_)}; }
    void clear() { size_ = 0; }

    /// The pairs (a, b[j]) for the bits j of the mask.
    void add(Index a, const Index* b, unsigned mask)
    {
#ifdef __AVX2__
        put(_mm256_set1_epi32(a), packed(b, mask));
#else
        for (; mask; mask &= mask - 1) pairs_[size_++] = {a, b[std::countr_zero(mask)]};
        return;
#endif
        size_ += std::popcount(mask);
    }
    /// The same, each pair with its smaller number first.
    void add_ordered(Index a, const Index* b, unsigned mask)
    {
#ifdef __AVX2__
        const __m256i x = _mm256_set1_epi32(a), y = packed(b, mask);
        put(_mm256_min_epi32(x, y), _mm256_max_epi32(x, y));
#else
        for (; mask; mask &= mask - 1) {
            const Index other = b[std::countr_zero(mask)];
            pairs_[size_++] = {std::min(a, other), std::max(a, other)};
        }
        return;
#endif
        size_ += std::popcount(mask);
    }

private:
    static constexpr Index capacity = 256;

#ifdef __AVX2__
    /// Per mask: its bits, one after the other.
    struct Table {
        alignas(32) std::int32_t lanes[256][width] = {};

        constexpr Table()
        {
            for (int mask = 0; mask < 256; ++mask)
                for (int j = 0, n = 0; j < width; ++j)
                    if (mask >> j & 1) lanes[mask][n++] = j;
        }
    };
    static __m256i packed(const Index* b, unsigned mask)
    {
        static constexpr Table table;
        return _mm256_permutevar8x32_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(b)),
                                           _mm256_load_si256(reinterpret_cast<const __m256i*>(table.lanes[mask])));
    }
    void put(__m256i x, __m256i y)
    {
        const __m256i low = _mm256_unpacklo_epi32(x, y), high = _mm256_unpackhi_epi32(x, y);
        auto* to = reinterpret_cast<__m256i*>(pairs_.data() + size_);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
    }
#endif

    std::array<Pair, capacity> pairs_;
    Index size_ = 0;
};

} // namespace pliant
