// What every elastic model of the table must do, whatever it is made of: seen from dynamics, on a small body.

#include "dynamics/model_names.hpp"
#include "pliant/core/random.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"
#include "pliant/world/strain.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

constexpr Real young = 1e4;

World body_of(const std::string& model, Real damping = 0)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    SolidMaterial material;
    material.young = young;
    material.poisson = 0.35;
    material.density = 100;
    material.damping = damping;
    material.model = model;
    builder.add_solid(make_tet_box({1.2, 1, 0.9}, {2, 1, 1}, TetSplit::five), material, {}); // 10: not a multiple of 4
    return builder.build();
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
    return {{"rest", Mat3::Identity()},
            {"stretched", stretched(1.5, 1.2, 1.1)},
            {"compressed", stretched(0.7, 0.5, 0.8)},
            {"rotated", R},
            {"inverted", stretched(1.1, 0.9, -0.4)},
            {"thin", stretched(1.2, 0.9, 0.05)}};
}

/// The body in a state, with every node displaced a little on its own.
void deform(World& world, const Mat3& F, Real noise = 0.02)
{
    Random random(8);
    for (Index i = 0; i < world.model.block_count(); ++i)
        world.state.position[i] = F * world.model.rest[i] + noise * random.on_sphere();
}

Vec3s forces_of(const World& world)
{
    Vec3s f;
    Forces(world.model).evaluate(world.model, world.state, f);
    return f;
}

Real elastic_energy(const World& world)
{
    return energy(world.model, world.state).elastic;
}

class SolidModels : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, SolidModels, testing::ValuesIn(model_names()), model_title);

} // namespace

TEST_P(SolidModels, ForcesAreTheNegativeGradientOfTheEnergy)
{
    World world = body_of(GetParam());
    const Real eps = 1e-6;
    for (const NamedState& s : states()) {
        deform(world, s.F);
        const Vec3s f = forces_of(world);
        for (Index i = 0; i < world.model.block_count(); ++i)
            for (int c = 0; c < 3; ++c) {
                const Real x = world.state.position[i][c];
                world.state.position[i][c] = x + eps;
                const Real plus = elastic_energy(world);
                world.state.position[i][c] = x - eps;
                const Real minus = elastic_energy(world);
                world.state.position[i][c] = x;
                EXPECT_NEAR(f[i][c], -(plus - minus) / (2 * eps), 1e-5 * young) << s.name;
            }
    }
}

TEST_P(SolidModels, ForcesOfTheLinearSystemAreThoseOfExplicitSteps)
{
    World world = body_of(GetParam());
    LinearSystem system(world.model);
    for (const NamedState& s : states()) {
        deform(world, s.F);
        system.assemble(world.model, world.state, 0.01);
        const Vec3s f = forces_of(world);
        for (Index i = 0; i < world.model.block_count(); ++i)
            EXPECT_LT((f[i] - system.force()[i]).norm(), 1e-9 * young) << s.name;
    }
}

TEST_P(SolidModels, StiffnessIsTheDerivativeOfTheForcesAtRestInAnyOrientation)
{
    World world = body_of(GetParam());
    LinearSystem system(world.model);
    const Real eps = 1e-6, dt = 10;
    for (const Mat3& R : {Mat3(Mat3::Identity()), Random(4).rotation().toRotationMatrix()}) {
        deform(world, R, 0);
        system.assemble(world.model, world.state, dt);
        Random random(6);
        Vec3s u(world.state.position.size()), Au, plus, minus;
        for (Vec3& v : u) v = random.on_sphere();
        system.A().multiply(u, Au);
        World moved = world;
        for (std::size_t i = 0; i < u.size(); ++i) moved.state.position[i] = world.state.position[i] + eps * u[i];
        plus = forces_of(moved);
        for (std::size_t i = 0; i < u.size(); ++i) moved.state.position[i] = world.state.position[i] - eps * u[i];
        minus = forces_of(moved);
        for (std::size_t i = 0; i < u.size(); ++i) {
            const Vec3 Ku = (Au[i] - world.model.mass[i] * u[i]) / (dt * dt);
            EXPECT_LT((Ku + (plus[i] - minus[i]) / (2 * eps)).norm(), 1e-6 * young);
        }
    }
}

TEST_P(SolidModels, TheSystemIsPositiveDefiniteInRandomAndInvertedStates)
{
    World world = body_of(GetParam(), 0.01);
    LinearSystem system(world.model);
    Random random(12);
    for (int trial = 0; trial < 200; ++trial) {
        for (Vec3& x : world.state.position) x = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
        system.assemble(world.model, world.state, 0.05);
        EXPECT_TRUE(DirectSolver(system.A()).ok());
    }
}

