#pragma once
// Conjugate gradients in single precision.

#include "pliant/linalg/multigrid.hpp"
#include "pliant/linalg/solve.hpp"

namespace pliant {

/// Solves for corrections; whoever adds them up keeps double precision. Scratch for all components of a multigrid;
/// different components may be solved at the same time.
class LaneSolver {
public:
    explicit LaneSolver(Multigrid& multigrid);

    /// A x = r from x = 0, until the norm of the residual in the metric is at most `fine`. On return r is the residual.
    CgResult solve(const Multigrid::Region& region, Real fine, int max_iterations, LaneVectors& r, LaneVectors& x);

private:
    Multigrid& multigrid_;
    LaneVectors p_, Ap_;
};

} // namespace pliant
