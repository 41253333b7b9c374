#include "pliant/linalg/solve.hpp"

#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>

#include <cassert>
#include <cmath>
#include <span>

namespace pliant {

void invert_diagonal(const BlockMatrix& A, std::vector<Mat3>& inverse)
{
    inverse.resize(static_cast<std::size_t>(A.rows()));
    parallel_for(A.rows(), [&](Index i) { inverse[i] = Mat3(A.block(A.pattern().diagonal[i])).inverse(); });
}

namespace {

/// All rows, or those of a large part, on all threads.
struct ParallelRows {
    std::span<const Index> rows; ///< empty: 0 to size - 1
    Index size;

    Index row(Index k) const { return rows.empty() ? k : rows[k]; }
    template <class Visit>
    void for_each(Visit&& visit) const
    {
        parallel_for(
            size, [&](Index k) { visit(row(k)); }, 512);
    }
    template <class Value>
    Real sum(Value&& value) const
    {
        return parallel_sum(size, 0.0, [&](Index k) { return value(row(k)); });
    }
};

/// Those of a small part, one after the other.
struct SerialRows {
    std::span<const Index> rows;

    template <class Visit>
    void for_each(Visit&& visit) const
    {
        for (const Index i : rows) visit(i);
    }
    template <class Value>
    Real sum(Value&& value) const
    {
        Real total = 0;
        for (const Index i : rows) total += value(i);
        return total;
    }
};

/// correct(r, z) adds the coarse part of the preconditioner and says whether there is one.
template <class Rows, class Correct>
CgResult iterate(const Rows& rows, const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b,
                 Vec3s& x, const CgOptions& options, CgScratch& scratch, Correct&& correct)
{
    assert(options.tolerance >= 0 && options.max_iterations >= 0 && !(options.scale < 0)); // not a number: it explodes
    Vec3s &r = scratch.r, &z = scratch.z, &p = scratch.p, &Ap = scratch.Ap;
    CgResult result;
    const Real scale = options.scale > 0
                           ? options.scale
                           : std::sqrt(rows.sum([&](Index i) { return b[i].dot(diagonal_inverse[i] * b[i]); }));
    if (scale == 0) {
        rows.for_each([&](Index i) { x[i].setZero(); });
        result.converged = true;
        return result;
    }
    rows.for_each([&](Index i) {
        Ap[i] = A.row_product(i, x);
        r[i] = b[i];
    });
    Real r_norm_sq = 0, rz = 0;
    // z = (D^-1 + P (P^T A P)^-1 P^T) r, after r -= alpha A p
    const auto precondition = [&](Real alpha) {
        r_norm_sq = rows.sum([&](Index i) {
            r[i] -= alpha * Ap[i];
            z[i] = diagonal_inverse[i] * r[i];
            return r[i].dot(z[i]);
        });
        rz = r_norm_sq;
        if (correct(r, z)) rz = rows.sum([&](Index i) { return r[i].dot(z[i]); });
    };
    precondition(1);
    rows.for_each([&](Index i) { p[i] = z[i]; });
    int most = options.max_iterations;
    for (;; ++result.iterations) {
        poll_interrupt();
        result.residual = std::sqrt(r_norm_sq) / scale;
        result.converged = result.residual <= options.tolerance;
        if (result.iterations == CgOptions::patience && options.worthwhile && !result.converged)
            most = std::min(most, options.worthwhile());
        if (result.converged || result.iterations >= most) return result;
        rows.for_each([&](Index i) { Ap[i] = A.row_product(i, p); });
        const Real pAp = rows.sum([&](Index i) { return p[i].dot(Ap[i]); }), before = rz;
        if (!(pAp > 0)) return result; // the residual cannot be lowered any further in this arithmetic
        const Real alpha = rz / pAp;
        precondition(alpha);
        const Real beta = rz / before;
        rows.for_each([&](Index i) {
            x[i] += alpha * p[i];
            p[i] = z[i] + beta * p[i];
        });
    }
}

} // namespace

CgResult conjugate_gradients(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b, Vec3s& x,
                             const CgOptions& options)
{
    assert(count(diagonal_inverse) == A.rows() && count(b) == A.rows() && count(x) == A.rows());
    CgScratch scratch(A.rows());
    return iterate(ParallelRows{{}, A.rows()}, A, diagonal_inverse, b, x, options, scratch,
                   [&](const Vec3s& r, Vec3s& z) {
                       if (!options.coarse || options.coarse->parts() == 0) return false;
                       options.coarse->add_correction(r, z);
                       return true;
                   });
}

CgResult conjugate_gradients(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b, Vec3s& x,
                             const CgOptions& options, const CgPart& part, CgScratch& scratch)
{
    assert(count(diagonal_inverse) == A.rows() && count(b) == A.rows() && count(x) == A.rows());
    constexpr Index large = 4096; // rows: below, threads cost more than they win
    const auto correct = [&](const Vec3s& r, Vec3s& z) {
        for (const Index q : part.coarse_parts) options.coarse->add_correction(q, r, z);
        return !part.coarse_parts.empty();
    };
    if (count(part.rows) < large)
        return iterate(SerialRows{part.rows}, A, diagonal_inverse, b, x, options, scratch, correct);
    return iterate(ParallelRows{part.rows, count(part.rows)}, A, diagonal_inverse, b, x, options, scratch, correct);
}

struct DirectSolver::Factor {
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<Real>> ldlt;
};

DirectSolver::DirectSolver(const BlockMatrix& A) : factor_(new Factor)
{
    std::vector<Eigen::Triplet<Real>> entries;
    const BlockPattern& p = A.pattern();
    entries.reserve(9 * static_cast<std::size_t>(p.slots()));
    for (Index i = 0; i < A.rows(); ++i)
        for (Index s = p.row_begin[i]; s < p.row_begin[i + 1]; ++s)
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c) entries.emplace_back(3 * i + r, 3 * p.column[s] + c, A.block(s)(r, c));
    Eigen::SparseMatrix<Real> matrix(3 * A.rows(), 3 * A.rows());
    matrix.setFromTriplets(entries.begin(), entries.end());
    factor_->ldlt.compute(matrix);
}

DirectSolver::~DirectSolver()
{
    delete factor_;
}

bool DirectSolver::ok() const
{
    return factor_->ldlt.info() == Eigen::Success && (factor_->ldlt.vectorD().array() > 0).all();
}

void DirectSolver::solve(const Vec3s& b, Vec3s& x) const
{
    const Eigen::Index n = 3 * static_cast<Eigen::Index>(b.size());
    assert(n == factor_->ldlt.rows());
    const Eigen::VectorXd rhs = Eigen::Map<const Eigen::VectorXd>(b.data()->data(), n);
    const Eigen::VectorXd solution = factor_->ldlt.solve(rhs);
    x.resize(b.size());
    Eigen::Map<Eigen::VectorXd>(x.data()->data(), n) = solution;
}

} // namespace pliant
