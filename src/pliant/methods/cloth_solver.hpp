#pragma once
// Free motion and contact of cloth: the parts that have cloth in them, which limits of length matter there, and the
// augmented Lagrangian that solves them.

#include "pliant/contact/augmented_lagrangian.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/linalg/lane_solve.hpp"
#include "pliant/methods/substep.hpp"

namespace pliant {

/// Which bodies the solver by multigrid looks after: cloth that it can solve, with the bodies that touch it, or all.
enum class ClothScope { sheets, everything };

class ClothSolver {
public:
    ClothSolver(const Model& model, const LinearSystem& system, ClothScope scope);

    /// Per connected part of the matrix: the free motion is solved here, and with it every contact problem it is in.
    const std::vector<char>& parts() const { return mine_; }
    bool has_work() const { return !sheets_.empty(); }

    /// Takes over the matrix of a sub-step and solves the free motion of its parts, loosely: the contact solve goes on
    /// where it ends. fine: norm of the residual, per part, that the two together shall reach. turns: per part, in how
    /// many more sub-steps others solve it; raised where single precision turns out not to, and v stays as it was. The
    /// result's residual is over `fine`, in double precision.
    CgResult begin(const LinearSystem& system, std::vector<Real> fine, std::vector<Index>& turns, Vec3s& v);

    /// Solves the given parts of a contact problem. dv and the multipliers of the rows are warm starts and answers; so
    /// are the impulses of set.lengths. load: what the impulses beside those of the rows are, for the residuals.
    ContactResult solve(const ContactSystem& system, const Substep& substep, const ContactSolverOptions& options,
                        const std::vector<char>& chosen, ContactSet& set, Vec3s& dv, Multipliers& lambda, Vec3s& load);
    /// Per part of the contact problem: whether it is to be solved here, as where most of it is cloth; fills in
    /// ContactParts::fine.
    std::vector<char> choose(ContactParts& parts) const;
    /// Those of them that relaxation can solve as well: bodies on cloth whose strain has no limit.
    std::vector<char> also_relaxable(const ContactParts& parts, std::vector<char> chosen) const;

private:
    std::vector<LagrangianPart> gather(const ContactSystem& system) const;
    std::vector<char> stiff_parts(const LinearSystem& system) const;
    void update_others(const std::vector<char>& chosen, const std::vector<LagrangianPart>& parts);
    bool watch_lengths(const Substep& substep, const Vec3s& dv, Real longest, const ContactParts& contact_parts,
                       const std::vector<char>& chosen_parts, std::vector<LagrangianPart>& parts,
                       ContactSet& set) const;
    void finish_free(const LagrangianPart& part, const Vec3s& dv_start, Vec3s& dv, ContactResult& result);

    const std::vector<Index>& part_of_block_; ///< of the matrix
    std::vector<char> mine_;
    std::vector<char> kept_;       ///< those of mine_ whose contacts are solved here in this sub-step
    std::vector<Index> sheets_;    ///< parts with cloth, that is those of mine_
    std::vector<Index> size_;      ///< per part of the matrix: its blocks
    std::vector<Index> elastic_;   ///< likewise: blocks of elastic solids
    std::vector<char> heavy_;      ///< likewise: has something else than cloth
    std::vector<char> limited_;    ///< likewise: cloth whose strain is limited
    std::vector<char> updated_;    ///< likewise: the multigrid has its matrix of this sub-step
    std::vector<Real> cloth_mass_; ///< per block [kg]; 0 where it is no cloth
    Multigrid multigrid_;
    LaneSolver linear_;
    AugmentedLagrangian lagrangian_;
    std::vector<Multigrid::Region> regions_; ///< per part of sheets_
    bool may_leave_ = true;                  ///< parts that single precision cannot solve go to others
    Real looseness_ = 1;                     ///< of the free solve
    LaneVectors r_, x_;
    const LinearSystem* system_ = nullptr;
    std::vector<Real> fine_;
    std::vector<Real> left_over_; ///< per part of the matrix: residual of the free solve over fine_
    Vec3s free_residual_;         ///< per block: b - A v* [N s]
};

} // namespace pliant
