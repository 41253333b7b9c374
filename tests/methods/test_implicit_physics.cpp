// Contact as mechanics: friction thresholds, resting forces, momentum, energy.

#include "methods/contact_fixture.hpp"
#include "pliant/methods/free_motion.hpp"

using namespace pliant;

namespace {

constexpr Real slope = 0.5;

/// Displacement along the slope of a block that starts at rest on it, after `duration`; all lengths scaled by s.
Vec3 slide(bool elastic, Real mu, Real azimuth, Real s, Real duration)
{
    WorldBuilder builder;
    builder.set_gravity(leaning_gravity(slope, azimuth));
    builder.set_friction(friction(mu));
    builder.add_plane({}, named("floor"));
    const Vec3 size = s * Vec3(0.2, 0.1, 0.2);
    Index block;
    if (elastic) {
        SolidMaterial material;
        material.young = 5e5 * s;
        block = builder.add_solid(make_tet_box(size, {2, 1, 2}), material, named("block", {0, 0, 0}));
    } else {
        block = builder.add_rigid(make_box(size), {}, named("block"));
    }
    World world = builder.build();
    // Rest at the gap above the floor.
    const Real gap = world.model.bodies[block].gap;
    for (std::size_t i = 0; i < world.state.position.size(); ++i)
        if (elastic || i == 0) world.state.position[i].y() += size.y() / 2 + gap;
    const Real dt = 0.01 * std::sqrt(s);
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-6;
    const auto method = make_method(world, options);
    // An elastic block first settles under its weight with infinite friction; what it slides counts from there.
    const Vec3 start = center(world, block);
    const int steps = int(std::lround(duration * std::sqrt(s) / dt));
    for (int i = 0; i < steps; ++i) method->step(world, dt);
    Vec3 moved = (center(world, block) - start) / s;
    moved.y() = 0;
    return moved;
}

Real closed_form(Real mu, Real duration)
{
    const Real angle = std::atan(slope);
    return 9.81 * (std::sin(angle) - mu * std::cos(angle)) * duration * duration / 2;
}

} // namespace

TEST(ImplicitPhysics, RigidBlockStaysOnASlopeJustBelowItsFrictionAngleInEveryDirection)
{
    for (Real degrees : {0.0, 15.0, 30.0, 45.0}) {
        const Vec3 moved = slide(false, 0.505, degrees * std::numbers::pi / 180, 1, 2.5);
        EXPECT_LT(moved.norm(), 1e-4 * 0.2) << "azimuth " << degrees;
    }
}

TEST(ImplicitPhysics, RigidBlockSlidesByTheClosedFormJustAboveItsFrictionAngle)
{
    for (Real degrees : {0.0, 15.0, 30.0, 45.0}) {
        const Vec3 moved = slide(false, 0.495, degrees * std::numbers::pi / 180, 1, 2.5);
        EXPECT_NEAR(moved.norm() / closed_form(0.495, 2.5), 1, 0.02) << "azimuth " << degrees;
        EXPECT_NEAR(std::atan2(moved.z(), moved.x()), degrees * std::numbers::pi / 180, 0.02);
    }
}

TEST(ImplicitPhysics, SlopeGivesTheSameAnswerAtThreeScales)
{
    for (Real s : {0.001, 100.0}) {
        EXPECT_LT(slide(false, 0.505, 0.3, s, 2.5).norm(), 1e-4 * 0.2) << "scale " << s;
        EXPECT_NEAR(slide(false, 0.495, 0.3, s, 2.5).norm() / closed_form(0.495, 2.5), 1, 0.02) << "scale " << s;
    }
}

TEST(ImplicitPhysics, ElasticBlockSlidesByTheClosedForm)
{
    EXPECT_NEAR(slide(true, 0.45, 0, 1, 2.5).norm() / closed_form(0.45, 2.5), 1, 0.02);
}

TEST(ImplicitPhysics, RestingStackCarriesItsWeight)
{
    WorldBuilder builder;
    builder.set_friction(friction(0.5));
    builder.add_plane({}, named("floor"));
    const Real size = 0.1;
    std::vector<Index> boxes;
    for (int i = 0; i < 10; ++i) {
        BodyOptions options = named("box" + std::to_string(i), {0, size / 2 + i * size + (i + 1) * 2e-3, 0});
        options.gap = 1e-3;
        boxes.push_back(builder.add_rigid(make_box(Vec3::Constant(size)), {}, options));
    }
    World world = builder.build();
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-5;
    options.solver.max_iterations = 300;
    const auto method = make_method(world, options);
    StepReport report;
    for (int i = 0; i < 200; ++i) report = method->step(world, 0.01);
    const Real weight = world.model.rotors[0].rigid.mass * 9.81;
    EXPECT_NEAR(contact_force(report, 0).y(), -10 * weight, 0.02 * 10 * weight); // on the floor
    for (Index b : boxes) EXPECT_NEAR(contact_force(report, b).y() / weight, 1, 0.05);
    EXPECT_LT(energy(world.model, world.state).kinetic, 1e-6 * weight * size);
    EXPECT_NEAR(world.state.position[18].y(), 9.5 * size + 10 * 1e-3, 3e-3);
}

