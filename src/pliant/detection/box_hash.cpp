#include "pliant/detection/box_hash.hpp"

#include "pliant/core/parallel.hpp"

#include <cmath>

namespace pliant {
namespace {

bool is_prime(std::size_t n)
{
    for (std::size_t d = 3; d * d <= n; d += 2)
        if (n % d == 0) return false;
    return n % 2 == 1;
}

} // namespace

BoxHash::Cube BoxHash::cube_of(const std::array<float, 3>& x) const
{
    // Monotone, also where it is clamped, so that two overlapping boxes always share a cube.
    Cube c;
    for (int k = 0; k < 3; ++k) c[k] = static_cast<Index>(std::floor(std::clamp(x[k] * per_side_, -1e9f, 1e9f)));
    return c;
}

Index BoxHash::bucket_of(const Cube& c) const
{
    const auto u = [](Index i) { return static_cast<std::uint32_t>(i); };
    return static_cast<Index>(((u(c[0]) * 73856093u) ^ (u(c[1]) * 19349663u) ^ (u(c[2]) * 83492791u)) %
                              static_cast<std::uint32_t>(buckets_));
}

void BoxHash::update(std::span<const Box> boxes, Real side)
{
    boxes_ = boxes;
    per_side_ = static_cast<float>(1 / side);
    const Index n = static_cast<Index>(boxes.size());
    if (sized_for_ != boxes.size()) {
        buckets_ = 2 * boxes.size() + 1;
        while (!is_prime(buckets_)) buckets_ += 2;
        sized_for_ = boxes.size();
    }
    first_.resize(static_cast<std::size_t>(n) + 1);
    first_[0] = 0;
    parallel_for(
        n,
        [&](Index i) {
            const Cube lo = first_cube(boxes[i]), hi = last_cube(boxes[i]);
            std::int64_t size = 1;
            for (int k = 0; k < 3 && size <= most_cubes; ++k) size *= static_cast<std::int64_t>(hi[k]) - lo[k] + 1;
            first_[i + 1] = size <= most_cubes ? static_cast<Index>(size) : 0;
        },
        2048);
    large_.clear();
    for (Index i = 0; i < n; ++i) {
        if (first_[i + 1] == 0) large_.push_back(i);
        first_[i + 1] += first_[i];
    }
    unsorted_.resize(static_cast<std::size_t>(first_[n]));
    place_.resize(unsorted_.size());
    parallel_for(
        n,
        [&](Index i) {
            if (first_[i] == first_[i + 1]) return;
            const Cube lo = first_cube(boxes[i]), hi = last_cube(boxes[i]);
            Index at = first_[i];
            for (Index x = lo[0]; x <= hi[0]; ++x)
                for (Index y = lo[1]; y <= hi[1]; ++y)
                    for (Index z = lo[2]; z <= hi[2]; ++z, ++at) {
                        unsorted_[at] = {{x, y, z}, i};
                        place_[at] = bucket_of({x, y, z});
                    }
        },
        2048);
    // Counting sort by bucket; entries of a bucket stay in the order of their boxes.
    begin_.assign(buckets_ + 2, 0);
    for (const Index b : place_) ++begin_[b + 2];
    for (std::size_t b = 0; b < buckets_; ++b) begin_[b + 2] += begin_[b + 1];
    entries_.resize(unsorted_.size());
    for (std::size_t i = 0; i < unsorted_.size(); ++i) entries_[begin_[place_[i] + 1]++] = unsorted_[i];
}

void BoxHash::parallel_chunks(const std::function<void(Index)>& body)
{
    chunks_.resize(static_cast<std::size_t>(chunk_count()) + 1);
    parallel_for(
        chunk_count() + 1,
        [&](Index c) {
            chunks_[c].clear();
            body(c);
        },
        1);
}

void BoxHash::join(std::vector<std::array<Index, 2>>& out)
{
    out.clear();
    for (const auto& chunk : chunks_) out.insert(out.end(), chunk.begin(), chunk.end());
    parallel_sort(out.begin(), out.end(), std::less<std::array<Index, 2>>());
}

} // namespace pliant
