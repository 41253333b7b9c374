#include "pliant/bodies/cloth.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

using namespace pliant;

namespace {

const Spring spring{0, 1, 0.5, 80, SpringKind::structural};

/// End b relative to a: stretched, compressed, at rest, along random directions.
std::vector<Vec3> spring_states()
{
    Random random(7);
    std::vector<Vec3> states;
    for (Real length : {0.5, 0.9, 0.3, 0.05})
        for (int i = 0; i < 5; ++i) states.push_back(length * random.on_sphere());
    return states;
}

} // namespace

TEST(Cloth, SpringForceIsTheNegativeGradientOfItsEnergy)
{
    const Real eps = 1e-6;
    for (const Vec3& xb : spring_states()) {
        const Vec3 xa(0.1, 0.2, 0.3), b = xa + xb;
        Vec3 gradient;
        for (int c = 0; c < 3; ++c)
            gradient[c] = (spring_energy(spring, xa + eps * Vec3::Unit(c), b) -
                           spring_energy(spring, xa - eps * Vec3::Unit(c), b)) /
                          (2 * eps);
        EXPECT_LT((spring_force(spring, xa, b) + gradient).norm(), 1e-7 * spring.stiffness);
    }
}

TEST(Cloth, ExactSpringStiffnessIsTheDerivativeOfTheForce)
{
    const Real eps = 1e-6;
    for (const Vec3& xb : spring_states()) {
        const Mat3 K = spring_stiffness_exact(spring, Vec3::Zero(), xb);
        Mat3 fd;
        for (int c = 0; c < 3; ++c)
            fd.col(c) =
                -(spring_force(spring, eps * Vec3::Unit(c), xb) - spring_force(spring, -eps * Vec3::Unit(c), xb)) /
                (2 * eps);
        EXPECT_LT((K - fd).norm(), 1e-6 * K.norm());
    }
}

TEST(Cloth, SolverStiffnessIsPositiveSemiDefiniteAndExactAtRest)
{
    for (const Vec3& xb : spring_states()) {
        const Mat3 K = spring_stiffness(spring, Vec3::Zero(), xb);
        EXPECT_GE(Eigen::SelfAdjointEigenSolver<Mat3>(K).eigenvalues().minCoeff(), -1e-10);
        if (std::abs(xb.norm() - spring.rest_length) < 1e-12) {
            EXPECT_LT((K - spring_stiffness_exact(spring, Vec3::Zero(), xb)).norm(), 1e-10);
        }
    }
}

TEST(Cloth, CoincidentEndsGiveFiniteForceAndStiffness)
{
    EXPECT_TRUE(spring_force(spring, Vec3::Zero(), Vec3::Zero()).allFinite());
    EXPECT_TRUE(spring_stiffness(spring, Vec3::Zero(), Vec3::Zero()).allFinite());
}

TEST(Cloth, MassOfAGridIsItsAreaTimesItsDensity)
{
    const TriangleMesh mesh = make_grid(2, 3, 5, 7);
    for (const Cloth& cloth : {make_cloth(mesh, {}), make_grid_cloth(mesh, 5, 7, {})}) {
        Real mass = 0;
        for (Real m : cloth.mass) mass += m;
        EXPECT_NEAR(mass, 6 * ClothMaterial{}.density, 1e-12);
    }
}

TEST(Cloth, GridHasProvotsThreeFamiliesOfSprings)
{
    const Cloth cloth = make_grid_cloth(make_grid(1, 1, 4, 5), 4, 5, {});
    std::array<int, 3> families{};
    for (const Spring& s : cloth.springs) ++families[static_cast<int>(s.kind)];
    EXPECT_EQ(families[0], 3 * 5 + 4 * 4); // grid lines
    EXPECT_EQ(families[1], 2 * 3 * 4);     // both diagonals of every cell
    EXPECT_EQ(families[2], 2 * 5 + 4 * 3); // two cells apart
}

namespace {

/// A curtain in waves whose texture is the flat sheet it was made from, in units of a third of a metre.
TriangleMesh pleated_curtain()
{
    TriangleMesh mesh = make_grid(1.5, 0.9, 31, 19);
    for (const Triangle& t : mesh.triangles) {
        auto& corners = mesh.texture.emplace_back();
        for (std::size_t k = 0; k < 3; ++k) corners[k] = 3 * Vec2(mesh.vertices[t[k]].x(), mesh.vertices[t[k]].z());
    }
    for (Vec3& x : mesh.vertices) x = Vec3(0.6 * x.x(), 0.04 * std::sin(40 * x.x()), x.z());
    return mesh;
}

} // namespace

TEST(Cloth, InItsTextureItIsAtRestAsItLiesThere)
{
    const TriangleMesh curtain = pleated_curtain();
    TriangleMesh flat = make_grid(1.5, 0.9, 31, 19);
    const ClothMaterial material;
    const Cloth textured = make_textured_cloth(curtain, 1.0 / 3, material), plain = make_cloth(flat, material);
    ASSERT_EQ(textured.springs.size(), plain.springs.size());
    for (std::size_t i = 0; i < plain.springs.size(); ++i) {
        EXPECT_EQ(textured.springs[i].a, plain.springs[i].a);
        EXPECT_EQ(textured.springs[i].b, plain.springs[i].b);
        EXPECT_NEAR(textured.springs[i].rest_length, plain.springs[i].rest_length, 1e-12);
        EXPECT_NEAR(textured.springs[i].stiffness, plain.springs[i].stiffness, 1e-9 * plain.springs[i].stiffness);
    }
    for (std::size_t i = 0; i < plain.mass.size(); ++i) EXPECT_NEAR(textured.mass[i], plain.mass[i], 1e-15);
}

TEST(Cloth, TheScaleOfATextureGivesItTheAreaOfTheMesh)
{
    TriangleMesh mesh = pleated_curtain();
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) mesh.vertices[v] = make_grid(1.5, 0.9, 31, 19).vertices[v];
    EXPECT_NEAR(texture_scale(mesh), 1.0 / 3, 1e-12);
    for (auto& t : mesh.texture) t.fill(Vec2::Zero());
    EXPECT_EQ(texture_scale(mesh), 0);
}

TEST(Cloth, WhereATextureIsCutAnEdgeIsAsLongAsItsTwoSidesOnAverage)
{
    TriangleMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}};
    mesh.triangles = {{0, 1, 2}, {1, 3, 2}};
    mesh.texture = {{Vec2(0, 0), Vec2(1, 0), Vec2(0, 1)}, {Vec2(5, 0), Vec2(5, 2), Vec2(3, 2)}};
    const Cloth cloth = make_textured_cloth(mesh, 1, {});
    for (const Spring& s : cloth.springs)
        if (s.kind == SpringKind::structural && s.a + s.b == 3 && s.a * s.b == 2) {
            EXPECT_NEAR(s.rest_length, (std::sqrt(2.0) + std::sqrt(8.0)) / 2, 1e-12);
        }
}
