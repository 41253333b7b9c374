#pragma once
// The linear velocity update A v = b of one backward Euler step [Otaduy09, eq. 2 and 3]. With lumped mass M, Rayleigh
// damping -(alpha M + beta K) v and the solver's stiffness K:
//   A = (1 + h alpha) M + (h^2 + h beta) K,   b = h F(q0) + M v0
// (the damping force at v0 cancels in b). The printed "G dF/dq" must read "dF/dq G".
// Pinned blocks leave the system: their rows become v = prescribed, their columns move to b.

#include "pliant/dynamics/batch_schedule.hpp"
#include "pliant/dynamics/spin.hpp"
#include "pliant/linalg/solve.hpp"
#include "pliant/linalg/tree_factor.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

class LinearSystem {
public:
    explicit LinearSystem(const Model& model);

    /// A and b at the state for a step of length dt.
    void assemble(const Model& model, const State& state, Real dt, const Foreseen& foreseen = {});
    /// By how much the elastic energy of a body that ends a step of length dt at x is more than what the assembled
    /// system, which is linear, takes it for [J]. y: where its elements were taken; d = x - y.
    Real energy_error(const Model& model, const FreeBody& body, const Vec3s& x, const Vec3s& y, const Vec3s& d,
                      Real dt) const;

    const BlockMatrix& A() const { return A_; }
    const Vec3s& b() const { return b_; }
    /// Inverse diagonal blocks; 0 for pinned blocks, which nothing moves.
    const std::vector<Mat3>& diagonal_inverse() const { return diagonal_inverse_; }
    /// Motions as a whole of the stiff bodies that nothing holds.
    const CoarseSpace& coarse() const { return coarse_; }
    /// Elastic and gravity forces at the assembled state [N], per block.
    const Vec3s& force() const { return force_; }
    /// A v = b to a residual relative to the step's momenta, in each connected part by itself: by conjugate gradients
    /// from the v that is given, or by the part's factor as soon as the iterations would take longer. Single blocks
    /// (rigid bodies) are solved exactly.
    CgResult solve(Real tolerance, Vec3s& v) const;
    /// The same for parts with wanted[part] != 0 only. turns: per part, how many more solves begin with the factor,
    /// because iterations took longer the last time; raised here, lowered by who calls.
    CgResult solve(Real tolerance, std::span<const char> wanted, std::vector<Index>& turns, Vec3s& v) const;
    /// Factors of the connected parts of A.
    const PartFactors& factors() const { return *factors_; }

    Index parts() const { return parts_; }                            ///< connected parts of the matrix
    const std::vector<Index>& part_of_block() const { return part_; } ///< per block: its part
    /// Per part: what residuals of the free solve are compared with, in the norm of D^-1.
    std::vector<Real> momentum_scales() const;

private:
    void assemble_rows(const Model& model, const State& state, const Vec3s& x, Real dt, Index begin, Index end,
                       std::span<BatchRows* const> batches);
    void assemble_rotors(const Model& model, const State& state, Real dt);
    void eliminate_prescribed(Index row, const Model& model);
    CgResult solve_part(Index part, const CgOptions& options, const CgPart* cg_part, CgScratch* scratch, Index& turns,
                        Vec3s& v) const;
    template <class Square>
    std::vector<Real> part_norms(Square&& square) const;

    BlockMatrix A_;
    Vec3s b_, force_;
    Vec3s prescribed_; ///< velocity of pinned blocks over the step
    std::vector<Mat3> diagonal_inverse_;
    CoarseSpace coarse_;
    BatchSchedule batches_;
    std::vector<std::uint8_t> cleared_;     ///< per block: batches add to blocks of its row that nobody assigns
    std::vector<std::uint8_t> touches_pin_; ///< per block: pinned, or coupled with a pinned one
    std::vector<Index> part_;               ///< per block: number of its connected part
    Index parts_ = 0;
    std::vector<CgPart> cg_parts_; ///< those of more than one block
    std::unique_ptr<PartFactors> factors_;
    std::vector<Real> momentum_scale_; ///< per part: |h M g| + |M v0| in the norm of D^-1
};

/// Where a solve starts: the velocity plus the change that it had over the last step of length `change_dt`, which is
/// right both in free flight and at rest. The velocity alone when change_dt is 0.
void extrapolate(const Vec3s& velocity, const Vec3s& change, Real dt, Real change_dt, Vec3s& v);

/// Velocities that pins have over a step: the chord of their script, so that they end exactly on it.
void prescribed_velocities(const Model& model, const State& state, Real dt, Vec3s& v);

/// Moves the state by the velocities v over dt: particles on straight lines, rigid bodies by the Cayley map;
/// the angular velocity afterwards is the one that carries the angular momentum the step produced.
/// Does not touch the step count or the memory.
void advance(const Model& model, State& state, const Vec3s& v, Real dt);

/// The configuration alone at the end of such a step (positions and orientations of `end`).
void move_configuration(const Model& model, const State& start, const Vec3s& v, Real dt, State& end);

} // namespace pliant
