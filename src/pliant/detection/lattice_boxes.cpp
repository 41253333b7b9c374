#include "pliant/detection/lattice_boxes.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <numeric>

namespace pliant {
namespace {

BoxNodes gather(const std::array<Index, 8>& block, const Vec3s& x)
{
    BoxNodes corners;
    for (int k = 0; k < 8; ++k)
        for (int n = 0; n < 3; ++n) corners(k, n) = x[block[k]][n];
    return corners;
}

BoxNodes gather(const std::array<Index, 8>& block, const BlockVelocities& v)
{
    BoxNodes corners;
    for (int k = 0; k < 8; ++k) {
        alignas(32) Real numbers[4];
        v[block[k]].store(numbers);
        for (int n = 0; n < 3; ++n) corners(k, n) = numbers[n];
    }
    return corners;
}

} // namespace

LatticeBoxes::LatticeBoxes(std::vector<BoxCell> cells, const BoxOptions& options,
                           std::vector<std::array<Index, 2>> no_contact)
    : cells_(std::move(cells)), options_(options), no_contact_(std::move(no_contact)), boxes_(cells_.size()),
      way_(cells_.size()), aligned_(cells_.size())
{
    assert(strictly_sorted(no_contact_));
    Real sum = 0;
    for (BoxCell& c : cells_) {
        assert(c.side > 0 && (c.low.array() <= c.high.array()).all());
        sum += c.side;
        kin_.push_back({c.body, c.place});
        for (int k = 0; k < 3; ++k) {
            const Real lacking = least_thickness - (c.high[k] - c.low[k]);
            if (lacking <= 0) continue;
            c.low[k] -= lacking / 2;
            c.high[k] += lacking / 2;
        }
    }
    if (cells_.empty()) return;
    mean_side_ = sum / static_cast<Real>(cells_.size());
    smallest_side_ = cells_[0].side;
    for (const BoxCell& c : cells_) smallest_side_ = std::min(smallest_side_, c.side);
}

void LatticeBoxes::update(const Vec3s& x)
{
    assert(all_finite(x) && std::ranges::all_of(cells_, [&](const BoxCell& c) {
               return std::ranges::all_of(c.block, [&](Index b) { return b >= 0 && b < count(x); });
           }));
    parallel_for(
        size(),
        [&](Index i) { set_nodes(boxes_[i], box_nodes(gather(cells_[i].block, x), cells_[i].low, cells_[i].high)); },
        512);
}

void LatticeBoxes::update(Index i, const Vec3s& x)
{
    set_nodes(boxes_[i], box_nodes(gather(cells_[i].block, x), cells_[i].low, cells_[i].high));
    set_planes(boxes_[i], options_.planes);
}

bool LatticeBoxes::may_meet(Index a, Index b) const
{
    const Kin &p = kin_[a], &q = kin_[b];
    if (p.body == q.body) {
        const auto near = [&](int k) { return static_cast<unsigned>(p.place[k] - q.place[k] + 1) <= 2; };
        return !(near(0) && near(1) && near(2));
    }
    return no_contact_.empty() ||
           !std::binary_search(no_contact_.begin(), no_contact_.end(),
                               std::array<Index, 2>{std::min(p.body, q.body), std::max(p.body, q.body)});
}

const std::vector<std::array<Index, 2>>& LatticeBoxes::find_candidates(Real margin)
{
    const Vec3 around = Vec3::Constant(margin / 2);
    parallel_for(
        size(),
        [&](Index i) {
            way_[i] = {};
            aligned_[i] = Box();
            aligned_[i].add(boxes_[i].low - around);
            aligned_[i].add(boxes_[i].high + around);
        },
        1024);
    return collect_candidates();
}

const std::vector<std::array<Index, 2>>& LatticeBoxes::find_candidates(Real margin, const BlockVelocities& velocity,
                                                                       Real dt)
{
    const Vec3 around = Vec3::Constant(margin / 2);
    parallel_for(
        size(),
        [&](Index i) {
            const BoxCell& c = cells_[i];
            Way& way = way_[i];
            way.nodes = dt * box_nodes(gather(c.block, velocity), c.low, c.high);
            way.least = way.nodes.colwise().minCoeff().transpose();
            way.most = way.nodes.colwise().maxCoeff().transpose();
            aligned_[i] = Box();
            aligned_[i].add(boxes_[i].low + way.least.cwiseMin(0) - around); // also where it comes from
            aligned_[i].add(boxes_[i].high + way.most.cwiseMax(0) + around);
        },
        1024);
    return collect_candidates();
}

const std::vector<std::array<Index, 2>>& LatticeBoxes::collect_candidates()
{
    if (tested_.size() == candidates_.size()) {
        known_.swap(candidates_);
        known_overlap_.swap(tested_);
        known_at_.swap(tested_at_);
    }
    tested_.clear();
    tested_at_.clear();
    hash_.update(aligned_, mean_side_);
    hash_.collect([&](Index a, Index b) { return may_meet(a, b); }, candidates_);
    assert(strictly_sorted(candidates_));
    stale_.assign(cells_.size(), 0);
    for (const auto& [a, b] : candidates_) stale_[a] = stale_[b] = 1;
    involved_.clear();
    for (Index i = 0; i < size(); ++i)
        if (stale_[i]) involved_.push_back(i);
    return candidates_;
}

BoxOverlap LatticeBoxes::overlap_of(Index a, Index b, Real reach) const
{
    const CellBox &p = boxes_[a], &q = boxes_[b];
    const auto far = [&](const Vec3& low, const Vec3& high) { return (low.array() > high.array() + reach).any(); };
    if (far(p.low, q.high) || far(q.low, p.high)) return {};
    return options_.planes == BoxPlanes::safe ? overlap_by_axes(p, q, reach) : overlap_by_nodes(p, q, options_.inner);
}

Real LatticeBoxes::reach(Index a, Index b) const
{
    const Way &p = way_[a], &q = way_[b];
    return std::max(skin(a, b), (p.most - q.least).cwiseMax(q.most - p.least).norm());
}

void LatticeBoxes::recall(const Vec3s& x, bool near)
{
    unknown_.clear();
    tested_.resize(candidates_.size());
    if (known_at_ != x) {
        unknown_.resize(candidates_.size());
        std::iota(unknown_.begin(), unknown_.end(), 0);
        return;
    }
    std::size_t k = 0;
    for (Index i = 0; i < count(candidates_); ++i) {
        while (k < known_.size() && known_[k] < candidates_[i]) ++k;
        const auto [a, b] = candidates_[i];
        const bool is_known = k < known_.size() && known_[k] == candidates_[i];
        if (is_known && (known_overlap_[k].depth != 0 || !near || reach(a, b) <= skin(a, b)))
            tested_[i] = known_overlap_[k];
        else
            unknown_.push_back(i);
    }
}

void LatticeBoxes::look(const Vec3s& x, bool near)
{
    recall(x, near);
    stale_.assign(cells_.size(), 0);
    for (const Index i : unknown_) stale_[candidates_[i][0]] = stale_[candidates_[i][1]] = 1;
    parallel_for(
        count(involved_),
        [&](Index i) {
            if (stale_[involved_[i]]) set_planes(boxes_[involved_[i]], options_.planes);
        },
        256);
    parallel_for(
        count(unknown_),
        [&](Index k) {
            const auto [a, b] = candidates_[unknown_[k]];
            tested_[unknown_[k]] = overlap_of(a, b, near ? reach(a, b) : skin(a, b));
        },
        256);
}

const std::vector<BoxPair>& LatticeBoxes::find_overlaps(const Vec3s& x)
{
    look(x, false);
    return list_overlaps(x);
}

const std::vector<BoxPair>& LatticeBoxes::find_near(const Vec3s& x)
{
    look(x, true);
    tested_at_ = x;
    overlaps_.clear();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const auto [a, b] = candidates_[i];
        const BoxOverlap& o = tested_[i];
        if (o.depth == 0) continue;
        const Real closing = way_along(a, o.normal) + way_along(b, -o.normal);
        if (o.depth > 0 || closing + o.depth > 0) overlaps_.push_back({a, b, o});
    }
    return overlaps_;
}

