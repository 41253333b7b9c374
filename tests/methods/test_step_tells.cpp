// What a step says about itself: whether its solves met their tolerances, and whether limits of strain were kept.

#include "methods/contact_fixture.hpp"
#include "pliant/world/strain.hpp"

using namespace pliant;

namespace {

constexpr Real limit = 0.1; ///< on the elongation

/// A cloth held at its corners with a ball of the given density on it [kg/m^3].
World ball_on_cloth(Real density)
{
    WorldBuilder builder;
    ClothMaterial cloth;
    cloth.stretch = 50;
    cloth.shear = 20;
    cloth.max_strain = limit;
    BodyOptions sheet = named("sheet");
    sheet.pinned = {0, 9, 90, 99};
    builder.add_cloth(make_grid(1, 1, 10, 10), cloth, sheet, GridShape{10, 10});
    RigidMaterial ball;
    ball.density = density;
    builder.add_rigid(make_sphere(0.1, 2), ball, named("ball", {0, 0.12, 0}));
    return builder.build();
}

/// Cloth of 1 m x 1 m held at its corners. max_strain 0: no limit.
void add_hammock(WorldBuilder& builder, Real max_strain)
{
    ClothMaterial cloth;
    cloth.density = 0.2;
    cloth.stretch = 2000;
    cloth.shear = 500;
    cloth.bend = 1e-4;
    if (max_strain > 0) cloth.max_strain = max_strain;
    BodyOptions sheet = named("hammock");
    sheet.pinned = {0, 39, 1560, 1599};
    builder.add_cloth(make_grid(1, 1, 40, 40), cloth, sheet, GridShape{40, 40});
}

/// A box of rubber that falls on the floor.
World falling_box()
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    SolidMaterial rubber;
    rubber.young = 1e5;
    builder.add_solid(make_tet_box(Vec3::Constant(0.2), {3, 3, 3}), rubber, named("box", {0, 0.12, 0}));
    return builder.build();
}

} // namespace

TEST(StrainExcess, IsByHowMuchALimitOfStrainIsExceeded)
{
    World world = ball_on_cloth(20);
    const Vec3s flat = world.state.position;
    for (Real percent = 0.5; percent < 30; ++percent) {
        for (std::size_t i = 0; i < flat.size(); ++i) world.state.position[i].x() = (1 + percent / 100) * flat[i].x();
        const StrainExcess told = strain_excess(world.model, world.state.position);
        EXPECT_NEAR(told.amount, std::max(0.0, (1 + percent / 100) / (1 + limit) - 1), 1e-12) << percent;
        EXPECT_EQ(told.body, percent > 100 * limit ? 0 : none) << percent;
    }
}

TEST(Step, KeepsALimitOfStrainUnderRigidBalls)
{
    for (const Real kilograms : {0.16, 0.5, 2.0, 80.0}) {
        World world = ball_on_cloth(kilograms / (4.0 / 3 * std::numbers::pi * 1e-3));
        const auto method = make_method(world, implicit_options());
        for (int i = 0; i < 60; ++i) {
            method->step(world, 0.01);
            ASSERT_LE(strain_excess(world.model, world.state.position).amount, 0.01) << kilograms << " kg, step " << i;
        }
        EXPECT_GT(max_elongation(world.model, world.state), 0.9 * limit) << kilograms << " kg do not reach the limit";
    }
}

TEST(Step, OfABlockOfSteelOnClothIsSolvedWhereTheSolverOfClothAloneDoesNotGetThere)
{
    const auto unconverged = [](SolverKind kind) {
        WorldBuilder builder;
        add_hammock(builder, 0);
        SolidMaterial steel; // too stiff for a multigrid in single precision
        steel.density = 7800;
        steel.young = 1e11;
        builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {4, 2, 4}), steel, named("block", {0.05, 0.06, 0}));
        World world = builder.build();
        ImplicitOptions options = implicit_options();
        options.solver.kind = kind;
        const auto method = make_method(world, options);
        int steps = 0;
        for (int i = 0; i < 25; ++i) steps += implicit_part(method->step(world, 0.033)).unconverged > 0;
        return steps;
    };
    EXPECT_GT(unconverged(SolverKind::augmented_lagrangian), 0) << "the scene shows nothing";
    EXPECT_EQ(unconverged(SolverKind::automatic), 0);
}

TEST(Step, KeepsLimitsOfLengthAndConvergesUnderABlockOfSteelAtLongSteps)
{
    // 31 kg on 0.2 kg of cloth: the limits pull against each other across the whole of it.
    WorldBuilder builder;
    add_hammock(builder, limit);
    RigidMaterial steel;
    steel.density = 7800;
    builder.add_rigid(make_box({0.2, 0.1, 0.2}), steel, named("block", {0.05, 0.06, 0}));
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    for (int i = 0; i < 16; ++i) {
        EXPECT_EQ(implicit_part(method->step(world, 0.033)).unconverged, 0) << "step " << i;
        EXPECT_LE(strain_excess(world.model, world.state.position).amount, 0.01) << "step " << i;
    }
    EXPECT_GT(max_elongation(world.model, world.state), 0.95 * limit) << "nothing pulls";
}

