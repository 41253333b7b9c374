// Bodies that touch at the start: a normal start, from which the gap opens softly.

#include "methods/contact_fixture.hpp"
#include "pliant/core/error.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

/// Simulates a second and expects the body at its start plus its gap, without a fast move on the way.
void expect_rest_on_the_floor(WorldBuilder& builder, Index body, Real start_height)
{
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    Real fastest = 0;
    for (int i = 0; i < 100; ++i) {
        method->step(world, 0.01);
        for (Index b = 0; b < world.model.block_count(); ++b)
            if (world.model.mass[b] > 0) fastest = std::max(fastest, world.state.velocity[b].norm());
    }
    const Real gap = world.model.bodies[body].gap;
    EXPECT_LT(fastest, 0.2 * gap / 0.01) << "the gap opens by a part of itself a step, nothing flies";
    EXPECT_NEAR(center(world, body).y(), start_height + gap, 0.2 * gap);
}

} // namespace

TEST(Starts, ABoxExactlyOnTheFloorRestsThere)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    const Index box = builder.add_rigid(make_box({0.2, 0.1, 0.3}), {}, named("box", {0, 0.05, 0}));
    expect_rest_on_the_floor(builder, box, 0.05);
}

TEST(Starts, AnElasticBlockExactlyOnTheFloorRestsThere)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    SolidMaterial stiff;
    stiff.young = 1e7;
    stiff.damping = 1e-3;
    const Index block =
        builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {3, 2, 3}), stiff, named("block", {0, 0.05, 0}));
    expect_rest_on_the_floor(builder, block, 0.05);
}

TEST(Starts, AClothExactlyOnTheFloorRestsThere)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    const Index sheet = builder.add_cloth(make_grid(0.5, 0.5, 8, 8), {}, named("sheet"), GridShape{8, 8});
    expect_rest_on_the_floor(builder, sheet, 0);
}

namespace {

/// Simulates a second; the largest speed on the way, and all bodies must be near where they started.
Real fastest_in_a_second(World& world)
{
    const auto method = make_method(world, implicit_options());
    Real fastest = 0;
    for (int i = 0; i < 100; ++i) {
        method->step(world, 0.01);
        for (Index b = 0; b < world.model.block_count(); ++b)
            if (world.model.mass[b] > 0) fastest = std::max(fastest, world.state.velocity[b].norm());
    }
    return fastest;
}

} // namespace

TEST(Starts, AWallOfBoxesThatTouchEachOtherStands)
{
    WorldBuilder builder;
    builder.add_obstacle(make_box({2, 0.1, 2}), named("table", {0, -0.05, 0}));
    const Vec3 size(0.2, 0.1, 0.1);
    std::vector<Index> boxes;
    for (int row = 0; row < 3; ++row)
        for (int i = 0; i < 3 - row; ++i)
            boxes.push_back(
                builder.add_rigid(make_box(size), {}, named("box", {0.2 * i + 0.1 * row, 0.05 + 0.1 * row, 0})));
    World world = builder.build();
    std::vector<Vec3> start;
    for (const Index b : boxes) start.push_back(center(world, b));
    EXPECT_LT(fastest_in_a_second(world), 0.1) << "the gaps open softly";
    for (std::size_t i = 0; i < boxes.size(); ++i) EXPECT_LT((center(world, boxes[i]) - start[i]).norm(), 0.01);
}

TEST(Starts, AClothExactlyOnAMeshTableRestsThere)
{
    WorldBuilder builder;
    builder.add_obstacle(make_box({1, 0.1, 1}), named("table", {0, -0.05, 0}));
    const Index sheet = builder.add_cloth(make_grid(0.5, 0.5, 8, 8), {}, named("sheet"), GridShape{8, 8});
    World world = builder.build();
    EXPECT_LT(fastest_in_a_second(world), 0.1);
    EXPECT_NEAR(center(world, sheet).y(), world.model.bodies[sheet].gap, 0.2 * world.model.bodies[sheet].gap);
}

