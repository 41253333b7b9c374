#pragma once
// Vectors of blocks in single precision, eight blocks ("lanes") at a time: what corrects need not be exact, and a pass
// over half the bytes, eight rows at once, takes a quarter of the time.

#include "pliant/core/float8.hpp"
#include "pliant/core/parallel.hpp"

#include <span>
#include <utility>
#include <vector>

namespace pliant {

/// Some blocks in chunks of eight lanes: connected components one after the other, each padded to whole chunks, so
/// that components can be worked on by themselves.
struct LaneOrder {
    std::vector<Index> lane_of_block;     ///< none: the block is not in it
    std::vector<Index> block_of_lane;     ///< none: padding
    std::vector<Index> chunk_begin = {0}; ///< per component + 1

    Index chunks() const { return chunk_begin.back(); }
    Index lanes() const { return chunks() * Float8::width; }
    Index components() const { return count(chunk_begin) - 1; }
};
/// component: per block a number from 0 on, or none for blocks that are left out. Blocks keep their order.
LaneOrder make_lane_order(const std::vector<Index>& component, Index components);

/// One 3-vector a lane, in three planes.
class LaneVectors {
public:
    LaneVectors() = default;
    explicit LaneVectors(Index lanes) : stride_(lanes), data_(3 * static_cast<std::size_t>(lanes), 0.0f) {}
    float* plane(int k) { return data_.data() + std::size_t(k) * stride_; }
    const float* plane(int k) const { return data_.data() + std::size_t(k) * stride_; }

    /// Eight lanes from the given one on.
    Float8x3 at(Index lane) const
    {
        return {Float8::load(plane(0) + lane), Float8::load(plane(1) + lane), Float8::load(plane(2) + lane)};
    }
    Float8x3 gather(const Index* lanes) const
    {
        return {Float8::gather(plane(0), lanes), Float8::gather(plane(1), lanes), Float8::gather(plane(2), lanes)};
    }
    void set(Index lane, const Float8x3& v)
    {
        v.x.store(plane(0) + lane);
        v.y.store(plane(1) + lane);
        v.z.store(plane(2) + lane);
    }
    Eigen::Vector3f get(Index lane) const { return {plane(0)[lane], plane(1)[lane], plane(2)[lane]}; }
    void put(Index lane, const Eigen::Vector3f& v)
    {
        for (int k = 0; k < 3; ++k) plane(k)[lane] = v[k];
    }

private:
    Index stride_ = 0;
    std::vector<float> data_;
};

/// Chunks that a loop goes over, in ascending order.
using Chunks = std::span<const Index>;
inline constexpr Index chunks_a_task = 128; ///< what a thread takes at a time; sums add so many before they start anew
/// The same for loops that only add vectors: a chunk takes ten nanoseconds, and threads meet in some microseconds.
inline constexpr Index vector_chunks_a_task = 8 * chunks_a_task;

/// body(first lane) for every chunk.
template <class Body>
void for_chunks(Chunks chunks, Body&& body, Index a_task = chunks_a_task)
{
    parallel_for(
        count(chunks), [&](Index k) { body(Float8::width * chunks[k]); }, a_task);
}

/// Sum of value(first lane), a double, over the chunks; the same for any number of threads.
template <class Value>
double sum_chunks(Chunks chunks, Value&& value, Index a_task = chunks_a_task)
{
    const Index sums = (count(chunks) + chunks_a_task - 1) / chunks_a_task, at_once = a_task / chunks_a_task;
    const auto partial_sum = [&](Index t) {
        double sum = 0;
        const Index end = std::min(count(chunks), (t + 1) * chunks_a_task);
        for (Index k = t * chunks_a_task; k < end; ++k) sum += value(Float8::width * chunks[k]);
        return sum;
    };
    double total = 0;
    if (sums <= 2 * at_once || runs_serially()) {
        for (Index t = 0; t < sums; ++t) total += partial_sum(t);
        return total;
    }
    std::vector<double> partial(static_cast<std::size_t>(sums));
    parallel_for(
        sums, [&](Index t) { partial[t] = partial_sum(t); }, at_once);
    for (const double p : partial) total += p;
    return total;
}

/// Loops whose bodies only read, add and write vectors and diagonal blocks.
template <class Body>
void for_vectors(Chunks chunks, Body&& body)
{
    for_chunks(chunks, std::forward<Body>(body), vector_chunks_a_task);
}
template <class Value>
double sum_vectors(Chunks chunks, Value&& value)
{
    return sum_chunks(chunks, std::forward<Value>(value), vector_chunks_a_task);
}

} // namespace pliant
