#pragma once
// Response that knows nothing of the dynamics, for comparison [Otaduy09, figure 2].

#include "pliant/contact/problem.hpp"

namespace pliant {

/// The solver `local`: contacts push the nodes they touch according to their masses alone, dv = M^-1 (J^T lambda + H^T
/// gamma), as methods that repair velocities after the solve do; the rest of the body learns of it in the next step.
/// `mass` per block, 0 for angular blocks (a rigid body has no stiffness: A is its mass and inertia). Solved by
/// projected Gauss-Seidel until no relative velocity changes by more than the tolerance.
ContactResult solve_locally(const ContactSystem& system, const std::vector<Real>& mass,
                            const ContactSolverOptions& options, Vec3s& dv, Multipliers& lambda);

} // namespace pliant
