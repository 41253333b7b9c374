#include "pliant/detection/lattice_boxes.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pliant {
namespace {

constexpr Real room_for_way = 0.04; ///< in cells

BoxNodes nodes_of(const BoxCell& cell, const Vec3s& x)
{
    const auto at = [&](Index b) { return Real4(x[b][0], x[b][1], x[b][2], 0); };
    return box_nodes(gather_nodes(cell.block, at), cell.low, cell.high);
}

bool same_bits(const Vec3s& a, const Vec3s& b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0);
}

} // namespace

LatticeBoxes::LatticeBoxes(std::vector<BoxCell> cells, const BoxOptions& options,
                           std::vector<std::array<Index, 2>> no_contact)
    : cells_(std::move(cells)), options_(options), no_contact_(std::move(no_contact)), boxes_(cells_.size()),
      way_(cells_.size()), bounds_(cells_.size()), aligned_(cells_.size()), enlarged_(cells_.size()),
      is_awake_(cells_.size(), 1), is_loose_(cells_.size(), 0), has_planes_(cells_.size(), 0)
{
    assert(strictly_sorted(no_contact_));
    Real sum = 0;
    for (BoxCell& c : cells_) {
        assert(c.side > 0 && (c.low.array() <= c.high.array()).all());
        sum += c.side;
        kin_.push_back({c.body, c.place, c.side});
        for (int k = 0; k < 3; ++k) {
            const Real lacking = least_thickness - (c.high[k] - c.low[k]);
            if (lacking <= 0) continue;
            c.low[k] -= lacking / 2;
            c.high[k] += lacking / 2;
        }
    }
    list_kin();
    list_awake();
    if (cells_.empty()) return;
    mean_side_ = sum / static_cast<Real>(cells_.size());
    smallest_side_ = cells_[0].side;
    for (const BoxCell& c : cells_) smallest_side_ = std::min(smallest_side_, c.side);
    room_ = {0.06 * smallest_side_, room_for_way * smallest_side_};
}

void LatticeBoxes::list_kin()
{
    for (const Kin& k : kin_) {
        const bool fits = std::ranges::all_of(k.place, [](Index p) { return p >= 0 && p < BoxKin::most; });
        hash_kin_.push_back(fits ? BoxKin{k.body, BoxKin::place_of(k.place)} : BoxKin());
    }
}

void LatticeBoxes::set_nodes_of(Index i, const Vec3s& x)
{
    set_nodes(boxes_[i], nodes_of(cells_[i], x));
    bounds_[i] = Box::between(boxes_[i].low, boxes_[i].high);
    has_planes_[i] = 0;
}

void LatticeBoxes::update(const Vec3s& x)
{
    assert(all_finite(x) && std::ranges::all_of(cells_, [&](const BoxCell& c) {
               return std::ranges::all_of(c.block, [&](Index b) { return b >= 0 && b < count(x); });
           }));
    const bool same = same_bits(nodes_at_, x);
    if (same && room_checked_) return;
    if (!same) {
        nodes_at_ = x;
        ++epoch_;
        parallel_for(
            count(awake_), [&](Index i) { set_nodes_of(awake_[i], nodes_at_); }, 2048);
    }
    check_room();
}

void LatticeBoxes::update(Index i, const Vec3s& x)
{
    set_nodes_of(i, x);
    set_planes(boxes_[i], options_.planes);
    has_planes_[i] = 1;
}

