#include "pliant/linalg/lane_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
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

LaneMatrix::LaneMatrix(const LanePattern& pattern)
{
    assert(pattern.lanes() % Float8::width == 0);
    for (Index lane = 0; lane < pattern.lanes(); lane += Float8::width) {
        std::set<Index> shifts;
        Index widest = 0;
        for (Index i = lane; i < lane + Float8::width; ++i) {
            widest = std::max(widest, pattern.row_begin[i + 1] - pattern.row_begin[i]);
            for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s)
                shifts.insert(pattern.column[s] - i);
        }
        // Rows of a regular mesh have their neighbours at the same distances: then eight columns are one load. Slots
        // with a few empty lanes are still cheaper than a gather.
        const bool regular = count(shifts) <= widest + widest / 2 + 2;
        const Index slots = regular ? count(shifts) : widest, first = begin_.back();
        begin_.push_back(first + slots);
        shift_.resize(static_cast<std::size_t>(first + slots), gathered);
        column_.resize(shift_.size() * 8, lane);
        source_.resize(shift_.size() * 8, none);
        if (regular) std::copy(shifts.begin(), shifts.end(), shift_.begin() + first);
        for (Index i = lane; i < lane + Float8::width; ++i) {
            Index slot = first;
            for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s, ++slot) {
                if (regular) {
                    const Index shift = pattern.column[s] - i;
                    slot = Index(std::lower_bound(shift_.begin() + first, shift_.end(), shift) - shift_.begin());
                    guard_ = std::max(guard_, std::abs(shift));
                }
                column_[8 * slot + i - lane] = pattern.column[s];
                source_[8 * slot + i - lane] = pattern.slot[s];
            }
        }
    }
    guard_ += Float8::width;
    values_.assign(72 * shift_.size(), 0.0f);
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