TEST_P(SolidModels, NothingActsOnARigidlyMovedBodyAndForcesTurnWithIt)
{
    World world = body_of(GetParam());
    Random random(9);
    for (int trial = 0; trial < 10; ++trial) {
        const Mat3 Q = random.rotation().toRotationMatrix();
        deform(world, Q, 0);
        for (const Vec3& f : forces_of(world)) EXPECT_LT(f.norm(), 1e-10 * young);
        for (const NamedState& s : states()) {
            deform(world, s.F);
            const Vec3s f = forces_of(world);
            for (Vec3& x : world.state.position) x = Q * x + Vec3(3, -1, 2);
            const Vec3s g = forces_of(world);
            for (std::size_t i = 0; i < f.size(); ++i) EXPECT_LT((g[i] - Q * f[i]).norm(), 1e-9 * young) << s.name;
        }
    }
}

TEST_P(SolidModels, ForcesKeepBothMomentaAndDampingTheLinearOne)
{
    Random random(2);
    for (const Real damping : {0.0, 0.01}) {
        World world = body_of(GetParam(), damping);
        for (const NamedState& s : states()) {
            deform(world, s.F);
            for (Vec3& v : world.state.velocity) v = random.on_sphere();
            const Vec3s f = forces_of(world);
            Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
            Real size = 0;
            for (std::size_t i = 0; i < f.size(); ++i) {
                force += f[i];
                moment += world.state.position[i].cross(f[i]);
                size += f[i].norm();
            }
            EXPECT_LT(force.norm(), 1e-12 * size) << s.name;
            if (damping == 0) {
                EXPECT_LT(moment.norm(), 1e-10 * size) << s.name;
            }
        }
    }
}

TEST_P(SolidModels, DampingTakesEnergyOut)
{
    World world = body_of(GetParam(), 0.01), undamped = body_of(GetParam());
    Random random(2);
    for (const NamedState& s : states())
        for (int trial = 0; trial < 20; ++trial) {
            deform(world, s.F);
            for (Vec3& v : world.state.velocity) v = random.on_sphere();
            undamped.state = world.state;
            const Vec3s f = forces_of(world), g = forces_of(undamped);
            Real power = 0;
            for (std::size_t i = 0; i < f.size(); ++i) power += (f[i] - g[i]).dot(world.state.velocity[i]);
            EXPECT_LT(power, 0) << s.name;
        }
}

TEST_P(SolidModels, VerletAtTheStableStepKeepsTheEnergyOfALargeOscillation)
{
    World world = body_of(GetParam());
    deform(world, Mat3(Vec3(1.25, 0.9, 1.05).asDiagonal()), 0.01);
    const Real E0 = energy(world.model, world.state).total();
    ExplicitStepper verlet(world.model, Integrator::verlet);
    const Real dt = stable_step(world.model, world.state) / 2;
    Real lowest = E0, highest = E0;
    for (int i = 0; i < 5000; ++i) {
        verlet.substep(world.model, world.state, dt);
        const Real E = energy(world.model, world.state).total();
        lowest = std::min(lowest, E);
        highest = std::max(highest, E);
    }
    EXPECT_LT(highest, 1.05 * E0);
    EXPECT_GT(lowest, 0.95 * E0);
}

TEST_P(SolidModels, BackwardEulerBringsALargeOscillationToRestInItsRestShape)
{
    World world = body_of(GetParam());
    deform(world, Mat3(Vec3(1.25, 0.9, 1.05).asDiagonal()), 0.01);
    const Real E0 = energy(world.model, world.state).total();
    LinearSystem system(world.model);
    Real largest = E0;
    for (int i = 0; i < 400; ++i) {
        system.assemble(world.model, world.state, 0.02);
        Vec3s v = world.state.velocity;
        system.solve(1e-10, v);
        advance(world.model, world.state, v, 0.02);
        largest = std::max(largest, energy(world.model, world.state).total());
    }
    EXPECT_LT(largest, 1.001 * E0);
    EXPECT_LT(energy(world.model, world.state).total(), 1e-3 * E0);
    EXPECT_LT(max_elongation(world.model, world.state), 0.01);
}

TEST_P(SolidModels, InvertedElementsAreCounted)
{
    World world = body_of(GetParam());
    EXPECT_EQ(inverted_elements(world.model, world.state.position).count, 0);
    for (Vec3& x : world.state.position) x.z() = -x.z();
    EXPECT_EQ(inverted_elements(world.model, world.state.position).count, 10);
    for (Vec3& x : world.state.position) x.z() = 0;
    EXPECT_EQ(inverted_elements(world.model, world.state.position).count, 10) << "flat counts";
}
