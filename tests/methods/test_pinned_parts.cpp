// Pinned parts that a script moves into something: nothing can give way, and the run says so.

#include "methods/contact_fixture.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

/// A sheet held by one corner, which a script moves down by 0.5 m in a second.
World lowered_sheet(const std::function<void(WorldBuilder&)>& add_obstacle)
{
    WorldBuilder builder;
    BodyOptions sheet = named("sheet", {0, 0.3, 0});
    sheet.pinned = {0};
    sheet.motion = Motion({{0, Vec3::Zero(), Vec3::Zero()}, {1, {0, -0.5, 0}, Vec3::Zero()}}, Vec3::Zero(), false);
    builder.add_cloth(make_grid(0.4, 0.4, 9, 9), {}, sheet, GridShape{9, 9});
    add_obstacle(builder);
    return builder.build();
}

/// Runs for a second; the words of the stall, or nothing.
std::string stall_of(World& world, PinchPolicy pinch)
{
    ImplicitOptions options = implicit_options();
    options.pinch = pinch;
    const auto method = make_method(world, options);
    try {
        for (int i = 0; i < 100; ++i) method->step(world, 0.01);
    } catch (const Stall& stall) {
        return stall.what();
    }
    return "";
}

} // namespace

TEST(PinnedParts, ThatAScriptMovesIntoAStillBoxAreAPinchWithItsNames)
{
    World world = lowered_sheet([](WorldBuilder& builder) {
        builder.add_obstacle(make_box({0.3, 0.2, 0.3}), named("box", {-0.2, 0, -0.2}));
    });
    const std::string words = stall_of(world, PinchPolicy::stop);
    EXPECT_NE(words.find("scripts alone move bodies"), std::string::npos) << words;
    EXPECT_NE(words.find("'sheet'"), std::string::npos) << words;
    EXPECT_NE(words.find("'box'"), std::string::npos) << words;
    Vec3s x;
    surface_positions(world.model, world.state, x);
    EXPECT_GT(x[0].y(), 0.1) << "the corner stops above the box";
    EXPECT_LT(x[0].y(), 0.15) << "as it happens, not before";
}

TEST(PinnedParts, ThatAScriptMovesThroughAPlaneAreAPinchWithItsNames)
{
    World world = lowered_sheet([](WorldBuilder& builder) { builder.add_plane({}, named("floor")); });
    const std::string words = stall_of(world, PinchPolicy::stop);
    EXPECT_NE(words.find("bodies 'sheet' (pinned vertex 0) and 'floor' into each other"), std::string::npos) << words;
    EXPECT_GT(world.state.position[0].y(), 0);
}

TEST(PinnedParts, GoThroughWherePinchesAreReleased)
{
    World world = lowered_sheet([](WorldBuilder& builder) { builder.add_plane({}, named("floor")); });
    EXPECT_EQ(stall_of(world, PinchPolicy::release), "");
    EXPECT_NEAR(world.state.position[0].y(), -0.2, 1e-12);
    EXPECT_FALSE(world.state.memory.get<ImplicitMemory>().released.empty());
}

TEST(PinnedParts, ReleaseJustThePairsThatScriptsPressIntoEachOther)
{
    World world = lowered_sheet([](WorldBuilder& builder) { builder.add_plane({}, named("floor")); });
    ImplicitOptions options = implicit_options();
    options.pinch = PinchPolicy::release;
    const auto method = make_method(world, options);
    int into_the_floor = 0;
    for (int i = 0; i < 100; ++i)
        for (const Release& r : method->step(world, 0.01).releases) {
            EXPECT_TRUE(std::ranges::find(r.vertices, 0) != r.vertices.end()) << "all but the corner can give way";
            into_the_floor += world.model.bodies[r.body_b].name == "floor";
        }
    EXPECT_EQ(into_the_floor, 1);
    for (std::size_t i = 1; i < world.state.position.size(); ++i) EXPECT_GT(world.state.position[i].y(), 0);
}

TEST(PinnedParts, AreReleasedAnewAfterTheyHaveSeparated)
{
    WorldBuilder builder;
    BodyOptions sheet = named("sheet", {0, 0.1, 0});
    sheet.pinned = {0};
    sheet.motion = Motion({{0, Vec3::Zero(), Vec3::Zero()}, // into the floor and out of it, twice
                           {0.2, {0, -0.15, 0}, Vec3::Zero()},
                           {0.5, Vec3::Zero(), Vec3::Zero()},
                           {0.7, {0, -0.15, 0}, Vec3::Zero()},
                           {1, {0, 0.05, 0}, Vec3::Zero()}},
                          Vec3::Zero(), false);
    builder.add_cloth(make_grid(0.2, 0.2, 5, 5), {}, sheet, GridShape{5, 5});
    builder.add_plane({}, named("floor"));
    World world = builder.build();
    ImplicitOptions options = implicit_options();
    options.pinch = PinchPolicy::release;
    const auto method = make_method(world, options);
    const auto knows = [&] { return world.state.memory.get<ImplicitMemory>().released.size(); };
    std::vector<Real> times;
    for (int i = 0; i < 100; ++i) {
        for (const Release& r : method->step(world, 0.01).releases) times.push_back(r.time);
        if (i == 49) {
            EXPECT_EQ(knows(), 0U) << "the pair has separated";
        }
    }
    ASSERT_EQ(times.size(), 2U);
    EXPECT_NEAR(times[0], 0.13, 0.02);
    EXPECT_NEAR(times[1], 0.63, 0.02);
    EXPECT_EQ(knows(), 0U);
}

TEST(PinnedParts, ThatMoveTogetherWithAnObstacleAreNoPinch)
{
    const Motion turn({{0, Vec3::Zero(), Vec3::Zero()}, {1, {0, 0.2, 0}, {0, 1, 0}}}, Vec3::Zero(), false);
    WorldBuilder builder;
    BodyOptions sheet = named("sheet", {0, 0.11, 0});
    sheet.pinned = {0, 4, 20, 24};
    sheet.motion = turn;
    builder.add_cloth(make_grid(0.2, 0.2, 5, 5), {}, sheet, GridShape{5, 5});
    BodyOptions box = named("box");
    box.motion = turn;
    builder.add_obstacle(make_box({0.3, 0.2, 0.3}), box);
    World world = builder.build();
    EXPECT_EQ(stall_of(world, PinchPolicy::stop), "");
}
