#pragma once
// Tetrahedra of St. Venant-Kirchhoff's material: Hooke's law between the Green-Lagrange strain E = (F^T F - I)/2 and
// the second Piola-Kirchhoff stress S = lambda tr(E) I + 2 mu E. Energy V [mu E : E + lambda/2 tr(E)^2], first stress
// P = F S. No rotation has to be found, and stretching is resisted by more than Hooke's law; but compression below
// 1/sqrt(3) = 0.58 of a length is resisted less and less, and an element may be pushed through and out again.

#include "pliant/bodies/model_batch.hpp"

namespace pliant {

/// What resists a change of the Green-Lagrange strain by Hooke's law, positive semi-definite and blind to rotations:
///   V [ lambda F b_i (F b_j)^T + mu (b_i.b_j F F^T + F b_j (F b_i)^T) ]
class ShapeStiffness {
public:
    ShapeStiffness(const Elasticity& material, const SolidElement& element, const Mat3& F)
        : m_(material), e_(element), left_(F * F.transpose())
    {
        for (int k = 0; k < 4; ++k) Fb_[k] = F * e_.gradient[k];
    }
    Mat3 block(int i, int j) const
    {
        return e_.volume * (m_.lambda * Fb_[i] * Fb_[j].transpose() +
                            m_.mu * (e_.gradient[i].dot(e_.gradient[j]) * left_ + Fb_[j] * Fb_[i].transpose()));
    }

private:
    const Elasticity& m_;
    const SolidElement& e_;
    Mat3 left_;
    Corners Fb_;
};

struct StVenantKirchhoff {
    static Real energy(const Elasticity& m, const SolidElement& e, const Corners& x);
    static Corners forces(const Elasticity& m, const SolidElement& e, const Corners& x);
    static Mat12 stiffness_exact(const Elasticity& m, const SolidElement& e, const Corners& x);
    /// K_ij = V b_i.S b_j I + ShapeStiffness: the first term is that of the stress. K~ takes the positive part of S in
    /// it, as springs leave out the transverse stiffness of compression; K_d is the other.
    static void add_stiffness(const Elasticity& m, const SolidElement& e, const Corners& x, Real elastic, Real damping,
                              ElementBlocks& K);
    static void four_forces(const Elasticity& m, const FourElements& e, const std::array<FourVec, 4>& x,
                            const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f);
    static Real stiffness_bound(const Elasticity& m, const Mat3& F);
    static Real stress(const Elasticity& m, const Mat3& F);
};

} // namespace pliant
