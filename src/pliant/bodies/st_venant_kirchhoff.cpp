#include "pliant/bodies/st_venant_kirchhoff.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

Mat3 green_strain(const Mat3& F)
{
    return 0.5 * (F.transpose() * F - Mat3::Identity());
}

/// S [Pa].
Mat3 second_stress(const Elasticity& m, const Mat3& E)
{
    return m.lambda * E.trace() * Mat3::Identity() + 2 * m.mu * E;
}

Mat3 positive_part(const Mat3& S)
{
    const Eigen::SelfAdjointEigenSolver<Mat3> solver(S);
    return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() * solver.eigenvectors().transpose();
}

} // namespace

Real StVenantKirchhoff::energy(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 E = green_strain(deformation_gradient(e, x));
    return e.volume * (m.mu * E.squaredNorm() + m.lambda / 2 * E.trace() * E.trace());
}

Corners StVenantKirchhoff::forces(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x), VP = e.volume * F * second_stress(m, green_strain(F));
    Corners f;
    for (int k = 0; k < 4; ++k) f[k] = -(VP * e.gradient[k]);
    return f;
}

Mat12 StVenantKirchhoff::stiffness_exact(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x), S = second_stress(m, green_strain(F));
    const ShapeStiffness stiffness(m, e, F);
    Mat12 K;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            K.block<3, 3>(3 * i, 3 * j) =
                e.volume * e.gradient[i].dot(S * e.gradient[j]) * Mat3::Identity() + stiffness.block(i, j);
    return K;
}

void StVenantKirchhoff::add_stiffness(const Elasticity& m, const SolidElement& e, const Corners& x, Real elastic,
                                      Real damping, ElementBlocks& K)
{
    const Mat3 F = deformation_gradient(e, x), S = positive_part(second_stress(m, green_strain(F)));
    const ShapeStiffness stiffness(m, e, F);
    for (int i = 0; i < 4; ++i)
        for (int j = i; j < 4; ++j)
            K.upper(i, j) += elastic * e.volume * e.gradient[i].dot(S * e.gradient[j]) * Mat3::Identity() +
                             (elastic + damping) * stiffness.block(i, j);
}

void StVenantKirchhoff::four_forces(const Elasticity& m, const FourElements& e, const std::array<FourVec, 4>& x,
                                    const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f)
{
    const FourMat F = four_gradients(e, x);
    // 2 E, and 2 beta dE/dt with it: both go through Hooke's law.
    Four xx = dot(F[0], F[0]) - 1, yy = dot(F[1], F[1]) - 1, zz = dot(F[2], F[2]) - 1;
    Four xy = dot(F[0], F[1]), yz = dot(F[1], F[2]), zx = dot(F[2], F[0]);
    if (beta > 0) {
        const FourMat rate = four_gradients(e, v);
        xx += 2 * beta * dot(F[0], rate[0]);
        yy += 2 * beta * dot(F[1], rate[1]);
        zz += 2 * beta * dot(F[2], rate[2]);
        xy += beta * (dot(F[0], rate[1]) + dot(F[1], rate[0]));
        yz += beta * (dot(F[1], rate[2]) + dot(F[2], rate[1]));
        zx += beta * (dot(F[2], rate[0]) + dot(F[0], rate[2]));
    }
    const Four spread = 0.5 * m.lambda * (xx + yy + zz);
    xx = spread + m.mu * xx;
    yy = spread + m.mu * yy;
    zz = spread + m.mu * zz;
    xy *= m.mu;
    yz *= m.mu;
    zx *= m.mu;
    const FourMat P = {times(F, {xx, xy, zx}), times(F, {xy, yy, yz}), times(F, {zx, yz, zz})};
    pliant::four_forces(e, P, f);
}

Real StVenantKirchhoff::stiffness_bound(const Elasticity& m, const Mat3& F)
{
    // Row sums bound the largest eigenvalue of a symmetric matrix.
    const auto bound = [](const Mat3& A) { return A.cwiseAbs().rowwise().sum().maxCoeff(); };
    return (m.lambda + 2 * m.mu) * bound(F.transpose() * F) + bound(second_stress(m, green_strain(F)));
}

Real StVenantKirchhoff::stress(const Elasticity& m, const Mat3& F)
{
    return von_mises_stress(second_stress(m, green_strain(F)));
}

} // namespace pliant