bool LatticeBoxes::update_moved(Index i, const Vec3s& x, const std::vector<std::uint8_t>& moved)
{
    if (!has_moved(i, moved)) return false;
    set_nodes_of(i, x);
    return true;
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

void LatticeBoxes::wake(Index i)
{
    if (is_awake_[i]) return;
    is_awake_[i] = 1;
    if (!nodes_at_.empty()) set_nodes_of(i, nodes_at_);
    awake_.clear(); // until it is listed
}

void LatticeBoxes::wake_all()
{
    if (count(awake_) == size()) return;
    parallel_for(
        size(),
        [&](Index i) {
            if (!is_awake_[i]) set_nodes_of(i, nodes_at_);
            is_awake_[i] = 1;
        },
        1024);
    awake_.clear();
    list_awake();
}

void LatticeBoxes::keep_awake(Index i)
{
    wake(i);
    list_awake();
}

void LatticeBoxes::list_awake()
{
    if (!awake_.empty()) return;
    for (Index i = 0; i < size(); ++i)
        if (is_awake_[i]) awake_.push_back(i);
}

bool LatticeBoxes::is_far(Index a, Index b, Real reach) const
{
    const CellBox &p = boxes_[a], &q = boxes_[b];
    const auto far = [&](const Vec3& low, const Vec3& high) { return (low.array() > high.array() + reach).any(); };
    if (far(p.low, q.high) || far(q.low, p.high)) return true;
    return options_.planes == BoxPlanes::safe && gap_along_centres(p, q).more_than(reach);
}

BoxOverlap LatticeBoxes::overlap_of(Index a, Index b) const
{
    return is_far(a, b, skin(a, b)) ? BoxOverlap() : overlap_of_close(a, b, skin(a, b));
}

BoxOverlap LatticeBoxes::overlap_of_close(Index a, Index b, Real reach) const
{
    const CellBox &p = boxes_[a], &q = boxes_[b];
    return options_.planes == BoxPlanes::safe ? overlap_by_axes(p, q, reach) : overlap_by_nodes(p, q, options_.inner);
}

Real LatticeBoxes::reach(Index a, Index b) const
{
    return std::max(skin(a, b), way_between(a, b).norm());
}

void LatticeBoxes::recall(bool near)
{
    unknown_.clear();
    tested_.resize(candidates_.size());
    if (known_epoch_ != epoch_) {
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

void LatticeBoxes::look(bool near)
{
    const auto reach_of = [&](Index a, Index b) { return near ? reach(a, b) : skin(a, b); };
    is_close_.resize(unknown_.size());
    parallel_for(
        count(unknown_),
        [&](Index k) {
            const auto [a, b] = candidates_[unknown_[k]];
            is_close_[k] = !is_far(a, b, reach_of(a, b));
        },
        2048);
    stale_.assign(cells_.size(), 0);
    for (std::size_t k = 0; k < unknown_.size(); ++k)
        if (is_close_[k]) stale_[candidates_[unknown_[k]][0]] = stale_[candidates_[unknown_[k]][1]] = 1;
    parallel_for(
        count(involved_),
        [&](Index i) {
            const Index cell = involved_[i];
            if (!stale_[cell] || has_planes_[cell]) return;
            set_planes(boxes_[cell], options_.planes);
            has_planes_[cell] = 1;
        },
        1024);
    parallel_for(
        count(unknown_),
        [&](Index k) {
            const auto [a, b] = candidates_[unknown_[k]];
            tested_[unknown_[k]] = is_close_[k] ? overlap_of_close(a, b, reach_of(a, b)) : BoxOverlap();
        },
        512);
}

const std::vector<BoxPair>& LatticeBoxes::find_overlaps(Real deeper)
{
    recall(false);
    look(false);
    return list_overlaps(deeper);
}

const std::vector<BoxPair>& LatticeBoxes::find_near()
{
    recall(true);
    look(true);
    tested_epoch_ = epoch_;
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

const std::vector<BoxPair>& LatticeBoxes::find_overlaps_again(const Vec3s& x, const std::vector<std::uint8_t>& moved,
                                                              Real deeper)
{
    assert(moved.size() == x.size() && tested_.size() == candidates_.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        if (moved[i]) nodes_at_[i] = x[i];
    ++epoch_;
    room_checked_ = false;
    stale_.resize(cells_.size());
    parallel_for(
        count(awake_), [&](Index i) { stale_[awake_[i]] = update_moved(awake_[i], x, moved); }, 2048);
    unknown_.clear();
    for (Index i = 0; i < count(candidates_); ++i)
        if (stale_[candidates_[i][0]] | stale_[candidates_[i][1]]) unknown_.push_back(i);
    look(false);
    return list_overlaps(deeper);
}

const std::vector<BoxPair>& LatticeBoxes::list_overlaps(Real deeper)
{
    tested_epoch_ = epoch_;
    overlaps_.clear();
    overlap_count_ = 0;
    deepest_overlap_ = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const Real depth = tested_[i].depth;
        if (!(depth > 0)) continue;
        const auto [a, b] = candidates_[i];
        const Real length = side(a, b);
        ++overlap_count_;
        deepest_overlap_ = std::max(deepest_overlap_, depth / length);
        if (depth > deeper * length) overlaps_.push_back({a, b, tested_[i]});
    }
    return overlaps_;
}

Index LatticeBoxes::inverted_count() const
{
    Index n = 0;
    for (const Index i : involved_) n += has_planes_[i] && boxes_[i].inverted;
    return n;
}

} // namespace pliant
