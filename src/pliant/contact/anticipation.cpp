#include "pliant/contact/anticipation.hpp"

#include "pliant/contact/local.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/linalg/graph.hpp"

#include <Eigen/SparseCholesky>

#include <algorithm>
#include <atomic>
#include <deque>

namespace pliant {
namespace {

/// Where a row acts on one connected part of the system (a body): its first multiplier among the part's.
struct Place {
    Index part;
    Index first;
};

using Factor = Eigen::SimplicialLDLT<Eigen::SparseMatrix<Real>>;
using Panel = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr Index panel_width = 32; ///< columns that share a pass over the factor

/// One connected part: its factor, the rows that touch it, and their responses to each other through it.
struct Part {
    std::vector<Index> blocks;
    std::vector<Index> rows;
    Index multipliers = 0; ///< of its rows
    Factor factor;
    Eigen::SparseMatrix<Real> Jt; ///< 3 blocks x multipliers
    Eigen::MatrixXd B;            ///< J A^-1 J^T
    Eigen::VectorXd l;            ///< multipliers of its rows
};

/// Without friction a row pushes along its normal only.
Index multipliers_of(const Row& row)
{
    return row.friction == 0 ? 1 : 3;
}

/// y <- L^-1 y, all columns in one pass over L. Rows of y that are zero cost nothing.
void solve_lower(const Factor& factor, Panel& y)
{
    const auto& L = factor.matrixL().nestedExpression();
    for (Index i = 0; i < L.cols(); ++i) {
        if (y.row(i).isZero(0)) continue;
        for (Eigen::SparseMatrix<Real>::InnerIterator it(L, i); it; ++it)
            if (it.row() > i) y.row(it.row()) -= it.value() * y.row(i);
    }
}

/// B = J A^-1 J^T = Y^T D^-1 Y with Y = L^-1 J^T: half the solves that A^-1 J^T would take.
Eigen::MatrixXd responses(const Factor& factor, const Eigen::SparseMatrix<Real>& Jt)
{
    const Index n = Index(Jt.rows()), m = Index(Jt.cols()), panels = (m + panel_width - 1) / panel_width;
    std::vector<Panel> Y(static_cast<std::size_t>(panels));
    const auto width = [&](Index p) { return std::min(panel_width, m - p * panel_width); };
    const Eigen::VectorXd scale = factor.vectorD().cwiseSqrt().cwiseInverse();
    parallel_for(
        panels,
        [&](Index p) {
            Y[p].setZero(n, width(p));
            for (Index k = 0; k < width(p); ++k)
                for (Eigen::SparseMatrix<Real>::InnerIterator it(Jt, p * panel_width + k); it; ++it)
                    Y[p](factor.permutationP().indices()[it.row()], k) = it.value();
            solve_lower(factor, Y[p]);
            Y[p] = scale.asDiagonal() * Y[p];
        },
        1);
    Eigen::MatrixXd B(m, m);
    parallel_for(
        panels,
        [&](Index p) {
            for (Index q = 0; q <= p; ++q)
                B.block(q * panel_width, p * panel_width, width(q), width(p)).noalias() = Y[q].transpose() * Y[p];
        },
        1);
    B.triangularView<Eigen::StrictlyLower>() = B.transpose();
    return B;
}

/// A is block diagonal over the bodies, and so is its inverse: rows only meet through a body that both touch. This
/// keeps B at the sum of squares of the rows per body, where a dense B has the square of the sum.
class Anticipation {
public:
    explicit Anticipation(const ContactSystem& system) : system_(system)
    {
        find_parts();
        std::atomic<bool> fine = true;
        parallel_for(
            Index(parts_.size()),
            [&](Index c) {
                if (!respond(parts_[c])) fine = false;
            },
            1);
        ok_ = fine;
    }
    bool ok() const { return ok_; }

