#pragma once
// Solvers for A x = b with symmetric positive definite A.

#include "pliant/linalg/coarse_space.hpp"

#include <functional>

namespace pliant {

/// Inverses of the diagonal blocks, the metric and preconditioner of every iteration.
void invert_diagonal(const BlockMatrix& A, std::vector<Mat3>& inverse);

struct CgOptions {
    Real tolerance = 1e-8; ///< on |b - A x| / scale in the norm of D^-1, D the diagonal blocks: free of units
    int max_iterations = 10000;
    Real scale = 0;                      ///< what the residual is compared with; 0: |b|
    const CoarseSpace* coarse = nullptr; ///< joins the preconditioner
    /// A stricter measure of the relative residual, asked once the whole is below the tolerance; null: none.
    std::function<Real(const Vec3s& r)> residual = {};
};

struct CgResult {
    int iterations = 0;
    Real residual = 0; ///< relative, at the end
    bool converged = false;
};

/// Conjugate gradients preconditioned with the diagonal blocks and a coarse space; x is the start and the answer.
CgResult conjugate_gradients(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b, Vec3s& x,
                             const CgOptions& options);

/// Direct factorisation: the reference.
class DirectSolver {
public:
    explicit DirectSolver(const BlockMatrix& A);
    ~DirectSolver();
    DirectSolver(const DirectSolver&) = delete;
    DirectSolver& operator=(const DirectSolver&) = delete;
    bool ok() const; ///< false when A was not positive definite
    void solve(const Vec3s& b, Vec3s& x) const;

private:
    struct Factor;
    Factor* factor_;
};

} // namespace pliant
