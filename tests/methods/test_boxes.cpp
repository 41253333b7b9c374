// Method "boxes": what collisions of boxes keep and do.

#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/boxes.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

std::shared_ptr<const LatticeMesh> lattice(const TriangleMesh& surface, const LatticeOptions& options)
{
    return std::make_shared<LatticeMesh>(make_lattice(surface, options));
}

LatticeMaterial soft()
{
    LatticeMaterial material;
    material.young = 5e4;
    material.damping = 2e-3;
    return material;
}

LatticeMaterial jelly()
{
    LatticeMaterial material;
    material.young = 5e3;
    return material;
}

LatticeMaterial matched()
{
    LatticeMaterial material;
    material.model = LatticeModel::shape_matching;
    material.region_damping = 100;
    return material;
}

BodyOptions named(const std::string& name, const Vec3& at, const Vec3& velocity = Vec3::Zero())
{
    BodyOptions options;
    options.name = name;
    options.place.translation = at;
    options.velocity = velocity;
    return options;
}

/// Two balls of different mass that fly into each other off centre.
World flying_balls(const LatticeMaterial& material)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.add_lattice(lattice(make_sphere(0.3, 3), {5, 0, true}), material, named("large", {0, 0, 0}, {1, 0, 0}));
    builder.add_lattice(lattice(make_sphere(0.15, 3), {4}), material, named("small", {0.55, 0.1, 0}, {-2, 0, 0}));
    return builder.build();
}

const BoxesReport& own(const StepReport& report)
{
    return report.own.get<BoxesReport>();
}

Real lowest(const World& world, Index body)
{
    Vec3s x;
    surface_positions(world.model, world.state, x);
    const Body& b = world.model.bodies[body];
    Real y = 1e300;
    for (Index v = b.first_vertex; v < b.first_vertex + b.vertex_count; ++v) y = std::min(y, x[v].y());
    return y;
}

} // namespace

TEST(Boxes, CollisionsKeepTheMomentumInEveryOrderAndModel)
{
    for (const BoxOrder order : {BoxOrder::passes, BoxOrder::paper})
        for (const BoxPlanes planes : {BoxPlanes::safe, BoxPlanes::paper})
            for (const LatticeMaterial& material : {jelly(), matched()}) {
                World world = flying_balls(material);
                const Vec3 p = linear_momentum(world.model, world.state);
                BoxesOptions options;
                options.order = order;
                options.planes = planes;
                const auto method = make_method(world, options);
                int collisions = 0;
                for (int i = 0; i < 60; ++i) collisions += own(method->step(world, 4e-3)).collisions;
                EXPECT_GT(collisions, 20);
                EXPECT_LT((linear_momentum(world.model, world.state) - p).norm(), 1e-12 * p.norm());
                // they parted: the small one was turned around
                const Index b = world.model.bodies[1].first_block;
                EXPECT_GT(world.state.velocity[b].x(), -0.5);
            }
}

TEST(Boxes, AlphaAndBetaScaleTheRelativeVelocity)
{
    // Two cubes of one cell meet face to face; what is left of approach and sliding is as the law says.
    for (const BoxPush push : {BoxPush::point, BoxPush::cell})
        for (const auto& [alpha, beta] : {std::pair(0.5, 0.0), {1.0, 0.5}, {1.5, 1.0}, {1.0, 1.0}}) {
            WorldBuilder builder;
            builder.set_gravity(Vec3::Zero());
            FrictionTable friction;
            friction.value = 100; // Coulomb's law does not limit
            builder.set_friction(friction);
            LatticeMaterial light = soft(), heavy = soft();
            light.young = heavy.young = 1e-6;
            heavy.density = 3 * light.density;
            const auto cube = lattice(make_box({1, 1, 1}), {1, 0, true});
            builder.add_lattice(cube, light, named("light", {0, 0, 0}, {1, 0.2, 0}));
            builder.add_lattice(cube, heavy, named("heavy", {0.999, 0, 0}, {-1, 0, 0}));
            World world = builder.build();
            BoxesOptions options;
            options.law = {alpha, beta, push};
            options.passes = 1;
            const auto method = make_method(world, options);
            EXPECT_EQ(method->step(world, 0.01).contact_count, 1);
            const Vec3 relative = world.state.velocity[8] - world.state.velocity[1]; // on the sides that meet
            EXPECT_NEAR(relative.x(), (1 - alpha) * -2, 1e-9);
            EXPECT_NEAR(relative.y(), (1 - beta) * -0.2, 1e-9);
            const Vec3 p = linear_momentum(world.model, world.state);
            EXPECT_LT((p - Vec3(1000 - 3000, 200, 0)).norm(), 1e-9);
        }
}

