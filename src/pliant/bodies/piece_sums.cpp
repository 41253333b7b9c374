#include "pliant/bodies/piece_sums.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {

PieceSums::PieceSums(const ElementBatch& batch) : piece_begin_{0}
{
    const Index elements = batch.element_count();
    if (elements == 0) {
        row_begin_ = {0};
        return;
    }
    corners_ = batch.blocks(0).size();
    std::vector<Index> block_of, piece; // per sum; blocks of a piece
    for (Index begin = 0; begin < elements; begin += elements_a_piece) {
        const Index end = std::min(begin + elements_a_piece, elements);
        piece.clear();
        for (Index e = begin; e < end; ++e)
            for (const Index b : batch.blocks(e)) piece.push_back(b);
        std::sort(piece.begin(), piece.end());
        piece.erase(std::unique(piece.begin(), piece.end()), piece.end());
        for (Index four = begin; four < end; four += 4)
            for (std::size_t corner = 0; corner < corners_; ++corner)
                for (Index e = four; e < four + 4; ++e) {
                    const Index b = e < end ? batch.blocks(e)[corner] : none;
                    const auto at = std::lower_bound(piece.begin(), piece.end(), b) - piece.begin();
                    places_.push_back(b == none ? none : piece_begin_.back() + static_cast<Index>(at));
                }
        block_of.insert(block_of.end(), piece.begin(), piece.end());
        piece_begin_.push_back(count(block_of));
    }
    sums_.resize(block_of.size() + 1);
    for (Index& place : places_)
        if (place == none) place = count(block_of);

    const auto [least, most] = std::minmax_element(block_of.begin(), block_of.end());
    first_block_ = *least;
    row_begin_.assign(static_cast<std::size_t>(*most - *least) + 2, 0);
    for (const Index b : block_of) ++row_begin_[b - first_block_ + 1];
    for (std::size_t i = 1; i < row_begin_.size(); ++i) row_begin_[i] += row_begin_[i - 1];
    row_places_.resize(block_of.size());
    std::vector<Index> next = row_begin_;
    for (Index s = 0; s < count(block_of); ++s) row_places_[next[block_of[s] - first_block_]++] = s;
}

void PieceSums::clear_piece(Index first_element)
{
    assert(first_element % elements_a_piece == 0);
    const Index piece = first_element / elements_a_piece;
    std::fill(sums_.begin() + piece_begin_[piece], sums_.begin() + piece_begin_[piece + 1], PaddedVec());
}

void PieceSums::add_rows(Index begin, Index end, Vec3s& out) const
{
    for (Index row = std::max(begin, first_block_); row < std::min(end, end_block()); ++row) {
        Vec3 sum = out[row];
        for (Index k = row_begin_[row - first_block_]; k < row_begin_[row - first_block_ + 1]; ++k)
            sum += sums_[row_places_[k]].vec();
        out[row] = sum;
    }
}

} // namespace pliant
