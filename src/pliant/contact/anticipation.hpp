#pragma once
// Full constraint anticipation [Otaduy09, 5.1]: the paper's rival and our oracle.

#include "pliant/contact/problem.hpp"
#include "pliant/linalg/solve.hpp"

namespace pliant {

/// B = J A^-1 J^T body by body from direct factorisations, then projected Gauss-Seidel on B until the residuals of the
/// multipliers meet the tolerance. max_iterations counts sweeps. The cost of B grows with the square of a body's rows.
ContactResult solve_by_anticipation(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                    Multipliers& lambda);

/// Numbers in the response matrices that solve_by_anticipation() would build.
Real anticipation_cost(const ContactSystem& system);

} // namespace pliant
