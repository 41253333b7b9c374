#pragma once
// Iterative constraint anticipation [Otaduy09, section 5].

#include "pliant/contact/row_sweep.hpp"
#include "pliant/linalg/graph.hpp"

namespace pliant {

/// The default solver `ica`: the paper's iteration matrix-free in velocity space, accelerated, with true residuals.
/// dv and lambda are the warm start and the answer.
class Ica {
public:
    explicit Ica(const BlockPattern& pattern);
    ContactResult solve(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                        Multipliers& lambda);

    /// The solver `ica-paper`: [Otaduy09, 5.5] to the letter, for the paper's plots. Both its loops end when residuals
    /// change by less than 5 %: at the solution where the iteration is fast, before it where the iteration is slow.
    ContactResult solve_as_published(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                     Multipliers& lambda);

private:
    void prepare(const ContactSystem& system);
    void anticipate(const ContactSystem& system, const ContactSolverOptions& options, RowSweep::Visit rows,
                    const Vec3s& dv, Multipliers& lambda);
    void take_impulses(); ///< of the rows, into f_
    void drop_unforced(const ContactProblem& problem, const Multipliers& lambda, Vec3s& dv) const;
    void refine(const ContactSystem& system, int sweeps, Vec3s& dv);

    ChunkColoring coloring_;
    // Scratch of one solve, filled by prepare().
    std::vector<Index> touched_;   ///< blocks with a row, sorted
    SweepOrder active_;            ///< blocks of the connected parts that have a row
    std::vector<Index> component_; ///< per block: first block of its connected part
    std::vector<Index> parts_;     ///< of the coarse space, with a row
    RowSweep rows_;
    Vec3s f_; ///< J^T l
};

} // namespace pliant
