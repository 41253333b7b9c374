// Method "impact-zones": explicit steps, the response to impacts one by one, and zones.

#include "methods/contact_fixture.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/methods/impact_zones.hpp"
#include "pliant/world/strain.hpp"

namespace pliant {
namespace {

const ImpactZonesReport& part_of(const StepReport& report)
{
    return report.own.get<ImpactZonesReport>();
}

BodyOptions flying(const std::string& name, const Vec3& at, const Vec3& velocity)
{
    BodyOptions options = named(name, at);
    options.velocity = velocity;
    return options;
}

ClothMaterial soft()
{
    ClothMaterial cloth;
    cloth.stretch = 20;
    cloth.shear = 5;
    cloth.bend = 1e-5;
    return cloth;
}

/// Sheets that fly at each other without gravity, each a little turned and shifted against the last.
World clash(int sheets)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(0.3));
    for (int i = 0; i < sheets; ++i) {
        BodyOptions sheet = flying("sheet" + std::to_string(i), {0.013 * i, 0.03 * i, 0.007 * i},
                                   {0, -2.0 * i + sheets - 1.0, 0.3 * i});
        sheet.place.rotation = rotation_xyz({0.02 * i, 0.3 * i, 0.03});
        builder.add_cloth(make_grid(0.2, 0.2, 11, 11), soft(), sheet, GridShape{11, 11});
    }
    return builder.build();
}

TEST(ImpactZones, TakesAsManySubStepsAsTheStiffnessAsksForAndReportsThem)
{
    World world = clash(1);
    const int substeps = stable_substeps(world.model, world.state, 0.01);
    EXPECT_GT(substeps, 3);
    EXPECT_EQ(make_method(world, ImpactZonesOptions())->step(world, 0.01).substeps, substeps);
}

TEST(ImpactZones, FliesLikeSymplecticEulerWhereNothingMeets)
{
    World world = clash(1), free = world;
    make_method(world, ImpactZonesOptions())->step(world, 0.01);
    ExplicitStepper stepper(free.model, Integrator::symplectic_euler);
    const int substeps = stable_substeps(free.model, free.state, 0.01);
    for (int i = 0; i < substeps; ++i) stepper.substep(free.model, free.state, 0.01 / substeps);
    EXPECT_EQ(world.state.position, free.state.position);
    EXPECT_EQ(world.state.velocity, free.state.velocity);
}

TEST(ImpactZones, SlidingSheetSlowsDownByFrictionTimesGravity)
{
    WorldBuilder builder;
    builder.set_friction(friction(0.4));
    builder.add_plane({}, named("floor"));
    builder.add_cloth(make_grid(0.2, 0.2, 6, 6), {}, flying("sheet", {0, 0.003, 0}, {2, 0, 1}), GridShape{6, 6});
    World world = builder.build();
    const auto method = make_method(world, ImpactZonesOptions());
    for (int i = 0; i < 20; ++i) method->step(world, 0.005); // it has come down
    const Vec3 before = world.state.velocity[7];
    for (int i = 0; i < 40; ++i) method->step(world, 0.005);
    const Vec3 after = world.state.velocity[7];
    EXPECT_NEAR(before.norm() - after.norm(), 0.4 * 9.81 * 0.2, 0.01 * 0.4 * 9.81 * 0.2);
    EXPECT_NEAR(after.x() / after.z(), 2, 1e-6) << "against its motion";
    for (int i = 0; i < 100; ++i) method->step(world, 0.005);
    for (const Vec3& v : world.state.velocity) EXPECT_LT(v.norm(), 0.01) << "it stops";
}

TEST(ImpactZones, BallLeavesTheFloorWithTheRestitutionsPartOfItsSpeed)
{
    for (const Real k_d : {0.0, 0.5, 1.0}) {
        WorldBuilder builder;
        builder.set_gravity(Vec3::Zero());
        builder.add_plane({}, named("floor"));
        BodyOptions ball = flying("ball", {0, 0.13, 0}, {0, -2, 0});
        ball.place.rotation = rotation_xyz({0.1, 0.2, 0.3});
        builder.add_rigid(make_sphere(0.1, 2), {}, ball);
        World world = builder.build();
        ImpactZonesOptions options;
        options.restitution = k_d;
        const auto method = make_method(world, options);
        for (int i = 0; i < 20; ++i) method->step(world, 0.001);
        EXPECT_NEAR(world.state.velocity[0].y(), 2 * k_d, 0.1) << "but for what the lowest vertex is off the axis";
    }
}

TEST(ImpactZones, ZonesAppearGrowAndLetGo)
{
    World world = clash(4);
    const auto method = make_method(world, ImpactZonesOptions());
    int with_zones = 0, largest = 0, released = 0;
    bool had_zones = false;
    for (int i = 0; i < 60; ++i) {
        const StepReport report = method->step(world, 0.004);
        const ImpactZonesReport& own = part_of(report);
        with_zones += own.zone_substeps > 0;
        EXPECT_EQ(own.zone_substeps > 0, own.phase >= 2);
        EXPECT_EQ(own.zones > 0, own.largest_zone >= 2);
        released += had_zones && own.zones == 0;
        had_zones = own.zones > 0;
        largest = std::max(largest, own.largest_zone);
    }
    EXPECT_GT(with_zones, 0);
    EXPECT_GT(largest, 20) << "more than one pair of features: some have grown";
    EXPECT_GT(released, 0);
}