TEST(ImplicitPhysics, InelasticImpactConservesMomentumOfFreeBodies)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(0.3));
    BodyOptions left = named("left", {-0.2, 0, 0}), right = named("right", {0.2, 0.05, 0.02});
    left.velocity = {2, 0, 0};
    right.velocity = {-1, 0.1, 0};
    SolidMaterial soft;
    soft.young = 1e5;
    builder.add_solid(make_tet_box(Vec3::Constant(0.2), {2, 2, 2}), soft, left);
    builder.add_rigid(make_box(Vec3::Constant(0.15)), {}, right);
    World world = builder.build();
    ImplicitOptions options = implicit_options();
    options.linear_tolerance = 1e-12;
    options.solver.tolerance = 1e-9;
    options.solver.max_iterations = 2000;
    const auto method = make_method(world, options);
    const Vec3 p0 = linear_momentum(world.model, world.state);
    int touching = 0;
    for (int i = 0; i < 60; ++i) {
        const Vec3 before = linear_momentum(world.model, world.state);
        const StepReport report = method->step(world, 0.005);
        touching += report.active_contacts > 0;
        EXPECT_LT((linear_momentum(world.model, world.state) - before).norm(), 1e-6 * p0.norm());
    }
    EXPECT_GT(touching, 0);
}

/// What a step may add: an error of the solver's tolerance in the momenta, which changes the kinetic energy by twice
/// that part of it, and the weight lifted by the part of a lost gap that is won back.
TEST(ImplicitPhysics, EnergyOfAClosedSceneGrowsByNoMoreThanTheToleranceAndTheGapExplain)
{
    WorldBuilder builder;
    builder.set_friction(friction(0.3));
    builder.add_plane({}, named("floor"));
    builder.add_cloth(make_grid(0.6, 0.6, 16, 16), {}, named("sheet", {0, 0.4, 0}), GridShape{16, 16});
    builder.add_solid(make_tet_box(Vec3::Constant(0.2), {2, 2, 2}), {}, named("block", {0.05, 0.2, 0}));
    builder.add_rigid(make_sphere(0.08, 2), {}, named("ball", {0.02, 0.6, 0.03}));
    World world = builder.build();
    const ImplicitOptions options = implicit_options();
    const auto method = make_method(world, options);
    Real gap = 0;
    for (const Body& body : world.model.bodies) gap = std::max(gap, body.gap);
    const Real lifted = moving_mass(world.model) * 9.81 * options.recovery * gap;
    Energy before = energy(world.model, world.state);
    const Real start = before.total();
    int contacts = 0;
    Real gained = 0;
    for (int i = 0; i < 250; ++i) {
        contacts = std::max(contacts, method->step(world, 0.005).active_contacts);
        const Energy now = energy(world.model, world.state);
        const Real gain = now.total() - before.total();
        EXPECT_LT(gain, 2 * options.solver.tolerance * (before.kinetic + now.kinetic) + lifted) << "step " << i;
        gained += std::max(0.0, gain);
        before = now;
    }
    EXPECT_GT(contacts, 50) << "else the scene shows nothing";
    EXPECT_LT(gained, 1e-3 * start) << "over all steps together";
}

TEST(ImplicitPhysics, BodiesThatNeverTouchMoveExactlyAsWithoutContact)
{
    const auto simulate = [](const MethodOptions& options) {
        WorldBuilder builder;
        BodyOptions a = named("a", {-1, 0, 0}), b = named("b", {1, 0, 0});
        a.velocity = {0, 1, 0};
        b.angular_velocity = {1, 2, 3};
        builder.add_solid(make_tet_box(Vec3::Constant(0.2), {2, 2, 2}), {}, a);
        builder.add_rigid(make_box(Vec3::Constant(0.2)), {}, b);
        World world = builder.build();
        const auto method = make_method(world, options);
        for (int i = 0; i < 50; ++i) method->step(world, 0.01);
        return world.state;
    };
    ImplicitOptions contact;
    FreeMotionOptions free;
    contact.linear_tolerance = free.linear_tolerance = 1e-6;
    const State with = simulate(contact), without = simulate(free);
    for (std::size_t i = 0; i < with.position.size(); ++i) EXPECT_EQ(with.position[i], without.position[i]);
    EXPECT_EQ(with.orientation[0].coeffs(), without.orientation[0].coeffs());
}