TEST(Starts, BodiesThatAllButTouchAreANormalStart)
{
    for (const Real distance : {1e-12, 1e-9, 1e-6}) {
        WorldBuilder builder;
        builder.add_obstacle(make_box({1, 0.1, 1}), named("table", {0, -0.05, 0}));
        builder.add_rigid(make_box({0.2, 0.2, 0.2}), {}, named("box", {0, 0.1 + distance, 0}));
        World world = builder.build();
        EXPECT_LT(fastest_in_a_second(world), 0.1) << distance;
    }
}

TEST(Starts, BodiesThatIntersectAreRefusedByTheFirstStepWithASentenceAPair)
{
    WorldBuilder builder;
    builder.add_obstacle(make_box({1, 0.1, 1}), named("table", {0, -0.05, 0}));
    builder.add_rigid(make_box({0.2, 0.2, 0.2}), {}, named("box", {0, 0.09, 0}));
    builder.add_rigid(make_box({0.2, 0.2, 0.2}), {}, named("brick", {0.05, 0.2, 0.03}));
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    try {
        method->step(world, 0.01);
        FAIL() << "an intersecting start was accepted";
    } catch (const Error& e) {
        const std::string words = e.what();
        EXPECT_NE(words.find("'table' and 'box' intersect at"), std::string::npos) << words;
        EXPECT_NE(words.find("'box' and 'brick' intersect at"), std::string::npos) << words;
        EXPECT_EQ(words.find("'table' and 'brick'"), std::string::npos) << words;
    }
}

TEST(Starts, ABoxThatRoundingPutsBehindTheFloorRestsThere)
{
    int behind = 0;
    for (const Real size : {0.06, 0.1, 0.3, 0.7, 0.9})
        for (const Vec3& turn : {Vec3(90, 0, 0), Vec3(0, 0, 90), Vec3(180, 0, 0), Vec3(90, 90, 0)}) {
            WorldBuilder builder;
            builder.add_plane({}, named("floor"));
            BodyOptions options = named("box", {0, size / 2, 0});
            options.place.rotation = rotation_xyz(std::numbers::pi / 180 * turn);
            builder.add_rigid(make_box(Vec3::Constant(size)), {}, options);
            World world = builder.build();
            Vec3s x;
            surface_positions(world.model, world.state, x);
            for (const Vec3& p : x) behind += p.y() < 0;
            EXPECT_LT(fastest_in_a_second(world), 0.2) << size;
        }
    EXPECT_GT(behind, 10) << "else the scenes show nothing";
}

TEST(Starts, AStackOfBoxesExactlyOnTheFloorAndOnEachOtherStands)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    std::vector<Index> boxes;
    for (int i = 0; i < 4; ++i)
        boxes.push_back(builder.add_rigid(make_box(Vec3::Constant(0.1)), {}, named("box", {0, 0.05 + 0.1 * i, 0})));
    World world = builder.build();
    EXPECT_LT(fastest_in_a_second(world), 0.1);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(center(world, boxes[i]).y(), 0.05 + 0.1 * i, 0.01);
}

TEST(Starts, ABodyBehindAPlaneIsRefusedByTheFirstStep)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    builder.add_rigid(make_box(Vec3::Constant(0.1)), {}, named("box", {0, 0.02, 0}));
    builder.add_rigid(make_box(Vec3::Constant(0.1)), {}, named("brick", {1, -2, 0}));
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    try {
        method->step(world, 0.01);
        FAIL() << "a start behind a plane was accepted";
    } catch (const Error& e) {
        const std::string words = e.what();
        EXPECT_NE(words.find("'floor' and 'box' intersect at"), std::string::npos) << words;
        EXPECT_NE(words.find("'floor' and 'brick' intersect at"), std::string::npos) << words;
    }
}