TEST(Boxes, CoulombsLawLimitsWhatFrictionTakes)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    FrictionTable friction;
    friction.value = 0.25;
    builder.set_friction(friction);
    LatticeMaterial material = soft();
    material.young = 1e-6;
    const auto cube = lattice(make_box({1, 1, 1}), {1, 0, true});
    builder.add_lattice(cube, material, named("a", {0, 0, 0}, {1, 0, 0}));
    builder.add_lattice(cube, material, named("b", {0.999, 0, 0}, {0, 10, 0}));
    World world = builder.build();
    const auto method = make_method(world, BoxesOptions());
    method->step(world, 0.005);
    const Vec3 relative = world.state.velocity[8] - world.state.velocity[1];
    EXPECT_NEAR(relative.x(), 0, 1e-9);
    EXPECT_NEAR(relative.y(), 10 - 0.25 * 1, 1e-9) << "mu times the change along the normal";
}

TEST(Boxes, BodyComesToRestOnAPlaneWithItsSurfaceOnIt)
{
    for (const LatticeMaterial& material : {soft(), matched()}) {
        WorldBuilder builder;
        builder.add_plane({}, named("floor", Vec3::Zero()));
        const Index ball = builder.add_lattice(lattice(make_box({0.4, 0.3, 0.4}, {8, 8, 8}), {4, 0, true}), material,
                                               named("block", {0, 0.3, 0}));
        World world = builder.build();
        const auto method = make_method(world, BoxesOptions());
        for (int i = 0; i < 800; ++i) method->step(world, 4e-3); // its own swinging dies away
        const Real side = world.model.lattices[0].mesh->side;
        EXPECT_NEAR(lowest(world, ball), 0, 0.03 * side);
        Real fastest = 0;
        for (const Vec3& v : world.state.velocity) fastest = std::max(fastest, v.norm());
        EXPECT_LT(fastest, 0.02);
    }
}

TEST(Boxes, CellsKeepAGapThatTheirContentDoesNot)
{
    // The surface is 0.3 high in cells of 0.2: the grid stands out by 0.05 below it.
    const auto height = [](BoxExtent extent) {
        WorldBuilder builder;
        builder.add_plane({}, named("floor", Vec3::Zero()));
        builder.add_lattice(lattice(make_box({0.8, 0.3, 0.4}, {8, 8, 8}), {4}), soft(), named("block", {0, 0.25, 0}));
        World world = builder.build();
        BoxesOptions options;
        options.extent = extent;
        const auto method = make_method(world, options);
        for (int i = 0; i < 300; ++i) method->step(world, 4e-3);
        return lowest(world, 1);
    };
    const Real content = height(BoxExtent::content), cells = height(BoxExtent::cells);
    EXPECT_GT(cells, 0.035);
    EXPECT_LT(std::abs(content), 0.1 * cells);
}

