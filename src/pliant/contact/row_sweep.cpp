#include "pliant/contact/row_sweep.hpp"

#include "pliant/contact/local.hpp"
#include "pliant/core/parallel.hpp"

#include <cmath>

namespace pliant {
namespace {

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

inline __attribute__((always_inline)) Vec4 cross(const Vec4& a, const Vec3& b)
{
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}

} // namespace

void RowSweep::make_coarse_entries(const ContactSystem& system)
{
    const ContactProblem& p = system.problem;
    coarse_entries_.clear();
    coarse_weights_.clear();
    coarse_begin_.assign(1, 0);
    std::size_t responses = 0;
    for (const Row& r : p.rows) {
        // Entries of one body are next to each other.
        for (Index k = r.entry_begin, part = none; system.coarse && k < r.entry_end; ++k) {
            const RowEntry& e = p.entries[k];
            const Index part_here = system.coarse->part_of(e.block);
            if (part_here == none) continue;
            if (part_here != part) {
                part = part_here;
                const Index rows = 3 * system.coarse->controls(part);
                coarse_entries_.push_back({part, rows, 3 * std::size_t(system.coarse->control_begin(part)), responses,
                                           count(coarse_weights_), 0});
                responses += 3 * static_cast<std::size_t>(rows);
            }
            CoarseEntry& entry = coarse_entries_.back();
            for (const CoarseSpace::Weight& w : system.coarse->weights(e.block)) {
                Index c = entry.weight_begin;
                while (c < count(coarse_weights_) && coarse_weights_[c].control != w.control) ++c;
                if (c == count(coarse_weights_)) coarse_weights_.push_back({w.control, 0});
                coarse_weights_[c].value += e.weight * w.value;
            }
            entry.weight_end = count(coarse_weights_);
        }
        coarse_begin_.push_back(count(coarse_entries_));
    }
    coarse_responses_.resize(responses);
    parallel_for(count(coarse_entries_), [&](Index k) {
        const CoarseEntry& e = coarse_entries_[k];
        const Eigen::MatrixXf& C = system.coarse->inverse(e.part);
        Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, 3>> Y(coarse_responses_.data() + e.response, C.rows(), 3);
        Y.setZero();
        for (Index w = e.weight_begin; w < e.weight_end; ++w)
            Y += float(coarse_weights_[w].value) * C.middleCols<3>(3 * coarse_weights_[w].control);
    });
}

void RowSweep::prepare(const ContactSystem& system, const std::vector<Index>& touched, const std::vector<Index>& parts)
{
    const ContactProblem& p = system.problem;
    const CoarseSpace* coarse = system.coarse;
    const auto n = static_cast<std::size_t>(system.A.rows()), m = p.rows.size();
    touched_ = touched;
    parts_ = parts;
    loose_.clear();
    for (Index i : touched_)
        if (!coarse || coarse->part_of(i) == none) loose_.push_back(i);
    make_coarse_entries(system);
    W_.resize(m);
    frames_.resize(m);
    slack_.assign(m, 0);
    D_inverse_.resize(n);
    u_.resize(n);
    f_.resize(n);
    residual_.resize(parts_.empty() ? 0 : n);
    z_.resize(coarse ? 3 * static_cast<std::size_t>(coarse->control_begin(coarse->parts())) + 1 : 0);
    for (Index i : touched_) {
        D_inverse_[i] = padded(system.diagonal_inverse[i]);
        f_[i].setZero();
    }
    // W_j = R^T (sum_k w_k^2 D_k^-1 + sum [arm] I^-1 [arm]^T + coarse motions) R. Blocks that appear twice in a row are
    // merged by whoever builds it, so no cross terms are lost.
    parallel_for(p.size(), [&](Index j) {
        const Row& r = p.rows[j];
        Mat3 W = Mat3::Zero();
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            W += p.entries[k].weight * p.entries[k].weight * system.diagonal_inverse[p.entries[k].block];
        for (Index k = r.arm_begin; k < r.arm_end; ++k) {
            const Mat3 S = skew(p.arms[k].arm);
            W += S * system.diagonal_inverse[p.arms[k].block] * S.transpose();
        }
        for (Index k = coarse_begin_[j]; k < coarse_begin_[j + 1]; ++k) {
            const CoarseEntry& e = coarse_entries_[k];
            const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, 3>> Y(coarse_responses_.data() + e.response,
                                                                              e.rows, 3);
            for (Index w = e.weight_begin; w < e.weight_end; ++w)
                W += coarse_weights_[w].value * Y.middleRows<3>(3 * coarse_weights_[w].control).cast<Real>();
        }
        Mat3 R;
        R << r.normal, r.tangent1, r.tangent2;
        W_[j] = R.transpose() * W * R;
        const Vec3 base = R.transpose() * (r.u0 + p.relative_velocity(r, system.free_velocity));
        frames_[j] = {padded(R), padded(Mat3(R.transpose())), padded(Vec3(base - Vec3(r.rhs, 0, 0))),
                      W_[j].diagonal().cwiseInverse()};
    });
}

void RowSweep::start(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda)
{
    const ContactProblem& p = system.problem;
    for (Index i : touched_) f_[i].setZero();
    for (Index j = 0; j < p.size(); ++j) {
        if (lambda[j].isZero(0)) continue;
        const Row& r = p.rows[j];
        const Vec4 world = times(frames_[j].axes, padded(lambda[j]));
        for (Index k = r.entry_begin; k < r.entry_end; ++k) f_[p.entries[k].block] += p.entries[k].weight * world;
        for (Index k = r.arm_begin; k < r.arm_end; ++k) f_[p.arms[k].block] -= cross(world, p.arms[k].arm);
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
            coarse.answer(part, residual_, z_.data() + 3 * std::size_t(coarse.control_begin(part)));
        },
        4);
    parallel_for(count(loose_), [&](Index t) {
        const Index i = loose_[t];
        const Vec3 residual = f_[i].head<3>() - system.A.row_product(i, dv);
        u_[i] = padded(dv[i]) + times(D_inverse_[i], padded(residual));
    });
}

