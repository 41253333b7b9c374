// Methods "penalty" and "direct": what two bodies of tetrahedra do to each other, to planes and to obstacles.

#include "methods/contact_fixture.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/embed.hpp"
#include "pliant/methods/direct.hpp"
#include "pliant/methods/penalty.hpp"

namespace pliant {

/// The name of a test's parameter.
inline void PrintTo(const MethodOptions& options, std::ostream* out)
{
    *out << options.method;
}

namespace {

SolidMaterial rubber(Real damping = 2e-3)
{
    SolidMaterial material;
    material.young = 1e5;
    material.damping = damping;
    return material;
}

const TetContactReport& own_part(const StepReport& report)
{
    return report.own.get<TetContactReport>();
}

/// Two cubes in free space that fly at each other, turned so that corners and faces meet.
World flying_cubes(Real mu, const SolidMaterial& material = rubber())
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(mu));
    BodyOptions left = named("left", {-0.12, 0.01, 0.02}), right = named("right", {0.12, 0, 0});
    left.velocity = {1, 0.1, 0};
    right.velocity = {-0.5, 0, 0.2};
    right.place.rotation = rotation_xyz({0.3, 0.7, 0.2});
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {4, 4, 4}), material, left);
    builder.add_solid(make_tet_box({0.15, 0.15, 0.15}, {3, 3, 3}), material, right);
    return builder.build();
}

struct Tally {
    Real deepest = 0;
    int most_points = 0;
    StepReport last;
};

Tally run(World& world, const MethodOptions& options, Real dt, int steps)
{
    const auto method = make_method(world, options);
    Tally tally;
    for (int i = 0; i < steps; ++i) {
        tally.last = method->step(world, dt);
        tally.deepest = std::max(tally.deepest, own_part(tally.last).deepest_penetration);
        tally.most_points = std::max(tally.most_points, own_part(tally.last).colliding_points);
    }
    return tally;
}

const MethodOptions both[] = {PenaltyOptions(), DirectOptions()};

class TetMethod : public testing::TestWithParam<MethodOptions> {};
INSTANTIATE_TEST_SUITE_P(, TetMethod, testing::ValuesIn(both), [](const auto& p) { return p.param.method; });

} // namespace

TEST_P(TetMethod, CollidingCubesKeepTheirLinearMomentumToRoundingAndExchangeIt)
{
    World world = flying_cubes(0.5);
    const Vec3 p0 = linear_momentum(world.model, world.state);
    const Real E0 = energy(world.model, world.state).total();
    const Tally tally = run(world, GetParam(), 2e-3, 120);
    EXPECT_GT(tally.most_points, 2);
    EXPECT_LT((linear_momentum(world.model, world.state) - p0).norm(), 1e-11 * p0.norm());
    EXPECT_LT(energy(world.model, world.state).total(), E0);
    // They fly apart again: the left one was the faster.
    Vec3 left = Vec3::Zero(), right = Vec3::Zero();
    for (Index i = 0; i < world.model.block_count(); ++i)
        (world.model.block_body[i] == 0 ? left : right) += world.model.mass[i] * world.state.velocity[i];
    const Body& l = world.model.bodies[0];
    Real left_mass = 0;
    for (Index i = 0; i < l.block_count; ++i) left_mass += world.model.mass[l.first_block + i];
    EXPECT_LT(left.x() / left_mass, right.x() / (moving_mass(world.model) - left_mass));
}

TEST(PenaltyMethod, KeepsAngularMomentumToRounding)
{
    // The force on a point and those on its tetrahedron act at the same place; with friction too. Damping of the
    // material itself does not keep it where the body is deformed.
    World world = flying_cubes(0.5, rubber(0));
    const Vec3 L0 = angular_momentum(world.model, world.state);
    const Real scale = linear_momentum(world.model, world.state).norm() * 0.2;
    EXPECT_GT(run(world, PenaltyOptions(), 2e-3, 120).most_points, 2);
    EXPECT_LT((angular_momentum(world.model, world.state) - L0).norm(), 1e-10 * scale);
}

