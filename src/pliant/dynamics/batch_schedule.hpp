#pragma once
// The rows of all batches of a model, cut into work for threads: pieces of elements, then chunks of rows.

#include "pliant/core/parallel.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

class BatchSchedule {
public:
    BatchSchedule() = default;
    /// matrix: null for forces alone.
    BatchSchedule(const Model& model, const MatrixRows* matrix);

    /// evaluate(rows, begin, end) for disjoint ranges of elements that cover every batch.
    template <class Evaluate>
    void for_each_piece(Evaluate&& evaluate)
    {
        parallel_for(
            count(pieces_), [&](Index i) { evaluate(*rows_[pieces_[i].batch], pieces_[i].begin, pieces_[i].end); }, 1);
    }
    /// visit(begin, end, batches) for disjoint ranges of rows that cover all blocks; `batches` holds those with rows in
    /// the range, in the order of the model.
    template <class Visit>
    void for_each_chunk(Visit&& visit) const
    {
        parallel_for(
            count(chunk_begin_) - 1,
            [&](Index c) {
                const std::span<BatchRows* const> batches(chunk_batches_.data() + chunk_begin_[c],
                                                          chunk_batches_.data() + chunk_begin_[c + 1]);
                visit(c * rows_a_chunk, std::min((c + 1) * rows_a_chunk, blocks_), batches);
            },
            1);
    }

private:
    static constexpr Index rows_a_chunk = 128; ///< what one thread takes at a time
    struct Piece {
        Index batch, begin, end;
    };

    Index blocks_ = 0;
    std::vector<std::unique_ptr<BatchRows>> rows_; ///< per batch of the model
    std::vector<Piece> pieces_;
    std::vector<BatchRows*> chunk_batches_;
    std::vector<Index> chunk_begin_ = {0}; ///< per chunk + 1: range in chunk_batches_
};

} // namespace pliant