Vec4 RowSweep::velocity(const ContactProblem& p, Index row) const
{
    const Row& r = p.rows[row];
    Vec4 world = Vec4::Zero();
    for (Index k = r.entry_begin; k < r.entry_end; ++k) world += p.entries[k].weight * u_[p.entries[k].block];
    for (Index k = r.arm_begin; k < r.arm_end; ++k) world += cross(u_[p.arms[k].block], p.arms[k].arm);
    for (Index k = coarse_begin_[row]; k < coarse_begin_[row + 1]; ++k) {
        const CoarseEntry& e = coarse_entries_[k];
        const Real* z = z_.data() + e.z; // the fourth lane belongs to the next control point, and no one looks at it
        for (Index w = e.weight_begin; w < e.weight_end; ++w)
            world += coarse_weights_[w].value * Eigen::Map<const Vec4>(z + 3 * coarse_weights_[w].control);
    }
    return times(frames_[row].axes_t, world) + frames_[row].base;
}

void RowSweep::push(const ContactProblem& p, Index row, const Vec3& change)
{
    const Row& r = p.rows[row];
    const Vec4 world = times(frames_[row].axes, padded(change));
    for (Index k = r.entry_begin; k < r.entry_end; ++k) {
        const RowEntry& e = p.entries[k];
        const Vec4 share = e.weight * world;
        f_[e.block] += share;
        u_[e.block] += times(D_inverse_[e.block], share);
    }
    for (Index k = r.arm_begin; k < r.arm_end; ++k) {
        const RowArm& a = p.arms[k];
        const Vec4 twist = -cross(world, a.arm);
        f_[a.block] += twist;
        u_[a.block] += times(D_inverse_[a.block], twist);
    }
    for (Index k = coarse_begin_[row]; k < coarse_begin_[row + 1]; ++k) {
        const CoarseEntry& e = coarse_entries_[k];
        Eigen::Map<Eigen::VectorXd> z(z_.data() + e.z, e.rows);
        const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, 3>> Y(coarse_responses_.data() + e.response, e.rows,
                                                                          3);
        z += world[0] * Y.col(0).cast<Real>() + world[1] * Y.col(1).cast<Real>() + world[2] * Y.col(2).cast<Real>();
    }
}

void RowSweep::visit(const ContactSystem& system, const ContactSolverOptions& options, Index j, bool note_slack,
                     Multipliers& lambda)
{
    const Row& r = system.problem.rows[j];
    const Mat3& W = W_[j];
    if (W(0, 0) <= 0) return; // nothing that this row could move
    const Vec3 u = velocity(system.problem, j).head<3>();
    if (note_slack) slack_[j] = u[0];
    const Vec3 before = lambda[j];
    if (u[0] >= 0 && before[0] == 0) return;
    Vec3 next = Vec3::Zero();
    if (r.normal_only || r.friction == 0) {
        next[0] = std::max(0.0, before[0] - u[0] / W(0, 0));
    } else {
        const Vec3 b = u - W * before;
        next = options.cone == FrictionCone::pyramid
                   ? solve_local_pyramid(W, frames_[j].inverse_W, b, r.friction, before, options.local_passes)
                   : solve_local_disc(W, b, r.friction, before);
    }
    const Vec3 change = next - before;
    if (change.isZero(0)) return;
    lambda[j] = next;
    push(system.problem, j, change);
}

void RowSweep::sweep(const ContactSystem& system, const ContactSolverOptions& options, bool visit_all,
                     Multipliers& lambda)
{
    constexpr Real watch_margin = 0.1; // of the velocity scale
    const Index rows = system.problem.size();
    for (int sweep = 0; sweep < options.inner_sweeps; ++sweep) {
        if (sweep > 0 || !visit_all) {
            for (Index j : watched_) visit(system, options, j, false, lambda);
            continue;
        }
        for (Index j = 0; j < rows; ++j) visit(system, options, j, true, lambda);
        watched_.clear();
        for (Index j = 0; j < rows; ++j)
            if (lambda[j][0] > 0 || slack_[j] < watch_margin * system.velocity_scale) watched_.push_back(j);
    }
}

Vec3 RowSweep::coarse_motion(const ContactSystem& system, Index part, Index block) const
{
    return system.coarse->velocity(z_.data() + 3 * std::size_t(system.coarse->control_begin(part)), block);
}

Real RowSweep::residual(const ContactSystem& system, FrictionCone cone, const Multipliers& lambda) const
{
    const ContactProblem& p = system.problem;
    Real sum_sq = 0;
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        const Real trace = W_[j].trace();
        if (trace <= 0) continue;
        const Vec3 step = lambda[j] - velocity(p, j).head<3>() / trace;
        Vec3 natural = lambda[j] - project_to_cone(step, r.friction, cone);
        if (r.normal_only || r.friction == 0) natural = Vec3(lambda[j][0] - std::max(0.0, step[0]), 0, 0);
        sum_sq += natural.squaredNorm() * trace * trace;
    }
    return std::sqrt(sum_sq / std::max<Index>(1, p.size()));
}

} // namespace pliant