TEST(Step, CountsTheSolvesItKeptThatEndedAboveTheirTolerance)
{
    World world = falling_box();
    ImplicitOptions options = implicit_options();
    options.solver.kind = SolverKind::ica_paper; // has no second try
    options.solver.tolerance = 1e-12;
    options.solver.max_iterations = 1;
    const auto method = make_method(world, options);
    int unconverged = 0;
    for (int i = 0; i < 20; ++i) {
        const StepReport report = method->step(world, 0.01);
        const ImplicitReport& own = implicit_part(report);
        EXPECT_EQ(own.unconverged > 0, own.worst_residual > 1) << "step " << i;
        EXPECT_LE(own.unconverged, 2 * report.substeps) << "step " << i;
        if (report.contact_count == 0) { // nothing to solve
            EXPECT_EQ(own.unconverged, 0) << "step " << i;
        }
        unconverged += own.unconverged;
    }
    EXPECT_GT(unconverged, 0);
}

TEST(Step, OfClothTooStiffForSinglePrecisionIsSolvedInFreeFallAndOnAFloor)
{
    // Cloth of a fraction of a millimetre with the bending stiffness of large cloth: a plate, stiffer by 12 orders than
    // its inertia in a step.
    const Real size = 4e-4, dt = 0.01, height = 0.005;
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    builder.add_cloth(make_grid(size, size, 30, 30), ClothMaterial{}, named("sheet", {0, height, 0}),
                      GridShape{30, 30});
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    const Real g = world.model.gravity.norm();
    Real fallen = 0;
    bool met = false;
    for (int i = 1; i <= 12; ++i) {
        const StepReport report = method->step(world, dt);
        EXPECT_EQ(implicit_part(report).unconverged, 0) << "step " << i;
        fallen += dt * (dt * i * g);
        met |= report.contact_count > 0;
        Vec3 centre = Vec3::Zero();
        for (const Vec3& x : world.state.position) centre += x / count(world.state.position);
        if (fallen < 0.8 * height)
            EXPECT_NEAR(centre.y(), height - fallen, 1e-3 * fallen) << "step " << i;
        else
            EXPECT_LT(centre.y(), 0.4 * height) << "step " << i;
    }
    EXPECT_TRUE(met);
}

TEST(Step, SolvesTheFreeMotionOfStiffClothWhereAnotherSolverHasItsContacts)
{
    // The cube that the cloth falls on has more nodes, so that its solver takes the contacts.
    for (const Real bend : {1e-2, 1e-6}) {
        WorldBuilder builder;
        builder.add_plane({}, named("floor"));
        const Real size = 4e-4;
        SolidMaterial rubber;
        rubber.young = 1e3;
        builder.add_solid(make_tet_box(Vec3::Constant(size), {6, 6, 6}), rubber, named("cube", {0, 0.51 * size, 0}));
        ClothMaterial cloth;
        cloth.bend = bend;
        builder.add_cloth(make_grid(size, size, 12, 12), cloth, named("sheet", {0, 1.03 * size, 0}), GridShape{12, 12});
        World world = builder.build();
        const ImplicitOptions options = implicit_options();
        const auto method = make_method(world, options);
        for (int i = 0; i < 8; ++i)
            EXPECT_LE(implicit_part(method->step(world, 0.01)).linear_residual, 1.01 * options.linear_tolerance)
                << "bend " << bend << ", step " << i;
    }
}

TEST(Step, HasNothingToTellWhereTolerancesAndLimitsAreKept)
{
    for (bool cloth : {false, true}) {
        World world = cloth ? ball_on_cloth(1) : falling_box();
        const auto method = make_method(world, implicit_options());
        int contacts = 0;
        for (int i = 0; i < 40; ++i) {
            const StepReport report = method->step(world, 0.01);
            const ImplicitReport& own = implicit_part(report);
            EXPECT_EQ(own.unconverged, 0) << "step " << i;
            EXPECT_LE(own.worst_residual, 1) << "step " << i;
            EXPECT_EQ(strain_excess(world.model, world.state.position).amount, 0) << "step " << i;
            contacts = std::max(contacts, report.active_contacts);
        }
        EXPECT_GT(contacts, 0);
    }
}

TEST(Step, MeetsTolerancesBeyondSinglePrecisionOnClothToo)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    BodyOptions sheet = named("sheet", {0, 0.02, 0});
    builder.add_cloth(make_grid(0.5, 0.5, 8, 8), {}, sheet, GridShape{8, 8});
    World world = builder.build();
    ImplicitOptions options = implicit_options();
    options.linear_tolerance = 1e-10;
    options.solver.tolerance = 1e-8;
    options.solver.max_iterations = 5000;
    const auto method = make_method(world, options);
    int contacts = 0;
    for (int i = 0; i < 30; ++i) {
        const StepReport report = method->step(world, 0.005);
        EXPECT_LE(implicit_part(report).worst_residual, 1) << "step " << i;
        contacts = std::max(contacts, report.active_contacts);
    }
    EXPECT_GT(contacts, 0);
}
