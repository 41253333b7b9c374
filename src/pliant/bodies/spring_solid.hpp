#pragma once
// Solids of springs: one on every edge of the tetrahedra, and a force that keeps the volume of every tetrahedron.
//
// Constants from Young's modulus and Poisson's ratio: an edge of rest length L in a tetrahedron of volume V gets the
// stiffness k = 5/2 mu V / L^2 of it, and tetrahedra at an edge add up. If their edges point everywhere alike, the
// energy of a small strain e is, by the mean 1/15 (2 e : e + tr(e)^2) of (n.e n)^2 over all directions n,
//   6 edges * 1/2 * 5/2 mu V * 1/15 (2 e : e + tr(e)^2)  =  V [ mu e : e + mu/2 tr(e)^2 ],
// Hooke's law with lambda = mu, as springs alone always have it (Cauchy's relation, Poisson's ratio 1/4). The rest,
// lambda - mu, is the modulus of the volume force: energy (lambda - mu)/2 V (J - 1)^2 with J = det F. Edges do not
// point everywhere alike, so the body is as isotropic as its mesh. Poisson's ratio counts as 0.3 where it is less: then
// at least half of mu is left for the volume, without which an element could be turned inside out at no cost.

#include "pliant/bodies/model_batch.hpp"
#include "pliant/bodies/springs.hpp"

namespace pliant {

/// Shear modulus of the springs and modulus of the volume force [Pa].
struct SpringModuli {
    Real mu = 0, volume = 0;
};
SpringModuli spring_moduli(const Elasticity& elasticity);

/// The springs of a solid whose nodes are the blocks from first_block on, each edge once.
std::vector<Spring> edge_springs(const Solid& solid, Index first_block);

/// The volume force of a tetrahedron: P = (lambda - mu)(J - 1) cof F.
struct VolumeForce {
    static Real energy(const Elasticity& m, const SolidElement& e, const Corners& x);
    static Corners forces(const Elasticity& m, const SolidElement& e, const Corners& x);
    static Mat12 stiffness_exact(const Elasticity& m, const SolidElement& e, const Corners& x);
    /// K~ = K_d: the change of J with itself; the second derivative of J has no sign and is left out.
    static void add_stiffness(const Elasticity& m, const SolidElement& e, const Corners& x, Real elastic, Real damping,
                              ElementBlocks& K);
    static void four_forces(const Elasticity& m, const FourElements& e, const std::array<FourVec, 4>& x,
                            const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f);
    static Real stiffness_bound(const Elasticity& m, const Mat3& F);
    /// Of the whole material, springs included, by Hooke's law on the Green-Lagrange strain.
    static Real stress(const Elasticity& m, const Mat3& F);
};

/// Springs and volume forces of a solid in one batch. With a matrix each edge counts once; for forces alone every
/// tetrahedron brings its own part of the springs on its edges, because a visit of its nodes costs more than six
/// lengths.
class SpringSolidBatch final : public ElementBatch {
public:
    SpringSolidBatch(const Solid& solid, Index first_block);

    Index element_count() const override { return volumes_.element_count(); }
    std::span<const Index> blocks(Index element) const override { return volumes_.blocks(element); }
    Real damping() const override { return volumes_.damping(); }
    Real energy(const Vec3s& x) const override { return springs_.energy(x) + volumes_.energy(x); }
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override;
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override;
    bool stiffness_varies() const override { return true; }
    Real max_elongation(const Vec3s& x) const override { return volumes_.max_elongation(x); }
    Index inverted(const Vec3s& x) const override { return volumes_.inverted(x); }
    void raise_stress(const Vec3s& x, std::vector<Real>& at_block) const override
    {
        volumes_.raise_stress(x, at_block);
    }

    /// Of four tetrahedra side by side.
    struct FourRest {
        std::array<Four, 6> inverse_length; ///< of the edges, in the order of tet_edges [1/m]
        Four volume;                        ///< [m^3]
    };
    const FourRest& rest(Index four) const { return rest_[four]; }
    const TetBatch& tetrahedra() const { return volumes_; }

private:
    SpringBatch springs_;
    ModelBatch<VolumeForce> volumes_;
    std::vector<FourRest> rest_;
};

/// The edges of a tetrahedron, by its corners.
inline constexpr std::array<std::array<int, 2>, 6> tet_edges = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

} // namespace pliant
