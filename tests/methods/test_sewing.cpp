// Seams are pulled together, sewn, and from then on their partners are one value.

#include "methods/contact_fixture.hpp"
#include "pliant/bodies/seam_pull.hpp"
#include "pliant/bodies/sewing_aid.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/methods/impact_zones.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/world/sewing.hpp"
#include "pliant/world/strain.hpp"

#include <numeric>

using namespace pliant;

namespace {

constexpr Index n = 9; ///< vertices along a side of a sheet

/// Two sheets in one body, side by side with a slit between them, in the order of their vertices.
TriangleMesh two_sheets(Real slit)
{
    TriangleMesh mesh = make_grid(0.4, 0.4, n, n), other = mesh;
    for (Vec3& x : mesh.vertices) x.x() -= 0.2 + slit / 2;
    for (const Vec3& x : other.vertices) mesh.vertices.push_back(x + Vec3(0.2 + slit / 2, 0, 0));
    for (const Triangle& t : other.triangles) mesh.triangles.push_back({t[0] + n * n, t[1] + n * n, t[2] + n * n});
    return mesh;
}

std::vector<Edge> facing_pairs()
{
    std::vector<Edge> pairs;
    for (Index j = 0; j < n; ++j) pairs.push_back({j * n + n - 1, n * n + j * n});
    return pairs;
}

World sewable(Real slit, const Vec3& gravity = Vec3::Zero())
{
    WorldBuilder builder;
    builder.set_gravity(gravity);
    const Index body = builder.add_cloth(two_sheets(slit), {}, named("cloth"));
    builder.add_seam("slit", body, facing_pairs(), 0.5, 0.05);
    return builder.build();
}

} // namespace

TEST(SeamPull, TheForceIsMinusTheGradientOfTheEnergy)
{
    const SeamPull pull({{0, 1, 2.5}, {1, 2, 0.7}}, 0.01, 0.1);
    Random random(1);
    for (int trial = 0; trial < 20; ++trial) {
        Vec3s x(3), f(3, Vec3::Zero());
        for (Vec3& p : x) p = random.in_box(Vec3::Constant(-0.05), Vec3::Constant(0.05));
        pull.make_rows(nullptr)->add_forces(0, 3, x, Vec3s(3, Vec3::Zero()), f);
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) {
                const Real h = 1e-7;
                Vec3s a = x, b = x;
                a[i][k] -= h;
                b[i][k] += h;
                EXPECT_NEAR(f[i][k], (pull.energy(a) - pull.energy(b)) / (2 * h), 1e-6);
            }
    }
}

TEST(SeamPull, AKickSolvesTheThreadAtTheEndOfTheStep)
{
    const Real slack = 1e-4;
    const std::vector<Real> inverse_mass = {1 / 2e-4, 1 / 5e-4};
    Random random(4);
    for (const Real dt : {1e-5, 4e-3, 1.0})
        for (const Real distance : {1e-5, 1e-2, 1.0}) {
            const SeamPull pull({{0, 1, 0.3}}, slack, 0.1);
            Vec3s x = {Vec3::Zero(), distance * random.on_sphere()}, v(2);
            for (Vec3& w : v) w = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
            const Vec3s before = v;
            pull.kick(x, inverse_mass, dt, v);
            const Vec3 impulse = (v[0] - before[0]) / inverse_mass[0];
            EXPECT_LT((impulse + (v[1] - before[1]) / inverse_mass[1]).norm(), 1e-15) << "momentum";
            const Real k = pull.stiffness(pull.threads()[0], x[0], x[1]);
            const Vec3 force = k * (x[1] - x[0] + dt * (v[1] - v[0]));          // of the end
            const Real rounding = 1e-15 * dt * k * (1 + dt * before[1].norm()); // of stiff times small
            EXPECT_LT((impulse - dt * force).norm(), 1e-9 * impulse.norm() + rounding)
                << "dt " << dt << " d " << distance;
        }
}

TEST(SeamPull, AKickHasTheForceOfTheThreadWhereverItIsLongerThanItsSlack)
{
    // What holds the ends back, contact and limits of strain, meets all of it, however light the ends are.
    const SeamPull pull({{0, 1, 0.3}}, 1e-4, 0.1);
    const Real mass = 6e-5, dt = 3e-4;
    for (const Real distance : {0.002, 0.05, 0.3}) {
        Vec3s v(2, Vec3::Zero());
        pull.kick({Vec3::Zero(), {distance, 0, 0}}, {1 / mass, 1 / mass}, dt, v);
        EXPECT_NEAR(mass * v[0].x() / dt, 0.3, 0.35 * 0.3) << distance;
    }
}

