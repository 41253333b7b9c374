#pragma once
// Pairs of boxes that are near each other, found once and good for many sub-steps: boxes are enlarged, and as long as
// no corner of a cell has gone farther than that from where it was, only these pairs can overlap. Which of them do is
// tested each time, so that what comes out is the same as without a memory.
//
// A box holds points sum_j W_j x_j of its cell's corners with W_j >= 0 and sum_j W_j = 1, so along each axis it moves
// at most as far as they do. (Boxes that were made thicker have W_j slightly below 0 and need a little more.) Cells of
// which a corner has gone farther are loose: the hash of the enlarged boxes tells what these meet. What all corners do
// together, as in free fall, brings no boxes closer, so only how far they go from their mean counts.

#include "pliant/core/real4.hpp"
#include "pliant/detection/box_hash.hpp"

namespace pliant {

/// Velocities of the blocks, each with its inverse mass as a fourth number [m/s], [1/kg].
using BlockVelocities = std::vector<Real4>;

class NearBoxes {
public:
    /// How far corners may go from where they were, and on their way in a sub-step [m].
    struct Room {
        Real place = 0, way = 0;
        Real both() const { return 1.05 * (place + way); } ///< that boxes are enlarged by on each side
    };

    bool known() const { return known_; }
    void forget() { known_ = false; }

    /// Finds the pairs (i, j) that do not belong together and for which keep(i, j), for blocks at x [m]. The boxes have
    /// the room on all sides already; they and their kin stay where they are.
    template <class Keep>
    void find(std::span<const Box> boxes, std::span<const BoxKin> kin, const Vec3s& x, const Room& room, Real usual,
              Keep&& keep)
    {
        known_ = true;
        room_ = room;
        at_ = x;
        went_ = Vec3::Zero();
        hash_.update(boxes, usual + 2 * room.both(), kin);
        hash_.collect(keep, pairs_);
    }
    /// Sorted, the smaller number first.
    const std::vector<std::array<Index, 2>>& pairs() const { return pairs_; }
    /// Calls found(j) for all enlarged boxes that overlap a box where they were.
    template <class Found>
    void visit(const Box& box, Found&& found) const
    {
        hash_.visit(box, found);
    }

    /// Whether blocks are farther from where they were than there is room for, besides what they went on the mean;
    /// marks those that are.
    bool mark_gone(const Vec3s& x, std::vector<std::uint8_t>& marks);
    /// How far they went on the mean, when that was asked [m].
    const Vec3& went() const { return went_; }
    /// The same for blocks that go too far on their way, besides `common` [m/s].
    static bool mark_fast(const BlockVelocities& velocity, const Vec3& common, Real dt, const Room& room,
                          std::vector<std::uint8_t>& marks);

private:
    bool known_ = false;
    Room room_;
    Vec3s at_; ///< where blocks were [m]
    Vec3 went_ = Vec3::Zero();
    BoxHash hash_;
    std::vector<std::array<Index, 2>> pairs_;
};

} // namespace pliant
