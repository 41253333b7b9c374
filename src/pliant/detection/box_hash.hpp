#pragma once
// Pairs of axis-aligned boxes that overlap, by spatial hashing [Jung, section 6.1], after Teschner et al. 2003: space
// is cut into cubes, cube (i, j, k) goes to bucket (i 73856093 xor j 19349663 xor k 83492791) mod n. The table has a
// prime number of buckets, at least twice the boxes (the paper's 4000 buckets for 11,661 boxes collide). A pair is
// reported in the one cube that holds the larger of both lower corners, so that no set removes duplicates.

#include "pliant/geometry/box.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace pliant {

class BoxHash {
public:
    /// A box that would cover more cubes than this is compared with all others.
    static constexpr std::int64_t most_cubes = 64;

    /// Puts the boxes into cubes of the given side [m]. They must live until the next call.
    void update(std::span<const Box> boxes, Real side);

    /// All overlapping pairs (i < j) for which keep(i, j), sorted; the same for any number of threads.
    template <class Keep>
    void collect(Keep&& keep, std::vector<std::array<Index, 2>>& out)
    {
        visit_chunks([&](Index chunk, Index i, Index j) {
            if (keep(i, j)) chunks_[chunk].push_back({i, j});
        });
        join(out);
    }

    Index bucket_count() const { return static_cast<Index>(buckets_); }
    /// Boxes of a bucket, in their order; one may appear several times.
    template <class Visit>
    void for_bucket(Index bucket, Visit&& visit) const
    {
        for (Index e = begin_[bucket]; e < begin_[bucket + 1]; ++e) visit(entries_[e].box);
    }
    std::span<const Index> large() const { return large_; } ///< boxes that are in no bucket
    std::int64_t entry_count() const { return count(entries_); }

private:
    using Cube = std::array<Index, 3>;
    struct Entry {
        Cube cube;
        Index box;
    };
    static constexpr Index buckets_a_chunk = 512;

    Cube cube_of(const std::array<float, 3>& x) const;
    Cube first_cube(const Box& b) const { return cube_of({b.lo(0), b.lo(1), b.lo(2)}); }
    Cube last_cube(const Box& b) const { return cube_of({b.hi(0), b.hi(1), b.hi(2)}); }
    Index bucket_of(const Cube& c) const;
    Index chunk_count() const { return static_cast<Index>((buckets_ + buckets_a_chunk - 1) / buckets_a_chunk); }
    void parallel_chunks(const std::function<void(Index)>& body);
    void join(std::vector<std::array<Index, 2>>& out);

    /// visit(chunk, i, j) with i < j; the last chunk is that of large boxes.
    template <class Visit>
    void visit_chunks(Visit&& visit)
    {
        parallel_chunks([&](Index c) {
            if (c == chunk_count()) return visit_large(c, visit);
            const Index first = c * buckets_a_chunk, last = std::min(bucket_count(), first + buckets_a_chunk);
            for (Index b = first; b < last; ++b)
                for (Index e = begin_[b]; e < begin_[b + 1]; ++e)
                    for (Index f = e + 1; f < begin_[b + 1]; ++f) {
                        const Entry &p = entries_[e], &q = entries_[f];
                        if (!overlap(boxes_[p.box], boxes_[q.box]) || p.cube != q.cube) continue;
                        std::array<float, 3> corner;
                        for (int k = 0; k < 3; ++k) corner[k] = std::max(boxes_[p.box].lo(k), boxes_[q.box].lo(k));
                        if (cube_of(corner) == p.cube) visit(c, std::min(p.box, q.box), std::max(p.box, q.box));
                    }
        });
    }
    template <class Visit>
    void visit_large(Index chunk, Visit& visit)
    {
        for (const Index i : large_)
            for (Index j = 0; j < static_cast<Index>(boxes_.size()); ++j) {
                if (j == i || (j < i && std::binary_search(large_.begin(), large_.end(), j))) continue;
                if (overlap(boxes_[i], boxes_[j])) visit(chunk, std::min(i, j), std::max(i, j));
            }
    }

    std::span<const Box> boxes_;
    float per_side_ = 1; ///< cubes per metre
    std::size_t buckets_ = 1, sized_for_ = 0;
    std::vector<Entry> entries_, unsorted_; ///< sorted by bucket
    std::vector<Index> begin_, place_, first_, large_;
    std::vector<std::vector<std::array<Index, 2>>> chunks_;
};

} // namespace pliant
