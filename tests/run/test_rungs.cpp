// The last resorts of a step: scenes that need them, what they keep, and the exact check of the path that they leave.

#include "run/watched.hpp"

#include "pliant/methods/implicit_memory.hpp"

namespace pliant {
namespace {

/// Refinement that sees an impact and may not act on it: what proximity does not know is left to the fail-safes.
ImplicitOptions without_refinement()
{
    ImplicitOptions options = implicit_options();
    options.max_rounds = 1;
    options.max_halvings = 0;
    return options;
}

struct Taken {
    int zones = 0, truncations = 0; ///< steps that each of them accepted
    World world;
};

Taken take(World world, const MethodOptions& options, Real dt, int steps)
{
    const auto method = make_method(world, options);
    Taken taken;
    for (int i = 0; i < steps; ++i) {
        const Rung rung = method->step(world, dt).rung;
        taken.zones += rung == Rung::zones;
        taken.truncations += rung == Rung::truncation;
    }
    taken.world = std::move(world);
    return taken;
}

/// Balls in a row without gravity, each of which flies towards the middle, far enough apart that no step sees the next
/// impact coming.
World row_of_balls()
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(0));
    for (int i = -2; i <= 2; ++i) {
        BodyOptions options = named("ball", {0.3 * i, 0.01 * i * i, 0});
        options.velocity = {-40.0 * i, 0, 3};
        builder.add_rigid(make_sphere(0.1, 2), {}, options);
    }
    return builder.build();
}

/// A ball that falls fast between two boards which form a V and drift apart, each by a script of its own.
World ball_into_a_drifting_groove()
{
    WorldBuilder builder;
    for (const Real side : {-1.0, 1.0}) {
        BodyOptions board = named(side < 0 ? "left" : "right", {side * 0.4, 0, 0});
        board.place.rotation = rotation_xyz({0, 0, side * std::numbers::pi / 4});
        board.motion =
            Motion({{0, Vec3::Zero(), Vec3::Zero()}, {1, {side * 0.01, 0, 0}, Vec3::Zero()}}, Vec3::Zero(), false);
        builder.add_obstacle(make_box({1, 0.1, 1}), board);
    }
    BodyOptions ball = named("ball", {0, 0.5, 0});
    ball.velocity = {0, -60, 0};
    builder.add_rigid(make_sphere(0.1, 2), {}, ball);
    return builder.build();
}

TEST(Rungs, ZonesOfImpactStopWhatRefinementMayNotAndKeepTheMomentum)
{
    const World start = row_of_balls();
    const Taken taken = take(start, without_refinement(), 0.01, 3);
    EXPECT_GT(taken.zones, 0);
    EXPECT_EQ(taken.truncations, 0);
    const Vec3 before = linear_momentum(start.model, start.state),
               after = linear_momentum(taken.world.model, taken.world.state);
    EXPECT_LT((after - before).norm(), 1e-9 * moving_mass(start.model) * 40);
    const Watched w = watch(row_of_balls(), without_refinement(), 0.01, 0.03, true);
    EXPECT_TRUE(w.clean()) << w.intersections << " " << w.tunnelled << " " << w.crossings;
}

TEST(Rungs, AreNotNeededWhereRefinementMayAct)
{
    const Taken taken = take(row_of_balls(), implicit_options(), 0.01, 3);
    EXPECT_EQ(taken.zones + taken.truncations, 0);
}

TEST(Rungs, TruncationStopsWhatZonesCannotBecauseTwoScriptsDisagree)
{
    const Taken taken = take(ball_into_a_drifting_groove(), without_refinement(), 0.01, 10);
    EXPECT_GT(taken.truncations, 0);
    const Watched w = watch(ball_into_a_drifting_groove(), without_refinement(), 0.01, 0.1, true);
    EXPECT_TRUE(w.clean()) << w.intersections << " " << w.tunnelled << " " << w.crossings;
}

} // namespace
} // namespace pliant
