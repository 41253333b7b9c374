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
      way_(cells_.size()), aligned_(cells_.size()), enlarged_(cells_.size()), is_awake_(cells_.size(), 1),
      is_loose_(cells_.size(), 0)
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
    room_ = {0.1 * smallest_side_, 0.05 * smallest_side_};
}

void LatticeBoxes::set_nodes_of(Index i)
{
    set_nodes(boxes_[i], box_nodes(gather(cells_[i].block, nodes_at_), cells_[i].low, cells_[i].high));
}

void LatticeBoxes::update(const Vec3s& x)
{
    assert(all_finite(x) && std::ranges::all_of(cells_, [&](const BoxCell& c) {
               return std::ranges::all_of(c.block, [&](Index b) { return b >= 0 && b < count(x); });
           }));
    if (nodes_at_ == x) return;
    nodes_at_ = x;
    marks_.assign(x.size(), 0);
    any_marked_ = near_.known() && near_.mark_gone(x, marks_);
    if (any_marked_) {
        if (list_loose())
            for (const Index i : loose_) wake(i);
        else
            near_.forget();
    }
    if (!near_.known()) wake_all();
    list_awake();
    parallel_for(
        count(awake_), [&](Index i) { set_nodes_of(awake_[i]); }, 512);
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

void LatticeBoxes::wake(Index i)
{
    if (is_awake_[i]) return;
    is_awake_[i] = 1;
    awake_.clear(); // until it is listed
}

void LatticeBoxes::keep_awake(Index i)
{
    if (is_awake_[i]) return;
    wake(i);
    nodes_at_.clear();
}

void LatticeBoxes::wake_all()
{
    if (count(awake_) == size()) return;
    std::fill(is_awake_.begin(), is_awake_.end(), std::uint8_t(1));
    awake_.clear();
}

void LatticeBoxes::list_awake()
{
    if (!awake_.empty()) return;
    for (Index i = 0; i < size(); ++i)
        if (is_awake_[i]) awake_.push_back(i);
}

bool LatticeBoxes::list_loose()
{
    for (const Index i : loose_) is_loose_[i] = 0;
    loose_.clear();
    if (!any_marked_) return true;
    const std::size_t most = cells_.size() / loose_part + 8;
    for (Index i = 0; i < size() && loose_.size() <= most; ++i)
        if (has_moved(i, marks_)) {
            loose_.push_back(i);
            is_loose_[i] = 1;
        }
    return loose_.size() <= most;
}

const std::vector<std::array<Index, 2>>& LatticeBoxes::find_candidates(Real margin)
{
    velocity_ = nullptr;
    margin_ = margin;
    return collect_candidates();
}

const std::vector<std::array<Index, 2>>& LatticeBoxes::find_candidates(Real margin, const BlockVelocities& velocity,
                                                                       Real dt)
{
    velocity_ = &velocity;
    dt_ = dt;
    margin_ = margin;
    return collect_candidates();
}

void LatticeBoxes::set_way(Index i)
{
    const Vec3 around = Vec3::Constant(margin_ / 2);
    const BoxCell& c = cells_[i];
    Way& way = way_[i];
    if (velocity_) {
        way.nodes = dt_ * box_nodes(gather(c.block, *velocity_), c.low, c.high);
        way.least = way.nodes.colwise().minCoeff().transpose();
        way.most = way.nodes.colwise().maxCoeff().transpose();
    } else {
        way = {};
    }
    aligned_[i] = Box();
    aligned_[i].add(boxes_[i].low + way.least.cwiseMin(0) - around); // also where it comes from
    aligned_[i].add(boxes_[i].high + way.most.cwiseMax(0) + around);
}

/// Whether what is known of pairs that are near serves, but for few boxes; these are listed.
bool LatticeBoxes::room_is_enough()
{
    if (velocity_ && NearBoxes::mark_fast(*velocity_, dt_, room_, marks_)) any_marked_ = true;
    return list_loose();
}

void LatticeBoxes::find_near_pairs()
{
    const Vec3 around = Vec3::Constant(margin_ / 2 + room_.both());
    parallel_for(
        size(),
        [&](Index i) {
            enlarged_[i] = Box();
            enlarged_[i].add(boxes_[i].low - around);
            enlarged_[i].add(boxes_[i].high + around);
        },
        1024);
    near_.find(enlarged_, nodes_at_, room_, mean_side_, [&](Index a, Index b) { return may_meet(a, b); });
    if (!watched_) return;
    parallel_for(
        size(), [&](Index i) { is_awake_[i] = watched_(i, enlarged_[i]); }, 1024);
    for (const auto& [a, b] : near_.pairs()) is_awake_[a] = is_awake_[b] = 1;
    for (const Index i : loose_) is_awake_[i] = 1;
    awake_.clear();
}

void LatticeBoxes::collect_near()
{
    const auto& pairs = near_.pairs();
    constexpr Index pairs_a_chunk = 4096;
    const Index n = count(pairs), chunks = (n + pairs_a_chunk - 1) / pairs_a_chunk;
    chunks_.resize(static_cast<std::size_t>(chunks));
    parallel_for(
        chunks,
        [&](Index c) {
            chunks_[c].clear();
            for (Index k = c * pairs_a_chunk; k < std::min(n, (c + 1) * pairs_a_chunk); ++k) {
                const auto [a, b] = pairs[k];
                if (!(is_loose_[a] | is_loose_[b]) && overlap(aligned_[a], aligned_[b])) chunks_[c].push_back(pairs[k]);
            }
        },
        1);
    for (const auto& chunk : chunks_) candidates_.insert(candidates_.end(), chunk.begin(), chunk.end());
}

void LatticeBoxes::collect_loose()
{
    if (loose_.empty()) return;
    const std::ptrdiff_t others = count(candidates_);
    const auto add = [&](Index a, Index b) {
        if (overlap(aligned_[a], aligned_[b])) candidates_.push_back({std::min(a, b), std::max(a, b)});
    };
    for (std::size_t k = 0; k < loose_.size(); ++k) {
        const Index a = loose_[k];
        near_.visit(aligned_[a], [&](Index b) {
            if (is_loose_[b] || !may_meet(a, b)) return;
            if (!is_awake_[b]) {
                wake(b);
                set_nodes_of(b);
                set_way(b);
            }
            add(a, b);
        });
        for (std::size_t l = k + 1; l < loose_.size(); ++l)
            if (overlap(aligned_[a], aligned_[loose_[l]]) && may_meet(a, loose_[l])) add(a, loose_[l]);
    }
    std::sort(candidates_.begin() + others, candidates_.end());
    std::inplace_merge(candidates_.begin(), candidates_.begin() + others, candidates_.end());
    list_awake();
}

const std::vector<std::array<Index, 2>>& LatticeBoxes::collect_candidates()
{
    assert(!nodes_at_.empty() || cells_.empty());
    if (tested_.size() == candidates_.size()) {
        known_.swap(candidates_);
        known_overlap_.swap(tested_);
        known_at_.swap(tested_at_);
    }
    tested_.clear();
    tested_at_.clear();
    candidates_.clear();
    if (!near_.known() || near_margin_ != margin_ || !room_is_enough()) {
        parallel_for(
            size(),
            [&](Index i) {
                if (!is_awake_[i]) set_nodes_of(i);
            },
            1024);
        wake_all();
        std::fill(marks_.begin(), marks_.end(), std::uint8_t(0));
        any_marked_ = false;
        near_margin_ = margin_;
        if (room_is_enough())
            find_near_pairs();
        else
            near_.forget();
        list_awake();
    }
    parallel_for(
        count(awake_), [&](Index i) { set_way(awake_[i]); }, 512);
    if (near_.known()) {
        collect_near();
        collect_loose();
    } else { // so much moves fast that there is nothing to remember
        hash_.update(aligned_, mean_side_);
        hash_.collect([&](Index a, Index b) { return may_meet(a, b); }, candidates_);
    }
    assert(strictly_sorted(candidates_));
    stale_.assign(cells_.size(), 0);
    for (const auto& [a, b] : candidates_) stale_[a] = stale_[b] = 1;
    involved_.clear();
    for (const Index i : awake_)
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
    nodes_at_.clear(); // some boxes are elsewhere now
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
