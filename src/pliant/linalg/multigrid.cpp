#include "pliant/linalg/multigrid.hpp"

#include "pliant/linalg/aggregates.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pliant {
namespace {

constexpr Index coarsest = 64;      ///< a component of so few blocks has no coarser level
constexpr Index wide_region = 1250; ///< chunks from which a coarse level is visited twice: constants lag there
constexpr float omega = 0.65f;      ///< of Jacobi's smoother
constexpr float last_omega = 0.7f;
constexpr int last_sweeps = 7; ///< on the coarsest level, in place of a factor; odd

constexpr int upper[6] = {0, 3, 6, 4, 7, 8}; ///< of a column-major block: xx, xy, xz, yy, yz, zz

LanePattern finest_pattern(const BlockPattern& pattern, const LaneOrder& order)
{
    LanePattern lanes;
    for (const Index block : order.block_of_lane) {
        if (block != none)
            for (Index s = pattern.row_begin[block]; s < pattern.row_begin[block + 1]; ++s) {
                lanes.column.push_back(order.lane_of_block[pattern.column[s]]);
                lanes.slot.push_back(s);
            }
        lanes.row_begin.push_back(count(lanes.column));
    }
    return lanes;
}

/// Slot of the pattern for each lane's diagonal block.
std::vector<Index> diagonal_slots(const LanePattern& pattern)
{
    std::vector<Index> slots(static_cast<std::size_t>(pattern.lanes()), none);
    for (Index i = 0; i < pattern.lanes(); ++i)
        for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s)
            if (pattern.column[s] == i) slots[i] = s;
    return slots;
}

} // namespace

Multigrid::Multigrid(const BlockPattern& pattern, const std::vector<Index>& component, const std::vector<char>& held,
                     const Vec3s& rest)
{
    assert(count(component) == pattern.rows() && held.size() == component.size() && rest.size() == component.size());
    const Index components = component.empty() ? 0 : *std::max_element(component.begin(), component.end()) + 1;
    order_ = make_lane_order(component, components);
    if (order_.lanes() == 0) return;
    Level finest;
    finest.pattern = finest_pattern(pattern, order_);
    finest.chunk_begin = order_.chunk_begin;
    std::vector<char> free(static_cast<std::size_t>(order_.lanes()), 0);
    Vec3s position(free.size(), Vec3::Zero());
    held_.assign(free.size(), 1);
    for (Index lane = 0; lane < order_.lanes(); ++lane) {
        const Index block = order_.block_of_lane[lane];
        if (block == none) continue;
        position[lane] = rest[block];
        held_[lane] = held[block];
        free[lane] = !held[block];
    }
    levels_.push_back(std::move(finest));
    for (;;) {
        Level& fine = levels_.back();
        Aggregates groups = aggregate_by_four(fine.pattern, fine.chunk_begin, free, position, coarsest);
        fine.parent = std::move(groups.parent);
        if (groups.chunk_begin.back() == 0) break;
        Level coarse;
        coarse.chunk_begin = std::move(groups.chunk_begin);
        coarse.pattern =
            coarse_pattern(fine.pattern, fine.parent, Float8::width * coarse.chunk_begin.back(), fine.coarse_slot);
        children(fine.parent, coarse.pattern.lanes(), fine.child_begin, fine.child);
        coarse.blocks.assign(9 * coarse.pattern.column.size(), 0.0f);
        position = std::move(groups.position);
        free = std::move(groups.free);
        levels_.push_back(std::move(coarse));
    }
    for (Level& level : levels_) {
        level.A = LaneMatrix(level.pattern, level.chunk_begin);
        level.diagonal = diagonal_slots(level.pattern);
        const Index lanes = level.pattern.lanes();
        level.D = level.C = level.inverse = LaneBlocks(lanes);
        level.had_added.assign(static_cast<std::size_t>(lanes / Float8::width), 0);
        level.x = level.y = level.b = level.first = level.left = LaneVectors(lanes);
    }
    metric_ = levels_.front().inverse;
}

Multigrid::Region Multigrid::region(std::span<const Index> components) const
{
    Region region;
    region.levels.resize(levels_.size());
    for (std::size_t l = 0; l < levels_.size(); ++l)
        for (const Index c : components) {
            const auto add = [&](std::vector<Index>& chunks) {
                for (Index k = levels_[l].chunk_begin[c]; k < levels_[l].chunk_begin[c + 1]; ++k) chunks.push_back(k);
            };
            const bool goes_on =
                l + 1 < levels_.size() && levels_[l + 1].chunk_begin[c] < levels_[l + 1].chunk_begin[c + 1];
            add(region.levels[l].all);
            add(goes_on ? region.levels[l].on : region.levels[l].last);
        }
    return region;
}