TEST(SewingAid, TheForceIsMinusTheGradientOfTheEnergyAndLetsGoOfWhatIsTied)
{
    const Vec3 gravity(1, -9, 2);
    const SewingAid aid({{2, 0.4}, {0, 0.1}, {1, 0.2}}, {{0, 1}, {1, 2}}, gravity, 7);
    Vec3s f(3, Vec3::Zero());
    aid.make_rows(nullptr)->add_forces(0, 3, Vec3s(3, Vec3::Zero()), Vec3s(3, Vec3::Zero()), f);
    EXPECT_LT((f[0] + 0.1 * gravity).norm(), 1e-15);
    EXPECT_LT((f[2] + 0.4 * gravity).norm(), 1e-15);
    EXPECT_NEAR(aid.energy({Vec3::Zero(), Vec3::Zero(), {0, 1, 0}}), -0.4 * 9, 1e-14);
    const std::vector<Index> half = {0, 0, 2}, whole = {0, 0, 0};
    const auto tied = aid.with_blocks(half);
    ASSERT_EQ(tied->element_count(), 2) << "what is tied is one load";
    EXPECT_NEAR(tied->energy({{0, 1, 0}, Vec3::Zero(), Vec3::Zero()}), -0.3 * 9, 1e-14);
    EXPECT_EQ(aid.with_blocks(whole)->element_count(), 0);
}

TEST(Sewing, AGarmentHasNoWeightUntilItsSeamsAreSewn)
{
    for (const MethodOptions& options : {MethodOptions(implicit_options()), MethodOptions(ImpactZonesOptions())}) {
        World world = sewable(0.06, {0, -9.81, 0});
        const auto method = make_method(world, options);
        const auto height = [&] {
            Real sum = 0;
            for (const Vec3& x : world.state.position) sum += x.y() / static_cast<Real>(world.state.position.size());
            return sum;
        };
        const Real before = height();
        Real momentum = 0;
        for (int i = 0; i < 400 && world.state.sewn.empty(); ++i) {
            momentum = std::abs(linear_momentum(world.model, world.state).y());
            method->step(world, 4e-3);
        }
        ASSERT_EQ(world.state.sewn.size(), 1u) << options.method;
        EXPECT_LT(momentum, 1e-6 * moving_mass(world.model)) << options.method;
        EXPECT_NEAR(height(), before, 1e-6) << options.method;
        for (int i = 0; i < 25; ++i) method->step(world, 4e-3);
        const Real fall = before - height(); // of 0.1 s, half a step more or less
        EXPECT_NEAR(fall, 9.81 * 0.01 / 2, 0.05 * fall + 9.81 * 4e-3 * 0.1) << options.method;
    }
}

TEST(SeamPull, DoesNotMoveWhatIsHeld)
{
    const SeamPull pull({{0, 1, 0.3}}, 1e-4, 0.1);
    Vec3s v(2, Vec3::Zero());
    pull.kick({Vec3::Zero(), Vec3(0.1, 0, 0)}, {0, 1e4}, 4e-3, v);
    EXPECT_EQ(v[0], Vec3(Vec3::Zero()));
    EXPECT_LT(v[1].x(), 0);
}

TEST(Sewing, ExplicitStepsAreNoShorterForASeamAndCloseIt)
{
    World world = sewable(0.06), plain = world;
    plain.model.batches.pop_back();
    const int substeps = stable_substeps(plain.model, plain.state, 4e-3);
    EXPECT_EQ(stable_substeps(world.model, world.state, 4e-3), substeps);
    const auto method = make_method(world, ImpactZonesOptions());
    int steps = 0;
    while (world.state.sewn.empty() && steps < 400) {
        EXPECT_EQ(method->step(world, 4e-3).substeps, substeps);
        ++steps;
    }
    ASSERT_EQ(world.state.sewn, std::vector<std::int64_t>{0}) << "after " << steps << " steps";
    EXPECT_LT(linear_momentum(world.model, world.state).norm(), 1e-9 * moving_mass(world.model));
}