TEST_P(TetMethod, ACubeDroppedOnAPlaneComesToRestNearIt)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    BodyOptions cube = named("cube", {0, 0.2, 0});
    cube.place.rotation = rotation_xyz({0.2, 0.1, 0.1});
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {2, 2, 2}), rubber(), cube);
    World world = builder.build();
    const Tally tally = run(world, GetParam(), 2e-3, 2000);
    EXPECT_LT(tally.deepest, 0.02);                                             // a fifth of an edge on impact
    EXPECT_LT(own_part(tally.last).deepest_penetration, 1e-3);                  // weight / stiffness
    EXPECT_LT(energy(world.model, world.state).kinetic, 1e-6 * 9.81 * 8 * 0.1); // of the fall's energy
    EXPECT_NEAR(center(world, 1).y(), 0.1, 5e-3);
    ASSERT_EQ(tally.last.pair_forces.size(), 1u);
    EXPECT_NEAR(std::abs(tally.last.pair_forces[0].normal.y()), moving_mass(world.model) * 9.81, 0.5);
}

namespace {

/// A cube on its corner, falling on the middle of a plate: one contact between a point and one triangle.
World corner_over_plate()
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(0));
    builder.add_solid(make_tet_box({0.4, 0.1, 0.4}, {8, 2, 8}), rubber(), named("plate", {0, -0.05, 0}));
    BodyOptions cube = named("cube");
    const Real angle = std::atan(std::sqrt(2.0));
    cube.place.rotation = Quat(Eigen::AngleAxis<Real>(angle, Vec3(1, 0, -1).normalized()));
    cube.place.translation = {0.01, 0.1 * std::sqrt(3.0) + 0.0005, 0.013};
    cube.velocity = {0, -1, 0};
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {2, 2, 2}), rubber(), cube);
    return builder.build();
}

/// How many steps in a row, each of one sub-step, end with a penetration.
int steps_with_penetration(const MethodOptions& options)
{
    World world = corner_over_plate();
    const auto method = make_method(world, options);
    const Real dt = 0.25 * stable_step(world.model, world.state);
    int penetrated = 0;
    bool touched = false;
    for (int i = 0; i < 60; ++i) {
        const StepReport report = method->step(world, dt);
        EXPECT_EQ(report.substeps, 1);
        touched = touched || report.contact_count > 0 || own_part(report).deepest_penetration > 0;
        if (own_part(report).deepest_penetration > 1e-9)
            ++penetrated;
        else if (touched)
            break;
    }
    EXPECT_TRUE(touched);
    return penetrated;
}

} // namespace

TEST(DirectMethod, ResolvesACollisionInTheSubStepThatSeesItWherePenaltyNeedsSeveral)
{
    EXPECT_EQ(steps_with_penetration(DirectOptions()), 0);
    EXPECT_GE(steps_with_penetration(PenaltyOptions()), 2);
}

TEST(DirectMethod, BodiesThatStartInEachOtherPartWithoutExploding)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {3, 3, 3}), rubber(), named("left", {0, 0, 0}));
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {3, 3, 3}), rubber(), named("right", {0.17, 0.02, 0.01}));
    World world = builder.build();
    const Tally tally = run(world, DirectOptions(), 2e-3, 200);
    EXPECT_LT(own_part(tally.last).deepest_penetration, 1e-4);
    // 16 kg at 1.5 m/s; all of the overlap undone in one sub-step would be more than twice as fast.
    EXPECT_LT(energy(world.model, world.state).kinetic, 0.5 * 16 * 1.5 * 1.5);
}

TEST(DirectMethod, HoldsACubeOnAPlaneWithBackwardEulerToo)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {2, 2, 2}), rubber(), named("lower", {0, 0.101, 0}));
    BodyOptions upper = named("upper", {0.02, 0.32, 0.01});
    upper.place.rotation = rotation_xyz({0, 0.5, 0});
    builder.add_solid(make_tet_box({0.15, 0.15, 0.15}, {2, 2, 2}), rubber(), upper);
    World world = builder.build();
    const Tally tally = run(world, DirectOptions{.integrator = Integrator::backward_euler}, 2e-3, 1000);
    EXPECT_EQ(tally.last.substeps, 1);
    EXPECT_LT(tally.deepest, 0.02);
    EXPECT_LT(own_part(tally.last).deepest_penetration, 2e-3);
    EXPECT_NEAR(center(world, 1).y(), 0.1, 0.01);
    EXPECT_NEAR(center(world, 2).y(), 0.275, 0.015);
    EXPECT_LT(energy(world.model, world.state).kinetic, 0.02) << "it trembles at some centimetres a second";
}

