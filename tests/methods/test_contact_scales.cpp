// Contact of embedded surfaces, angular momentum, and the same answer at every scale.

#include "methods/contact_fixture.hpp"
#include "pliant/mesh/embed.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

/// Two boxes that hit each other off centre, without gravity.
World glancing_boxes(Real mu)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(mu));
    BodyOptions a = named("a", {-0.2, 0, 0}), b = named("b", {0.2, 0.1, 0.06});
    a.velocity = {2, 0.2, 0};
    b.velocity = {-2, 0, 0.3};
    b.angular_velocity = {1, -2, 0.5};
    builder.add_rigid(make_box({0.2, 0.25, 0.15}), {}, a);
    builder.add_rigid(make_box({0.15, 0.2, 0.3}), {}, b);
    return builder.build();
}

} // namespace

TEST(AngularMomentum, OfBodiesThatCollideWithoutFrictionIsKept)
{
    World world = glancing_boxes(0);
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-9;
    options.solver.max_iterations = 2000;
    const auto method = make_method(world, options);
    const Vec3 before = angular_momentum(world.model, world.state);
    int touching = 0;
    for (int i = 0; i < 60; ++i) touching += method->step(world, 0.004).active_contacts > 0;
    EXPECT_GT(touching, 0);
    EXPECT_LT((angular_momentum(world.model, world.state) - before).norm(), 1e-6 * before.norm());
}

/// Friction acts on two points as far apart as they are at the start of the step, a gap or what they still travel to
/// each other: its impulse times that distance is what a step may change.
TEST(AngularMomentum, OfBodiesThatCollideWithFrictionChangesByNoMoreThanTheirDistanceTimesTheImpulse)
{
    World world = glancing_boxes(0.5);
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-9;
    options.solver.max_iterations = 2000;
    const auto method = make_method(world, options);
    const Real scale = angular_momentum(world.model, world.state).norm();
    const Real travel = 0.004 * 5; // the corners approach each other by less than 5 m/s
    const Real reach = std::max(world.model.bodies[0].gap, world.model.bodies[1].gap) + travel;
    Real friction_impulse = 0;
    for (int i = 0; i < 60; ++i) {
        const Vec3 before = angular_momentum(world.model, world.state);
        const StepReport report = method->step(world, 0.004);
        Real impulse = 0;
        for (const ContactPoint& c : report.contacts)
            impulse += 0.004 * (c.force - c.normal * c.normal.dot(c.force)).norm();
        friction_impulse += impulse;
        EXPECT_LE((angular_momentum(world.model, world.state) - before).norm(), reach * impulse + 1e-6 * scale)
            << "step " << i;
    }
    EXPECT_GT(friction_impulse, 0);
}

namespace {

/// A ball whose fine surface hangs in a coarse lattice falls on a floor and on a sheet that is stretched over a hole;
/// all lengths times s, times times sqrt(s), stiffness so that the motion is the same. Surface positions over s.
Vec3s similar_fall(Real s, World* end = nullptr)
{
    const Real t = std::sqrt(s);
    WorldBuilder builder;
    builder.add_plane({}, named("floor", {0, -0.4 * s, 0}));
    ClothMaterial cotton;
    cotton.density *= s; // so that its mass grows like that of the balls
    cotton.stretch *= s * s;
    cotton.shear *= s * s;
    cotton.bend *= s * s * s * s;
    cotton.damping *= t;
    BodyOptions sheet = named("sheet");
    sheet.pinned = {0, 8, 72, 80};
    builder.add_cloth(make_grid(0.8 * s, 0.8 * s, 9, 9), cotton, sheet, GridShape{9, 9});
    SolidMaterial foam;
    foam.young = 5e4 * s;
    foam.density = 100;
    EmbedOptions lattice;
    lattice.cells = 3; // its corners stick out of the ball
    const TriangleMesh sphere = make_sphere(0.1 * s, 2);
    const auto add_ball = [&](const char* name, const Vec3& at) {
        BodyOptions ball = named(name, s * at);
        ball.place.rotation = rotation_xyz({0.8, 0, 0.6});
        builder.add_solid(embed(sphere, lattice), foam, ball);
    };
    add_ball("on sheet", {0.01, 0.13, 0});
    add_ball("on floor", {1, -0.25, 0.02});
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    for (int i = 0; i < 40; ++i) method->step(world, 0.005 * t);
    Vec3s x;
    surface_positions(world.model, world.state, x);
    if (end) *end = std::move(world);
    for (Vec3& p : x) p /= s;
    return x;
}

} // namespace

TEST(EmbeddedSurface, CollidesWithItsFineSurfaceAndNotWithItsLattice)
{
    World world;
    const Vec3s x = similar_fall(1, &world);
    const Body& ball = world.model.bodies.back();
    Real surface = 1, lattice = 1; // lowest points
    for (Index v = 0; v < ball.vertex_count; ++v) surface = std::min(surface, x[ball.first_vertex + v].y());
    for (Index b = 0; b < ball.block_count; ++b)
        lattice = std::min(lattice, world.state.position[ball.first_block + b].y());
    EXPECT_NEAR(surface, -0.4 + ball.gap, ball.gap) << "on the floor";
    EXPECT_LT(lattice, -0.4 - ball.gap) << "the lattice reaches through it";
}

/// Powers of four about 0.001 and 100: lengths, times and stiffness are scaled without rounding, so that the motion
/// must agree to the last bits, however chaotic it is.
TEST(ContactScales, SimilarScenesWithContactGiveTheSameNormalisedMotion)
{
    const Vec3s reference = similar_fall(1);
    for (const Real s : {std::ldexp(1.0, -10), std::ldexp(1.0, 6)}) {
        const Vec3s x = similar_fall(s);
        Real largest = 0;
        for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, (x[i] - reference[i]).norm());
        EXPECT_LT(largest, 1e-9) << "scale " << s;
    }
}
