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

} // namespace pliant