TEST_P(TetMethod, ABodyIsHeldByAMovingClosedObstacleWhoseVerticesItCovers)
{
    // A soft block on a small box: nodes of the block in the box and vertices of the box in the block. The box rises.
    WorldBuilder builder;
    BodyOptions box = named("box", {0, -0.05, 0});
    box.motion = Motion({{0, Vec3::Zero(), Vec3::Zero()}, {1, {0, 0.1, 0}, Vec3::Zero()}}, Vec3::Zero(), true);
    builder.add_obstacle(make_box({0.12, 0.1, 0.12}), box);
    builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {4, 2, 4}), rubber(), named("block", {0.003, 0.051, 0.004}));
    World world = builder.build();
    const Tally tally = run(world, GetParam(), 2e-3, 500);
    EXPECT_GT(tally.most_points, 4);
    EXPECT_LT(tally.deepest, 0.02);
    EXPECT_NEAR(center(world, 1).y(), 0.15, 0.02);
}

TEST_P(TetMethod, FrictionHoldsACubeOnASlopeBelowItsAngleAndLetsItSlideAbove)
{
    const auto slid = [](Real tangent) {
        WorldBuilder builder;
        builder.set_gravity(leaning_gravity(tangent, 0));
        builder.set_friction(friction(0.5));
        builder.add_plane({}, named("floor"));
        builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {2, 1, 2}), rubber(), named("cube", {0, 0.05, 0}));
        World world = builder.build();
        run(world, GetParam(), 2e-3, 250);
        return center(world, 1).x();
    };
    EXPECT_LT(slid(0.4), 0.02);
    // Coulomb: (sin - mu cos) g t^2 / 2 with tan = 0.8, t = 0.5 s.
    const Real angle = std::atan(0.8);
    EXPECT_NEAR(slid(0.8), (std::sin(angle) - 0.5 * std::cos(angle)) * 9.81 * 0.125, 0.03);
}

TEST_P(TetMethod, GivesTheSameBitsForAnyNumberOfThreadsAndFromAnyStepOn)
{
    std::vector<std::uint64_t> hashes;
    for (const int threads : {1, 2, 4}) {
        set_thread_count(threads);
        World world = flying_cubes(0.3);
        run(world, GetParam(), 2e-3, 40);
        hashes.push_back(world.state.hash());
    }
    set_thread_count(0);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
    // It remembers nothing: a new one goes on from the state alone.
    World world = flying_cubes(0.3);
    run(world, GetParam(), 2e-3, 25);
    EXPECT_TRUE(world.state.memory.empty());
    run(world, GetParam(), 2e-3, 15);
    EXPECT_EQ(world.state.hash(), hashes[0]);
}

TEST_P(TetMethod, PinsAndExcludedPairsAreRespected)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    BodyOptions held = named("held", {0, 0.02, 0}); // pinned below the floor
    held.pinned = {0};
    builder.add_solid(make_tet_box({0.1, 0.1, 0.1}, {1, 1, 1}), rubber(), held);
    builder.add_solid(make_tet_box({0.1, 0.1, 0.1}, {1, 1, 1}), rubber(), named("through", {1, 0.2, 0}));
    builder.exclude_contact(0, 2);
    World world = builder.build();
    const Vec3 pin = world.state.position[0];
    run(world, GetParam(), 2e-3, 150);
    EXPECT_EQ(world.state.position[0], pin);
    EXPECT_NEAR(center(world, 2).y(), 0.2 - 9.81 * 0.3 * 0.3 / 2, 0.01); // falls freely
}

namespace {

Real spring_back(const World& world, Index body)
{
    return world.model.bodies[body].rotor == none ? center(world, body).y()
                                                  : world.state.position[world.model.bodies[body].first_block].y();
}

} // namespace

