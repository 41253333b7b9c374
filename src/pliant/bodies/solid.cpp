#include "pliant/bodies/solid.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>

#include <cmath>

namespace pliant {
namespace {

/// Newton's iteration R <- (R + R^-T)/2: quadratic convergence to the polar factor when det F > 0.
bool polar_by_newton(const Mat3& F, Mat3& R)
{
    R = F;
    for (int i = 0; i < 20; ++i) {
        const Mat3 C = cofactor(R); // det(R) R^-T
        const Real det = R.col(0).dot(C.col(0));
        const Mat3 next = 0.5 * (R + C / det);
        const Real change_sq = (next - R).squaredNorm();
        R = next;
        if (change_sq < 1e-26) return true;
    }
    return false;
}

} // namespace

Solid make_solid(const TetMesh& mesh, const SolidMaterial& material)
{
    Solid solid;
    solid.material = material;
    const Real E = material.young, nu = material.poisson;
    solid.elasticity.lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    solid.elasticity.mu = E / (2 * (1 + nu));
    solid.rest = mesh.vertices;
    solid.mass.assign(mesh.vertices.size(), 0);
    solid.elements.reserve(mesh.tets.size());
    for (const Tet& t : mesh.tets) {
        SolidElement e;
        e.nodes = t;
        Mat3 D; // edges from node 0
        for (int k = 0; k < 3; ++k) D.col(k) = mesh.vertices[t[k + 1]] - mesh.vertices[t[0]];
        e.volume = D.determinant() / 6;
        const Mat3 inverse = D.inverse();
        e.gradient[0].setZero();
        for (int k = 0; k < 3; ++k) {
            e.gradient[k + 1] = inverse.row(k).transpose();
            e.gradient[0] -= e.gradient[k + 1];
        }
        for (Index v : t) solid.mass[v] += material.density * e.volume / 4;
        solid.elements.push_back(e);
    }
    return solid;
}

Mat3 deformation_gradient(const SolidElement& e, const std::array<Vec3, 4>& x)
{
    // Differences from node 0 keep digits when the body is far from the origin.
    Mat3 F = (x[1] - x[0]) * e.gradient[1].transpose();
    F += (x[2] - x[0]) * e.gradient[2].transpose();
    F += (x[3] - x[0]) * e.gradient[3].transpose();
    return F;
}

Mat3 element_rotation(const Mat3& F)
{
    Mat3 R;
    const Real scale = F.norm() / std::sqrt(3.0);
    if (F.determinant() > 0.02 * scale * scale * scale && polar_by_newton(F, R)) return R;
    // Flat or inverted: the smallest singular value takes the sign, so that R is a rotation [Irving et al. 2004].
    const Eigen::JacobiSVD<Mat3> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Mat3 U = svd.matrixU();
    if ((U * svd.matrixV().transpose()).determinant() < 0) U.col(2) = -U.col(2);
    return U * svd.matrixV().transpose();
}

Real element_energy(const Elasticity& material, const SolidElement& e, const std::array<Vec3, 4>& x)
{
    const Mat3 F = deformation_gradient(e, x), R = element_rotation(F);
    const Real trace = (R.transpose() * F).trace() - 3;
    return e.volume * (material.mu * (F - R).squaredNorm() + material.lambda / 2 * trace * trace);
}

Mat3 element_stress(const Elasticity& material, const Mat3& F, const Mat3& R)
{
    const Real trace = R.cwiseProduct(F).sum() - 3;
    return 2 * material.mu * (F - R) + material.lambda * trace * R;
}

Real von_mises_stress(const Mat3& stress)
{
    const Mat3 deviator = stress - stress.trace() / 3 * Mat3::Identity();
    return std::sqrt(1.5) * deviator.norm();
}

std::array<Vec3, 4> element_forces(const Elasticity& material, const SolidElement& e, const std::array<Vec3, 4>& x)
{
    const Mat3 F = deformation_gradient(e, x);
    const Mat3 VP = e.volume * element_stress(material, F, element_rotation(F));
    std::array<Vec3, 4> f;
    for (int k = 0; k < 4; ++k) f[k] = -(VP * e.gradient[k]);
    return f;
}

// With R^T dR = [w] the symmetry of S = R^T F gives (tr(S) I - S) w = axl(R^T dF - dF^T R), and
// dP = 2 mu (dF - dR) + lambda tr(R^T dF) R + lambda tr(S - I) dR.
Eigen::Matrix<Real, 12, 12> element_stiffness_exact(const Elasticity& material, const SolidElement& e,
                                                    const std::array<Vec3, 4>& x)
{
    const Mat3 F = deformation_gradient(e, x), R = element_rotation(F), S = R.transpose() * F;
    const Mat3 to_rotation = (S.trace() * Mat3::Identity() - S).inverse();
    const Real trace = S.trace() - 3;
    Eigen::Matrix<Real, 12, 12> K;
    for (int j = 0; j < 4; ++j)
        for (int c = 0; c < 3; ++c) {
            const Mat3 dF = Vec3::Unit(c) * e.gradient[j].transpose();
            const Mat3 RtdF = R.transpose() * dF, B = RtdF - RtdF.transpose();
            const Vec3 w = to_rotation * Vec3(B(2, 1), B(0, 2), B(1, 0));
            const Mat3 dR = R * skew(w);
            const Mat3 dP = 2 * material.mu * (dF - dR) + material.lambda * (RtdF.trace() * R + trace * dR);
            for (int i = 0; i < 4; ++i) K.block<3, 1>(3 * i, 3 * j + c) = e.volume * (dP * e.gradient[i]);
        }
    return K;
}

} // namespace pliant
