#pragma once
// The spatial hash of Teschner, Heidelberger, Mueller, Pomeranets and Gross 2003, "Optimized Spatial Hashing for
// Collision Detection of Deformable Objects": space is cut into cubic cells of equal size, a cell (i, j, k) goes to
// bucket (i 73856093 xor j 19349663 xor k 83492791) mod n of a table with a prime number n of buckets.
//
// Cell-size rule: theirs is the average edge length of the mesh; ours the average over all edges of the largest side of
// the box that the edge sweeps, which is the same for a mesh at rest and grows with the motion and the radius.
// A pair is reported in the one cell that holds the larger of both lower corners, so no set removes duplicates.

#include "pliant/detection/broad_phase.hpp"

namespace pliant {

class HashGrid {
public:
    /// A feature that would cover more cells than this is kept apart and compared with everything.
    static constexpr std::int64_t most_cells = 512;

    explicit HashGrid(const Surface& surface) : surface_(surface) {}

    void update(const VertexBoxes& boxes);
    void collect(const PairFilter& filter, CandidateChunks& out) const;

    Real cell_size() const { return cell_; } ///< [m]
    std::size_t bytes() const;

private:
    using Cell = std::array<Index, 3>;
    struct Entry {
        Cell cell;
        Index feature;
    };
    /// Features of one kind, sorted by bucket.
    struct Table {
        std::vector<Entry> entries;
        std::vector<Index> begin; ///< per bucket + 1
        std::vector<Index> large; ///< features that cover too many cells
        std::vector<MovingBox> boxes;
    };

    Cell cell_of(const std::array<float, 3>& x) const;
    std::size_t bucket(const Cell& cell, std::size_t buckets) const;
    void fill(Table& table) const;
    template <class Visit>
    void for_pairs_in_bucket(std::size_t bucket, const Table& a, const Table& b, bool same, Visit&& visit) const;

    const Surface& surface_;
    Real cell_ = 0;
    std::size_t buckets_ = 0;
    Table vertices_, edges_, faces_;
};

} // namespace pliant
