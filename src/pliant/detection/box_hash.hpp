#pragma once
// Pairs of axis-aligned boxes that overlap, by spatial hashing [Jung, section 6.1], after Teschner et al. 2003: space
// is cut into bins, and bin (i, j, k) is hashed by i 73856093 xor j 19349663 xor k 83492791 into a table of at least
// twice as many buckets as there are boxes (the paper's 4000 for 11,661 boxes collide). The sum is mixed once more, and
// the table's size is a power of two, because a division costs more than all the rest of a look-up.
//
// A bin is as wide as the largest box, and eight times as high, so that few look-ups find long runs of boxes to compare
// at once. A box is entered once, at its lower corner; what overlaps it has its own lower corner at most one width
// below, and at most as far up as its upper corner reaches. So no box is entered twice, and no pair is found twice.

#include "pliant/core/parallel.hpp"
#include "pliant/geometry/box.hpp"

#include <span>

namespace pliant {

class BoxHash {
public:
    /// Puts the boxes into bins. Boxes much longer than `usual` [m] do not enlarge the bins: they are compared with all
    /// others.
    void update(std::span<const Box> boxes, Real usual);

    /// Calls found(j) for all boxes that overlap another one, in any order. Large ones take long.
    template <class Found>
    void visit(const Box& box, Found&& found) const
    {
        visit_after(none, box, found);
    }

    /// All overlapping pairs (i < j) for which keep(i, j), sorted; the same for any number of threads.
    template <class Keep>
    void collect(Keep&& keep, std::vector<std::array<Index, 2>>& out)
    {
        const Index n = static_cast<Index>(boxes_.size()), chunks = (n + boxes_a_chunk - 1) / boxes_a_chunk;
        chunks_.resize(static_cast<std::size_t>(chunks));
        parallel_for(
            chunks,
            [&](Index c) {
                std::vector<std::array<Index, 2>>& found = chunks_[c];
                found.clear();
                for (Index i = c * boxes_a_chunk; i < std::min(n, (c + 1) * boxes_a_chunk); ++i) {
                    const std::size_t first = found.size();
                    visit_later(i, [&](Index j) {
                        if (keep(i, j)) found.push_back({i, j});
                    });
                    std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
                }
            },
            1);
        out.clear();
        for (const auto& chunk : chunks_) out.insert(out.end(), chunk.begin(), chunk.end());
    }

private:
    static constexpr Index boxes_a_chunk = 256;
    static constexpr Real most_usual = 3; ///< a box longer than so many usual ones is large
    static constexpr Real height = 8;     ///< of a bin, in widths
    static constexpr Index lanes = 8;     ///< boxes compared at once

    struct Bin {
        Index x, y, z;
        std::uint32_t sum() const { return mix(x, 73856093u) ^ mix(y, 19349663u) ^ mix(z, 83492791u); }
        /// Differs from that of all bins nearby; a box in a bin of the same key is too far away to overlap.
        std::uint32_t key() const { return (mix(x, 1) & 2047) | (mix(y, 1) & 2047) << 11 | mix(z, 1) << 22; }
        static std::uint32_t mix(Index i, std::uint32_t factor) { return static_cast<std::uint32_t>(i) * factor; }
    };
    Bin bin_of(Real x, Real y, Real z) const;
    Index bucket(const Bin& b) const { return static_cast<Index>((b.sum() * 2654435769u) >> shift_); }

    /// Calls found(j) for all j > i that overlap box i, in any order.
    template <class Found>
    void visit_later(Index i, Found&& found) const
    {
        if (place_[i] != none) return visit_after(i, boxes_[i], found);
        for (Index j = i + 1; j < static_cast<Index>(boxes_.size()); ++j) // a large one, with all that come after it
            if (overlap(boxes_[i], boxes_[j])) found(j);
    }
    template <class Found>
    void visit_after(Index i, const Box& box, Found& found) const
    {
        for (const Index j : large_)
            if (j > i && overlap(box, boxes_[j])) found(j);
        const Bin low = bin_of(box.lo(0) - width_, box.lo(1) - width_, box.lo(2) - width_);
        const Bin high = bin_of(box.hi(0), box.hi(1), box.hi(2));
        for (Index x = low.x; x <= high.x; ++x)
            for (Index y = low.y; y <= high.y; ++y)
                for (Index z = low.z; z <= high.z; ++z) visit_bin({x, y, z}, box, i, found);
    }
    template <class Found>
    void visit_bin(const Bin& bin, const Box& box, Index i, Found& found) const
    {
        const Index b = bucket(bin);
        const std::uint32_t key = bin.key();
        // Whole lanes without a branch, so that the compiler compares them at once. What follows the bucket's boxes has
        // another key.
        for (Index begin = begin_[b]; begin < begin_[b + 1]; begin += lanes) {
            std::array<std::uint32_t, lanes> hit;
            for (Index e = 0; e < lanes; ++e) {
                const Index k = begin + e;
                hit[e] = (key_[k] == key) & (number_[k] > i) & (low_[0][k] <= box.hi(0)) & (low_[1][k] <= box.hi(1)) &
                         (low_[2][k] <= box.hi(2)) & (high_[0][k] >= box.lo(0)) & (high_[1][k] >= box.lo(1)) &
                         (high_[2][k] >= box.lo(2));
            }
            std::uint32_t any = 0;
            for (Index e = 0; e < lanes; ++e) any |= hit[e] << e;
            for (; any != 0; any &= any - 1) found(number_[begin + std::countr_zero(any)]);
        }
    }

    std::span<const Box> boxes_;
    Real width_ = 1; ///< of a bin [m]
    int shift_ = 31;
    std::vector<Index> begin_; ///< per bucket + 2: range of its boxes in what follows
    std::vector<std::uint32_t> key_;
    std::vector<Index> number_;
    std::array<std::vector<float>, 3> low_, high_;
    std::vector<Index> place_; ///< per box: its bucket; none for a large one
    std::vector<Index> large_;
    std::vector<std::vector<std::array<Index, 2>>> chunks_;
};

} // namespace pliant