TEST(Sewing, AFreeSeamClosesAtItsOwnPaceAndIsThenSewn)
{
    World world = sewable(0.06);
    const Real mass = moving_mass(world.model);
    const Vec3 middle = Vec3::Zero();
    const auto method = make_method(world, implicit_options());
    int steps = 0;
    while (world.state.sewn.empty() && steps < 400) {
        method->step(world, 4e-3);
        ++steps;
    }
    ASSERT_EQ(world.state.sewn, std::vector<std::int64_t>{0}) << "after " << steps << " steps";
    EXPECT_NEAR(moving_mass(world.model), mass, 1e-12 * mass);
    EXPECT_LT((linear_momentum(world.model, world.state) - middle).norm(), 1e-6 * mass);
    for (int i = 0; i < 50; ++i) {
        method->step(world, 4e-3);
        for (const auto& [a, b] : world.model.seams[0].pairs) {
            ASSERT_EQ(world.state.position[a], world.state.position[b]);
            ASSERT_EQ(world.state.velocity[a], world.state.velocity[b]);
        }
    }
    EXPECT_LT(max_elongation(world.model, world.state), 0.05) << "two sheets that lie flat, side by side";
}

TEST(Sewing, TyingKeepsTheMomentumAndTheSurface)
{
    World world = sewable(0.001);
    Random random(2);
    for (Vec3& v : world.state.velocity) v = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
    const Vec3 momentum = linear_momentum(world.model, world.state);
    Vec3s before, after;
    surface_positions(world.model, world.state, before);
    world.state = sewn_state(world.model, world.state, {0});
    const std::size_t triangles = world.model.surface.triangles.size();
    tie_sewn(world);
    EXPECT_LT((linear_momentum(world.model, world.state) - momentum).norm(), 1e-12);
    surface_positions(world.model, world.state, after);
    EXPECT_EQ(world.model.surface.triangles.size(), triangles);
    for (std::size_t v = 0; v < before.size(); ++v) EXPECT_LE((after[v] - before[v]).norm(), 0.00051);
    Vec3s unsewn;
    surface_positions(unsewn_model(world.model).surface, world.state.position, carriers_at(world.model, world.state),
                      unsewn);
    EXPECT_EQ(after, unsewn) << "run directories have the map from before";
}

TEST(Sewing, ASewnSheetHangsLikeOneThatWasNeverCut)
{
    // The left sheet is held at its left side, the right one hangs on the seam.
    WorldBuilder builder;
    BodyOptions options = named("cloth");
    for (Index j = 0; j < n; ++j) options.pinned.push_back(j * n);
    const Index body = builder.add_cloth(two_sheets(0.001), {}, options);
    builder.add_seam("slit", body, facing_pairs(), 0.5, 0.05);
    World world = builder.build();
    world.state = sewn_state(world.model, world.state, {0});
    tie_sewn(world);
    // The same springs and masses on a mesh whose vertices are one.
    TriangleMesh welded = two_sheets(0);
    std::vector<Index> number(welded.vertices.size());
    std::iota(number.begin(), number.end(), 0);
    for (const auto& [a, b] : facing_pairs()) number[b] = number[a];
    for (Triangle& t : welded.triangles)
        for (Index& v : t) v = number[v];
    std::vector<Index> used(number.size(), none);
    TriangleMesh compact;
    for (Triangle t : welded.triangles) {
        for (Index& v : t) {
            if (used[v] == none) used[v] = count(compact.vertices), compact.vertices.push_back(welded.vertices[v]);
            v = used[v];
        }
        compact.triangles.push_back(t);
    }
    WorldBuilder whole;
    BodyOptions held = named("cloth");
    for (Index j = 0; j < n; ++j) held.pinned.push_back(used[j * n]);
    ClothMaterial material;
    whole.add_cloth(compact, material, held);
    World reference = whole.build();
    const auto a = make_method(world, implicit_options()), b = make_method(reference, implicit_options());
    for (int i = 0; i < 60; ++i) {
        a->step(world, 4e-3);
        b->step(reference, 4e-3);
    }
    // Seams are doubled by their springs and do not bend stiffly: near, not equal.
    const Index corner = 2 * n * n - 1;
    EXPECT_LT((world.state.position[corner] - reference.state.position[used[corner]]).norm(), 0.05);
    EXPECT_LT(world.state.position[corner].y(), -0.1) << "it fell";
}

