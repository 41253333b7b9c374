#pragma once
// The boxes of all cells of all lattices: where they are, and which of them overlap [Jung, sections 4 to 6].

#include "pliant/detection/box_lanes.hpp"
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
    /// Nodes of one box if one of its blocks has moved; returns whether one has.
    bool update_moved(Index i, const Vec3s& x, const std::vector<std::uint8_t>& moved);
    const CellBox& box(Index i) const { return boxes_[i]; }
    /// Around its nodes.
    const Box& bounds(Index i) const { return bounds_[i]; }

    /// Pairs whose axis-aligned boxes come closer than a margin [m] after an update, and which are not farther apart
    /// along the line through their centres. Without neighbours, which share a node and move together. In the rest
    /// shape no other boxes of a body overlap, because each is within its own cell.
    const std::vector<std::array<Index, 2>>& find_candidates(Real margin);
    /// The same on the way of blocks that move with the given velocities [m/s] for dt [s].
    const std::vector<std::array<Index, 2>>& find_candidates(Real margin, const BlockVelocities& velocity, Real dt);
    const std::vector<std::array<Index, 2>>& candidates() const { return candidates_; }
    /// The candidates that overlap where the boxes are, in their order, by more than a part of a cell.
    const std::vector<BoxPair>& find_overlaps(Real deeper = 0);
    /// The same, and those that may come to overlap on the way for which the candidates were found. Only the planes of
    /// `safe` tell.
    const std::vector<BoxPair>& find_near();
    /// find_overlaps() for blocks at x of which some have moved since the last update.
    const std::vector<BoxPair>& find_overlaps_again(const Vec3s& x, const std::vector<std::uint8_t>& moved,
                                                    Real deeper = 0);
    Index overlap_count() const { return overlap_count_; }                             ///< found last, however deep
    Real deepest_overlap() const { return deepest_overlap_; }                          ///< of these, in cells
    Real side(Index a, Index b) const { return std::min(kin_[a].side, kin_[b].side); } ///< of the smaller cell [m]
    /// Of two boxes alone, with their planes: what find_overlaps() tells of them.
    BoxOverlap overlap_of(Index a, Index b) const;
    /// How far a box may go along a direction on the way for which the candidates were found [m].
    Real way_along(Index i, const Vec3& direction) const
    {
        const Way& w = way_[i];
        return (direction.array() > 0).select(w.most, w.least).dot(direction);
    }

    Real mean_side() const { return mean_side_; } ///< of the cells [m]
    Real smallest_side() const { return smallest_side_; }
    Index inverted_count() const; ///< among the boxes of candidates that were looked at closely