    Mat3 diagonal(Index row) const
    {
        const Index size = multipliers_of(system_.problem.rows[row]);
        Mat3 W = Mat3::Zero();
        for (Index k = place_begin_[row]; k < place_begin_[row + 1]; ++k) {
            const auto& B = parts_[places_[k].part].B;
            const Index first = places_[k].first;
            for (Index c = 0; c < size; ++c)
                for (Index r = 0; r < size; ++r) W(r, c) += B(first + r, first + c);
        }
        return W;
    }
    Vec3 response(Index row) const
    {
        const Index size = multipliers_of(system_.problem.rows[row]);
        Vec3 u = Vec3::Zero();
        for (Index k = place_begin_[row]; k < place_begin_[row + 1]; ++k) {
            const Part& part = parts_[places_[k].part];
            for (Index c = 0; c < size; ++c) u[c] += part.B.col(places_[k].first + c).dot(part.l); // B is symmetric
        }
        return u;
    }
    void set(Index row, const Vec3& l)
    {
        const Index size = multipliers_of(system_.problem.rows[row]);
        for (Index k = place_begin_[row]; k < place_begin_[row + 1]; ++k)
            for (Index c = 0; c < size; ++c) parts_[places_[k].part].l[places_[k].first + c] = l[c];
    }
    /// dv = A^-1 J^T l
    void velocities(Vec3s& dv) const
    {
        dv.assign(static_cast<std::size_t>(system_.A.rows()), Vec3::Zero());
        parallel_for(
            Index(parts_.size()),
            [&](Index c) {
                const Part& part = parts_[c];
                const Eigen::VectorXd x = part.factor.solve(part.Jt * part.l);
                for (Index i = 0; i < count(part.blocks); ++i) dv[part.blocks[i]] = x.segment<3>(3 * i);
            },
            1);
    }

private:
    void find_parts()
    {
        const ContactProblem& p = system_.problem;
        const std::vector<Index> root = connected_parts(system_.A.pattern());
        std::vector<Index> number(root.size(), none); // of a part, at its root
        place_begin_.assign(1, 0);
        const auto touch = [&](Index row, Index block) {
            if (system_.diagonal_inverse[block].isZero(0)) return; // prescribed: no impulse moves it
            Index& part = number[root[block]];
            if (part == none) {
                part = Index(parts_.size());
                parts_.emplace_back();
            }
            for (Index k = place_begin_[row]; k < count(places_); ++k)
                if (places_[k].part == part) return;
            places_.push_back({part, parts_[part].multipliers});
            parts_[part].rows.push_back(row);
            parts_[part].multipliers += multipliers_of(p.rows[row]);
        };
        for (Index j = 0; j < p.size(); ++j) {
            const Row& r = p.rows[j];
            for (Index k = r.entry_begin; k < r.entry_end; ++k) touch(j, p.entries[k].block);
            for (Index k = r.arm_begin; k < r.arm_end; ++k) touch(j, p.arms[k].block);
            place_begin_.push_back(count(places_));
        }
        local_.assign(root.size(), none);
        for (Index i = 0; i < count(root); ++i) {
            const Index part = number[root[i]];
            if (part == none || system_.diagonal_inverse[i].isZero(0)) continue;
            local_[i] = count(parts_[part].blocks);
            parts_[part].blocks.push_back(i);
        }
    }

