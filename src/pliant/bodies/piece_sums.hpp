#pragma once
// Sums of forces over elements in a fixed order, without storing the forces of every element: each piece of elements
// adds to sums of its own, one a block that it touches, and a row adds up the few pieces that meet at it.

#include "pliant/bodies/batch.hpp"
#include "pliant/bodies/four.hpp"

namespace pliant {

class PieceSums {
public:
    explicit PieceSums(const ElementBatch& batch);

    Index first_block() const { return first_block_; }
    Index end_block() const { return first_block_ + count(row_begin_) - 1; }

    /// Sets the sums of the piece to zero that begins with this element.
    void clear_piece(Index first_element);
    /// Adds forces on the given corner of the elements first, a multiple of four, to first + 3. Those beyond the last
    /// element are lost.
    void add(Index first, int corner, const FourVec& f)
    {
        const std::size_t four = static_cast<std::size_t>(first) * corners_ + 4 * static_cast<std::size_t>(corner);
        scatter_add(f, places_.data() + four, sums_.data());
    }

    /// Adds the sums to the rows [begin, end).
    void add_rows(Index begin, Index end, Vec3s& out) const;

private:
    std::size_t corners_ = 0; ///< blocks an element
    Index first_block_ = 0;
    std::vector<Index> places_;      ///< numbers of sums: four elements after four, corner by corner
    std::vector<Index> piece_begin_; ///< per piece + 1: range of its sums
    std::vector<Index> row_begin_,
        row_places_;              ///< per block from first_block_ on: its sums, in the order of the pieces
    std::vector<PaddedVec> sums_; ///< the last one is for elements that are not there
};

} // namespace pliant
