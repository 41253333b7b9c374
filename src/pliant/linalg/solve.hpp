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
    /// Asked once, when an iteration has not converged after the first `patience` steps: how many it may take in all.
    std::function<int()> worthwhile = nullptr;
    static constexpr int patience = 64;
};

/// Rows that are coupled with each other and with no others: a system of its own.
struct CgPart {
    std::vector<Index> rows;         ///< ascending
    std::vector<Index> coarse_parts; ///< of the coarse space, that are in it
};
/// Vectors of the iteration. Parts may be solved at the same time with the same scratch.
struct CgScratch {
    explicit CgScratch(Index rows) : r(static_cast<std::size_t>(rows)), z(r), p(r), Ap(r) {}
    Vec3s r, z, p, Ap;
};

struct CgResult {
    int iterations = 0;
    Real residual = 0; ///< relative, at the end
    bool converged = false;
};

/// Conjugate gradients preconditioned with the diagonal blocks and a coarse space; x is the start and the answer.
CgResult conjugate_gradients(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b, Vec3s& x,
                             const CgOptions& options);

/// The same for one part of the system only. Small parts are solved on one thread.
CgResult conjugate_gradients(const BlockMatrix& A, const std::vector<Mat3>& diagonal_inverse, const Vec3s& b, Vec3s& x,
                             const CgOptions& options, const CgPart& part, CgScratch& scratch);

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
