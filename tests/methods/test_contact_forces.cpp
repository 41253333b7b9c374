// Contact forces as users read them: action is reaction, and they account for the change of momentum.

#include "methods/structures.hpp"

#include <numeric>

using namespace pliant;

namespace {

/// Momentum of one body [kg m/s].
Vec3 momentum(const World& world, Index b)
{
    const Body& body = world.model.bodies[b];
    Vec3 p = Vec3::Zero();
    for (Index i = body.first_block; i < body.first_block + body.block_count; ++i)
        p += world.model.mass[i] * world.state.velocity[i];
    return p;
}

Real mass_of(const World& world, Index b)
{
    const Body& body = world.model.bodies[b];
    const auto first = world.model.mass.begin() + body.first_block;
    return std::accumulate(first, first + body.block_count, Real(0));
}

Vec3 force_on(const StepReport& report, Index body)
{
    Vec3 sum = Vec3::Zero();
    for (const PairForce& f : report.pair_forces) {
        if (f.body_a == body) sum += f.normal + f.friction;
        if (f.body_b == body) sum -= f.normal + f.friction;
    }
    return sum;
}

} // namespace

TEST(ContactForces, AccountForTheMomentumOfEveryBody)
{
    // A rigid box slides on the floor, a soft one falls on it, both meet a second rigid one.
    WorldBuilder builder;
    builder.set_friction(friction(0.3));
    builder.add_plane({}, named("floor"));
    BodyOptions slides = named("slides", {0, 0.053, 0});
    slides.velocity = {10, 0, 0};
    SolidMaterial soft;
    soft.young = 2e5;
    const std::vector<Index> bodies = {
        builder.add_rigid(make_box(Vec3::Constant(0.1)), {}, slides),
        builder.add_solid(make_tet_box(Vec3::Constant(0.1), {2, 2, 2}), soft, named("soft", {0.02, 0.17, 0.01})),
        builder.add_rigid(make_box(Vec3::Constant(0.08)), {}, named("waits", {0.25, 0.043, 0.01}))};
    World world = builder.build();
    for (int max_rounds : {5, 1}) { // with one round, steps are cut
        World w = world;
        ImplicitOptions options = accurate();
        options.linear_tolerance = 1e-12;
        options.solver.tolerance = 1e-8;
        options.solver.max_iterations = 5000;
        options.max_rounds = max_rounds;
        const auto method = make_method(w, options);
        const Real dt = 5e-3, scale = mass_of(w, bodies[0]) * 9.81;
        int pairs = 0, cut = 0;
        for (int i = 0; i < 80; ++i) {
            const World before = w;
            const StepReport report = method->step(w, dt);
            cut += report.substeps > 1;
            pairs = std::max(pairs, count(report.pair_forces));
            if (report.rung >= Rung::zones) continue; // the last resorts are no contact forces
            for (Index b : bodies) {
                const Vec3 change = (momentum(w, b) - momentum(before, b)) / dt - mass_of(w, b) * w.model.gravity;
                EXPECT_LT((change - force_on(report, b)).norm(), 1e-5 * scale + 1e-5 * change.norm())
                    << w.model.bodies[b].name << " step " << i;
            }
        }
        EXPECT_GE(pairs, 3);
        if (max_rounds == 1) {
            EXPECT_GT(cut, 0);
        }
    }
}

TEST(ContactForces, OfABoxOnASlopeAreItsWeightAndItsFriction)
{
    WorldBuilder builder;
    builder.set_gravity(leaning_gravity(0.5, 0));
    builder.set_friction(friction(0.3));
    const Index floor = builder.add_plane({}, named("floor"));
    const Index box = builder.add_rigid(make_box(Vec3::Constant(0.1)), {}, named("box", {0, 0.0505, 0}));
    World world = builder.build();
    const auto method = make_method(world, accurate());
    StepReport report;
    for (int i = 0; i < 50; ++i) report = method->step(world, 0.01);
    ASSERT_EQ(report.pair_forces.size(), 1u);
    const PairForce& f = report.pair_forces[0];
    EXPECT_EQ(f.body_a, floor);
    EXPECT_EQ(f.body_b, box);
    EXPECT_GT(f.contacts, 2);
    const Vec3 weight = world.model.rotors[0].rigid.mass * world.model.gravity;
    EXPECT_NEAR(f.normal.y(), weight.y(), 1e-3 * weight.norm()) << "on the floor";
    EXPECT_NEAR(f.friction.x(), -0.3 * weight.y(), 1e-3 * weight.norm()) << "it slides: friction is at its bound";
    EXPECT_NEAR(f.normal.x(), 0, 1e-9 * weight.norm());
    EXPECT_NEAR(f.friction.y(), 0, 1e-9 * weight.norm());
}
