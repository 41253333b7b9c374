#include "pliant/linalg/solve.hpp"

#include "pliant/core/parallel.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>

#include <cassert>
#include <cmath>

namespace pliant {

void invert_diagonal(const BlockMatrix& A, std::vector<Mat3>& inverse)
{
    inverse.resize(static_cast<std::size_t>(A.rows()));
    parallel_for(A.rows(), [&](Index i) { inverse[i] = Mat3(A.block(A.pattern().diagonal[i])).inverse(); });
}

CgResult conjugate_gradients(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b, Vec3s& x,
                             const CgOptions& options)
{
    const Index n = A.rows();
    assert(count(diagonal_inverse) == n && count(b) == n && count(x) == n);
    assert(options.tolerance >= 0 && options.max_iterations >= 0 && options.scale >= 0);
    const auto norm_sq = [&](const Vec3s& r) {
        return parallel_sum(n, 0.0, [&](Index i) { return r[i].dot(diagonal_inverse[i] * r[i]); });
    };
    const Real scale = options.scale > 0 ? options.scale : std::sqrt(norm_sq(b));
    CgResult result;
    if (scale == 0) {
        for (Vec3& xi : x) xi.setZero();
        result.converged = true;
        return result;
    }
    Vec3s r(b.size()), z(b.size()), p(b.size()), Ap(b.size());
    A.multiply(x, Ap);
    Real r_norm_sq = 0, rz = 0;
    // z = (D^-1 + P (P^T A P)^-1 P^T) r, after r -= alpha A p
    const auto precondition = [&](Real alpha) {
        r_norm_sq = parallel_sum(n, 0.0, [&](Index i) {
            r[i] -= alpha * Ap[i];
            z[i] = diagonal_inverse[i] * r[i];
            return r[i].dot(z[i]);
        });
        rz = r_norm_sq;
        if (options.coarse && options.coarse->parts() > 0) {
            options.coarse->add_correction(r, z);
            rz = dot(r, z);
        }
    };
    r = b;
    precondition(1);
    p = z;
    for (;; ++result.iterations) {
        result.residual = std::sqrt(r_norm_sq) / scale;
        if (options.residual && result.residual <= options.tolerance) result.residual = options.residual(r);
        result.converged = result.residual <= options.tolerance;
        if (result.converged || result.iterations >= options.max_iterations) return result;
        A.multiply(p, Ap);
        const Real pAp = dot(p, Ap), before = rz;
        if (!(pAp > 0)) return result; // the residual cannot be lowered any further in this arithmetic
        const Real alpha = rz / pAp;
        precondition(alpha);
        const Real beta = rz / before;
        parallel_for(n, [&](Index i) {
            x[i] += alpha * p[i];
            p[i] = z[i] + beta * p[i];
        });
    }
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