    bool respond(Part& part) const
    {
        const ContactProblem& p = system_.problem;
        const BlockPattern& pattern = system_.A.pattern();
        const Index n = count(part.blocks);
        std::vector<Eigen::Triplet<Real>> entries;
        for (Index i = 0; i < n; ++i)
            for (Index s = pattern.row_begin[part.blocks[i]]; s < pattern.row_begin[part.blocks[i] + 1]; ++s) {
                const Index j = local_[pattern.column[s]];
                if (j == none) continue;
                for (int r = 0; r < 3; ++r)
                    for (int c = 0; c < 3; ++c) entries.emplace_back(3 * i + r, 3 * j + c, system_.A.block(s)(r, c));
            }
        Eigen::SparseMatrix<Real> A(3 * n, 3 * n);
        A.setFromTriplets(entries.begin(), entries.end());
        part.factor.compute(A);
        if (part.factor.info() != Eigen::Success || !(part.factor.vectorD().array() > 0).all()) return false;
        entries.clear();
        Index first = 0;
        for (Index j : part.rows) {
            const Row& r = p.rows[j];
            const Index size = multipliers_of(r);
            const Mat3 R = r.frame();
            const auto add = [&](Index block, const Mat3& Jt) {
                const Index i = local_[block];
                if (i == none || i >= n || part.blocks[i] != block) return; // another part's
                for (Index c = 0; c < size; ++c)
                    for (int k = 0; k < 3; ++k) entries.emplace_back(3 * i + k, first + c, Jt(k, c));
            };
            for (Index k = r.entry_begin; k < r.entry_end; ++k) add(p.entries[k].block, p.entries[k].weight * R);
            for (Index k = r.arm_begin; k < r.arm_end; ++k) // u += omega x arm
                add(p.arms[k].block, skew(p.arms[k].arm) * R);
            first += size;
        }
        part.Jt.resize(3 * n, part.multipliers);
        part.Jt.setFromTriplets(entries.begin(), entries.end());
        part.B = responses(part.factor, part.Jt);
        part.l.setZero(part.multipliers);
        return true;
    }

    const ContactSystem& system_;
    std::deque<Part> parts_;   ///< factors cannot be moved
    std::vector<Index> local_; ///< per block: its place in its part
    std::vector<Place> places_;
    std::vector<Index> place_begin_; ///< per row + 1
    bool ok_ = false;
};

} // namespace

Real anticipation_cost(const ContactSystem& system)
{
    const ContactProblem& p = system.problem;
    const std::vector<Index> root = connected_parts(system.A.pattern());
    std::vector<Index> rows(root.size(), 0), last(root.size(), none); // at each part's root
    for (Index j = 0; j < p.size(); ++j)
        for (Index k = p.rows[j].entry_begin; k < p.rows[j].entry_end; ++k) {
            const Index part = root[p.entries[k].block];
            if (last[part] == j) continue;
            last[part] = j;
            ++rows[part];
        }
    std::vector<Index> blocks(root.size(), 0);
    for (Index r : root) ++blocks[r];
    Real cost = 0;
    for (std::size_t i = 0; i < root.size(); ++i) cost += 9.0 * rows[i] * (Real(rows[i]) + blocks[i]);
    return cost;
}

ContactResult solve_by_anticipation(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                    Multipliers& lambda)
{
    const ContactProblem& p = system.problem;
    const Index m = p.size();
    ContactResult result;
    dv.assign(static_cast<std::size_t>(system.A.rows()), Vec3::Zero());
    if (m == 0) {
        result.converged = true;
        return result;
    }
    Anticipation anticipation(system);
    if (!anticipation.ok()) return result;
    std::vector<RowResponse> responses(p.rows.size());
    Vec3s base(p.rows.size());
    for (Index j = 0; j < m; ++j) {
        const Row& r = p.rows[j];
        const Vec3 u = r.u0 + p.relative_velocity(r, system.free_velocity);
        base[j] = r.local(u) - Vec3(r.rhs, 0, 0);
        responses[j] = RowResponse(anticipation.diagonal(j), r.friction);
        anticipation.set(j, lambda[j]);
    }
    constexpr int check_every = 10; // sweeps: a residual needs a solve with every factor
    while (result.iterations < options.max_iterations && !result.converged) {
        poll_interrupt();
        for (Index j = 0; j < m; ++j) {
            if (!responses[j].moves()) continue;
            const Vec3 u = anticipation.response(j) + base[j];
            lambda[j] = solve_row(responses[j], u, lambda[j], options.cone);
            anticipation.set(j, lambda[j]);
        }
        ++result.iterations;
        if (result.iterations % check_every == 0 || result.iterations == options.max_iterations) {
            anticipation.velocities(dv);
            result.residuals = contact_residuals(system, dv, lambda, options.cone);
            result.history.push_back(result.residuals.worst());
            result.converged =
                result.residuals.worst() <= options.tolerance && result.residuals.gap <= options.gap_tolerance;
        }
    }
    return result;
}

} // namespace pliant
