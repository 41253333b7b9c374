#include "pliant/bodies/neo_hookean.hpp"

#include "pliant/bodies/st_venant_kirchhoff.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Real flattest = 0.05; ///< J below which ln J is continued by its parabola, and below 0 by a line

/// ln J and its first two derivatives.
struct LogVolume {
    explicit LogVolume(Real J)
    {
        const Real at = std::max(J, flattest), d = (J - at) / at, bent = std::max(d, -1.0);
        value = std::log(at) + bent - bent * bent / 2 + (d - bent) * (1 - bent);
        slope = (1 - bent) / at;
        curvature = d < -1 ? 0 : -1 / (at * at);
    }
    Real value, slope, curvature;
};

/// Of the energy's part that depends on J alone: dE/dJ and its derivative, over V.
struct Pressure {
    Pressure(const Elasticity& m, Real J)
    {
        const LogVolume L(J);
        const Real a = m.lambda * L.value - m.mu;
        g = a * L.slope;
        slope = a * L.curvature + m.lambda * L.slope * L.slope;
    }
    Real g, slope; ///< [Pa]
};

Mat3 first_stress(const Elasticity& m, const Mat3& F)
{
    return m.mu * F + Pressure(m, F.determinant()).g * cofactor(F);
}

/// One eigenvector of the second derivative by F, as a matrix of unit norm, and its eigenvalue [Pa].
struct Mode {
    Mat3 direction;
    Real value;
};

std::array<Mode, 9> modes(const Elasticity& m, const Mat3& F)
{
    const Eigen::JacobiSVD<Mat3> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Mat3 U = svd.matrixU(), V = svd.matrixV();
    Vec3 s = svd.singularValues();
    if (U.determinant() < 0) U.col(2) *= -1, s[2] *= -1; // rotations, and the sign where the element is inside out
    if (V.determinant() < 0) V.col(2) *= -1, s[2] *= -1;
    const Pressure p(m, s.prod());
    std::array<Mode, 9> all;
    for (int k = 0; k < 3; ++k) {
        const Vec3 a = U.col((k + 1) % 3), b = U.col((k + 2) % 3), c = V.col((k + 1) % 3), d = V.col((k + 2) % 3);
        all[k] = {std::sqrt(0.5) * (a * d.transpose() - b * c.transpose()), m.mu + p.g * s[k]};     // twist
        all[3 + k] = {std::sqrt(0.5) * (a * d.transpose() + b * c.transpose()), m.mu - p.g * s[k]}; // flip
    }
    const Vec3 c(s[1] * s[2], s[2] * s[0], s[0] * s[1]);
    Mat3 H = m.mu * Mat3::Identity() + p.slope * c * c.transpose();
    for (int k = 0; k < 3; ++k) {
        H((k + 1) % 3, (k + 2) % 3) += p.g * s[k];
        H((k + 2) % 3, (k + 1) % 3) += p.g * s[k];
    }
    const Eigen::SelfAdjointEigenSolver<Mat3> stretch(H);
    for (int k = 0; k < 3; ++k)
        all[6 + k] = {U * stretch.eigenvectors().col(k).asDiagonal() * V.transpose(), stretch.eigenvalues()[k]};
    return all;
}

} // namespace

Real NeoHookean::energy(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x);
    const Real L = LogVolume(F.determinant()).value;
    return e.volume * (m.mu / 2 * (F.squaredNorm() - 3) - m.mu * L + m.lambda / 2 * L * L);
}

Corners NeoHookean::forces(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 VP = e.volume * first_stress(m, deformation_gradient(e, x));
    Corners f;
    for (int k = 0; k < 4; ++k) f[k] = -(VP * e.gradient[k]);
    return f;
}

