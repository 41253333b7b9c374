// What turns, and what a script moves fast, follows its path and not the straight lines between the ends of a step.

#include "methods/contact_fixture.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

Keyframe key(Real time, const Vec3& move, const Vec3& turn_degrees = Vec3::Zero())
{
    return {time, move, std::numbers::pi / 180 * turn_degrees};
}

} // namespace

TEST(Motion, ChordErrorBoundsHowFarThePathLeavesItsChord)
{
    Random random(1);
    for (int trial = 0; trial < 200; ++trial) {
        const bool smooth = trial % 2 == 0;
        std::vector<Keyframe> keys;
        for (int k = 0; k < 3; ++k)
            keys.push_back(key(k, random.in_box(Vec3::Constant(-1), Vec3::Constant(1)),
                               random.in_box(Vec3::Constant(-90), Vec3::Constant(90))));
        const Motion motion(keys, random.in_box(Vec3::Constant(-1), Vec3::Constant(1)), smooth);
        const Real t0 = random.uniform(0, 1.9), t1 = t0 + random.uniform(0, 0.5);
        const Real radius = random.uniform(0, 2);
        const Vec3 start = motion.pivot() + radius * random.on_sphere();
        const Vec3 a = motion.pose(t0)(start), b = motion.pose(t1)(start);
        const Real bound = motion.chord_error(t0, t1, radius);
        for (int i = 0; i <= 50; ++i) {
            const Vec3 x = motion.pose(t0 + (t1 - t0) * i / 50)(start);
            const Real along = std::clamp((x - a).dot(b - a) / std::max(1e-300, (b - a).squaredNorm()), 0.0, 1.0);
            EXPECT_LE((x - a - along * (b - a)).norm(), bound + 1e-12) << "trial " << trial;
        }
    }
}

TEST(Motion, AStraightMoveHasNoChordErrorHoweverItIsTimed)
{
    const Motion eased({key(0, Vec3::Zero()), key(1, {1, 2, 3})}, Vec3::Zero(), true);
    EXPECT_EQ(eased.chord_error(0.1, 0.7, 5), 0);
    const Motion through({key(0, Vec3::Zero()), key(0.5, {1, 0, 0}), key(1, {2, 0, 0})}, Vec3::Zero(), false);
    EXPECT_LT(through.chord_error(0.1, 0.9, 5), 1e-15);
    const Motion back({key(0, Vec3::Zero()), key(0.5, {1, 0, 0}), key(1, Vec3::Zero())}, Vec3::Zero(), false);
    EXPECT_NEAR(back.chord_error(0, 1, 5), 1, 1e-15);
}

/// A crumb lies where the tip of a blade passes between chord and arc.
TEST(Paths, ABladeThatTurnsFastSweepsACrumbAway)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions blade = named("blade");
    blade.motion = Motion({key(0, Vec3::Zero()), key(0.3, Vec3::Zero(), {0, 600, 0})}, Vec3::Zero(), false); // 333 rpm
    builder.add_obstacle(make_box({1, 0.02, 0.01}), blade);
    // the tip moves from angle 0 to 60 degrees in the first step: half way, at 30 degrees, it is at radius 0.5, and its
    // chord at 0.43
    const Real angle = -std::numbers::pi / 6;
    const Vec3 at(0.485 * std::cos(angle), 0, 0.485 * std::sin(angle));
    const Index crumb = builder.add_rigid(make_sphere(0.01, 1), {}, named("crumb", at));
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    const StepReport report = method->step(world, 0.03);
    EXPECT_GT(report.substeps, 4);
    EXPECT_GT((center(world, crumb) - at).norm(), 0.05) << "the blade took it along";
}

TEST(Paths, ARamThatGoesThroughASheetAndBackWithinAStepMeetsIt)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions ram = named("ram", {0, 0.2, 0});
    ram.motion = Motion({key(0, Vec3::Zero()), key(0.01, {0, -0.4, 0}), key(0.02, Vec3::Zero())}, Vec3::Zero(), false);
    builder.add_obstacle(make_sphere(0.05, 2), ram);
    builder.add_cloth(make_grid(0.4, 0.4, 12, 12), {}, named("sheet"), GridShape{12, 12});
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    method->inner_states = InnerStates::kept;
    Real lowest = 0, sheet_then = 0; // of the ram's script, and of the sheet at that time
    for (const InnerState& inner : method->step(world, 0.02).inner) {
        const Real ram_height = obstacle_pose(world.model, 0, inner.time).translation.y();
        if (ram_height >= lowest) continue;
        lowest = ram_height;
        for (const Vec3& x : inner.position) sheet_then = std::min(sheet_then, x.y());
    }
    EXPECT_NEAR(lowest, -0.4, 1e-12) << "no sub-step goes past the keyframe";
    EXPECT_LT(sheet_then, -0.25) << "the sheet is below the ram";
}

TEST(Paths, AFullTurnInAStepIsNoRest)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions bar = named("bar");
    bar.motion = Motion({key(0, Vec3::Zero()), key(0.02, Vec3::Zero(), {0, 360, 0})}, Vec3::Zero(), false);
    builder.add_obstacle(make_box({1, 0.05, 0.05}), bar);
    const Vec3 at(0, 0, 0.4);
    const Index ball = builder.add_rigid(make_sphere(0.04, 2), {}, named("ball", at));
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    method->step(world, 0.02);
    EXPECT_GT((center(world, ball) - at).norm(), 0.05);
}

TEST(Paths, ARigidBodyThatSpinsFastAloneIsNotCutIntoSubsteps)
{
    WorldBuilder builder;
    BodyOptions options = named("bar", {0, 5, 0});
    options.angular_velocity = {0, 60, 0};
    builder.add_rigid(make_box({1, 0.02, 0.02}), {}, options);
    builder.add_plane({}, named("floor"));
    World world = builder.build();
    EXPECT_EQ(make_method(world, implicit_options())->step(world, 0.02).substeps, 1);
}

TEST(Paths, ARigidBodyThatSpinsFastNextToAnotherFollowsItsArc)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions options = named("bar");
    options.angular_velocity = {0, 50, 0}; // 1 rad a step
    builder.add_rigid(make_box({1, 0.04, 0.02}), {}, options);
    const Real angle = -0.5;
    const Vec3 at(0.485 * std::cos(angle), 0, 0.485 * std::sin(angle));
    const Index crumb = builder.add_rigid(make_sphere(0.01, 1), {}, named("crumb", at));
    World world = builder.build();
    const StepReport report = make_method(world, implicit_options())->step(world, 0.02);
    EXPECT_GT(report.substeps, 4);
    EXPECT_GT((center(world, crumb) - at).norm(), 0.02);
}
