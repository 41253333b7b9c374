// Faces that lie on each other with no vertex between them: only the crossings of their sharp edges carry.

#include "methods/contact_fixture.hpp"

using namespace pliant;

namespace {

/// A soft bar along z on a soft bar along x, near one of its ends so that the lower one leans under it.
World crossed_bars()
{
    WorldBuilder builder;
    builder.set_friction(friction(0.5));
    builder.add_plane({}, named("floor"));
    SolidMaterial material;
    material.young = 5e4;
    material.density = 500;
    builder.add_solid(make_tet_box({0.6, 0.06, 0.06}, {3, 1, 1}), material, named("lower", {0, 0.031, 0}));
    builder.add_solid(make_tet_box({0.06, 0.06, 0.6}, {1, 1, 3}), material, named("upper", {0.2, 0.093, 0}));
    return builder.build();
}

TEST(CrossingEdges, ThatCarryABarAtRestNeedNoRefinement)
{
    World world = crossed_bars();
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-4;
    const auto method = make_method(world, options);
    for (int i = 0; i < 150; ++i) method->step(world, 0.01);
    int rounds = 0, crossings = 0;
    Vec3 carried = Vec3::Zero();
    for (int i = 0; i < 50; ++i) {
        const StepReport report = method->step(world, 0.01);
        rounds = std::max(rounds, implicit_part(report).max_rounds);
        crossings = implicit_part(report).contacts_edge_edge;
        carried = Vec3::Zero();
        for (const ContactPoint& c : report.contacts)
            if (c.body_a != 0 && c.body_b != 0) carried += c.body_a == 2 ? c.force : Vec3(-c.force);
    }
    EXPECT_EQ(rounds, 1) << "proximity knows every contact that carries";
    EXPECT_GT(crossings, 0);
    Real weight = 0;
    for (Index i = 0; i < world.model.block_count(); ++i)
        if (world.model.block_body[i] == 2) weight += 9.81 * world.model.mass[i];
    EXPECT_GT(carried.y(), 0.2 * weight) << "the lower bar carries the upper one";
}

TEST(CrossingEdges, ThatAStepWillBringTogetherAreKnownBeforeIt)
{
    // The bar leans down towards one edge of the box and turns onto the other one within the step. At the start the
    // crossing at that other edge leans out of its cone, so it is no closest pair; at the end it carries.
    constexpr Real lean = 0.03, dt = 0.01, half = 0.02;
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions box = named("box");
    builder.add_obstacle(make_box({0.2, 0.02, 2 * half}), box);
    BodyOptions bar = named("bar", {0, 0.021, 0});
    bar.gap = 1e-3;
    bar.place.rotation = Eigen::AngleAxisd(lean, Vec3::UnitX());
    bar.angular_velocity = {-2 * lean / dt, 0, 0};
    bar.velocity = {0, -0.08, 0};
    builder.add_rigid(make_box({0.02, 0.02, 0.2}), {}, bar);
    World world = builder.build();
    const StepReport report = make_method(world, implicit_options())->step(world, dt);
    EXPECT_EQ(implicit_part(report).max_rounds, 1);
    ASSERT_GT(report.active_contacts, 0) << "the bar would have gone through";
    for (const ContactPoint& c : report.contacts) EXPECT_NEAR(c.position.z(), -half, 0.1 * half);
}

} // namespace
