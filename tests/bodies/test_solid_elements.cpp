// The elements that models of solids are made of (bodies/model_batch.hpp), one by one.

#include "pliant/bodies/corotational.hpp"
#include "pliant/bodies/neo_hookean.hpp"
#include "pliant/bodies/spring_solid.hpp"
#include "pliant/bodies/st_venant_kirchhoff.hpp"
#include "pliant/core/random.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

using namespace pliant;

namespace {

const Vec3s rest = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1.1, 0}, {0.1, 0.3, 0.9}};
constexpr Real young = 1e4;

Solid one_tet()
{
    TetMesh mesh;
    mesh.vertices = rest;
    mesh.tets = {{0, 1, 2, 3}};
    SolidMaterial material;
    material.young = young;
    material.poisson = 0.35;
    return make_solid(mesh, material);
}

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
            {"barely inverted", stretched(1.2, 0.9, -0.02)},
            {"nearly flat", stretched(1.2, 0.9, 0.02)},
            {"thin", stretched(1.2, 0.9, 0.05)}};
}

template <class Element>
Mat12 projected(const Solid& solid, const Corners& x, Real elastic, Real damping)
{
    ElementBlocks blocks;
    blocks.set_zero();
    Element::add_stiffness(solid.elasticity, solid.elements[0], x, elastic, damping, blocks);
    Mat12 K;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) K.block<3, 3>(3 * i, 3 * j) = blocks.block(i, j);
    return K;
}

template <class Element>
class SolidElements : public testing::Test {};
using Elements = testing::Types<StVenantKirchhoff, NeoHookean, VolumeForce>;
TYPED_TEST_SUITE(SolidElements, Elements);

} // namespace

TYPED_TEST(SolidElements, ForcesAreTheNegativeGradientOfTheEnergy)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    const Real eps = 1e-6;
    for (const NamedState& s : states()) {
        const Corners x = mapped(s.F), f = TypeParam::forces(solid.elasticity, e, x);
        for (int k = 0; k < 4; ++k)
            for (int c = 0; c < 3; ++c) {
                Corners plus = x, minus = x;
                plus[k][c] += eps;
                minus[k][c] -= eps;
                const Real fd =
                    -(TypeParam::energy(solid.elasticity, e, plus) - TypeParam::energy(solid.elasticity, e, minus)) /
                    (2 * eps);
                EXPECT_NEAR(f[k][c], fd, 1e-6 * young) << s.name;
            }
    }
}

TYPED_TEST(SolidElements, ExactStiffnessIsTheDerivativeOfTheForces)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    const Real eps = 1e-6;
    for (const NamedState& s : states()) {
        const Corners x = mapped(s.F);
        const Mat12 K = TypeParam::stiffness_exact(solid.elasticity, e, x);
        for (int j = 0; j < 4; ++j)
            for (int c = 0; c < 3; ++c) {
                Corners plus = x, minus = x;
                plus[j][c] += eps;
                minus[j][c] -= eps;
                const Corners fp = TypeParam::forces(solid.elasticity, e, plus),
                              fm = TypeParam::forces(solid.elasticity, e, minus);
                for (int i = 0; i < 4; ++i) {
                    const Vec3 fd = -(fp[i] - fm[i]) / (2 * eps), exact = K.block<3, 1>(3 * i, 3 * j + c);
                    EXPECT_LT((fd - exact).norm(), 1e-7 * (young + K.norm())) << s.name;
                }
            }
    }
}

TYPED_TEST(SolidElements, SolverStiffnessIsPositiveSemiDefiniteEverywhereAndExactAtRest)
{
    const Solid solid = one_tet();
    for (const NamedState& s : states())
        for (const auto& [elastic, damping] : {std::pair(1.0, 0.0), {0.0, 1.0}, {1.0, 0.5}}) {
            const Mat12 K = projected<TypeParam>(solid, mapped(s.F), elastic, damping);
            EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm()) << s.name;
            EXPECT_GE(Eigen::SelfAdjointEigenSolver<Mat12>(K).eigenvalues().minCoeff(), -1e-12 * K.norm()) << s.name;
        }
    const Mat12 K0 = TypeParam::stiffness_exact(solid.elasticity, solid.elements[0], mapped(Mat3::Identity()));
    EXPECT_LT((projected<TypeParam>(solid, mapped(Mat3::Identity()), 1, 0) - K0).norm(), 1e-12 * K0.norm());
    EXPECT_LT((projected<TypeParam>(solid, mapped(Mat3::Identity()), 0, 1) - K0).norm(), 1e-12 * K0.norm());
}

