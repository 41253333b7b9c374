#pragma once
// A symmetric block matrix in single precision, eight rows at a time.

#include "pliant/linalg/block_matrix.hpp"
#include "pliant/linalg/lane_vectors.hpp"

namespace pliant {

/// Symmetric 3x3 blocks, one a lane: xx, xy, xz, yy, yz, zz.
class LaneBlocks {
public:
    static constexpr Index floats = 6 * Float8::width; ///< a chunk

    explicit LaneBlocks(Index lanes = 0) : data_(static_cast<std::size_t>(6 * lanes), 0.0f) {}
    float* chunk(Index lane) { return data_.data() + 6 * std::size_t(lane); }
    const float* chunk(Index lane) const { return data_.data() + 6 * std::size_t(lane); }
    /// Element e of the six at a lane.
    float& element(Index lane, int e) { return chunk(lane - lane % 8)[8 * e + lane % 8]; }
    float element(Index lane, int e) const { return chunk(lane - lane % 8)[8 * e + lane % 8]; }

    Float8x3 multiply(Index lane, const Float8x3& v) const
    {
        const float* m = chunk(lane);
        const Float8 xx = Float8::load(m), xy = Float8::load(m + 8), xz = Float8::load(m + 16);
        const Float8 yy = Float8::load(m + 24), yz = Float8::load(m + 32), zz = Float8::load(m + 40);
        return {xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z, xz * v.x + yz * v.y + zz * v.z};
    }

private:
    std::vector<float> data_;
};

/// Compressed rows over lanes. Rows of padding are empty.
struct LanePattern {
    std::vector<Index> row_begin = {0};
    std::vector<Index> column; ///< lanes, sorted
    std::vector<Index> slot;   ///< where the block is in the matrix that is copied

    Index lanes() const { return count(row_begin) - 1; }
};

class LaneMatrix {
public:
    LaneMatrix() = default;
    /// chunk_begin: per component + 1. A product's rows read the lanes of their own component alone.
    LaneMatrix(const LanePattern& pattern, const std::vector<Index>& chunk_begin);

    /// Copies blocks: 9 numbers each, column-major, at 9 * slot.
    template <class Number>
    void load(const Number* blocks, Chunks chunks);
    /// (A x) of the eight rows from `lane` on.
    Float8x3 product(Index lane, const LaneVectors& x) const
    {
        const Index chunk = lane / Float8::width;
        Float8x3 a, b; // sums of their own, so that additions need not wait for each other
        const float* m = values_.data() + 72 * std::size_t(begin_[chunk]);
        for (Index s = begin_[chunk]; s < begin_[chunk + 1]; ++s, m += 72) {
            const Float8x3 v = shift_[s] != gathered ? x.at(lane + shift_[s]) : x.gather(&column_[8 * s]);
            a += Float8x3{Float8::load(m) * v.x, Float8::load(m + 8) * v.x, Float8::load(m + 16) * v.x};
            b += Float8x3{Float8::load(m + 24) * v.y, Float8::load(m + 32) * v.y, Float8::load(m + 40) * v.y};
            a += Float8x3{Float8::load(m + 48) * v.z, Float8::load(m + 56) * v.z, Float8::load(m + 64) * v.z};
        }
        return a + b;
    }
    std::size_t bytes() const { return values_.size() * sizeof(float) + column_.size() * sizeof(Index); }

private:
    static constexpr Index gathered = std::numeric_limits<Index>::min();

    void add_chunk(const LanePattern& pattern, Index lane, Index first, Index last);

    std::vector<Index> begin_ = {0}; ///< per chunk + 1: its slots
    std::vector<Index> shift_;       ///< per slot: columns are the rows' lanes plus this, or gathered
    std::vector<Index> column_;      ///< per slot, eight
    std::vector<Index> source_;      ///< per slot, eight: where the block is copied from, or none
    std::vector<float> values_;      ///< per slot, 72
};

} // namespace pliant
