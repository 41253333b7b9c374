#include "pliant/contact/impact_response.hpp"

#include "pliant/contact/contacts.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

BodyOptions named(const std::string& name, const Vec3& at)
{
    BodyOptions options;
    options.name = name;
    options.place.translation = at;
    return options;
}

/// Two small sheets, the second one three times as heavy, a rigid box and the floor.
World sheets_box_and_floor()
{
    WorldBuilder builder;
    ClothMaterial heavy;
    heavy.density *= 3;
    builder.add_cloth(make_grid(0.1, 0.1, 3, 3), {}, named("light", {0, 0.2, 0}), GridShape{3, 3});
    builder.add_cloth(make_grid(0.1, 0.1, 3, 3), heavy, named("heavy", {0, 0.1, 0}), GridShape{3, 3});
    builder.add_rigid(make_box({0.1, 0.2, 0.3}), {}, named("box", {1, 0, 0}));
    builder.add_plane({}, named("floor", Vec3::Zero()));
    return builder.build();
}

/// Answers one contact whose normal velocity may not be less than `least` afterwards; returns the impulse.
Vec3 answer(const World& world, Contact c, Real restitution, Vec3s& v, Real least = 0)
{
    Vec3s x;
    surface_positions(world.model, world.state, x);
    c.target = c.distance + least; // in a step of a second
    ContactSet set;
    set.contacts = {c};
    const ContactRows rows = build_rows({world.model, world.state, x, x, 1}, set, v);
    return respond_to_impact(world.model, world.state, rows.problem, rows.problem.rows.at(0), {restitution}, v);
}

/// Vertex 0 of the first sheet on the floor.
Contact on_floor(Real friction)
{
    Contact c;
    c.kind = ContactKind::plane;
    c.vertex[0] = 0;
    c.weight[0] = 1;
    c.normal = Vec3::UnitY();
    c.friction = friction;
    c.body_a = 0;
    c.body_b = 3;
    return c;
}

TEST(ImpactResponse, OfAMassOnASurfaceAtRestIsThatOfThePaper)
{
    const World world = sheets_box_and_floor();
    const auto after = [&](const Vec3& before, Real k_f, Real k_d) {
        Vec3s v(world.state.velocity.size(), Vec3::Zero());
        v[0] = before;
        answer(world, on_floor(k_f), k_d, v);
        return v[0];
    };
    // Sliding: |v_T| = 5 >= k_f |v_N| = 0.5 * 2.
    EXPECT_LT((after({3, -2, 4}, 0.5, 0) - 0.8 * Vec3(3, 0, 4)).norm(), 1e-14);
    EXPECT_LT((after({3, -2, 4}, 0.5, 0.25) - Vec3(2.4, 0.5, 3.2)).norm(), 1e-14);
    // Held: |v_T| < k_f |v_N|.
    EXPECT_LT(after({0.3, -2, 0.4}, 0.5, 0).norm(), 1e-14);
    EXPECT_LT((after({0.3, -2, 0.4}, 0.5, 1) - Vec3(0, 2, 0)).norm(), 1e-14);
    EXPECT_LT((after({3, -2, 4}, 0, 0) - Vec3(3, 0, 4)).norm(), 1e-14);
    EXPECT_EQ(after({3, 2, 4}, 0.5, 1), Vec3(3, 2, 4)) << "it leaves";
}

TEST(ImpactResponse, OfTwoMassesIsThatOfThePaperInTheFrameOfTheirCentreOfMass)
{
    const World world = sheets_box_and_floor();
    Contact c;
    c.kind = ContactKind::vertex_vertex;
    c.vertex = {0, 9, none, none};
    c.weight = {1, -1, 0, 0};
    c.normal = Vec3::UnitY();
    c.friction = 0.5;
    c.body_a = 0;
    c.body_b = 1;
    Vec3s v(world.state.velocity.size(), Vec3::Zero());
    v[0] = {3, -1, 0};
    v[9] = {-1, 2, 4};
    const Real m = world.model.mass[0], M = world.model.mass[9];
    const Vec3 frame = (m * v[0] + M * v[9]) / (m + M);
    const auto printed = [&](const Vec3& velocity) {
        const Vec3 u = velocity - frame, n = Vec3(0, u.y(), 0), t = u - n;
        return Vec3(frame + t - 0.5 * n.norm() * t.normalized() - 0.3 * n);
    };
    const Vec3 a = printed(v[0]), b = printed(v[9]);
    answer(world, c, 0.3, v);
    EXPECT_LT((v[0] - a).norm(), 1e-14);
    EXPECT_LT((v[9] - b).norm(), 1e-14);
}

TEST(ImpactResponse, KeepsBothMomentaWhereTheFeaturesTouch)
{
    World world = sheets_box_and_floor();
    const Model& model = world.model;
    Random random(1);
    for (const bool with_box : {false, true})
        for (int k = 0; k < 50; ++k) {
            Contact c; // a vertex of the light sheet in a face of the other body
            const Body& other = model.bodies[with_box ? 2 : 1];
            const Triangle& face = model.surface.triangles[other.first_triangle + k % other.triangle_count];
            const Vec3 w(0.2, 0.3, 0.5);
            c.vertex = {4, face[0], face[1], face[2]};
            c.weight = {1, -w[0], -w[1], -w[2]};
            c.normal = random.on_sphere();
            c.friction = 0.4;
            c.body_a = 0;
            c.body_b = with_box ? 2 : 1;
            Vec3s x;
            surface_positions(model, world.state, x);
            world.state.position[4] = w[0] * x[face[0]] + w[1] * x[face[1]] + w[2] * x[face[2]];
            for (Vec3& v : world.state.velocity) v = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
            const Vec3 p = linear_momentum(model, world.state), L = angular_momentum(model, world.state);
            const Real before = energy(model, world.state).kinetic;
            answer(world, c, 0.5, world.state.velocity);
            EXPECT_LT((linear_momentum(model, world.state) - p).norm(), 1e-14);
            EXPECT_LT((angular_momentum(model, world.state) - L).norm(), 1e-14);
            EXPECT_LE(energy(model, world.state).kinetic, before * (1 + 1e-12));
        }
}

TEST(ImpactResponse, OpensALostDistanceAsFastAsAskedAndNoFaster)
{
    const World world = sheets_box_and_floor();
    Vec3s v(world.state.velocity.size(), Vec3::Zero());
    answer(world, on_floor(0.5), 0, v, 0.01);
    EXPECT_LT((v[0] - Vec3(0, 0.01, 0)).norm(), 1e-15);
    v[0] = {1, 0.02, 0};
    EXPECT_TRUE(answer(world, on_floor(0.5), 0, v, 0.01).isZero(0)) << "it opens faster already";
}

} // namespace
} // namespace pliant