TEST(Boxes, BodyRestsOnAClosedMeshAndOnAMovingOne)
{
    for (const bool moving : {false, true}) {
        WorldBuilder builder;
        BodyOptions table = named("table", Vec3::Zero());
        if (moving)
            table.motion =
                Motion({{0, Vec3::Zero(), Vec3::Zero()}, {2, {0, 0.4, 0}, Vec3::Zero()}}, Vec3::Zero(), false);
        builder.add_obstacle(make_box({2, 0.5, 2}, {3, 1, 3}), table);
        LatticeMaterial material = soft();
        material.drag = 3; // it soon stops bouncing
        builder.add_lattice(lattice(make_box({0.3, 0.3, 0.3}, {6, 6, 6}), {4, 0, true}), material,
                            named("block", {0.1, 0.45, 0.05}));
        World world = builder.build();
        const auto method = make_method(world, BoxesOptions());
        const auto centre = [&] {
            Vec3 sum = Vec3::Zero();
            for (Index k = 0; k < world.model.block_count(); ++k) sum += world.model.mass[k] * world.state.position[k];
            return Vec3(sum / moving_mass(world.model));
        };
        for (int i = 0; i < 375; ++i) method->step(world, 4e-3);
        const Vec3 before = centre();
        for (int i = 0; i < 100; ++i) method->step(world, 4e-3);
        EXPECT_NEAR(lowest(world, 1), 0.25 + (moving ? 0.38 : 0), 0.01);
        EXPECT_NEAR(centre().y() - before.y(), moving ? 0.08 : 0, 0.01) << "it goes along";
    }
}

TEST(Boxes, ObstacleWithASharpCornerIsFelt)
{
    // A spike that is thinner than the boxes: no node of a box is in it, but its tip is in a box.
    WorldBuilder builder;
    builder.add_obstacle(make_box({0.02, 0.6, 0.02}), named("spike", {0.03, 0.3, 0.01}));
    builder.add_plane({}, named("floor", {0, 0, 0}));
    builder.add_lattice(lattice(make_box({1, 0.2, 1}, {4, 1, 4}), {3, 0, true}), matched(),
                        named("plate", {0, 0.8, 0}));
    World world = builder.build();
    const auto method = make_method(world, BoxesOptions());
    Real least = 1;
    for (int i = 0; i < 100; ++i) {
        method->step(world, 4e-3);
        least = std::min(least, lowest(world, 2));
    }
    EXPECT_GT(least, 0.3) << "it hangs on the spike for a while";
}

TEST(Boxes, FoldedBodyDoesNotPassThroughItself)
{
    // A long strip whose ends fly towards each other: without self-collision they would swap places.
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    LatticeMaterial material = jelly();
    material.young = 50;
    builder.add_lattice(lattice(make_box({2, 0.1, 0.2}, {40, 2, 4}), {40, 0, true}), material,
                        named("strip", Vec3::Zero()));
    World world = builder.build();
    for (Index i = 0; i < world.model.block_count(); ++i) { // bent into a U
        Vec3& x = world.state.position[i];
        const Real s = x.x(), r = 0.45 + x.y(), a = s / 0.45;
        x = Vec3(r * std::sin(a), -r * std::cos(a), x.z());
        if (std::abs(s) > 0.7) world.state.velocity[i] = {s > 0 ? -1.5 : 1.5, 0, 0};
    }
    const auto gap = [&] { // between the two ends, along x
        Real right = 1e300, left = -1e300;
        for (Index i = 0; i < world.model.block_count(); ++i) {
            const Real s = world.model.rest[i].x(), x = world.state.position[i].x();
            if (s > 0.9) right = std::min(right, x);
            if (s < -0.9) left = std::max(left, x);
        }
        return right - left;
    };
    const auto method = make_method(world, BoxesOptions());
    Real least = 1, overlap = 0;
    int collisions = 0;
    for (int i = 0; i < 150; ++i) {
        const StepReport report = method->step(world, 2e-3);
        collisions += own(report).collisions;
        overlap = std::max(overlap, own(report).overlap);
        least = std::min(least, gap());
    }
    EXPECT_GT(collisions, 10);
    EXPECT_LT(overlap, 0.5);
    EXPECT_GT(least, -0.05) << "half of the strip's thickness";
}

