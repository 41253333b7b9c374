#include "pliant/contact/row_sweep.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <numeric>
#include <span>

namespace pliant {
namespace {

/// What every row touches, each unit once, in ascending order.
class UnitsOfRows {
public:
    UnitsOfRows(const ContactProblem& p, const std::vector<Index>& unit)
    {
        begin_.assign(1, 0);
        for (const Row& r : p.rows) {
            for (Index k = r.entry_begin; k < r.entry_end; ++k) units_.push_back(unit[p.entries[k].block]);
            for (Index k = r.arm_begin; k < r.arm_end; ++k) units_.push_back(unit[p.arms[k].block]);
            const auto first = units_.begin() + begin_.back();
            std::sort(first, units_.end());
            units_.erase(std::unique(first, units_.end()), units_.end());
            begin_.push_back(count(units_));
        }
    }
    std::span<const Index> operator[](Index row) const
    {
        return {units_.data() + begin_[row], units_.data() + begin_[row + 1]};
    }

private:
    std::vector<Index> units_, begin_; ///< begin_: per row + 1, range in units_
};

/// Order of rows by what they touch: few units first.
std::strong_ordering compare(std::span<const Index> a, std::span<const Index> b)
{
    if (a.size() != b.size()) return a.size() <=> b.size();
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

Vec4 padded(const Vec3& v)
{
    return {v[0], v[1], v[2], 0};
}

Mat43 padded(const Mat3& m)
{
    Mat43 p = Mat43::Zero();
    p.topRows<3>() = m;
    return p;
}

inline __attribute__((always_inline)) Vec4 times(const Mat43& m, const Vec4& v)
{
    return m.col(0) * v[0] + m.col(1) * v[1] + m.col(2) * v[2];
}

/// Where a part's control points begin in z_: one number of room after each part, for wide loads of its last.
std::size_t z_begin(const CoarseSpace& coarse, Index part)
{
    return 3 * static_cast<std::size_t>(coarse.control_begin(part)) + static_cast<std::size_t>(part);
}

inline __attribute__((always_inline)) Vec4 cross(const Vec4& a, const Vec3& b)
{
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}

} // namespace

// What visits at the same time may not share: a body with coarse motions as a whole, of any other the blocks next to
// each other. Named by its first block.
std::vector<Index> RowSweep::make_units(const ContactSystem& system, const std::vector<Index>& component)
{
    constexpr Index blocks = 64;
    std::vector<Index> unit = component;
    for (Index i : touched_)
        if (!system.coarse || system.coarse->part_of(i) == none) unit[i] = std::max(component[i], i / blocks * blocks);
    return unit;
}

void RowSweep::make_order(const ContactProblem& p, const std::vector<Index>& unit)
{
    const UnitsOfRows units(p, unit);
    std::vector<Index> rows(p.rows.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::sort(rows.begin(), rows.end(), [&](Index a, Index b) {
        const auto order = compare(units[a], units[b]);
        return order != 0 ? order < 0 : a < b;
    });
    struct Group {
        Index color, begin, end;
    };
    std::vector<Group> groups;
    std::vector<std::vector<bool>> taken(unit.size()); // at a unit's first block: colours of its groups
    for (Index begin = 0, end; begin < count(rows); begin = end) {
        const std::span<const Index> touched = units[rows[begin]];
        for (end = begin; end < count(rows) && compare(units[rows[end]], touched) == 0;) ++end;
        std::size_t color = 0;
        const auto is_taken = [&](Index b) { return color < taken[b].size() && taken[b][color]; };
        while (std::any_of(touched.begin(), touched.end(), is_taken)) ++color;
        for (Index b : touched) {
            if (taken[b].size() <= color) taken[b].resize(color + 1, false);
            taken[b][color] = true;
        }
        groups.push_back({Index(color), begin, end});
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.color < b.color; });
    order_.clear();
    group_begin_.assign(1, 0);
    color_begin_.assign(1, 0);
    for (Index g = 0; g < count(groups); ++g) {
        if (g > 0 && groups[g].color != groups[g - 1].color) color_begin_.push_back(g);
        for (Index k = groups[g].begin; k < groups[g].end; ++k) order_.push_back(rows[k]);
        group_begin_.push_back(count(order_));
    }
    color_begin_.push_back(count(groups));
    watched_.resize(order_.size());
    watched_end_.assign(group_begin_.begin(), group_begin_.end() - 1);
}

template <class VisitGroup>
void RowSweep::for_each_group(const VisitGroup& visit_group) const
{
    constexpr Index worth_it = 256; // rows of a colour, below which it costs more to wake a thread
    for (Index color = 0; color + 1 < count(color_begin_); ++color) {
        const Index first = color_begin_[color], end = color_begin_[color + 1];
        if (group_begin_[end] - group_begin_[first] < worth_it) {
            for (Index g = first; g < end; ++g) visit_group(g);
        } else {
            parallel_for(
                end - first, [&](Index g) { visit_group(first + g); }, 4);
        }
    }
}

void RowSweep::copy_rows(const ContactProblem& p)
{
    rows_.resize(order_.size());
    entries_.clear();
    arms_.clear();
    for (Index place = 0; place < count(order_); ++place) {
        const Row& from = p.rows[order_[place]];
        LocalRow& to = rows_[place];
        to.row = order_[place];
        to.entry_begin = count(entries_);
        entries_.insert(entries_.end(), p.entries.begin() + from.entry_begin, p.entries.begin() + from.entry_end);
        to.entry_end = count(entries_);
        to.arm_begin = count(arms_);
        arms_.insert(arms_.end(), p.arms.begin() + from.arm_begin, p.arms.begin() + from.arm_end);
        to.arm_end = count(arms_);
        to.coarse_begin = to.coarse_end = 0;
    }
}

void RowSweep::make_coarse_entries(const CoarseSpace& coarse)
{
    coarse_entries_.clear();
    coarse_weights_.clear();
    std::size_t responses = 0;
    for (LocalRow& r : rows_) {
        r.coarse_begin = count(coarse_entries_);
        // Entries of one body are next to each other.
        for (Index k = r.entry_begin, part = none; k < r.entry_end; ++k) {
            const RowEntry& e = entries_[k];
            const Index part_here = coarse.part_of(e.block);
            if (part_here == none) continue;
            if (part_here != part) {
                part = part_here;
                const Index rows = 3 * coarse.controls(part);
                coarse_entries_.push_back({part, rows, z_begin(coarse, part), responses, count(coarse_weights_), 0});
                responses += 3 * static_cast<std::size_t>(rows);
            }
            CoarseEntry& entry = coarse_entries_.back();
            for (const CoarseSpace::Weight& w : coarse.weights(e.block)) {
                Index c = entry.weight_begin;
                while (c < count(coarse_weights_) && coarse_weights_[c].control != w.control) ++c;
                if (c == count(coarse_weights_)) coarse_weights_.push_back({w.control, 0});
                coarse_weights_[c].value += e.weight * w.value;
            }
            entry.weight_end = count(coarse_weights_);
        }
        r.coarse_end = count(coarse_entries_);
    }
    coarse_responses_.resize(responses);
    parallel_for(count(coarse_entries_), [&](Index k) {
        const CoarseEntry& e = coarse_entries_[k];
        const Eigen::MatrixXf& C = coarse.inverse(e.part);
        Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, 3>> Y(coarse_responses_.data() + e.response, C.rows(), 3);
        Y.setZero();
        for (Index w = e.weight_begin; w < e.weight_end; ++w)
            Y += float(coarse_weights_[w].value) * C.middleCols<3>(3 * coarse_weights_[w].control);
    });
}

// W_j = R^T (response of its blocks + coarse motions) R.
void RowSweep::make_responses(const ContactSystem& system)
{
    const ContactProblem& p = system.problem;
    W_of_row_.resize(p.rows.size());
    parallel_for(count(rows_), [&](Index place) {
        LocalRow& local = rows_[place];
        const Row& r = p.rows[local.row];
        Mat3 W = response_of_blocks(p, r, [&](Index block) -> const Mat3& { return system.diagonal_inverse[block]; });
        for (Index k = local.coarse_begin; k < local.coarse_end; ++k) {
            const CoarseEntry& e = coarse_entries_[k];
            const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, 3>> Y(coarse_responses_.data() + e.response,
                                                                              e.rows, 3);
            for (Index w = e.weight_begin; w < e.weight_end; ++w)
                W += coarse_weights_[w].value * Y.middleRows<3>(3 * coarse_weights_[w].control).cast<Real>();
        }
        const Mat3 R = r.frame();
        const Vec3 base = R.transpose() * (r.u0 + p.relative_velocity(r, system.free_velocity));
        local.axes = padded(R);
        local.axes_t = padded(Mat3(R.transpose()));
        local.base = padded(Vec3(base - Vec3(r.rhs, 0, 0)));
        local.response = RowResponse(R.transpose() * W * R, r.friction);
        W_of_row_[local.row] = local.response.W;
    });
}

void RowSweep::prepare(const ContactSystem& system, const std::vector<Index>& component,
                       const std::vector<Index>& touched, const std::vector<Index>& parts)
{
    const CoarseSpace* coarse = system.coarse;
    const auto n = static_cast<std::size_t>(system.A.rows());
    assert(component.size() == n && system.diagonal_inverse.size() == n && system.free_velocity.size() == n);
    assert(strictly_sorted(touched) && strictly_sorted(parts));
    touched_ = touched;
    parts_ = parts;
    loose_.clear();
    for (Index i : touched_)
        if (!coarse || coarse->part_of(i) == none) loose_.push_back(i);
    make_order(system.problem, make_units(system, component));
    copy_rows(system.problem);
    if (coarse) make_coarse_entries(*coarse);
    make_responses(system);
    slack_.assign(rows_.size(), 0);
    D_inverse_.resize(n);
    u_.resize(n);
    f_.resize(n);
    residual_.resize(parts_.empty() ? 0 : n);
    z_.assign(coarse ? z_begin(*coarse, coarse->parts()) : 0, 0);
    for (Index i : touched_) {
        D_inverse_[i] = padded(system.diagonal_inverse[i]);
        f_[i].setZero();
    }
}

void RowSweep::start(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda)
{
    assert(lambda.size() == rows_.size() && dv.size() == u_.size() && all_finite(lambda) && all_finite(dv));
    for (Index i : touched_) f_[i].setZero();
    for (const LocalRow& r : rows_) {
        const Vec3& l = lambda[r.row];
        if (l.isZero(0)) continue;
        const Vec4 world = times(r.axes, padded(l));
        for (Index k = r.entry_begin; k < r.entry_end; ++k) f_[entries_[k].block] += entries_[k].weight * world;
        for (Index k = r.arm_begin; k < r.arm_end; ++k) f_[arms_[k].block] -= cross(world, arms_[k].arm);
    }
    parallel_for(
        count(parts_),
        [&](Index q) {
            const CoarseSpace& coarse = *system.coarse;
            const CoarseSpace::Part& part = coarse.part(parts_[q]);
            for (Index i = part.first; i < part.first + part.size; ++i) residual_[i] = -system.A.row_product(i, dv);
        },
        4);
    for (Index i : touched_) // blocks of a part that no row touches have no entry in f_
        if (system.coarse && system.coarse->part_of(i) != none) {
            residual_[i] += f_[i].head<3>();
            u_[i] = padded(dv[i]) + times(D_inverse_[i], padded(residual_[i]));
        }
    parallel_for(
        count(parts_),
        [&](Index q) {
            const CoarseSpace& coarse = *system.coarse;
            const Index part = parts_[q];
            coarse.answer(part, residual_, z_.data() + z_begin(coarse, part));
        },
        4);
    parallel_for(count(loose_), [&](Index t) {
        const Index i = loose_[t];
        const Vec3 residual = f_[i].head<3>() - system.A.row_product(i, dv);
        u_[i] = padded(dv[i]) + times(D_inverse_[i], padded(residual));
    });
}

Vec4 RowSweep::velocity(const LocalRow& r) const
{
    Vec4 world = Vec4::Zero();
    for (Index k = r.entry_begin; k < r.entry_end; ++k) world += entries_[k].weight * u_[entries_[k].block];
    for (Index k = r.arm_begin; k < r.arm_end; ++k) world += cross(u_[arms_[k].block], arms_[k].arm);
    for (Index k = r.coarse_begin; k < r.coarse_end; ++k) {
        const CoarseEntry& e = coarse_entries_[k];
        const Real* z = z_.data() + e.z; // the fourth lane belongs to the next control point, and no one looks at it
        for (Index w = e.weight_begin; w < e.weight_end; ++w)
            world += coarse_weights_[w].value * Eigen::Map<const Vec4>(z + 3 * coarse_weights_[w].control);
    }
    return times(r.axes_t, world) + r.base;
}

void RowSweep::push(const LocalRow& r, const Vec3& change)
{
    const Vec4 world = times(r.axes, padded(change));
    for (Index k = r.entry_begin; k < r.entry_end; ++k) {
        const RowEntry& e = entries_[k];
        const Vec4 share = e.weight * world;
        f_[e.block] += share;
        u_[e.block] += times(D_inverse_[e.block], share);
    }
    for (Index k = r.arm_begin; k < r.arm_end; ++k) {
        const RowArm& a = arms_[k];
        const Vec4 twist = -cross(world, a.arm);
        f_[a.block] += twist;
        u_[a.block] += times(D_inverse_[a.block], twist);
    }
    for (Index k = r.coarse_begin; k < r.coarse_end; ++k) {
        const CoarseEntry& e = coarse_entries_[k];
        Eigen::Map<Eigen::VectorXd> z(z_.data() + e.z, e.rows);
        const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, 3>> Y(coarse_responses_.data() + e.response, e.rows,
                                                                          3);
        z += world[0] * Y.col(0).cast<Real>() + world[1] * Y.col(1).cast<Real>() + world[2] * Y.col(2).cast<Real>();
    }
}

void RowSweep::visit(const ContactSolverOptions& options, Index place, Visit rows, Multipliers& lambda)
{
    const LocalRow& r = rows_[place];
    if (!r.response.moves()) return;
    const Vec3 u = velocity(r).head<3>();
    if (rows == Visit::all) slack_[place] = u[0];
    const Vec3 before = lambda[r.row];
    const Vec3 next = solve_row(r.response, u, before, options.cone, options.local_passes);
    const Vec3 change = next - before;
    if (change.isZero(0)) return;
    lambda[r.row] = next;
    push(r, change);
}

void RowSweep::sweep(const ContactSystem& system, const ContactSolverOptions& options, Visit rows, Multipliers& lambda)
{
    constexpr Real watch_margin = 0.1; // of the velocity scale
    for (int sweep = 0; sweep < options.inner_sweeps; ++sweep) {
        if (sweep > 0 || rows == Visit::watched) {
            for_each_group([&](Index g) {
                for (Index k = group_begin_[g]; k < watched_end_[g]; ++k)
                    visit(options, watched_[k], Visit::watched, lambda);
            });
            continue;
        }
        for_each_group([&](Index g) {
            for (Index place = group_begin_[g]; place < group_begin_[g + 1]; ++place)
                visit(options, place, Visit::all, lambda);
        });
        for (Index g = 0; g < count(watched_end_); ++g) {
            Index end = group_begin_[g];
            for (Index place = group_begin_[g]; place < group_begin_[g + 1]; ++place)
                if (const Index row = rows_[place].row;
                    lambda[row][0] > 0 ||
                    slack_[place] < watch_margin * system.parts.velocity_scale[system.parts.of_row[row]])
                    watched_[end++] = place;
            watched_end_[g] = end;
        }
    }
}

Vec3 RowSweep::coarse_motion(const ContactSystem& system, Index part, Index block) const
{
    return system.coarse->velocity(z_.data() + z_begin(*system.coarse, part), block);
}

RowSweep::Residuals RowSweep::residuals(const ContactSystem& system, FrictionCone cone, const Multipliers& lambda) const
{
    Residuals sums;
    for (const LocalRow& r : rows_) {
        const Real trace = r.response.W.trace(), room = system.problem.rows[r.row].room;
        if (trace <= 0) continue;
        const Vec3 u = velocity(r).head<3>(), &l = lambda[r.row];
        const Vec3 step = l - u / trace;
        // Each problem takes the answer of the other one as known.
        const Real normal = trace * (l[0] - std::max(0.0, step[0]));
        sums.normal += normal * normal;
        if (room > 0) sums.gap = std::max(sums.gap, -system.dt * u[0] / room);
        if (r.response.friction == 0) continue;
        const Real bound = r.response.friction * l[0];
        Eigen::Vector2d tangential = step.tail<2>();
        if (cone == FrictionCone::pyramid)
            tangential = tangential.cwiseMax(-bound).cwiseMin(bound);
        else if (tangential.norm() > bound)
            tangential *= bound / tangential.norm();
        sums.friction += (trace * (l.tail<2>() - tangential)).squaredNorm();
    }
    const Real rows = Real(std::max<Index>(1, count(rows_)));
    return {std::sqrt(sums.normal / rows), std::sqrt(sums.friction / rows), sums.gap};
}

} // namespace pliant
