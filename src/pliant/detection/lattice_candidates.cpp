// Which boxes of lattices may come to overlap: pairs that are near are remembered, and sifted in each search.

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/lattice_boxes.hpp"

#include <algorithm>

namespace pliant {
namespace {

constexpr Real room_to_go = 0.25; ///< in cells, for all together, before boxes are asked again whether they are watched
constexpr int most_searches = 64; ///< with the same pairs, after which less room may do

/// How far the nodes of a cell's box go in a second.
BoxNodes velocities_of(const BoxCell& cell, const BlockVelocities& v)
{
    return box_nodes(gather_nodes(cell.block, [&](Index b) { return v[b]; }), cell.low, cell.high);
}

/// A box whose corners went some way, rounded outward.
Box grown(const Box& box, const Vec3& low, const Vec3& high)
{
    return Box::between(Vec3(box.lo(0), box.lo(1), box.lo(2)) + low, Vec3(box.hi(0), box.hi(1), box.hi(2)) + high);
}

Real radius(const CellBox& box)
{
    return std::sqrt((box.nodes.rowwise() - box.centre.transpose().array()).square().rowwise().sum().maxCoeff());
}

} // namespace

void LatticeBoxes::check_room()
{
    room_checked_ = true;
    marks_.assign(nodes_at_.size(), 0);
    any_marked_ = near_.known() && near_.mark_gone(nodes_at_, marks_);
    if (near_.known()) watch_again();
    if (!any_marked_) return;
    if (list_loose()) {
        for (const Index i : loose_) wake(i);
        list_awake();
    } else {
        near_.forget();
        wake_all();
    }
}

bool LatticeBoxes::list_loose()
{
    for (const Index i : loose_) is_loose_[i] = 0;
    loose_.clear();
    if (!any_marked_) return true;
    const std::size_t most = cells_.size() / loose_part + 16;
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

void LatticeBoxes::set_common_way()
{
    common_way_ = Vec3::Zero();
    if (!velocity_ || velocity_->empty()) return;
    const Real4 sum = parallel_sum(count(*velocity_), Real4(), [&](Index i) { return (*velocity_)[i]; });
    alignas(32) Real numbers[4];
    sum.store(numbers);
    common_way_ = dt_ / static_cast<Real>(velocity_->size()) * Vec3(numbers[0], numbers[1], numbers[2]);
}

void LatticeBoxes::set_way(Index i)
{
    const Vec3 around = Vec3::Constant(margin_ / 2);
    Way& way = way_[i];
    if (velocity_) {
        const BoxNodes nodes = dt_ * velocities_of(cells_[i], *velocity_);
        for (int k = 0; k < 3; ++k) {
            const Real4 p = Real4::load(nodes.col(k).data()), q = Real4::load(nodes.col(k).data() + 4);
            way.least[k] = least(min(p, q));
            way.most[k] = largest(max(p, q));
        }
    } else {
        way = {};
    }
    aligned_[i] = grown(bounds_[i], (way.least - common_way_).cwiseMin(0) - around, // also where it comes from
                        (way.most - common_way_).cwiseMax(0) + around);
}

/// Whether what is known of pairs that are near serves, but for few boxes; these are listed.
bool LatticeBoxes::room_is_enough()
{
    if (velocity_ && NearBoxes::mark_fast(*velocity_, common_way_ / dt_, dt_, room_, marks_)) any_marked_ = true;
    return list_loose();
}

/// Pairs that were known for few searches need more room, with more pairs to test; those known for many need less.
void LatticeBoxes::choose_room()
{
    constexpr Real least = 0.03, most = 0.15; // in cells; with more, neighbours of neighbours may come close
    if (searches_ < 8) room_.place *= 1.5;
    if (searches_ > 32) room_.place /= 1.5;
    room_.place = std::clamp(room_.place, least * smallest_side_, most * smallest_side_);
    searches_ = 0;
}

void LatticeBoxes::find_near_pairs()
{
    const Vec3 around = Vec3::Constant(margin_ / 2 + room_.both());
    parallel_for(
        size(), [&](Index i) { enlarged_[i] = grown(bounds_[i], -around, around); }, 1024);
    near_.find(enlarged_, hash_kin_, nodes_at_, room_, mean_side_,
               [&](Index a, Index b) { return may_meet(a, b) && !stay_apart(a, b); });
    if (!watched_) return;
    watched_went_ = Vec3::Zero();
    parallel_for(
        size(), [&](Index i) { is_awake_[i] = is_watched(i); }, 1024);
    for (const auto& [a, b] : near_.pairs()) is_awake_[a] = is_awake_[b] = 1;
    for (const Index i : loose_) is_awake_[i] = 1;
    awake_.clear();
}

bool LatticeBoxes::is_watched(Index i) const
{
    const Vec3 around = Vec3::Constant(room_to_go * smallest_side_);
    return watched_(i, grown(enlarged_[i], watched_went_ - around, watched_went_ + around));
}

void LatticeBoxes::watch_again()
{
    if (!watched_ || (near_.went() - watched_went_).norm() <= room_to_go * smallest_side_) return;
    watched_went_ = near_.went();
    for (Index i = 0; i < size(); ++i)
        if (!is_awake_[i] && is_watched(i)) wake(i);
    list_awake();
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
                if (!(is_loose_[a] | is_loose_[b]) && come_close(a, b)) chunks_[c].push_back(pairs[k]);
            }
        },
        1);
    for (const auto& chunk : chunks_) candidates_.insert(candidates_.end(), chunk.begin(), chunk.end());
}