TEST(Boxes, StepsAreTheSameForAnyNumberOfThreads)
{
    const auto run = [](int threads) {
        set_thread_count(threads);
        WorldBuilder builder;
        builder.add_plane({}, named("floor", Vec3::Zero()));
        const auto ball = lattice(make_sphere(0.2, 2), {4, 0, true});
        Random random(6);
        for (int i = 0; i < 30; ++i)
            builder.add_lattice(
                ball, i % 2 ? jelly() : matched(),
                named("ball" + std::to_string(i), {0.41 * (i % 3) + 0.05 * random.uniform(), 0.3 + 0.42 * (i / 3), 0}));
        World world = builder.build();
        const auto method = make_method(world, BoxesOptions());
        for (int i = 0; i < 60; ++i) method->step(world, 5e-3);
        set_thread_count(0);
        return world.state.hash();
    };
    const std::uint64_t one = run(1);
    EXPECT_EQ(one, run(2));
    EXPECT_EQ(one, run(4));
}

TEST(Boxes, StepsDependOnNothingButTheState)
{
    // What a search found is kept for the next one: a method that starts from the state has to find it by itself.
    WorldBuilder builder;
    builder.add_plane({}, named("floor", Vec3::Zero()));
    const auto ball = lattice(make_sphere(0.2, 2), {4, 0, true});
    for (int i = 0; i < 8; ++i)
        builder.add_lattice(ball, i % 2 ? jelly() : matched(),
                            named("ball" + std::to_string(i), {0.1 * (i % 2), 0.22 + 0.4 * i, 0.05 * (i % 3)}));
    World world = builder.build();
    const auto method = make_method(world, BoxesOptions());
    for (int i = 0; i < 120; ++i) method->step(world, 5e-3);
    World copy = world;
    const auto fresh = make_method(copy, BoxesOptions());
    for (int i = 0; i < 5; ++i) {
        EXPECT_GT(own(method->step(world, 5e-3)).collisions, 0);
        fresh->step(copy, 5e-3);
        EXPECT_EQ(world.state.hash(), copy.state.hash()) << "step " << i;
    }
}

TEST(Boxes, StackOfMatchedBodiesComesToRest)
{
    // Weight of several bodies on the light nodes of a few cells, at steps that are as long as shape matching takes to
    // answer.
    WorldBuilder builder;
    builder.add_plane({}, named("floor", Vec3::Zero()));
    const auto block = lattice(make_box({0.4, 0.1, 0.3}, {8, 2, 6}), {4, 0, true});
    for (int i = 0; i < 3; ++i) {
        BodyOptions options = named("block" + std::to_string(i), {0.03 * (i % 3), 0.06 + 0.11 * i, 0});
        options.place.rotation = Quat(Eigen::AngleAxisd(0.4 * i, Vec3::UnitY()));
        builder.add_lattice(block, matched(), options);
    }
    World world = builder.build();
    const auto method = make_method(world, BoxesOptions());
    Real overlap = 0;
    for (int i = 0; i < 600; ++i) {
        const BoxesReport report = own(method->step(world, 0.01));
        if (i > 400) overlap = std::max(overlap, report.overlap);
    }
    Real fastest = 0;
    for (const Vec3& v : world.state.velocity) fastest = std::max(fastest, v.norm());
    EXPECT_LT(fastest, 1e-3);
    EXPECT_LT(overlap, 0.02);
    EXPECT_GT(lowest(world, 3), 0.15) << "it stands, pressed together a little";
}

TEST(Boxes, PinnedBlocksStayWhateverHitsThem)
{
    WorldBuilder builder;
    BodyOptions shelf = named("shelf", {0, 0, 0});
    const auto plate = lattice(make_box({1, 0.2, 1}, {4, 1, 4}), {4, 0, true});
    for (Index i = 0; i < count(plate->nodes); ++i) shelf.pinned.push_back(i);
    builder.add_lattice(plate, soft(), shelf);
    builder.add_lattice(lattice(make_sphere(0.15, 2), {4, 0, true}), soft(), named("ball", {0, 0.4, 0}));
    World world = builder.build();
    const Vec3s start = world.state.position;
    const auto method = make_method(world, BoxesOptions());
    for (int i = 0; i < 200; ++i) method->step(world, 4e-3);
    for (Index i = 0; i < count(plate->nodes); ++i) EXPECT_EQ(world.state.position[i], start[i]);
    EXPECT_NEAR(lowest(world, 1), 0.1, 0.02) << "on the shelf";
}
