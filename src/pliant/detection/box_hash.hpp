#pragma once
// Pairs of axis-aligned boxes that overlap, by spatial hashing [Jung, section 6.1], after Teschner et al. 2003: space
// is cut into bins, and bin (i, j, k) is hashed by i 73856093 xor j 19349663 xor k 83492791 into a table of at least
// twice as many buckets as there are boxes (the paper's 4000 for 11,661 boxes collide). The sum is mixed once more, and
// the table's size is a power of two, because a division costs more than all the rest of a look-up.
//
// A bin is as wide as the largest box, and eight times as high, so that few look-ups find long runs of boxes to compare
// at once. A box is entered once, at its lower corner, so what overlaps it is in its own bin or one of the 26 around. A
// pair is looked for from the bin that comes first, by height and then across, and so is found once: boxes above are
// far away unless the box reaches into their bin.

#include "pliant/core/parallel.hpp"
#include "pliant/geometry/box.hpp"

#include <span>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

/// Boxes of one group that are next to each other in its grid, or at the same place, belong together: no pairs.
struct BoxKin {
    Index group = none;
    std::uint32_t place = 0;

    static constexpr Index most = 1023; ///< places along an axis
    static std::uint32_t place_of(const std::array<Index, 3>& at)
    {
        return static_cast<std::uint32_t>(at[0] + (at[1] << 10) + (at[2] << 20));
    }
    /// Of two places whose difference this is. In base 1024, with one added to each digit, all three are 0, 1 or 2
    /// then: one that was smaller has borrowed and is large.
    static constexpr std::uint32_t ones = 1 | 1 << 10 | 1 << 20;
    static bool next_to(std::uint32_t difference)
    {
        const std::uint32_t d = difference + ones;
        return ((d & ~(3 * ones)) | (d & (d >> 1) & ones)) == 0;
    }
};

class BoxHash {
public:
    /// Puts the boxes into bins. Boxes much longer than `usual` [m] do not enlarge the bins: they are compared with all
    /// others. kin: per box; empty: none belong together.
    void update(std::span<const Box> boxes, Real usual, std::span<const BoxKin> kin = {});

    /// Calls found(j) for all boxes that overlap another one, in any order. Large ones take long.
    template <class Found>
    void visit(const Box& box, Found&& found) const
    {
        for (const Index j : large_)
            if (overlap(box, boxes_[j])) found(j);
        const Bin low = bin_of(box.lo(0) - width_, box.lo(1) - width_, box.lo(2) - width_);
        const Bin high = bin_of(box.hi(0), box.hi(1), box.hi(2));
        for (Index x = low.x; x <= high.x; ++x)
            for (Index y = low.y; y <= high.y; ++y)
                for (Index z = low.z; z <= high.z; ++z) visit_run(run_of({x, y, z}), box, BoxKin(), found);
    }

    /// All overlapping pairs (i < j) of boxes that do not belong together and for which keep(i, j), sorted; the same
    /// for any number of threads.
    template <class Keep>
    void collect(Keep&& keep, std::vector<std::array<Index, 2>>& out)
    {
        const Index n = static_cast<Index>(boxes_.size()), chunks = (n + boxes_a_chunk - 1) / boxes_a_chunk;
        chunks_.resize(static_cast<std::size_t>(chunks));
        parallel_for(
            chunks, [&](Index c) { collect_chunk(c, keep); }, 2);
        sort_pairs(out);
    }

private:
    static constexpr Index boxes_a_chunk = 256;
    static constexpr Real most_usual = 3; ///< a box longer than so many usual ones is large
    static constexpr Real height = 8;     ///< of a bin, in widths
    static constexpr Index lanes = 8;     ///< boxes compared at once

    struct Bin {
        Index x = 0, y = 0, z = 0;
        bool operator==(const Bin&) const = default;
        std::uint32_t sum() const { return mix(x, 73856093u) ^ mix(y, 19349663u) ^ mix(z, 83492791u); }
        /// Differs from that of all bins nearby; a box in a bin of the same key is too far away to overlap.
        std::uint32_t key() const { return (mix(x, 1) & 2047) | (mix(y, 1) & 2047) << 11 | mix(z, 1) << 22; }
        static std::uint32_t mix(Index i, std::uint32_t factor) { return static_cast<std::uint32_t>(i) * factor; }
    };
    Bin bin_of(Real x, Real y, Real z) const;
    Index bucket(const Bin& b) const { return static_cast<Index>((b.sum() * 2654435769u) >> shift_); }

    /// Boxes in the order of their buckets, those of one bin among them.
    struct Run {
        Index begin = 0, end = 0;
        std::uint32_t key = 0;
    };
    Run run_of(const Bin& bin) const
    {
        const Index b = bucket(bin);
        return {begin_[b], begin_[b + 1], bin.key()};
    }
    /// Bins in which a box finds its partners besides its own, which is entered there.
    struct Around {
        Bin of;
        std::array<Run, 13> run;
    };
    Around around(const Bin& bin) const;

