#include "pliant/dynamics/batch_schedule.hpp"

namespace pliant {

BatchSchedule::BatchSchedule(const Model& model, const MatrixRows* matrix) : blocks_(model.block_count())
{
    std::vector<std::vector<BatchRows*>> at_chunk(
        static_cast<std::size_t>((blocks_ + rows_a_chunk - 1) / rows_a_chunk));
    for (const auto& shared : model.batches) {
        const ElementBatch& batch = *shared;
        if (!matrix && batch.kicks()) continue; // no forces, then
        rows_.push_back(batch.make_rows(matrix));
        for (Index begin = 0; begin < batch.element_count(); begin += elements_a_piece)
            pieces_.push_back({count(rows_) - 1, begin, std::min(begin + elements_a_piece, batch.element_count())});
        BatchRows& rows = *rows_.back();
        if (rows.first_block() == rows.end_block()) continue;
        for (Index c = rows.first_block() / rows_a_chunk; c <= (rows.end_block() - 1) / rows_a_chunk; ++c)
            at_chunk[c].push_back(&rows);
    }
    for (const std::vector<BatchRows*>& batches : at_chunk) {
        chunk_batches_.insert(chunk_batches_.end(), batches.begin(), batches.end());
        chunk_begin_.push_back(count(chunk_batches_));
    }
}

} // namespace pliant