TEST(Sewing, PartnersAreNeighboursFromTheStart)
{
    World world = sewable(1e-5); // far less than the gap: contact would push them apart
    const auto method = make_method(world, implicit_options());
    EXPECT_EQ(method->step(world, 1e-3).contact_count, 0);
}

TEST(Sewing, TwoGarmentsAreSewnEachForItself)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    for (const Real height : {0.0, 0.5}) {
        const Index body = builder.add_cloth(two_sheets(0.02), {}, named("cloth", {0, height, 0}));
        builder.add_seam("slit", body, facing_pairs(), 0.5, 0.05);
    }
    World world = builder.build();
    const std::vector<Index>& weld = world.model.surface.weld;
    ASSERT_EQ(count(weld), world.model.surface.vertex_count());
    for (Index v = 0; v < count(weld); ++v)
        EXPECT_EQ(world.model.surface.vertex_body[weld[v]], world.model.surface.vertex_body[v]);
    const auto method = make_method(world, implicit_options());
    for (int i = 0; i < 200 && world.state.sewn.size() < 2; ++i) method->step(world, 4e-3);
    EXPECT_EQ(world.state.sewn, (std::vector<std::int64_t>{0, 1}));
}

TEST(Sewing, AGarmentHasNoFrictionUntilAllOfItsSeamsAreSewn)
{
    WorldBuilder builder;
    FrictionTable table = friction(0.3);
    table.exceptions.push_back({0, 2, 0.5});
    builder.set_friction(table);
    for (const Real height : {0.0, 0.5}) {
        const Index body = builder.add_cloth(two_sheets(0.001), {}, named("cloth", {0, height, 0}));
        const std::vector<Edge> pairs = facing_pairs();
        const auto middle = pairs.begin() + n / 2;
        builder.add_seam("upper", body, {pairs.begin(), middle}, 0.5, 0.05);
        builder.add_seam("lower", body, {middle, pairs.end()}, 0.5, 0.05);
    }
    const Index post = builder.add_obstacle(make_box({0.02, 0.2, 0.5}), named("post", {0, 2, 0}));
    const Index floor = builder.add_obstacle(make_box({1, 0.2, 1}), named("floor", {0, -2, 0}));
    World world = builder.build();
    const auto sew = [&](const std::vector<std::int64_t>& seams) {
        world.state = sewn_state(world.model, world.state, seams);
        tie_sewn(world);
    };
    const auto mu = [&](Index a, Index b) { return world.model.friction.between(a, b); };
    EXPECT_EQ(mu(0, post), 0);
    EXPECT_EQ(mu(0, 0), 0);
    EXPECT_EQ(mu(post, floor), 0.3);
    sew({0, 2});
    EXPECT_EQ(mu(0, post), 0) << "half of its seams";
    sew({0, 1, 2});
    EXPECT_EQ(mu(0, post), 0.5);
    EXPECT_EQ(mu(0, 0), 0.3);
    EXPECT_EQ(mu(0, 1), 0) << "the other is still open";
    sew({0, 1, 2, 3});
    EXPECT_EQ(mu(1, 0), 0.3);
    EXPECT_EQ(mu(1, post), 0.3);
}

TEST(Sewing, TheStateSaysWhatIsTied)
{
    World world = sewable(0.001);
    EXPECT_TRUE(may_be_sewn(world.model, {}));
    EXPECT_TRUE(may_be_sewn(world.model, {0}));
    EXPECT_FALSE(may_be_sewn(world.model, {1}));
    EXPECT_FALSE(may_be_sewn(world.model, {0, 0}));
    const std::uint64_t open = world.state.hash();
    world.state.sewn = {0};
    EXPECT_NE(world.state.hash(), open);
}

TEST(Sewing, WhatLiesBetweenTheSidesOfASeamIsNotSewnIn)
{
    World world = [] {
        WorldBuilder builder;
        builder.set_gravity(Vec3::Zero());
        const Index body = builder.add_cloth(two_sheets(0.06), {}, named("cloth"));
        builder.add_seam("slit", body, facing_pairs(), 0.5, 0.05);
        builder.add_obstacle(make_box({0.02, 0.2, 0.5}), named("post"));
        return builder.build();
    }();
    const auto method = make_method(world, implicit_options());
    for (int i = 0; i < 100; ++i) method->step(world, 4e-3);
    EXPECT_TRUE(world.state.sewn.empty());
    EXPECT_GE(seam_opening(world.model.seams[0], world.state.position), 0.02);
}