TEST_P(TetMethod, RigidBodiesAndSolidsExchangeMomentumWithoutLoss)
{
    // A rigid box, turned and off the middle, hits a soft cube of about its mass in free space.
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(0.4));
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {4, 4, 4}), rubber(), named("cube", {0, 0, 0}));
    BodyOptions box = named("box", {0.02, 0.23, 0.03});
    box.place.rotation = rotation_xyz({0.4, 0.2, 0.6});
    box.velocity = {0, -1, 0};
    builder.add_rigid(make_box({0.2, 0.2, 0.2}, {3, 3, 3}), {}, box);
    World world = builder.build();
    const Vec3 p0 = linear_momentum(world.model, world.state);
    const Real E0 = energy(world.model, world.state).total();
    const Tally tally = run(world, GetParam(), 2e-3, 150);
    EXPECT_GE(tally.most_points, 1) << "a corner of the box";
    EXPECT_LT((linear_momentum(world.model, world.state) - p0).norm(), 1e-11 * p0.norm());
    EXPECT_LT(energy(world.model, world.state).total(), 1.001 * E0);
    const Index block = world.model.bodies[1].first_block;
    EXPECT_GT(world.state.velocity[block].y(), -0.7) << "it was slowed down";
    EXPECT_GT(world.state.velocity[block + 1].norm(), 0.3) << "and began to turn";
    EXPECT_GT(spring_back(world, 1), spring_back(world, 0)) << "and is still above";
}

TEST_P(TetMethod, ARigidBoxRestsOnASoftCubeThatRestsOnAPlane)
{
    WorldBuilder builder;
    builder.set_friction(friction(0.5));
    builder.add_plane({}, named("floor"));
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {3, 3, 3}), rubber(4e-3), named("cube", {0, 0.1, 0}));
    builder.add_rigid(make_box({0.15, 0.1, 0.15}, {3, 2, 3}), {}, named("box", {0.01, 0.251, 0}));
    builder.add_rigid(make_box({0.1, 0.1, 0.1}), {}, named("beside", {0.3, 0.06, 0})); // straight on the plane
    World world = builder.build();
    run(world, GetParam(), 2e-3, 1000);
    EXPECT_NEAR(spring_back(world, 2), 0.25, 0.015);
    EXPECT_NEAR(spring_back(world, 3), 0.05, 2e-3);
    EXPECT_LT(world.state.velocity[world.model.bodies[2].first_block].norm(), 0.02);
    EXPECT_LT(world.state.velocity[world.model.bodies[3].first_block].norm(), 0.01);
}

TEST_P(TetMethod, TheOuterImpulseOfAStepExplainsItsChangeOfMomentum)
{
    // A cube between a pinned bar and a moving plane, with drag: every kind of force from outside.
    WorldBuilder builder;
    builder.set_friction(friction(0.5));
    BodyOptions floor = named("floor");
    floor.motion = Motion({{0, Vec3::Zero(), Vec3::Zero()}, {1, {0.1, 0.05, 0}, Vec3::Zero()}}, Vec3::Zero(), true);
    builder.add_plane({}, floor);
    SolidMaterial damped = rubber();
    damped.drag = 0.5;
    builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {2, 1, 2}), damped, named("cube", {0, 0.055, 0}));
    BodyOptions bar = named("bar", {0, 0.16, 0});
    const TetMesh mesh = make_tet_bar(0.6, 0.05, 0.05, {6, 1, 1});
    for (Index i = 0; i < count(mesh.vertices); ++i)
        if (std::abs(mesh.vertices[i].x()) > 0.29) bar.pinned.push_back(i);
    builder.add_solid(mesh, damped, bar);
    World world = builder.build();
    const auto method = make_method(world, GetParam());
    Real mean_force = 0, most = 0;
    for (int i = 0; i < 300; ++i) {
        const Vec3 before = linear_momentum(world.model, world.state);
        const StepReport report = method->step(world, 2e-3);
        ASSERT_TRUE(report.outer_impulse);
        most = std::max(most, (linear_momentum(world.model, world.state) - before - *report.outer_impulse).norm());
        for (const PairForce& f : report.pair_forces) mean_force += f.normal.norm() / 300;
    }
    EXPECT_GT(mean_force, 10) << "the bar presses";
    EXPECT_LT(most, 1e-12 * mean_force);
}

