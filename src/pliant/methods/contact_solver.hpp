#pragma once
// The contact solve of one round: rows, the solver that the options name, impulses.

#include "pliant/contact/ica.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/cloth_solver.hpp"
#include "pliant/methods/substep.hpp"

#include <optional>

namespace pliant {

/// What an unconstrained solve came to.
struct FreeSolve {
    int iterations = 0;
    Real residual = 0; ///< relative, the largest of all parts
    Real unsolved = 0; ///< likewise over its tolerance, of the parts that the contact solve does not look at again
};

class ContactSolver {
public:
    /// linear_tolerance: of the unconstrained solve.
    ContactSolver(const Model& model, const LinearSystem& system, const ContactSolverOptions& options,
                  Real linear_tolerance);
    /// The unconstrained velocities v of a sub-step, from those that are given. turns: per connected part of the
    /// matrix, how many more times its factor solves it at once; raised here.
    FreeSolve solve_free(const LinearSystem& system, Real tolerance, std::vector<Index>& turns, Vec3s& v);
    /// The set's impulses and the change of velocity dv that they make; both are warm starts and answers. turns: per
    /// connected part of the matrix, how many more times its contacts are solved by its factor at once; raised here.
    ContactResult solve(const LinearSystem& system, const Substep& substep, Effort effort, std::vector<Index>& turns,
                        ContactSet& set, Vec3s& dv);
    /// Per body: whether refinement has to add rows for the limits of length that are broken; else the last solve knew
    /// all of them.
    const std::vector<char>& lengths_by_rows() const { return by_rows_; }
    /// Whether a solve ended so far from its tolerance that a shorter step should be tried.
    bool diverged(const ContactResult& result) const;
    /// The largest residual over its tolerance.
    Real merit(const ContactResult& result) const;

private:
    ContactResult run_by_parts(ContactSystem& system, const Substep& substep, Effort effort, ContactParts& parts,
                               std::vector<Index>& turns, ContactSet& set, Vec3s& dv, Multipliers& lambda);
    int relax_again(ContactSystem& system, std::vector<char> again, const Vec3s& load, const Vec3s& warm_dv,
                    const Multipliers& warm, Vec3s& dv, Multipliers& lambda);
    ContactResult run_ica(const ContactSystem& system, Effort effort, std::vector<Index>& turns, Vec3s& dv,
                          Multipliers& lambda);
    ContactResult run(const ContactSystem& system, const Model& model, Effort effort, std::vector<Index>& turns,
                      Vec3s& dv, Multipliers& lambda);
    Real merit(const ContactResiduals& residuals) const;
    ContactSolverOptions options_for(Effort effort) const;

    ContactSolverOptions options_;
    std::vector<Index> component_;     ///< per block: first block of its connected part of the matrix
    std::vector<Index> part_of_block_; ///< its number
    Ica ica_;
    std::optional<ClothSolver> cloth_;
    std::vector<char> by_rows_; ///< per body: its limits of length were rows in the last solve, not balls
};

} // namespace pliant
