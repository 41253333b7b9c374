// A step has a budget of work, counted in iterations and never in time.

#include "methods/contact_fixture.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

/// A soft ball between two plates that close from 0.21 m to the given distance in half a second.
World squeezed_ball(Real end_distance)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    SolidMaterial foam;
    foam.young = 2e4;
    builder.add_solid(make_tet_sphere(0.1, 2), foam, named("ball"));
    const Real way = (0.21 - end_distance) / 2;
    for (const Real side : {-1.0, 1.0}) {
        BodyOptions plate = named(side < 0 ? "left" : "right", {side * 0.13, 0, 0});
        plate.motion =
            Motion({{0, Vec3::Zero(), Vec3::Zero()}, {0.5, {-side * way, 0, 0}, Vec3::Zero()}}, Vec3::Zero(), false);
        builder.add_obstacle(make_box({0.05, 0.4, 0.4}), plate);
    }
    return builder.build();
}

ImplicitOptions tiny_budget()
{
    ImplicitOptions options = implicit_options();
    options.max_rounds = options.solver.max_iterations = 1;
    options.max_halvings = 0;
    return options;
}

} // namespace

TEST(Budget, OnceSpentCountsAsNotConverged)
{
    World world = squeezed_ball(0.02);
    const auto method = make_method(world, tiny_budget());
    int over_budget = 0;
    for (int i = 0; i < 10; ++i) { // the plates move by several gaps a step
        const ImplicitReport own = implicit_part(method->step(world, 0.05));
        EXPECT_GE(own.unconverged, own.over_budget) << "step " << i;
        over_budget += own.over_budget;
    }
    EXPECT_GT(over_budget, 0) << "else the scene shows nothing";
    Vec3s surface; // nodes inside may stick out of a body that is crushed like this
    surface_positions(world.model, world.state, surface);
    const Body& ball = world.model.bodies[0];
    Real widest = 0;
    for (Index v = 0; v < ball.vertex_count; ++v) widest = std::max(widest, std::abs(surface[v].x()));
    EXPECT_LT(widest, 0.01) << "the ball is between the plates all the same";
}

TEST(Budget, OnceSpentIsNeverCalledAPinch)
{
    World world = squeezed_ball(0);
    const auto method = make_method(world, tiny_budget());
    std::string words;
    try {
        for (int i = 0; i < 60; ++i) method->step(world, 0.01);
    } catch (const Stall& stall) {
        words = stall.what();
    }
    EXPECT_EQ(words.find("pinched"), std::string::npos) << words;
    EXPECT_NE(words.find("not solved within the step's budget of work: body 'ball'"), std::string::npos) << words;
}

TEST(Budget, OnceSpentStopsABodyThatTurnsTooFastAndNotTheRun)
{
    // The ball turns too fast for straight lines, and is in the way of the sheet in every step that is longer than a
    // hundredth of these.
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    BodyOptions sheet = named("sheet", {0, 0.3, 0});
    sheet.pinned = {0, 9};
    builder.add_cloth(make_grid(0.4, 0.4, 10, 10), ClothMaterial{}, sheet, GridShape{10, 10});
    BodyOptions ball = named("ball", {0.05, 0.36, 0});
    ball.velocity = {0, -20, 0};
    ball.angular_velocity = {0, 0, 1000};
    builder.add_rigid(make_sphere(0.05, 2), {}, ball);
    World world = builder.build();
    const auto method = make_method(world, tiny_budget());
    int over_budget = 0;
    for (int i = 0; i < 20; ++i) {
        StepReport report;
        ASSERT_NO_THROW(report = method->step(world, 0.01)) << "step " << i;
        over_budget += implicit_part(report).over_budget;
    }
    EXPECT_GT(over_budget, 0) << "else the scene shows nothing";
}

TEST(Budget, BoundsTheWorkOfAStepThatFindsNoWay)
{
    World world = squeezed_ball(0);
    const ImplicitOptions options = implicit_options();
    const auto method = make_method(world, options);
    std::int64_t polls = 0, most = 0; // iterations and rounds of detection ask once each
    const InterruptScope scope([&] {
        ++polls;
        return false;
    });
    EXPECT_THROW(
        for (int i = 0; i < 60; ++i) {
            polls = 0;
            method->step(world, 0.01);
            most = std::max(most, polls);
        },
        Stall);
    most = std::max(most, polls);
    EXPECT_GT(most, 500) << "else the scene shows nothing";
    // 2000 iterations; one attempt beyond; 64 attempts of ten iterations; with their free solves and fail-safes
    const std::int64_t attempt = 2 * options.max_rounds * options.solver.max_iterations + 200;
    EXPECT_LT(most, 2000 + attempt + 64 * 300);
}

TEST(Interrupt, IsAskedForInEveryIterationAndRound)
{
    World world = squeezed_ball(0.05);
    const auto method = make_method(world, implicit_options());
    int polls = 0;
    const InterruptScope scope([&] {
        ++polls;
        return false;
    });
    for (int i = 0; i < 20; ++i) {
        polls = 0;
        const ImplicitReport own = implicit_part(method->step(world, 0.01));
        EXPECT_GE(polls, own.contact_iterations + own.linear_iterations + own.rounds) << "step " << i;
    }
}

TEST(Interrupt, EndsAStepAndNothingElse)
{
    World world = squeezed_ball(0.05);
    const auto method = make_method(world, implicit_options());
    {
        const InterruptScope scope([] { return true; });
        const InterruptScope inner({}); // changes nothing
        EXPECT_THROW(method->step(world, 0.01), Interrupted);
    }
    EXPECT_NO_THROW(method->step(world, 0.01));
}
