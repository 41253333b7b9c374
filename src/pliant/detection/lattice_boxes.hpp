#pragma once
// The boxes of all cells of all lattices: where they are, and which of them overlap [Jung, sections 4 to 6].

#include "pliant/detection/cell_box.hpp"
#include "pliant/detection/near_boxes.hpp"

#include <functional>

namespace pliant {

/// A cell with a box, as plain numbers.
struct BoxCell {
    std::array<Index, 8> block; ///< corners, as positions name them
    Vec3 low, high;             ///< the box in local coordinates of the cell
    Index body = none;
    std::array<Index, 3> place; ///< in its body's lattice
    Real side = 0;              ///< of the cell in the rest shape [m]
};

struct BoxOptions {
    BoxPlanes planes = BoxPlanes::safe;
    int inner = 1; ///< of overlap_by_nodes(), with the planes of the paper
};

struct BoxPair {
    Index a = none, b = none; ///< cells, a < b
    BoxOverlap overlap;
};

class LatticeBoxes {
public:
    /// Boxes thinner than this part of a cell are made so thick: a flat surface has an inside too.
    static constexpr Real least_thickness = 0.01;

    /// no_contact: pairs of bodies that do not feel each other, smaller number first, sorted.
    LatticeBoxes(std::vector<BoxCell> cells, const BoxOptions& options,
                 std::vector<std::array<Index, 2>> no_contact = {});

    Index size() const { return count(cells_); }
    const BoxCell& cell(Index i) const { return cells_[i]; }
    const BoxOptions& options() const { return options_; }

    /// Boxes that meet no others are not kept up to date if they are not watched for another reason: watched(i, around)
    /// tells whether box i is while it is within `around`. All are watched at first.
    void watch(std::function<bool(Index i, const Box& around)> watched) { watched_ = std::move(watched); }
    /// Boxes that are kept up to date, ascending.
    const std::vector<Index>& awake() const { return awake_; }
    /// Lets the next update include a box.
    void keep_awake(Index i);

    /// Nodes of all boxes that are awake, for blocks at x [m].
    void update(const Vec3s& x);
    /// Nodes and planes of one box.
    void update(Index i, const Vec3s& x);
    const CellBox& box(Index i) const { return boxes_[i]; }

    /// Pairs whose axis-aligned boxes come closer than a margin [m] after an update, without neighbours, which share a
    /// node and move together. In the rest shape no other boxes of a body overlap, because each is within its own cell.
    const std::vector<std::array<Index, 2>>& find_candidates(Real margin);
    /// The same on the way of blocks that move with the given velocities [m/s] for dt [s].
    const std::vector<std::array<Index, 2>>& find_candidates(Real margin, const BlockVelocities& velocity, Real dt);
    const std::vector<std::array<Index, 2>>& candidates() const { return candidates_; }
    /// The candidates that overlap, in their order; `update` was called for the same x.
    const std::vector<BoxPair>& find_overlaps(const Vec3s& x);
    /// The same, and those that may come to overlap on the way for which the candidates were found. Only the planes of
    /// `safe` tell.
    const std::vector<BoxPair>& find_near(const Vec3s& x);
    /// find_overlaps() after blocks have moved, per block, since they were last found.
    const std::vector<BoxPair>& find_overlaps_again(const Vec3s& x, const std::vector<std::uint8_t>& moved);
    BoxOverlap overlap_of(Index a, Index b, Real reach = 0) const;
    /// Where the nodes of a box go on the way for which the candidates were found, relative to where they are [m].
    const BoxNodes& way(Index i) const { return way_[i].nodes; }
    /// How far a box may go along a direction on the way for which the candidates were found [m].
    Real way_along(Index i, const Vec3& direction) const
    {
        const Way& w = way_[i];
        return (direction.array() > 0).select(w.most, w.least).dot(direction);
    }

    Real mean_side() const { return mean_side_; } ///< of the cells [m]
    Real smallest_side() const { return smallest_side_; }
    Index inverted_count() const; ///< among the boxes of candidates, when overlaps were last found

private:
    bool may_meet(Index a, Index b) const;
    void set_nodes_of(Index i);
    /// Where box i goes, and its bounds on the way with half of the margin around.
    void set_way(Index i);
    const std::vector<std::array<Index, 2>>& collect_candidates();
    /// Lists the boxes with a marked corner; returns false when they are many.
    bool list_loose();
    bool room_is_enough();
    void find_near_pairs();
    void collect_near();
    void collect_loose();
    void wake(Index i);
    void wake_all();
    void list_awake();
    bool has_moved(Index cell, const std::vector<std::uint8_t>& moved) const;
    /// How close two boxes have to be to be told apart from those that are far from each other, at the least [m].
    Real skin(Index a, Index b) const { return least_reach * std::min(cells_[a].side, cells_[b].side); }
    Real reach(Index a, Index b) const;
    /// Takes over what is known of the candidates at x; the others are listed in unknown_.
    void recall(const Vec3s& x, bool near);
    void look(const Vec3s& x, bool near);
    const std::vector<BoxPair>& list_overlaps(const Vec3s& x);
    static constexpr Real least_reach = 0.05;     ///< in cells
    static constexpr std::size_t loose_part = 32; ///< one in so many boxes may be loose

    /// What tells whether two cells may meet, close together in memory.
    struct Kin {
        Index body;
        std::array<Index, 3> place;
    };

    std::vector<BoxCell> cells_;
    std::vector<Kin> kin_;
    BoxOptions options_;
    std::vector<std::array<Index, 2>> no_contact_;
    Real mean_side_ = 1, smallest_side_ = 1;
    std::vector<CellBox> boxes_;
    /// Where the nodes of a box go, relative to where they are [m].
    struct Way {
        BoxNodes nodes = BoxNodes::Zero();
        Vec3 least = Vec3::Zero(), most = Vec3::Zero(); ///< of the nodes
    };
    std::vector<Way> way_;
    std::vector<Box> aligned_, enlarged_;
    NearBoxes near_;
    NearBoxes::Room room_;
    BoxHash hash_; ///< where so much moves fast that there is nothing to remember
    std::function<bool(Index, const Box&)> watched_;
    std::vector<Index> awake_;
    std::vector<std::uint8_t> is_awake_; ///< per box
    Vec3s nodes_at_;                     ///< where blocks were when the nodes of all boxes that are awake were set
    const BlockVelocities* velocity_ = nullptr; ///< of the way; none: there is none
    Real dt_ = 0, margin_ = 0, near_margin_ = 0;
    std::vector<std::uint8_t> marks_;                       // scratch, per block: loose
    bool any_marked_ = false;                               // scratch
    std::vector<std::uint8_t> is_loose_;                    // scratch, per box
    std::vector<Index> loose_;                              // scratch, ascending
    std::vector<std::vector<std::array<Index, 2>>> chunks_; // scratch
    std::vector<std::array<Index, 2>> candidates_;
    std::vector<Index> involved_;    ///< boxes of candidates, ascending
    std::vector<BoxOverlap> tested_; ///< per candidate
    Vec3s tested_at_;                ///< where blocks were
    // The same of the candidates before: a search at the same place need not look at these pairs again.
    std::vector<std::array<Index, 2>> known_;
    std::vector<BoxOverlap> known_overlap_;
    Vec3s known_at_;
    std::vector<Index> unknown_;      // scratch: candidates to look at
    std::vector<std::uint8_t> stale_; // scratch, per box
    std::vector<BoxPair> overlaps_;
};

} // namespace pliant