private:
    bool may_meet(Index a, Index b) const;
    void set_nodes_of(Index i, const Vec3s& x);
    bool is_watched(Index i) const;
    /// The mean velocity of all blocks.
    void set_common_way();
    /// Where box i goes, and its bounds on the way, besides what all go, with half of the margin around.
    void set_way(Index i);
    const std::vector<std::array<Index, 2>>& collect_candidates();
    /// Lists the boxes with a marked corner; returns false when they are many.
    bool list_loose();
    bool room_is_enough();
    void find_near_pairs();
    /// Wakes boxes that are watched because all have moved together.
    void watch_again();
    void choose_room();
    void collect_near();
    void collect_loose();
    void check_room();
    void wake(Index i);
    void wake_all();
    void list_awake();
    bool has_moved(Index cell, const std::vector<std::uint8_t>& moved) const;
    /// How close two boxes have to be to be told apart from those that are far from each other, at the least [m].
    Real skin(Index a, Index b) const { return least_reach * side(a, b); }
    Real reach(Index a, Index b) const;
    /// Takes over what is known of the candidates for blocks as they are; the others are listed in unknown_.
    void recall(bool near);
    /// Tests the candidates in unknown_.
    void look(bool near);
    /// Whether the boxes' bounds, or the line through their centres, tell that they are apart by more than that [m].
    bool is_far(Index a, Index b, Real reach) const;
    /// Of two that are not far.
    BoxOverlap overlap_of_close(Index a, Index b, Real reach) const;
    /// Whether they come closer than the margin on their way, as far as bounds and centres tell.
    bool come_close(Index a, Index b) const;
    /// Whether come_close() stays false as long as blocks have room.
    bool stay_apart(Index a, Index b) const;
    Vec3 way_between(Index a, Index b) const;
    const std::vector<BoxPair>& list_overlaps(Real deeper);
    static constexpr Real least_reach = 0.05;     ///< in cells
    static constexpr std::size_t loose_part = 16; ///< one in so many boxes may be loose

    /// What tells whether two cells may meet, close together in memory.
    struct Kin {
        Index body;
        std::array<Index, 3> place;
        Real side;
    };
    void list_kin();

    std::vector<BoxCell> cells_;
    std::vector<Kin> kin_;
    std::vector<BoxKin> hash_kin_; ///< the same as far as it has room for it
    BoxOptions options_;
    std::vector<std::array<Index, 2>> no_contact_;
    Real mean_side_ = 1, smallest_side_ = 1;
    std::vector<CellBox> boxes_;
    /// How far the nodes of a box go along the axes, at least and at most [m].
    struct Way {
        Vec3 least = Vec3::Zero(), most = Vec3::Zero();
    };
    std::vector<Way> way_;
    std::vector<Box> bounds_; ///< of the nodes, close together in memory
    std::vector<Box> aligned_, enlarged_;
    Vec3 common_way_ = Vec3::Zero();   ///< mean of the blocks' ways [m]
    Vec3 watched_went_ = Vec3::Zero(); ///< how far near_ had gone when boxes were last asked whether they are watched
    NearBoxes near_;
    NearBoxes::Room room_;
    int searches_ = 0; ///< with the pairs that are known
    BoxHash hash_;     ///< where so much moves fast that there is nothing to remember
    std::function<bool(Index, const Box&)> watched_;
    std::vector<Index> awake_;
    std::vector<std::uint8_t> is_awake_; ///< per box
    Vec3s nodes_at_;                     ///< where blocks were when the nodes of boxes that are awake were set [m]
    std::uint64_t epoch_ = 1;            ///< counts the changes of that
    bool room_checked_ = false;          ///< for blocks there
    const BlockVelocities* velocity_ = nullptr; ///< of the way; none: there is none
    Real dt_ = 0, margin_ = 0, near_margin_ = 0;
    std::vector<std::uint8_t> marks_;                       // scratch, per block: loose
    bool any_marked_ = false;                               // scratch
    std::vector<std::uint8_t> is_loose_;                    // scratch, per box
    std::vector<Index> loose_;                              // scratch, ascending
    BoxLanes loose_lanes_;                                  // scratch
    std::vector<std::vector<std::array<Index, 2>>> chunks_; // scratch
    std::vector<std::array<Index, 2>> candidates_;
    std::vector<Index> involved_;    ///< boxes of candidates, ascending
    std::vector<BoxOverlap> tested_; ///< per candidate
    std::uint64_t tested_epoch_ = 0; ///< where blocks were
    // The same of the candidates before: a search at the same place need not look at these pairs again.
    std::vector<std::array<Index, 2>> known_;
    std::vector<BoxOverlap> known_overlap_;
    std::uint64_t known_epoch_ = 0;
    std::vector<Index> unknown_;           // scratch: candidates to look at
    std::vector<std::uint8_t> is_close_;   // scratch, per candidate to look at
    std::vector<std::uint8_t> has_planes_; ///< per box: for its nodes as they are
    std::vector<std::uint8_t> stale_;      // scratch, per box
    std::vector<BoxPair> overlaps_;
    Index overlap_count_ = 0;
    Real deepest_overlap_ = 0;
};

} // namespace pliant
