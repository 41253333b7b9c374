#include "pliant/bodies/solid.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

using namespace pliant;

namespace {

using Corners = std::array<Vec3, 4>;

Solid one_tet()
{
    TetMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1.1, 0}, {0.1, 0.3, 0.9}};
    mesh.tets = {{0, 1, 2, 3}};
    SolidMaterial material;
    material.young = 1e4;
    material.poisson = 0.35;
    return make_solid(mesh, material);
}

const Vec3s rest = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1.1, 0}, {0.1, 0.3, 0.9}};

Corners mapped(const Mat3& F, const Vec3& shift = Vec3::Zero())
{
    Corners x;
    for (int k = 0; k < 4; ++k) x[k] = F * rest[k] + shift;
    return x;
}

struct NamedState {
    const char* name;
    Mat3 F;
};

std::vector<NamedState> states()
{
    Random random(3);
    const Mat3 R = random.rotation().toRotationMatrix(), Q = random.rotation().toRotationMatrix();
    const auto stretched = [&](Real a, Real b, Real c) { return Mat3(R * Vec3(a, b, c).asDiagonal() * Q); };
    return {{"stretched", stretched(1.5, 1.2, 1.1)},
            {"compressed", stretched(0.7, 0.5, 0.8)},
            {"rotated", R},
            {"sheared", R * (Mat3::Identity() + 0.4 * Vec3::UnitX() * Vec3::UnitY().transpose())},
            {"inverted", stretched(1.1, 0.9, -0.4)},
            {"thin", stretched(1.2, 0.9, 0.05)}};
}

} // namespace

TEST(Solid, ForcesAreTheNegativeGradientOfTheEnergy)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    const Real eps = 1e-6;
    for (const NamedState& s : states()) {
        const Corners x = mapped(s.F), f = element_forces(solid.elasticity, e, x);
        for (int k = 0; k < 4; ++k)
            for (int c = 0; c < 3; ++c) {
                Corners plus = x, minus = x;
                plus[k][c] += eps;
                minus[k][c] -= eps;
                const Real fd =
                    -(element_energy(solid.elasticity, e, plus) - element_energy(solid.elasticity, e, minus)) /
                    (2 * eps);
                EXPECT_NEAR(f[k][c], fd, 1e-5 * solid.material.young) << s.name;
            }
    }
}

TEST(Solid, ExactStiffnessIsTheDerivativeOfTheForces)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    const Real eps = 1e-6;
    for (const NamedState& s : states()) {
        const Corners x = mapped(s.F);
        const auto K = element_stiffness_exact(solid.elasticity, e, x);
        for (int j = 0; j < 4; ++j)
            for (int c = 0; c < 3; ++c) {
                Corners plus = x, minus = x;
                plus[j][c] += eps;
                minus[j][c] -= eps;
                const Corners fp = element_forces(solid.elasticity, e, plus),
                              fm = element_forces(solid.elasticity, e, minus);
                for (int i = 0; i < 4; ++i) {
                    const Vec3 fd = -(fp[i] - fm[i]) / (2 * eps);
                    const Vec3 exact = K.block<3, 1>(3 * i, 3 * j + c);
                    EXPECT_LT((fd - exact).norm(), 2e-6 * K.norm()) << s.name;
                }
            }
    }
}

TEST(Solid, WarpedStiffnessIsPositiveSemiDefiniteEverywhereAndExactAtRest)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    const auto warped = [&](const Mat3& F) {
        const Mat3 R = element_rotation(F);
        Eigen::Matrix<Real, 12, 12> K;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                K.block<3, 3>(3 * i, 3 * j) = element_stiffness_block(
                    e.volume, solid.elasticity.lambda, solid.elasticity.mu, R * e.gradient[i], R * e.gradient[j]);
        return K;
    };
    for (const NamedState& s : states()) {
        const Eigen::Matrix<Real, 12, 12> K = warped(s.F);
        EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm()) << s.name;
        const Real lowest = Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Real, 12, 12>>(K).eigenvalues().minCoeff();
        EXPECT_GE(lowest, -1e-12 * K.norm()) << s.name;
    }
    const auto K0 = element_stiffness_exact(solid.elasticity, e, mapped(Mat3::Identity()));
    EXPECT_LT((warped(Mat3::Identity()) - K0).norm(), 1e-12 * K0.norm());
}

TEST(Solid, RotationIsProperForFlatInvertedAndCollapsedElements)
{
    Random random(5);
    for (int i = 0; i < 1000; ++i) {
        Mat3 F = Mat3::NullaryExpr([&] { return random.uniform(-1, 1); });
        if (i % 5 == 0) F.col(2) = F.col(0); // flat
        if (i % 7 == 0) F.setZero();         // collapsed
        const Mat3 R = element_rotation(F);
        EXPECT_LT((R.transpose() * R - Mat3::Identity()).norm(), 1e-12);
        EXPECT_NEAR(R.determinant(), 1, 1e-12);
    }
}

TEST(Solid, RotationMaximisesItsAgreementWithTheDeformation)
{
    Random random(11);
    for (int i = 0; i < 200; ++i) {
        const Mat3 F = Mat3::NullaryExpr([&] { return random.uniform(-1, 1); });
        const Real best = element_rotation(F).cwiseProduct(F).sum();
        for (int k = 0; k < 50; ++k)
            EXPECT_LE(random.rotation().toRotationMatrix().cwiseProduct(F).sum(), best + 1e-12);
    }
}

TEST(Solid, NoForceAtRestAndInvarianceUnderRigidMotion)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    Random random(9);
    const Real scale = solid.material.young;
    for (int i = 0; i < 20; ++i) {
        const Mat3 Q = random.rotation().toRotationMatrix();
        const Vec3 shift = random.in_box(Vec3::Constant(-5), Vec3::Constant(5));
        for (const Vec3& f : element_forces(solid.elasticity, e, mapped(Q, shift))) EXPECT_LT(f.norm(), 1e-10 * scale);
        for (const NamedState& s : states()) {
            const Corners f = element_forces(solid.elasticity, e, mapped(s.F)),
                          g = element_forces(solid.elasticity, e, mapped(Q * s.F, shift));
            for (int k = 0; k < 4; ++k) EXPECT_LT((g[k] - Q * f[k]).norm(), 1e-10 * scale) << s.name;
        }
    }
}

TEST(Solid, ForcesAndTheirMomentsSumToZero)
{
    const Solid solid = one_tet();
    for (const NamedState& s : states()) {
        const Corners x = mapped(s.F), f = element_forces(solid.elasticity, solid.elements[0], x);
        Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
        for (int k = 0; k < 4; ++k) {
            force += f[k];
            moment += x[k].cross(f[k]);
        }
        EXPECT_LT(force.norm(), 1e-10 * solid.material.young) << s.name;
        EXPECT_LT(moment.norm(), 1e-10 * solid.material.young) << s.name;
    }
}
