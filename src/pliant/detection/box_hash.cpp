#include "pliant/detection/box_hash.hpp"

namespace pliant {

BoxHash::Bin BoxHash::bin_of(Real x, Real y, Real z) const
{
    // Monotone, also where it is clamped.
    const auto whole = [](Real v) { return static_cast<Index>(std::floor(std::clamp(v, -1e9, 1e9))); };
    return {whole(x / width_), whole(y / width_), whole(z / (height * width_))};
}

void BoxHash::update(std::span<const Box> boxes, Real usual)
{
    boxes_ = boxes;
    const Index n = static_cast<Index>(boxes.size());
    const auto length = [&](Index i) {
        const Box& b = boxes[i];
        return static_cast<Real>(std::max({b.hi(0) - b.lo(0), b.hi(1) - b.lo(1), b.hi(2) - b.lo(2)}));
    };
    const Real most = most_usual * usual;
    const Real longest = parallel_max(n, 0, [&](Index i) { return length(i) <= most ? length(i) : 0; });
    width_ = 1.0001 * (longest > 0 ? longest : usual); // a little more, because lengths are rounded
    const std::uint32_t buckets = std::bit_ceil(static_cast<std::uint32_t>(std::max<Index>(2 * n, 2)));
    shift_ = 32 - std::countr_zero(buckets);
    const auto bin = [&](Index i) { return bin_of(boxes[i].lo(0), boxes[i].lo(1), boxes[i].lo(2)); };
    place_.resize(boxes.size());
    parallel_for(
        n, [&](Index i) { place_[i] = length(i) <= most ? bucket(bin(i)) : none; }, 2048);
    // Counting sort by bucket; boxes of a bucket stay in their order.
    begin_.assign(static_cast<std::size_t>(buckets) + 2, 0);
    large_.clear();
    for (Index i = 0; i < n; ++i) {
        if (place_[i] == none)
            large_.push_back(i);
        else
            ++begin_[place_[i] + 2];
    }
    for (std::size_t b = 0; b < buckets; ++b) begin_[b + 2] += begin_[b + 1];
    const std::size_t entries = boxes.size() - large_.size();
    number_.assign(entries + lanes, none); // after the last box: what no box is compared with
    key_.resize(entries + lanes);
    for (int k = 0; k < 3; ++k) {
        low_[k].resize(entries + lanes);
        high_[k].resize(entries + lanes);
    }
    for (Index i = 0; i < n; ++i) {
        if (place_[i] == none) continue;
        const Index at = begin_[place_[i] + 1]++;
        key_[at] = bin(i).key();
        number_[at] = i;
        for (int k = 0; k < 3; ++k) {
            low_[k][at] = boxes[i].lo(k);
            high_[k][at] = boxes[i].hi(k);
        }
    }
}

} // namespace pliant
