#pragma once
// Iterative constraint anticipation [Otaduy09, section 5].

#include "pliant/contact/row_sweep.hpp"

namespace pliant {

/// Colours of the rows of a pattern such that no two coupled rows share one: Gauss-Seidel in colour order is parallel
/// inside a colour and gives the same bits for any number of threads.
struct Coloring {
    std::vector<Index> order;       ///< rows, colour by colour
    std::vector<Index> color_begin; ///< per colour + 1: range in order
};
Coloring color_rows(const BlockPattern& pattern);

/// The default solver `ica`: the paper's iteration matrix-free in velocity space, accelerated, with true residuals.
/// dv and lambda are the warm start and the answer.
class Ica {
public:
    explicit Ica(const BlockPattern& pattern);
    ContactResult solve(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                        Multipliers& lambda);

    /// The solver `ica-paper`: [Otaduy09, 5.5] to the letter, with its rule of 5 % changes, for the paper's plots.
    ContactResult solve_as_published(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                     Multipliers& lambda);

private:
    void prepare(const ContactSystem& system);
    void anticipate(const ContactSystem& system, const ContactSolverOptions& options, bool visit_all, const Vec3s& dv,
                    Multipliers& lambda);
    void refine(const ContactSystem& system, int sweeps, Vec3s& dv);

    Coloring coloring_;
    // Scratch of one solve, filled by prepare().
    std::vector<Index> touched_;      ///< blocks with a row, sorted
    std::vector<Index> active_;       ///< blocks of the connected parts that have a row, in colour order
    std::vector<Index> active_begin_; ///< per colour + 1
    std::vector<Index> component_;    ///< per block: representative of its connected part
    std::vector<Index> parts_;        ///< of the coarse space, with a row
    RowSweep rows_;
    Vec3s f_; ///< J^T l
};

} // namespace pliant
