#include "pliant/linalg/lane_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace pliant {

LaneOrder make_lane_order(const std::vector<Index>& component, Index components)
{
    LaneOrder order;
    std::vector<Index> size(static_cast<std::size_t>(components), 0);
    for (const Index c : component)
        if (c != none) ++size[c];
    for (const Index s : size) order.chunk_begin.push_back(order.chunks() + (s + Float8::width - 1) / Float8::width);
    order.block_of_lane.assign(static_cast<std::size_t>(order.lanes()), none);
    order.lane_of_block.assign(component.size(), none);
    std::vector<Index> next(size.size());
    for (Index c = 0; c < components; ++c) next[c] = Float8::width * order.chunk_begin[c];
    for (Index block = 0; block < count(component); ++block) {
        if (component[block] == none) continue;
        const Index lane = next[component[block]]++;
        order.lane_of_block[block] = lane;
        order.block_of_lane[lane] = block;
    }
    return order;
}

LaneMatrix::LaneMatrix(const LanePattern& pattern, const std::vector<Index>& chunk_begin)
{
    assert(pattern.lanes() == Float8::width * chunk_begin.back());
    for (std::size_t c = 0; c + 1 < chunk_begin.size(); ++c)
        for (Index chunk = chunk_begin[c]; chunk < chunk_begin[c + 1]; ++chunk)
            add_chunk(pattern, Float8::width * chunk, Float8::width * chunk_begin[c],
                      Float8::width * chunk_begin[c + 1]);
    values_.assign(72 * shift_.size(), 0.0f);
}

/// first, last: the lanes of the chunk's component. No other is ever read: another thread may be at work on them.
void LaneMatrix::add_chunk(const LanePattern& pattern, Index lane, Index first, Index last)
{
    std::set<Index> shifts;
    Index widest = 0;
    for (Index i = lane; i < lane + Float8::width; ++i) {
        widest = std::max(widest, pattern.row_begin[i + 1] - pattern.row_begin[i]);
        for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) shifts.insert(pattern.column[s] - i);
    }
    // Rows of a regular mesh have their neighbours at the same distances: then eight columns are one load. Slots with a
    // few empty lanes are still cheaper than a gather.
    const bool regular = count(shifts) <= widest + widest / 2 + 2;
    const Index slots = regular ? count(shifts) : widest, begin = begin_.back();
    begin_.push_back(begin + slots);
    shift_.resize(static_cast<std::size_t>(begin + slots), gathered);
    column_.resize(shift_.size() * 8, lane);
    source_.resize(shift_.size() * 8, none);
    for (Index i = lane; i < lane + Float8::width; ++i) {
        Index slot = begin;
        for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s, ++slot) {
            if (regular) {
                const auto shift = shifts.find(pattern.column[s] - i);
                slot = begin + Index(std::distance(shifts.begin(), shift));
                if (lane + *shift >= first && lane + *shift + Float8::width <= last) shift_[slot] = *shift;
            }
            column_[8 * slot + i - lane] = pattern.column[s];
            source_[8 * slot + i - lane] = pattern.slot[s];
        }
    }
}

template <class Number>
void LaneMatrix::load(const Number* blocks, Chunks chunks)
{
    for_chunks(chunks, [&](Index lane) {
        const Index chunk = lane / Float8::width;
        for (Index s = begin_[chunk]; s < begin_[chunk + 1]; ++s) {
            float* m = values_.data() + 72 * std::size_t(s);
            for (int l = 0; l < 8; ++l) {
                const Index source = source_[8 * s + l];
                if (source == none) continue;
                const Number* from = blocks + 9 * std::size_t(source);
                for (int e = 0; e < 9; ++e) m[8 * e + l] = static_cast<float>(from[e]);
            }
        }
    });
}

template void LaneMatrix::load(const float*, Chunks);
template void LaneMatrix::load(const double*, Chunks);

} // namespace pliant