template <class Number>
void Multigrid::update_coarse(const Number* blocks, Level& fine, Level& coarse, const Region::Level& region)
{
    for_chunks(region.all, [&](Index first) {
        for (Index lane = first; lane < first + Float8::width; ++lane) {
            const Index begin = coarse.pattern.row_begin[lane], end = coarse.pattern.row_begin[lane + 1];
            std::fill(coarse.blocks.begin() + 9 * std::ptrdiff_t(begin),
                      coarse.blocks.begin() + 9 * std::ptrdiff_t(end), 0.0f);
            for (Index k = fine.child_begin[lane]; k < fine.child_begin[lane + 1]; ++k) {
                const Index i = fine.child[k];
                for (Index s = fine.pattern.row_begin[i]; s < fine.pattern.row_begin[i + 1]; ++s) {
                    if (fine.coarse_slot[s] == none) continue;
                    const Number* from = blocks + 9 * std::size_t(fine.pattern.slot[s]);
                    float* to = coarse.blocks.data() + 9 * std::size_t(fine.coarse_slot[s]);
                    for (int e = 0; e < 9; ++e) to[e] += static_cast<float>(from[e]);
                }
            }
        }
    });
}

void Multigrid::take_diagonal(Index l, const BlockMatrix* A, const Region& region)
{
    Level& level = levels_[l];
    for_chunks(region.levels[l].all, [&](Index first) {
        for (Index lane = first; lane < first + Float8::width; ++lane) {
            const Index s = level.diagonal[lane];
            if (s == none || (l == 0 && held_[lane])) continue;
            for (int e = 0; e < 6; ++e)
                level.D.element(lane, e) =
                    A ? static_cast<float>(A->data()[9 * std::size_t(level.pattern.slot[s]) + upper[e]])
                      : level.blocks[9 * std::size_t(s) + upper[e]];
        }
        std::fill(level.C.chunk(first), level.C.chunk(first) + LaneBlocks::floats, 0.0f);
        level.had_added[first / Float8::width] = 0;
        invert(level, first);
    });
}

void Multigrid::update(const BlockMatrix& A, const Region& region)
{
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        Level& level = levels_[l];
        if (l == 0)
            level.A.load(A.data(), region.levels[l].all);
        else {
            if (l == 1)
                update_coarse(A.data(), levels_[0], level, region.levels[l]);
            else
                update_coarse(levels_[l - 1].blocks.data(), levels_[l - 1], level, region.levels[l]);
            level.A.load(level.blocks.data(), region.levels[l].all);
        }
        take_diagonal(Index(l), l == 0 ? &A : nullptr, region);
    }
    const Level& finest = levels_.front();
    for_chunks(region.finest(), [&](Index lane) {
        std::copy(finest.inverse.chunk(lane), finest.inverse.chunk(lane) + LaneBlocks::floats, metric_.chunk(lane));
    });
}

/// (D + C + couplings)^-1 of eight lanes by cofactors; 0 where D is 0: padding and held blocks.
void Multigrid::invert(Level& level, Index lane, std::span<const Coupling> couplings) const
{
    const float *d = level.D.chunk(lane), *c = level.C.chunk(lane);
    float* out = level.inverse.chunk(lane);
    float coupled[LaneBlocks::floats] = {};
    for (const Coupling& k : couplings)
        for (int e = 0; e < 6; ++e) coupled[8 * e + k.a - lane] += k.K[e];
    const auto sum = [&](int e) {
        return Float8::load(d + 8 * e) + Float8::load(c + 8 * e) + Float8::load(coupled + 8 * e);
    };
    const Float8 tiny = 1e-30f;
    Float8 xx = sum(0), xy = sum(1), xz = sum(2), yy = sum(3), yz = sum(4), zz = sum(5);
    // Scaled, so that products of three neither underflow nor overflow for grams and tons.
    const Float8 scale = Float8(1) / max(max(xx, yy), max(zz, tiny));
    xx = xx * scale, xy = xy * scale, xz = xz * scale, yy = yy * scale, yz = yz * scale, zz = zz * scale;
    const Float8 cxx = yy * zz - yz * yz, cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy;
    const Float8 det = xx * cxx + xy * cxy + xz * cxz;
    // Nothing moves padding and held blocks, whatever a solver adds there.
    const Float8 free = Float8::load(d) + Float8::load(d + 24) + Float8::load(d + 40);
    const Float8 regular = where_greater(det, Float8(1e-20f), scale / max(det, Float8(1e-20f)));
    const Float8 factor = where_greater(free, Float8(0), regular);
    (cxx * factor).store(out);
    (cxy * factor).store(out + 8);
    (cxz * factor).store(out + 16);
    ((xx * zz - xz * xz) * factor).store(out + 24);
    ((xy * xz - xx * yz) * factor).store(out + 32);
    ((xx * yy - xy * xy) * factor).store(out + 40);
}