bool LatticeBoxes::has_moved(Index cell, const std::vector<std::uint8_t>& moved) const
{
    const auto& block = cells_[cell].block;
    return std::any_of(block.begin(), block.end(), [&](Index b) { return moved[b] != 0; });
}

const std::vector<BoxPair>& LatticeBoxes::find_overlaps_again(const Vec3s& x, const std::vector<std::uint8_t>& moved)
{
    assert(moved.size() == x.size() && tested_.size() == candidates_.size());
    stale_.resize(cells_.size());
    parallel_for(
        count(involved_),
        [&](Index i) {
            const Index cell = involved_[i];
            stale_[cell] = has_moved(cell, moved);
            if (stale_[cell]) update(cell, x);
        },
        256);
    parallel_for(
        count(candidates_),
        [&](Index i) {
            const auto [a, b] = candidates_[i];
            if (stale_[a] || stale_[b]) tested_[i] = overlap_of(a, b, skin(a, b));
        },
        256);
    return list_overlaps(x);
}

const std::vector<BoxPair>& LatticeBoxes::list_overlaps(const Vec3s& x)
{
    tested_at_ = x;
    overlaps_.clear();
    for (std::size_t i = 0; i < candidates_.size(); ++i)
        if (tested_[i].depth > 0) overlaps_.push_back({candidates_[i][0], candidates_[i][1], tested_[i]});
    return overlaps_;
}

Index LatticeBoxes::inverted_count() const
{
    Index n = 0;
    for (const Index i : involved_) n += boxes_[i].inverted;
    return n;
}

} // namespace pliant