TEST(ImpactZones, KeepTheMomentaOfWhatNothingActsOnFromOutside)
{
    World world = clash(4);
    const auto method = make_method(world, ImpactZonesOptions());
    const Vec3 p = linear_momentum(world.model, world.state), L = angular_momentum(world.model, world.state);
    int zones = 0;
    for (int i = 0; i < 40; ++i) zones += part_of(method->step(world, 0.004)).zone_substeps;
    EXPECT_GT(zones, 0);
    const Real exchanged = moving_mass(world.model) * 3;
    EXPECT_LT((linear_momentum(world.model, world.state) - p).norm(), 1e-12 * exchanged);
    // Impulses act at the start of a sub-step on features that meet later in it, so across what they travel in it at
    // their 6 m/s, and across the gap.
    const Real across = 6 * 0.004 / stable_substeps(world.model, world.state, 0.004) + world.model.bodies[0].gap;
    EXPECT_LT((angular_momentum(world.model, world.state) - L).norm(), exchanged * across);
}

TEST(ImpactZones, HaveTheSameBitsForAnyNumberOfThreads)
{
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 3, 8}) {
        set_thread_count(threads);
        World world = clash(4);
        const auto method = make_method(world, ImpactZonesOptions());
        for (int i = 0; i < 12; ++i) method->step(world, 0.004);
        hashes.push_back(world.state.hash());
    }
    set_thread_count(0);
    for (const std::uint64_t h : hashes) EXPECT_EQ(h, hashes[0]);
}

TEST(ImpactZones, AMethodMadeAnewGoesOnWithTheSameBits)
{
    World whole = clash(4), parts = whole;
    const auto method = make_method(whole, ImpactZonesOptions());
    for (int i = 0; i < 15; ++i) method->step(whole, 0.004);
    for (int i = 0; i < 15; ++i) make_method(parts, ImpactZonesOptions())->step(parts, 0.004);
    EXPECT_EQ(whole.state.hash(), parts.state.hash());
}

TEST(ImpactZones, LimitElongationBeforeTheyLookForImpacts)
{
    const auto elongation = [](Real limit) {
        WorldBuilder builder;
        builder.add_plane({Vec3::UnitY(), -0.45}, named("floor"));
        ClothMaterial cloth = soft();
        cloth.max_strain = limit;
        BodyOptions sheet = named("sheet");
        sheet.pinned = {0, 8};
        builder.add_cloth(make_grid(0.4, 0.4, 9, 9), cloth, sheet, GridShape{9, 9});
        World world = builder.build();
        const auto method = make_method(world, ImpactZonesOptions());
        Real most = 0;
        for (int i = 0; i < 100; ++i) {
            method->step(world, 0.004);
            most = std::max(most, max_elongation(world.model, world.state));
        }
        return most;
    };
    EXPECT_GT(elongation(ClothMaterial().max_strain), 0.2) << "else the limit shows nothing";
    EXPECT_LT(elongation(0.1), 0.1 * 1.01);
}

/// A sheet between two plates that close to the given distance.
World squeezed(Real end_distance)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.add_cloth(make_grid(0.2, 0.2, 5, 5), soft(), named("sheet"), GridShape{5, 5});
    for (const Real side : {-1.0, 1.0}) {
        BodyOptions plate = named(side < 0 ? "lower" : "upper", {0, side * 0.05, 0});
        const Real way = 0.05 - 0.01 - end_distance / 2;
        plate.motion =
            Motion({{0, Vec3::Zero(), Vec3::Zero()}, {0.1, {0, -side * way, 0}, Vec3::Zero()}}, Vec3::Zero(), false);
        builder.add_obstacle(make_box({0.3, 0.02, 0.3}), plate);
    }
    return builder.build();
}

TEST(ImpactZones, CarryASheetBetweenPlatesThatLeaveItRoom)
{
    World world = squeezed(0.01);
    const auto method = make_method(world, ImpactZonesOptions());
    for (int i = 0; i < 30; ++i) method->step(world, 0.004);
    for (const Vec3& x : world.state.position) EXPECT_LT(std::abs(x.y()), 0.005);
}

TEST(ImpactZones, APinchBetweenScriptedBodiesIsNamed)
{
    World world = squeezed(0);
    const auto method = make_method(world, ImpactZonesOptions());
    std::string words;
    try {
        for (int i = 0; i < 30; ++i) method->step(world, 0.004);
    } catch (const Stall& stall) {
        words = stall.what();
    }
    EXPECT_NE(words.find("pinched: scripted motion squeezes body 'sheet'"), std::string::npos) << words;
    EXPECT_NE(words.find("er'"), std::string::npos) << "one of the plates: " << words;
}

TEST(ImpactZones, APinchMayBeReleased)
{
    World world = squeezed(0);
    ImpactZonesOptions options;
    options.pinch = PinchPolicy::release;
    const auto method = make_method(world, options);
    std::size_t listed = 0;
    int counted = 0;
    for (int i = 0; i < 30; ++i) {
        const StepReport report = method->step(world, 0.004);
        listed += report.releases.size();
        counted += part_of(report).released_pairs;
    }
    EXPECT_GT(listed, 0U);
    EXPECT_EQ(std::size_t(counted), listed);
    EXPECT_TRUE(promise_of(ImpactZonesOptions()).no_crossing);
    EXPECT_FALSE(promise_of(options).no_crossing);
}

} // namespace
} // namespace pliant
