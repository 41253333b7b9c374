// Elastic energy as batches of elements: what dynamics makes of them, whatever bodies they belong to.

#include "pliant/bodies/springs.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

std::shared_ptr<const SpringBatch> springs(std::vector<Spring> list, Real damping = 0)
{
    return std::make_shared<SpringBatch>(std::move(list), damping);
}

/// A cloth, a solid and a rigid body, deformed and moving, with a spring from the cloth to the solid and one from the
/// solid to the centre of the rigid body.
World tied_world(Real gravity = 9.81)
{
    WorldBuilder builder;
    builder.set_gravity({0, -gravity, 0});
    BodyOptions options;
    options.name = "cloth";
    ClothMaterial cloth;
    cloth.bend = 1e-3;
    builder.add_cloth(make_grid(1, 1, 6, 6), cloth, options, GridShape{6, 6});
    options.name = "bar";
    options.place.translation = {0, 1, 0};
    const Index bar = builder.add_solid(make_tet_box({1, 0.3, 0.3}, {4, 1, 1}), {}, options);
    options.name = "box";
    options.place.translation = {0, 2, 0};
    const Index box = builder.add_rigid(make_box({0.2, 0.2, 0.2}), {}, options);
    const Index node = builder.first_block(bar), centre = builder.first_block(box);
    builder.add_batch(
        springs({{3, node, 0.7, 200, SpringKind::structural}, {node + 1, centre, 1.2, 300, SpringKind::structural}}));
    World world = builder.build();
    Random random(7);
    for (Index i = 0; i < centre; ++i) {
        world.state.position[i] += 0.03 * random.on_sphere();
        world.state.velocity[i] = random.on_sphere();
    }
    return world;
}

} // namespace

TEST(Batches, ForcesAreTheNegativeGradientOfTheEnergyAlsoAcrossBodies)
{
    World world = tied_world();
    LinearSystem system(world.model);
    system.assemble(world.model, world.state, 0.01);
    const Real eps = 1e-6;
    for (Index i = 0; i < world.model.block_count(); ++i) {
        if (world.model.mass[i] == 0) continue; // an angular block has no position
        for (int c = 0; c < 3; ++c) {
            const Real x = world.state.position[i][c];
            world.state.position[i][c] = x + eps;
            const Energy plus = energy(world.model, world.state);
            world.state.position[i][c] = x - eps;
            const Energy minus = energy(world.model, world.state);
            world.state.position[i][c] = x;
            const Real gradient = (plus.elastic + plus.gravity - minus.elastic - minus.gravity) / (2 * eps);
            EXPECT_NEAR(system.force()[i][c], -gradient, 1e-3) << "block " << i;
        }
    }
}

TEST(Batches, ExplicitForcesAreThoseOfTheLinearSystem)
{
    World world = tied_world();
    for (Vec3& v : world.state.velocity) v.setZero(); // no damping
    LinearSystem system(world.model);
    system.assemble(world.model, world.state, 0.01);
    Forces forces(world.model);
    Vec3s f;
    forces.evaluate(world.model, world.state, f);
    for (Index i = 0; i < world.model.block_count(); ++i)
        EXPECT_LT((f[i] - system.force()[i]).norm(), 1e-9 * (1 + f[i].norm())) << "block " << i;
}

