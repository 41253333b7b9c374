#pragma once
// The contact solve of one round: rows, the solver that the options name, impulses.

#include "pliant/contact/ica.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/substep.hpp"

namespace pliant {

class ContactSolver {
public:
    ContactSolver(const LinearSystem& system, const ContactSolverOptions& options);
    /// The set's impulses and the change of velocity dv that they make; both are warm starts and answers.
    ContactResult solve(const LinearSystem& system, const Substep& substep, Effort effort, ContactSet& set, Vec3s& dv);
    /// Whether a solve ended so far from its tolerance that a shorter step should be tried.
    bool diverged(const ContactResult& result) const;
    /// The largest residual over its tolerance.
    Real merit(const ContactResult& result) const;

private:
    ContactResult run(const ContactSystem& system, const Model& model, Effort effort, Vec3s& dv, Multipliers& lambda);

    ContactSolverOptions options_;
    std::vector<Index> component_; ///< per block: first block of its connected part of the matrix
    Ica ica_;
};

} // namespace pliant