TEST_P(TetMethod, AnEnclosedBodyIsNamed)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.add_solid(make_tet_box({1, 1, 1}, {2, 2, 2}), rubber(), named("large"));
    builder.add_solid(make_tet_box({0.1, 0.1, 0.1}, {1, 1, 1}), rubber(), named("small", {0.2, 0.1, 0.1}));
    World world = builder.build();
    const StepReport report = make_method(world, GetParam())->step(world, 1e-6);
    ASSERT_EQ(report.enclosed.size(), 1u);
    EXPECT_EQ(report.enclosed[0], (std::array<Index, 2>{1, 0}));
    EXPECT_EQ(own_part(report).enclosed_bodies, 1);
}

TEST_P(TetMethod, ABarBentIntoItselfCollidesWithItselfOnlyWhereAsked)
{
    // A C-shaped ring that is pressed together: its ends meet.
    const auto overlap_of = [](MethodOptions options, SelfCollision self) {
        if (options.method == "direct")
            options = DirectOptions{.self_collision = self};
        else
            options = PenaltyOptions{.self_collision = self};
        TetMesh ring = make_tet_bar(1, 0.08, 0.08, {20, 2, 2});
        for (Vec3& x : ring.vertices) { // four fifths of a circle
            const Real angle = 1.6 * 3.14159265 * x.x(), r = 0.2 - x.y();
            x = {r * std::cos(angle), r * std::sin(angle), x.z()};
        }
        WorldBuilder builder;
        builder.set_gravity(Vec3::Zero());
        BodyOptions options_of_ring = named("ring");
        builder.add_solid(ring, rubber(), options_of_ring);
        World world = builder.build();
        for (Index i = 0; i < world.model.block_count(); ++i) // the two ends fly at each other
            if (world.model.rest[i].x() < -0.1)
                world.state.velocity[i] = Vec3(0, world.model.rest[i].y() > 0 ? -4 : 4, 0);
        const auto method = make_method(world, options);
        Real closest = 1;
        for (int i = 0; i < 60; ++i) {
            method->step(world, 2e-3);
            Real low = 1, high = -1; // the ends' inner faces
            for (Index k = 0; k < world.model.block_count(); ++k) {
                const Vec3& rest = world.model.rest[k];
                if (rest.x() > -0.15) continue;
                if (rest.y() > 0)
                    low = std::min(low, world.state.position[k].y());
                else
                    high = std::max(high, world.state.position[k].y());
            }
            closest = std::min(closest, low - high);
        }
        return closest;
    };
    EXPECT_LT(overlap_of(GetParam(), SelfCollision::off), -0.03);
    EXPECT_GT(overlap_of(GetParam(), SelfCollision::on), -0.025) << "half an edge";
}

TEST_P(TetMethod, RefusesWhatHasNoTetrahedraOrNoInside)
{
    const auto refusal = [](auto&& add) {
        WorldBuilder builder;
        add(builder);
        const World world = builder.build();
        try {
            make_method(world, GetParam());
        } catch (const Error& e) {
            const std::string message = e.what();
            return message.substr(0, message.find("; methods that can: implicit"));
        }
        return std::string();
    };
    const std::string start = "method '" + GetParam().method + "' cannot simulate 'it', because ";
    EXPECT_EQ(refusal([](WorldBuilder& b) {
                  b.add_cloth(make_grid(1, 1, 3, 3), {}, named("it"), GridShape{3, 3});
              }),
              start + "it has no tetrahedra");
    EXPECT_EQ(refusal([](WorldBuilder& b) { b.add_obstacle(make_grid(1, 1, 3, 3), named("it")); }),
              start + "its mesh is open, and only a closed one has an inside to be kept out of");
    EXPECT_EQ(refusal([](WorldBuilder& b) {
                  TetMesh inside_out = make_tet_box({1, 1, 1}, {1, 1, 1});
                  std::swap(inside_out.tets[3][0], inside_out.tets[3][1]);
                  b.add_solid(inside_out, {}, named("it"));
              }),
              start + "its tetrahedron 3 is flat or inverted in the rest shape");
    EXPECT_EQ(refusal([](WorldBuilder& b) { b.add_solid(make_tet_box({1, 1, 1}, {1, 1, 1}), {}, named("it")); }), "");
}

} // namespace pliant