    template <class Keep>
    void collect_chunk(Index chunk, Keep& keep)
    {
        std::vector<std::array<Index, 2>>& found = chunks_[chunk];
        found.clear();
        const Index end = std::min(count(number_) - lanes, (chunk + 1) * boxes_a_chunk);
        Around bins{};
        bool known = false; // most boxes are in the bin of the one before
        for (Index k = chunk * boxes_a_chunk; k < end; ++k) {
            const Index i = number_[k];
            const Box& box = boxes_[i];
            const BoxKin kin = kin_.empty() ? BoxKin() : kin_[i];
            const auto add = [&](Index j) {
                const std::array<Index, 2> pair = {std::min(i, j), std::max(i, j)};
                if (keep(pair[0], pair[1])) found.push_back(pair);
            };
            const Bin bin = bins_[k];
            if (!known || !(bins.of == bin)) bins = around(bin);
            known = true;
            const auto look = [&](int r) { visit_run(bins.run[r], box, kin, add); };
            visit_run({k + 1, begin_[place_[i] + 1], key_[k]}, box, kin, add);
            const bool behind = scale_ * box.hi(1) >= bin.y + 1;
            if (behind) look(0);
            if (scale_ * box.hi(0) >= bin.x + 1) {
                look(1);
                look(2);
                if (behind) look(3);
            }
            if (scale_ / height * box.hi(2) >= bin.z + 1)
                for (int r = 4; r < 13; ++r) look(r);
        }
        // Large ones, each with all others; two of them once.
        const Index n = static_cast<Index>(boxes_.size());
        for (Index i = chunk * boxes_a_chunk; i < std::min(n, (chunk + 1) * boxes_a_chunk); ++i) {
            for (const Index j : large_) {
                if (i == j || (place_[i] == none && i > j) || !overlap(boxes_[i], boxes_[j]) || belong_together(i, j))
                    continue;
                if (keep(std::min(i, j), std::max(i, j))) found.push_back({std::min(i, j), std::max(i, j)});
            }
        }
    }
    bool belong_together(Index i, Index j) const
    {
        return !kin_.empty() && kin_[i].group == kin_[j].group && kin_[i].group != none &&
               BoxKin::next_to(kin_[i].place - kin_[j].place);
    }
    /// Calls found(j) for all boxes of a run that overlap one and do not belong to it.
    template <class Found>
    void visit_run(const Run& run, const Box& box, const BoxKin& kin, Found& found) const
    {
        // Whole lanes: what follows the run's boxes has another key, or overlaps nothing.
        for (Index k = run.begin; k < run.end; k += lanes)
            for (unsigned hit = hits(k, run.key, box, kin); hit != 0; hit &= hit - 1)
                found(number_[k + std::countr_zero(hit)]);
    }
    /// Which of the boxes from the k-th on overlap one, have that key and do not belong to it: a bit each.
    unsigned hits(Index k, std::uint32_t key, const Box& box, const BoxKin& kin) const
    {
#ifdef __AVX2__
        const auto load = [](const auto& numbers, Index at) {
            return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers.data() + at));
        };
        const auto all = [](auto x) { return _mm256_set1_epi32(static_cast<int>(x)); };
        // As BoxKin::next_to().
        const __m256i ones = all(BoxKin::ones), zero = _mm256_setzero_si256();
        const __m256i d = _mm256_sub_epi32(load(at_, k), all(kin.place - BoxKin::ones));
        const __m256i threes = _mm256_and_si256(_mm256_and_si256(d, _mm256_srli_epi32(d, 1)), ones);
        const __m256i outside = _mm256_or_si256(_mm256_andnot_si256(all(3 * BoxKin::ones), d), threes);
        const __m256i together =
            _mm256_and_si256(_mm256_cmpeq_epi32(outside, zero), _mm256_cmpeq_epi32(load(group_, k), all(kin.group)));
        __m256 hit = _mm256_castsi256_ps(_mm256_andnot_si256(together, _mm256_cmpeq_epi32(load(key_, k), all(key))));
        for (int a = 0; a < 3; ++a) {
            const __m256 low = _mm256_loadu_ps(low_[a].data() + k), high = _mm256_loadu_ps(high_[a].data() + k);
            hit = _mm256_and_ps(hit, _mm256_cmp_ps(low, _mm256_set1_ps(box.hi(a)), _CMP_LE_OQ));
            hit = _mm256_and_ps(hit, _mm256_cmp_ps(high, _mm256_set1_ps(box.lo(a)), _CMP_GE_OQ));
        }
        return static_cast<unsigned>(_mm256_movemask_ps(hit));
#else
        unsigned hit = 0;
        for (Index e = 0; e < lanes; ++e, ++k) {
            const bool together = group_[k] == kin.group && BoxKin::next_to(at_[k] - kin.place);
            bool here = key_[k] == key && !together;
            for (int a = 0; a < 3; ++a) here = here && low_[a][k] <= box.hi(a) && high_[a][k] >= box.lo(a);
            hit |= static_cast<unsigned>(here) << e;
        }
        return hit;
#endif
    }
    /// All pairs of the chunks.
    void sort_pairs(std::vector<std::array<Index, 2>>& out);

    std::span<const Box> boxes_;
    std::span<const BoxKin> kin_;
    Real width_ = 1, scale_ = 1; ///< of a bin [m], and its inverse
    int shift_ = 31;
    std::vector<Index> begin_; ///< per bucket + 2: range of its boxes in what follows
    std::vector<Bin> bins_;
    std::vector<std::uint32_t> key_;
    std::vector<Index> number_;
    std::vector<Index> group_;      ///< of BoxKin, -2: belongs to none
    std::vector<std::uint32_t> at_; ///< place of BoxKin
    std::array<std::vector<float>, 3> low_, high_;
    std::vector<Index> place_; ///< per box: its bucket; none for a large one
    std::vector<Index> large_;
    std::vector<std::vector<std::array<Index, 2>>> chunks_;
    std::vector<Bin> bin_of_box_; // scratch
    std::vector<Index> first_;    // scratch, per box: where its pairs begin
};

} // namespace pliant