void LatticeBoxes::collect_loose()
{
    if (loose_.empty()) return;
    const std::ptrdiff_t others = count(candidates_);
    loose_lanes_.resize(count(loose_));
    const auto add = [&](Index a, Index b) {
        const std::array<Index, 2> pair = {std::min(a, b), std::max(a, b)};
        if (come_close(pair[0], pair[1])) candidates_.push_back(pair);
    };
    for (std::size_t k = 0; k < loose_.size(); ++k) {
        const Index a = loose_[k];
        near_.visit(grown(aligned_[a], -near_.went(), -near_.went()), [&](Index b) {
            if (is_loose_[b] || !may_meet(a, b)) return;
            if (!is_awake_[b]) {
                wake(b);
                set_way(b);
            }
            add(a, b);
        });
    }
    for (std::size_t k = 0; k < loose_.size(); ++k) loose_lanes_.set(static_cast<Index>(k), aligned_[loose_[k]]);
    for (Index k = 0; k < count(loose_); ++k)
        for (Index l = k + 1; l < count(loose_); l += BoxLanes::width) {
            unsigned meet = loose_lanes_.overlaps(l, std::min(count(loose_) - l, BoxLanes::width), aligned_[loose_[k]]);
            for (; meet != 0; meet &= meet - 1) {
                const Index b = loose_[l + std::countr_zero(meet)];
                if (may_meet(loose_[k], b)) add(loose_[k], b);
            }
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
        known_epoch_ = tested_epoch_;
    }
    tested_.clear();
    tested_epoch_ = 0;
    candidates_.clear();
    set_common_way();
    if (++searches_ > most_searches || !near_.known() || near_margin_ != margin_ || !room_is_enough()) {
        wake_all();
        std::fill(marks_.begin(), marks_.end(), std::uint8_t(0));
        any_marked_ = false;
        near_margin_ = margin_;
        choose_room();
        if (room_is_enough())
            find_near_pairs();
        else
            near_.forget();
        list_awake();
    }
    parallel_for(
        count(awake_), [&](Index i) { set_way(awake_[i]); }, 1024);
    if (near_.known()) {
        collect_near();
        collect_loose();
    } else { // so much moves fast that there is nothing to remember
        hash_.update(aligned_, mean_side_, hash_kin_);
        hash_.collect([&](Index a, Index b) { return may_meet(a, b) && come_close(a, b); }, candidates_);
    }
    assert(strictly_sorted(candidates_));
    stale_.assign(cells_.size(), 0);
    for (const auto& [a, b] : candidates_) stale_[a] = stale_[b] = 1;
    involved_.clear();
    for (const Index i : awake_)
        if (stale_[i]) involved_.push_back(i);
    return candidates_;
}

Vec3 LatticeBoxes::way_between(Index a, Index b) const
{
    const Way &p = way_[a], &q = way_[b];
    return (p.most - q.least).cwiseMax(q.most - p.least).cwiseMax(0);
}

bool LatticeBoxes::come_close(Index a, Index b) const
{
    return overlap(aligned_[a], aligned_[b]) &&
           !(options_.planes == BoxPlanes::safe &&
             gap_along_centres(boxes_[a], boxes_[b]).more_than(margin_ + way_between(a, b).norm()));
}

/// Nodes go at most e from where they are, besides what all do, and centres too. With c from centre to centre, u = c /
/// |c| turns by at most d = 2 |c' - c| / (|c'| + |c|) <= 2 e / (|c| - e). A way from a node of one box to a node of the
/// other is c and at most their radii R and S beside it; unit vectors differ by d orthogonally to both but for d^2 / 2.
/// So what lies between the hulls along u becomes less by at most 2 e + d (R + S) + d^2 |c| / 2.
bool LatticeBoxes::stay_apart(Index a, Index b) const
{
    if (options_.planes != BoxPlanes::safe) return false;
    const CellBox &p = boxes_[a], &q = boxes_[b];
    const CentreGap gap = gap_along_centres(p, q);
    constexpr Real more = 1.05; // for boxes that were made thicker
    const Real e = more * room_.place, c = gap.centres;
    const Real other = 2 * e + margin_ + 2 * more * std::sqrt(3.0) * room_.way;
    if (!(c > 4 * e) || !gap.more_than(other)) return false;
    // Nodes have gone up to e from the centre, which has gone the other way.
    const Real radii = radius(p) + radius(q) + 4 * e, turn = 2 * e / (c - e);
    return gap.more_than(1.01 * (other + turn * radii + turn * turn * (c + 2 * e) / 2));
}

} // namespace pliant
