#pragma once
// Linear co-rotational tetrahedra [Mueller and Gross 2004, stiffness warping].

#include "pliant/bodies/materials.hpp"
#include "pliant/mesh/mesh.hpp"

namespace pliant {

/// One element's rest data: gradients of the barycentric coordinates and volume.
struct SolidElement {
    Tet nodes;
    std::array<Vec3, 4> gradient; ///< b_k = d N_k / d X [1/m]
    Real volume;                  ///< [m^3]
};

/// Lame's coefficients [Pa].
struct Elasticity {
    Real lambda = 0, mu = 0;
};

struct Solid {
    SolidMaterial material;
    Elasticity elasticity;
    Vec3s rest;             ///< per node: its place in the rest shape [m]
    std::vector<Real> mass; ///< per node, lumped [kg]
    std::vector<SolidElement> elements;
};

Solid make_solid(const TetMesh& mesh, const SolidMaterial& material);

/// Deformation gradient F = sum_k x_k b_k^T.
Mat3 deformation_gradient(const SolidElement& element, const std::array<Vec3, 4>& x);
/// det(F) F^-T, which every F has.
inline Mat3 cofactor(const Mat3& F)
{
    Mat3 C;
    C.col(0) = F.col(1).cross(F.col(2));
    C.col(1) = F.col(2).cross(F.col(0));
    C.col(2) = F.col(0).cross(F.col(1));
    return C;
}
/// The rotation R closest to F with det R = +1, also for flat and inverted F.
Mat3 element_rotation(const Mat3& F);

/// Co-rotational energy: V [mu |S - I|^2 + lambda/2 tr(S - I)^2] with S = R^T F [J].
Real element_energy(const Elasticity& material, const SolidElement& element, const std::array<Vec3, 4>& x);
/// First Piola-Kirchhoff stress R [2 mu e + lambda tr(e) I], e = sym(R^T F) - I [Pa].
Mat3 element_stress(const Elasticity& material, const Mat3& F, const Mat3& R);
/// sqrt(3/2 s : s) of the deviator s of a symmetric stress: E times the strain of a bar that is pulled [Pa].
Real von_mises_stress(const Mat3& stress);
std::array<Vec3, 4> element_forces(const Elasticity& material, const SolidElement& element,
                                   const std::array<Vec3, 4>& x);
/// Block (i, j) of the warped stiffness R K0 R^T, with g_k = R b_k: positive semi-definite, exact at rest [N/m].
inline Mat3 element_stiffness_block(Real volume, Real lambda, Real mu, const Vec3& gi, const Vec3& gj)
{
    return volume * (lambda * gi * gj.transpose() + mu * (gi.dot(gj) * Mat3::Identity() + gj * gi.transpose()));
}
/// The exact stiffness -df/dx (12 x 12), with the derivative of the rotation.
Eigen::Matrix<Real, 12, 12> element_stiffness_exact(const Elasticity& material, const SolidElement& element,
                                                    const std::array<Vec3, 4>& x);

} // namespace pliant
