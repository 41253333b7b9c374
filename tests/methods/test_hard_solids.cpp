// Solids that are thin and stiff, that spin, or that are twisted and crushed: what one linearisation and relaxation
// alone do not solve.

#include "methods/contact_fixture.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/world/strain.hpp"

#include <numbers>

using namespace pliant;

namespace {

SolidMaterial material(Real young, const std::string& model = "corotational")
{
    SolidMaterial m;
    m.young = young;
    m.poisson = 0.3;
    m.damping = 0;
    m.model = model;
    return m;
}

World spinning_bar(const std::string& model, Real young = 1e8)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions bar = named("bar");
    bar.angular_velocity = {0.3, 5, 0.2};
    builder.add_solid(make_tet_box({1, 0.1, 0.1}, {10, 1, 1}), material(young, model), bar);
    return builder.build();
}

Vec3 angular_momentum(const World& world)
{
    Vec3 centre = Vec3::Zero(), sum = Vec3::Zero();
    Real mass = 0;
    for (Index i = 0; i < world.model.block_count(); ++i) {
        centre += world.model.mass[i] * world.state.position[i];
        mass += world.model.mass[i];
    }
    centre /= mass;
    for (Index i = 0; i < world.model.block_count(); ++i)
        sum += world.model.mass[i] * (world.state.position[i] - centre).cross(world.state.velocity[i]);
    return sum;
}

/// Two thin mats, one falling on the other, which lies on two bars.
World mats(Real young)
{
    WorldBuilder builder;
    for (const Real side : {-1.0, 1.0})
        builder.add_obstacle(make_box({0.1, 0.1, 0.6}), named(side < 0 ? "left" : "right", {side * 0.15, 0.05, 0}));
    for (const Real height : {0.115, 0.14}) {
        BodyOptions mat = named(height < 0.12 ? "lower" : "upper", {0, height, 0});
        builder.add_solid(make_tet_box({0.4, 0.02, 0.4}, {12, 1, 12}), material(young), mat);
    }
    return builder.build();
}

/// A block between two plates that close to a third of its height in half a second.
World crushed_block(const std::string& model)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {4, 4, 4}), material(1e5, model), named("block"));
    for (const Real side : {-1.0, 1.0}) {
        BodyOptions plate = named(side < 0 ? "lower" : "upper", {0, side * 0.13, 0});
        plate.motion =
            Motion({{0, Vec3::Zero(), Vec3::Zero()}, {0.5, {0, -side * 0.07, 0}, Vec3::Zero()}}, Vec3::Zero(), false);
        builder.add_obstacle(make_box({0.6, 0.05, 0.6}), plate);
    }
    return builder.build();
}

} // namespace

class SpinningBar : public testing::TestWithParam<const char*> {};

TEST_P(SpinningBar, DoesNotSwellAndKeepsTurning)
{
    World world = spinning_bar(GetParam());
    const auto method = make_method(world, implicit_options());
    const Vec3 before = angular_momentum(world);
    const Real kinetic = energy(world.model, world.state).kinetic;
    for (int step = 0; step < 80; ++step) { // 0.125 rad each
        method->step(world, 0.025);
        const Energy e = energy(world.model, world.state);
        ASSERT_LT(e.elastic, 0.01 * kinetic) << "step " << step;
        ASSERT_NEAR(e.kinetic, kinetic, 0.03 * kinetic) << "step " << step;
    }
    EXPECT_LT((angular_momentum(world) - before).norm(), 1e-9 * before.norm());
}

TEST_P(SpinningBar, ThatTurnsByARadianAStepStoresNoEnergyEither)
{
    World world = spinning_bar(GetParam(), 1e9);
    const auto method = make_method(world, implicit_options());
    const Vec3 before = angular_momentum(world);
    const Real kinetic = energy(world.model, world.state).kinetic;
    for (int step = 0; step < 20; ++step) {
        const StepReport report = method->step(world, 0.2);
        EXPECT_EQ(implicit_part(report).unconverged, 0) << "step " << step;
        const Energy e = energy(world.model, world.state);
        ASSERT_LT(e.elastic, 0.01 * kinetic) << "step " << step;
        ASSERT_NEAR(e.kinetic, kinetic, 0.03 * kinetic) << "step " << step;
    }
    EXPECT_LT((angular_momentum(world) - before).norm(), 1e-9 * before.norm());
}

