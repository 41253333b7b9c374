#include "pliant/detection/box_hash.hpp"

#include "pliant/core/contracts.hpp"

namespace pliant {

BoxHash::Bin BoxHash::bin_of(Real x, Real y, Real z) const
{
    // Monotone, also where it is clamped.
    const auto whole = [](Real v) { return static_cast<Index>(std::floor(std::clamp(v, -1e9, 1e9))); };
    return {whole(scale_ * x), whole(scale_ * y), whole(scale_ / height * z)};
}

BoxHash::Around BoxHash::around(const Bin& bin) const
{
    Around out{bin, {}};
    const auto beside = [&](Index x, Index y, Index z) { return run_of({bin.x + x, bin.y + y, bin.z + z}); };
    // On the same height those behind and to the right, and all above.
    out.run[0] = beside(0, 1, 0);
    for (Index y = -1; y <= 1; ++y) out.run[2 + y] = beside(1, y, 0);
    for (Index i = 0; i < 9; ++i) out.run[4 + i] = beside(i % 3 - 1, i / 3 - 1, 1);
    return out;
}

void BoxHash::sort_pairs(std::vector<std::array<Index, 2>>& out)
{
    // By the first box, counting, and then the few pairs of each.
    first_.assign(boxes_.size() + 2, 0);
    for (const auto& chunk : chunks_)
        for (const auto& pair : chunk) ++first_[pair[0] + 2];
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    out.resize(static_cast<std::size_t>(first_.back()));
    for (const auto& chunk : chunks_)
        for (const auto& pair : chunk) out[first_[pair[0] + 1]++] = pair;
    for (std::size_t i = 0; i + 1 < first_.size(); ++i)
        if (first_[i + 1] - first_[i] > 1) std::sort(out.begin() + first_[i], out.begin() + first_[i + 1]);
}

void BoxHash::update(std::span<const Box> boxes, Real usual, std::span<const BoxKin> kin)
{
    assert(kin.empty() || kin.size() == boxes.size());
    boxes_ = boxes;
    kin_ = kin;
    const Index n = static_cast<Index>(boxes.size());
    const auto length = [&](Index i) {
        const Box& b = boxes[i];
        return static_cast<Real>(std::max({b.hi(0) - b.lo(0), b.hi(1) - b.lo(1), b.hi(2) - b.lo(2)}));
    };
    const Real most = most_usual * usual;
    const Real longest = parallel_max(n, 0, [&](Index i) { return length(i) <= most ? length(i) : 0; });
    width_ = 1.0001 * (longest > 0 ? longest : usual); // a little more, because lengths are rounded
    scale_ = 1 / width_;
    const std::uint32_t buckets = std::bit_ceil(static_cast<std::uint32_t>(std::max<Index>(2 * n, 2)));
    shift_ = 32 - std::countr_zero(buckets);
    const auto bin = [&](Index i) { return bin_of(boxes[i].lo(0), boxes[i].lo(1), boxes[i].lo(2)); };
    place_.resize(boxes.size());
    bin_of_box_.resize(boxes.size());
    parallel_for(
        n,
        [&](Index i) {
            bin_of_box_[i] = bin(i);
            place_[i] = length(i) <= most ? bucket(bin_of_box_[i]) : none;
        },
        2048);
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
    number_.resize(entries + lanes);
    bins_.resize(entries + lanes);
    key_.resize(entries + lanes);
    group_.resize(entries + lanes);
    at_.resize(entries + lanes);
    for (int k = 0; k < 3; ++k) {
        low_[k].resize(entries + lanes);
        high_[k].resize(entries + lanes);
        std::fill(low_[k].end() - lanes, low_[k].end(), Box::inf); // after the last box: what overlaps nothing
    }
    for (Index i = 0; i < n; ++i) {
        if (place_[i] == none) continue;
        const Index at = begin_[place_[i] + 1]++;
        bins_[at] = bin_of_box_[i];
        key_[at] = bins_[at].key();
        number_[at] = i;
        group_[at] = kin.empty() || kin[i].group == none ? none - 1 : kin[i].group;
        at_[at] = kin.empty() ? 0 : kin[i].place;
        for (int k = 0; k < 3; ++k) {
            low_[k][at] = boxes[i].lo(k);
            high_[k][at] = boxes[i].hi(k);
        }
    }
}

} // namespace pliant