namespace {

/// Those of one chunk, seen from its lanes.
std::span<const Multigrid::Coupling> couplings_of(const Multigrid::Region::Level& level, Index chunk)
{
    if (level.coupling_begin.empty()) return {};
    const Index begin = level.coupling_begin[chunk - level.first_chunk];
    return std::span(level.couplings).subspan(begin, level.coupling_begin[chunk - level.first_chunk + 1] - begin);
}

/// Sorted from a to b, those of the same two lanes added up.
void merge(std::vector<Multigrid::Coupling>& couplings)
{
    std::stable_sort(couplings.begin(), couplings.end(),
                     [](const auto& k, const auto& l) { return std::pair(k.a, k.b) < std::pair(l.a, l.b); });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < couplings.size(); ++i) {
        if (kept > 0 && couplings[kept - 1].a == couplings[i].a && couplings[kept - 1].b == couplings[i].b)
            for (int e = 0; e < 6; ++e) couplings[kept - 1].K[e] += couplings[i].K[e];
        else
            couplings[kept++] = couplings[i];
    }
    couplings.resize(kept);
}

} // namespace

/// On a coarse level those remain whose ends do not move together there.
void Multigrid::set_couplings(Region& region, std::vector<Coupling> couplings)
{
    std::vector<Coupling> both;
    for (const Coupling& k : couplings) { // one that leads to a held lane is like one added to the diagonal
        if (held_[k.a] || held_[k.b]) {
            for (int e = 0; e < 6; ++e) added().element(held_[k.a] ? k.b : k.a, e) += k.K[e];
            continue;
        }
        both.push_back(k);
        both.push_back({k.b, k.a, k.K});
    }
    merge(both);
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        Region::Level& level = region.levels[l];
        if (l > 0) {
            for (Coupling& k : both) k = {levels_[l - 1].parent[k.a], levels_[l - 1].parent[k.b], k.K};
            std::erase_if(both, [](const Coupling& k) { return k.a == k.b || k.a == none || k.b == none; });
            merge(both);
        }
        level.couplings = both;
        level.coupling_begin.clear();
        if (both.empty()) continue;
        const auto [first, last] = std::minmax_element(level.all.begin(), level.all.end());
        level.first_chunk = *first;
        level.coupling_begin.assign(static_cast<std::size_t>(*last - *first + 2), 0);
        for (const Coupling& k : both) ++level.coupling_begin[k.a / Float8::width - *first + 1];
        std::partial_sum(level.coupling_begin.begin(), level.coupling_begin.end(), level.coupling_begin.begin());
    }
}

void Multigrid::use_added(Region& region, std::vector<Coupling> couplings)
{
    set_couplings(region, std::move(couplings));
    const auto has_added = [](const Level& level, Index lane) {
        const float* c = level.C.chunk(lane);
        return std::any_of(c, c + LaneBlocks::floats, [](float x) { return x != 0; });
    };
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        Level& level = levels_[l];
        for_chunks(region.levels[l].all, [&](Index lane) {
            if (l > 0) {
                const Level& fine = levels_[l - 1];
                for (Index i = lane; i < lane + Float8::width; ++i) {
                    std::array<float, 6> sum = {};
                    for (Index k = fine.child_begin[i]; k < fine.child_begin[i + 1]; ++k) {
                        if (!fine.had_added[fine.child[k] / Float8::width]) continue; // most, where little touches
                        for (int e = 0; e < 6; ++e) sum[e] += fine.C.element(fine.child[k], e);
                    }
                    for (int e = 0; e < 6; ++e) level.C.element(i, e) = sum[e];
                }
            }
            char& had = level.had_added[lane / Float8::width];
            const std::span<const Coupling> coupled = couplings_of(region.levels[l], lane / Float8::width);
            const bool has = has_added(level, lane) || !coupled.empty();
            if (has || had) invert(level, lane, coupled);
            had = has;
        });
    }
}