INSTANTIATE_TEST_SUITE_P(Models, SpinningBar, testing::Values("corotational", "neo-hookean"));

TEST(HardSolids, ABarThatSpinsIntoTheFloorGainsNoEnergy)
{
    WorldBuilder builder;
    BodyOptions bar = named("bar", {0, 0.6, 0});
    bar.angular_velocity = {0, 0, 5};
    builder.add_solid(make_tet_box({1, 0.1, 0.1}, {10, 1, 1}), material(1e7), bar);
    builder.add_plane({Vec3::UnitY(), 0}, named("floor"));
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    const Real before = energy(world.model, world.state).total();
    for (int step = 0; step < 60; ++step) {
        method->step(world, 0.01);
        ASSERT_LT(energy(world.model, world.state).total(), 1.01 * before) << "step " << step;
    }
}

TEST(HardSolids, AHardBarThatHitsTheFloorInOneLargeStepStoresNoMoreThanItHas)
{
    for (const char* model : {"corotational", "neo-hookean"}) {
        WorldBuilder builder;
        BodyOptions bar = named("bar", {0, 0.6, 0});
        bar.angular_velocity = {0, 1, 9};
        builder.add_solid(make_tet_box({1, 0.1, 0.1}, {10, 1, 1}), material(1e9, model), bar);
        builder.add_plane({Vec3::UnitY(), 0}, named("floor"));
        World world = builder.build();
        const auto method = make_method(world, implicit_options());
        const Real before = energy(world.model, world.state).total();
        int contacts = 0;
        for (int step = 0; step < 20; ++step) { // most of a radian each
            contacts += method->step(world, 0.1).active_contacts;
            ASSERT_LT(energy(world.model, world.state).total(), 1.05 * before) << model << ", step " << step;
        }
        EXPECT_GT(contacts, 10) << "else it met nothing";
    }
}

TEST(HardSolids, ThinMatsConvergeAtAnyStiffness)
{
    for (const Real young : {1e6, 1e8}) {
        World world = mats(young);
        const auto method = make_method(world, implicit_options());
        int contacts = 0;
        for (int step = 0; step < 15; ++step) {
            const StepReport report = method->step(world, 0.01);
            EXPECT_EQ(implicit_part(report).unconverged, 0) << young << " Pa, step " << step;
            contacts = std::max(contacts, report.active_contacts);
        }
        EXPECT_GT(contacts, 10) << "else the scene shows nothing";
    }
}

TEST(HardSolids, NeoHookeanRubberIsCrushedWithoutTurningInsideOut)
{
    World world = crushed_block("neo-hookean");
    const auto method = make_method(world, implicit_options());
    for (int step = 0; step < 55; ++step) {
        method->step(world, 0.01);
        ASSERT_EQ(inverted_elements(world.model, world.state.position).count, 0) << "step " << step;
    }
}

TEST(HardSolids, RubberHitByAShotOfAHundredMetresASecondMakesNoEnergy)
{
    // The shot moves by ten times the rubber's radius in a step.
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions ball = named("ball"), shot = named("shot", {-0.8, 0.02, 0.01});
    ball.angular_velocity = {0, 0, 200};
    builder.add_solid(make_tet_sphere(0.1, 3), material(1e5, "neo-hookean"), ball);
    shot.velocity = {100, 0, 0};
    shot.angular_velocity = {500, 0, 300};
    RigidMaterial steel;
    steel.density = 7800;
    builder.add_rigid(make_sphere(0.03, 2), steel, shot);
    World world = builder.build();
    const Real before = energy(world.model, world.state).total();
    const auto method = make_method(world, implicit_options());
    int contacts = 0;
    for (int step = 0; step < 4; ++step) {
        contacts += method->step(world, 0.01).active_contacts;
        EXPECT_LT(energy(world.model, world.state).total(), before) << "step " << step;
        EXPECT_LE(inverted_elements(world.model, world.state.position).count, 5) << "step " << step;
    }
    EXPECT_GT(contacts, 0) << "else the scene shows nothing";
}
