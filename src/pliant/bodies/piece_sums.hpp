#pragma once
// Sums of forces over elements in a fixed order, without storing the forces of every element: each piece of elements
// adds to sums of its own, one a block that it touches, and a row adds up the few pieces that meet at it.

#include "pliant/bodies/batch.hpp"

namespace pliant {

class PieceSums {
public:
    explicit PieceSums(const ElementBatch& batch);

    Index first_block() const { return first_block_; }
    Index end_block() const { return first_block_ + count(row_begin_) - 1; }

    /// Sets the sums of the piece to zero that begins with this element.
    void clear_piece(Index first_element);
    /// Per block of the element: the number of its sum.
    const Index* places(Index element) const
    {
        return places_.data() + static_cast<std::size_t>(element) * static_cast<std::size_t>(corners_);
    }
    Vec3& operator[](Index place) { return sums_[place]; }

    /// Adds the sums to the rows [begin, end).
    void add_rows(Index begin, Index end, Vec3s& out) const;

private:
    Index corners_ = 0; ///< blocks an element
    Index first_block_ = 0;
    std::vector<Index> places_;
    std::vector<Index> piece_begin_; ///< per piece + 1: range of its sums
    std::vector<Index> row_begin_,
        row_places_; ///< per block from first_block_ on: its sums, in the order of the pieces
    Vec3s sums_;
};

} // namespace pliant
