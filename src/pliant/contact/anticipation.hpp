#pragma once
// Full constraint anticipation [Otaduy09, 5.1]: the paper's rival, our oracle, and the solver of stiff thin bodies. The
// responses of contacts to each other come from factors along elimination trees.

#include "pliant/contact/problem.hpp"

namespace pliant {

/// thorough: all rows take part from the start, and sweeps go on to their last. thrifty: only rows that push or would
/// be broken do, others join when they are, and sweeps that hardly lower the residual end, as on bodies wedged between
/// others, which take thousands.
enum class Anticipate { thorough, thrifty };

/// B = J A^-1 J^T body by body from direct factorisations, then projected Gauss-Seidel on B until the residuals of the
/// multipliers meet the tolerance. max_iterations counts sweeps. The cost of B grows with the square of a body's rows.
ContactResult solve_by_anticipation(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                    Multipliers& lambda, Anticipate how = Anticipate::thorough);

/// Per connected part of the problem: what solve_by_anticipation() would cost, as the time of that many additions and
/// multiplications; infinite where its matrices would not fit.
std::vector<Real> anticipation_costs(const ContactSystem& system, const Multipliers& lambda);

} // namespace pliant