Float8x3 Multigrid::residual(std::size_t l, const Region& region, Index lane, const LaneVectors& b,
                             const LaneVectors& x) const
{
    const Level& level = levels_[l];
    Float8x3 r = b.at(lane) - level.A.product(lane, x);
    if (!level.had_added[lane / Float8::width]) return r;
    r = r - level.C.multiply(lane, x.at(lane));
    const std::span<const Coupling> couplings = couplings_of(region.levels[l], lane / Float8::width);
    if (couplings.empty()) return r;
    float fx[8] = {}, fy[8] = {}, fz[8] = {};
    for (const Coupling& k : couplings) {
        const Eigen::Vector3f d = x.get(k.a) - x.get(k.b);
        const Index i = k.a - lane;
        fx[i] += k.K[0] * d[0] + k.K[1] * d[1] + k.K[2] * d[2];
        fy[i] += k.K[1] * d[0] + k.K[3] * d[1] + k.K[4] * d[2];
        fz[i] += k.K[2] * d[0] + k.K[4] * d[1] + k.K[5] * d[2];
    }
    return r - Float8x3{Float8::load(fx), Float8::load(fy), Float8::load(fz)};
}

/// y = x + omega (D + C)^-1 (b - (A + C) x), with couplings in C.
void Multigrid::smooth(std::size_t l, const Region& region, Chunks chunks, float weight, const LaneVectors& b,
                       const LaneVectors& x, LaneVectors& y) const
{
    const Level& level = levels_[l];
    for_chunks(chunks, [&](Index lane) {
        y.set(lane, x.at(lane) + Float8(weight) * level.inverse.multiply(lane, residual(l, region, lane, b, x)));
    });
}

const LaneVectors& Multigrid::descend(std::size_t l, const Region& region, const LaneVectors& b)
{
    Level& level = levels_[l];
    const Region::Level& chunks = region.levels[l];
    // Components that end here.
    for_vectors(chunks.last,
                [&](Index lane) { level.x.set(lane, Float8(last_omega) * level.inverse.multiply(lane, b.at(lane))); });
    for (int pair = 0; pair < last_sweeps / 2; ++pair) {
        smooth(l, region, chunks.last, last_omega, b, level.x, level.y);
        smooth(l, region, chunks.last, last_omega, b, level.y, level.x);
    }
    if (chunks.on.empty()) return level.x;
    for_vectors(chunks.on,
                [&](Index lane) { level.x.set(lane, Float8(omega) * level.inverse.multiply(lane, b.at(lane))); });
    for_chunks(chunks.on, [&](Index lane) { level.y.set(lane, residual(l, region, lane, b, level.x)); });
    Level& coarse = levels_[l + 1];
    for_vectors(region.levels[l + 1].all, [&](Index first) {
        for (Index i = first; i < first + Float8::width; ++i) {
            Eigen::Vector3f sum = Eigen::Vector3f::Zero();
            for (Index k = level.child_begin[i]; k < level.child_begin[i + 1]; ++k) sum += level.y.get(level.child[k]);
            coarse.b.put(i, sum);
        }
    });
    const LaneVectors& correction = cycle(l + 1, region, coarse.b);
    for_vectors(chunks.on, [&](Index first) {
        for (Index i = first; i < first + Float8::width; ++i)
            if (level.parent[i] != none) level.x.put(i, level.x.get(i) + correction.get(level.parent[i]));
    });
    smooth(l, region, chunks.on, omega, b, level.x, level.y);
    for_vectors(chunks.last, [&](Index lane) { level.y.set(lane, level.x.at(lane)); });
    return level.y;
}

const LaneVectors& Multigrid::cycle(std::size_t l, const Region& region, const LaneVectors& b)
{
    const bool twice = l > 0 && !region.levels[l].on.empty() && count(region.finest()) > wide_region;
    if (!twice) return descend(l, region, b);
    Level& level = levels_[l];
    const LaneVectors& once = descend(l, region, b);
    const Chunks all = region.levels[l].all;
    for_vectors(all, [&](Index lane) { level.first.set(lane, once.at(lane)); });
    for_chunks(all, [&](Index lane) { level.left.set(lane, residual(l, region, lane, b, level.first)); });
    const LaneVectors& again = descend(l, region, level.left);
    for_vectors(all, [&](Index lane) { level.first.set(lane, level.first.at(lane) + again.at(lane)); });
    return level.first;
}

const LaneVectors& Multigrid::cycle(const Region& region, const LaneVectors& b)
{
    return cycle(0, region, b);
}

const LaneVectors& Multigrid::diagonal_step(const Region& region, const LaneVectors& b)
{
    Level& level = levels_.front();
    for_vectors(region.finest(), [&](Index lane) { level.x.set(lane, level.inverse.multiply(lane, b.at(lane))); });
    return level.x;
}

} // namespace pliant