TYPED_TEST(SolidElements, StiffnessBoundHoldsForEveryPairOfNodes)
{
    const Solid solid = one_tet();
    const SolidElement& e = solid.elements[0];
    for (const NamedState& s : states()) {
        const Mat12 K = TypeParam::stiffness_exact(solid.elasticity, e, mapped(s.F));
        const Real bound = e.volume * TypeParam::stiffness_bound(solid.elasticity, s.F);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                const Mat3 block = K.block<3, 3>(3 * i, 3 * j);
                const Real largest =
                    std::sqrt(Eigen::SelfAdjointEigenSolver<Mat3>(block.transpose() * block).eigenvalues()[2]);
                EXPECT_LE(largest, bound * e.gradient[i].norm() * e.gradient[j].norm() * (1 + 1e-12)) << s.name;
            }
    }
}

TYPED_TEST(SolidElements, DampingDoesNotResistARigidRotationHoweverDeformed)
{
    const Solid solid = one_tet();
    for (const NamedState& s : states()) {
        const Corners x = mapped(s.F);
        const Mat12 K = projected<TypeParam>(solid, x, 0, 1);
        Eigen::Matrix<Real, 12, 1> v;
        for (int k = 0; k < 4; ++k) v.segment<3>(3 * k) = Vec3(1, -2, 0.5).cross(x[k]) + Vec3(3, 1, 2);
        EXPECT_LT((K * v).norm(), 1e-11 * K.norm()) << s.name;
    }
}

TEST(SolidElements, FourRotationsAreThoseOfSingleElements)
{
    Random random(17);
    for (int trial = 0; trial < 300; ++trial) {
        FourMat four;
        std::array<Mat3, 4> one;
        for (int lane = 0; lane < 4; ++lane) {
            one[lane] = random.rotation().toRotationMatrix() +
                        random.uniform(0, trial % 3) * Mat3::NullaryExpr([&] { return random.uniform(-1, 1); });
            if (trial % 10 == 0 && lane == 1) one[lane].col(2) = one[lane].col(0); // flat
            for (int c = 0; c < 3; ++c) {
                four[c].x[lane] = one[lane](0, c);
                four[c].y[lane] = one[lane](1, c);
                four[c].z[lane] = one[lane](2, c);
            }
        }
        const FourMat R = four_rotations(four);
        for (int lane = 0; lane < 4; ++lane) {
            const Mat3 expected = element_rotation(one[lane]);
            for (int c = 0; c < 3; ++c)
                EXPECT_LT((Vec3(R[c].x[lane], R[c].y[lane], R[c].z[lane]) - expected.col(c)).norm(), 1e-10);
        }
    }
}

TEST(SolidElements, NeoHookeanTurnedInsideOutStoresAtMostTheSquareOfItsVolume)
{
    const Solid solid = one_tet();
    const auto stored = [&](Real size) {
        return NeoHookean::energy(solid.elasticity, solid.elements[0], mapped(Vec3(size, size, -size).asDiagonal()));
    };
    for (const Real size : {2.0, 10.0, 1000.0}) EXPECT_LT(stored(2 * size), 1.1 * 64 * stored(size)) << size;
}

TEST(SolidElements, SpringModuliAreThoseOfTheMaterialFromAPoissonRatioOf3TenthsOn)
{
    for (const Real poisson : {0.3, 0.4, 0.45}) {
        const Real mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
        const SpringModuli moduli = spring_moduli({lambda, mu});
        EXPECT_NEAR(moduli.mu / mu, 1, 1e-12);
        EXPECT_NEAR((moduli.volume + moduli.mu) / lambda, 1, 1e-12);
    }
    const SpringModuli low = spring_moduli({0, young / 2}); // Poisson's ratio 0
    EXPECT_NEAR(low.mu, young / 2.6, 1e-9);
    EXPECT_NEAR(low.volume, low.mu / 2, 1e-9);
}