TEST(Batches, TheMatrixIsTheSumOfTheMatricesOfItsBatches)
{
    const World world = tied_world();
    LinearSystem all(world.model);
    const Real dt = 0.01;
    all.assemble(world.model, world.state, dt);
    // Every batch alone, applied to a vector; the inertia is in each of them.
    Random random(3);
    Vec3s x(world.state.position.size()), y, sum(x.size(), Vec3::Zero());
    for (Vec3& v : x) v = random.on_sphere();
    all.A().multiply(x, y);
    Model without = world.model;
    without.batches.clear();
    LinearSystem inertia(without);
    inertia.assemble(without, world.state, dt);
    Vec3s part;
    inertia.A().multiply(x, part);
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = part[i];
    for (const auto& batch : world.model.batches) {
        Model one = world.model;
        one.batches = {batch};
        LinearSystem system(one);
        system.assemble(one, world.state, dt);
        Vec3s with;
        system.A().multiply(x, with);
        for (std::size_t i = 0; i < x.size(); ++i) sum[i] += with[i] - part[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LT((y[i] - sum[i]).norm(), 1e-10 * (1 + y[i].norm()));
}

TEST(Batches, SpringsBetweenTheSameParticlesAddUp)
{
    const auto assembled = [](std::vector<std::vector<Spring>> batches) {
        WorldBuilder builder;
        BodyOptions options;
        options.name = "cloth";
        ClothMaterial material;
        material.stretch = material.shear = material.bend = 0;
        builder.add_cloth(make_grid(1, 1, 2, 2), material, options, GridShape{2, 2});
        for (auto& list : batches) builder.add_batch(springs(std::move(list)));
        const World world = builder.build();
        LinearSystem system(world.model);
        system.assemble(world.model, world.state, 0.1);
        Vec3s x = {Vec3(1, 2, 3), Vec3(-1, 0, 2), Vec3(0, 1, 0), Vec3(2, 2, 1)}, y;
        system.A().multiply(x, y);
        return y;
    };
    const Spring weak{0, 1, 0.8, 10, SpringKind::structural}, strong{0, 1, 0.8, 30, SpringKind::structural};
    const Vec3s one = assembled({{strong}}), same_batch = assembled({{weak, weak, weak}}),
                apart = assembled({{weak}, {weak, weak}});
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_LT((one[i] - same_batch[i]).norm(), 1e-13);
        EXPECT_LT((one[i] - apart[i]).norm(), 1e-13);
    }
}

TEST(Batches, ASpringBetweenBodiesKeepsTheirMomentum)
{
    World world = tied_world(0);
    const Vec3 p0 = linear_momentum(world.model, world.state);
    ExplicitStepper verlet(world.model, Integrator::verlet);
    const Real dt = stable_step(world.model, world.state);
    for (int i = 0; i < 200; ++i) verlet.substep(world.model, world.state, dt);
    EXPECT_LT((linear_momentum(world.model, world.state) - p0).norm(), 1e-10 * p0.norm());
}

TEST(Batches, ForcesHaveTheSameBitsForAnyNumberOfThreads)
{
    WorldBuilder builder;
    BodyOptions options;
    options.name = "cloth";
    builder.add_cloth(make_grid(1, 1, 40, 40), {}, options, GridShape{40, 40});
    options.name = "bar";
    options.place.translation = {0, 1, 0};
    builder.add_solid(make_tet_box({1, 0.3, 0.3}, {16, 5, 5}), {}, options);
    World world = builder.build();
    Random random(5);
    for (Vec3& x : world.state.position) x += 1e-3 * random.on_sphere();
    std::vector<Vec3s> results;
    for (int threads : {1, 2, 4, 8}) {
        set_thread_count(threads);
        Forces forces(world.model);
        forces.evaluate(world.model, world.state, results.emplace_back());
    }
    set_thread_count(0);
    for (const Vec3s& f : results) EXPECT_TRUE(f == results.front());
}

TEST(ExplicitStep, LetsAMethodAddForcesChangeTheMotionAndSeeEverySubStep)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions options;
    options.name = "box";
    builder.add_rigid(make_box({1, 1, 1}), {.density = 2}, options);
    for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::verlet}) {
        World world = builder.build();
        ExplicitStepper stepper(world.model, integrator);
        int seen = 0;
        Correction push;
        push.forces = [](const State&, Real, Vec3s& force) { force[0] += Vec3(4, 0, 0); };
        push.committed = [&](const State&) { ++seen; };
        for (int i = 0; i < 10; ++i) stepper.substep(world.model, world.state, 0.1, push);
        EXPECT_NEAR(world.state.velocity[0].x(), 2, 1e-12) << "4 N on 2 kg for 1 s";
        EXPECT_EQ(seen, 10);
        // A wall: the motion ends where it is, and so does the velocity up to what the force brings within the step.
        Correction wall;
        wall.motion = [](const State&, Real, Vec3s& path) { path[0].setZero(); };
        const Vec3 place = world.state.position[0];
        stepper.substep(world.model, world.state, 0.1, wall);
        EXPECT_EQ(world.state.position[0], place);
        EXPECT_NEAR(world.state.velocity[0].x(), 0, 1e-12);
    }
}
