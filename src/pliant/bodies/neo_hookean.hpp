#pragma once
// Tetrahedra of compressible Neo-Hookean rubber: energy V [mu/2 (F : F - 3) - mu L + lambda/2 L^2] with L = ln J and
// J = det F, first stress P = mu F + g cof F with g = (lambda L - mu) dL/dJ. The energy grows without bound as an
// element is flattened, so that twist and crush stay spread out; where J is below a twentieth, ln J goes on as its
// parabola and below 0 as a line, which lets an element that was turned inside out by something else find back: the
// parabola alone would store the fourth power of its volume, which no linear step can follow.

#include "pliant/bodies/model_batch.hpp"

namespace pliant {

struct NeoHookean {
    /// A step shall not turn an element inside out.
    static constexpr bool keeps_orientation = true;

    static Real energy(const Elasticity& m, const SolidElement& e, const Corners& x);
    static Corners forces(const Elasticity& m, const SolidElement& e, const Corners& x);
    /// K_ij = V [ mu b_i.b_j I + dg/dJ c_i c_j^T - g [F (b_i x b_j)]_x ], c_i = cof(F) b_i.
    static Mat12 stiffness_exact(const Elasticity& m, const SolidElement& e, const Corners& x);
    /// K~ sets negative eigenvalues of the second derivative by F to zero, from its eigenvectors in closed form [Smith
    /// et al. 2019, "Analytic eigensystems for isotropic distortion energies"]; K_d is ShapeStiffness.
    static void add_stiffness(const Elasticity& m, const SolidElement& e, const Corners& x, Real elastic, Real damping,
                              ElementBlocks& K);
    static void four_forces(const Elasticity& m, const FourElements& e, const std::array<FourVec, 4>& x,
                            const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f);
    static Real stiffness_bound(const Elasticity& m, const Mat3& F);
    static Real stress(const Elasticity& m, const Mat3& F);
};

} // namespace pliant