Mat12 NeoHookean::stiffness_exact(const Elasticity& m, const SolidElement& e, const Corners& x)
{
    const Mat3 F = deformation_gradient(e, x), C = cofactor(F);
    const Pressure p(m, F.determinant());
    Mat12 K;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const Vec3 ci = C * e.gradient[i], cj = C * e.gradient[j];
            K.block<3, 3>(3 * i, 3 * j) =
                e.volume * (m.mu * e.gradient[i].dot(e.gradient[j]) * Mat3::Identity() + p.slope * ci * cj.transpose() -
                            p.g * skew(F * e.gradient[i].cross(e.gradient[j])));
        }
    return K;
}

void NeoHookean::add_stiffness(const Elasticity& m, const SolidElement& e, const Corners& x, Real elastic, Real damping,
                               ElementBlocks& K)
{
    const Mat3 F = deformation_gradient(e, x);
    for (const Mode& mode : modes(m, F)) {
        if (mode.value <= 0) continue;
        Corners d;
        for (int k = 0; k < 4; ++k) d[k] = mode.direction * e.gradient[k];
        const Real scale = elastic * e.volume * mode.value;
        for (int i = 0; i < 4; ++i)
            for (int j = i; j < 4; ++j) K.upper(i, j) += scale * d[i] * d[j].transpose();
    }
    if (damping == 0) return;
    const ShapeStiffness shape(m, e, F);
    for (int i = 0; i < 4; ++i)
        for (int j = i; j < 4; ++j) K.upper(i, j) += damping * shape.block(i, j);
}

void NeoHookean::four_forces(const Elasticity& m, const FourElements& e, const std::array<FourVec, 4>& x,
                             const std::array<FourVec, 4>& v, Real beta, std::array<FourVec, 3>& f)
{
    const FourMat F = four_gradients(e, x);
    const FourMat C = {cross(F[1], F[2]), cross(F[2], F[0]), cross(F[0], F[1])};
    const Four J = dot(F[0], C[0]), at = J.max(flattest), d = (J - at) / at, bent = d.max(-1.0);
    const Four L = at.log() + bent - bent * bent / 2 + (d - bent) * (1 - bent);
    const Four g = (m.lambda * L - m.mu) * (1 - bent) / at;
    FourMat P;
    for (int c = 0; c < 3; ++c) P[c] = Four::Constant(m.mu) * F[c] + g * C[c];
    if (beta > 0) { // Hooke's law on the rate of the Green-Lagrange strain
        const FourMat rate = four_gradients(e, v);
        Four xx = dot(F[0], rate[0]), yy = dot(F[1], rate[1]), zz = dot(F[2], rate[2]);
        const Four xy = beta * m.mu * (dot(F[0], rate[1]) + dot(F[1], rate[0]));
        const Four yz = beta * m.mu * (dot(F[1], rate[2]) + dot(F[2], rate[1]));
        const Four zx = beta * m.mu * (dot(F[2], rate[0]) + dot(F[0], rate[2]));
        const Four spread = beta * m.lambda * (xx + yy + zz);
        xx = spread + 2 * beta * m.mu * xx;
        yy = spread + 2 * beta * m.mu * yy;
        zz = spread + 2 * beta * m.mu * zz;
        P[0] = P[0] + times(F, {xx, xy, zx});
        P[1] = P[1] + times(F, {xy, yy, yz});
        P[2] = P[2] + times(F, {zx, yz, zz});
    }
    pliant::four_forces(e, P, f);
}

Real NeoHookean::stiffness_bound(const Elasticity& m, const Mat3& F)
{
    const Pressure p(m, F.determinant());
    const Real elastic = m.mu + std::abs(p.slope) * cofactor(F).squaredNorm() + std::abs(p.g) * F.norm();
    return std::max(elastic, (m.lambda + 2 * m.mu) * F.squaredNorm()); // the other is that of the damping
}

Real NeoHookean::stress(const Elasticity& m, const Mat3& F)
{
    const Real J = std::max(F.determinant(), flattest);
    return von_mises_stress(first_stress(m, F) * F.transpose() / J); // Cauchy's
}

} // namespace pliant
