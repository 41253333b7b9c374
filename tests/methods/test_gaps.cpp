// The distance that contact keeps is a matter of the two bodies: nothing else in the scene changes it.

#include "methods/contact_fixture.hpp"
#include "pliant/methods/start.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

struct Ends {
    Vec3s position;   ///< of the blocks of the first moving body [m]
    Real fastest = 0; ///< of them in the last tenth of a second [m/s]
};

/// An elastic block of a metre on a mesh box; `others` adds to the scene what touches neither.
template <class Others>
Ends block_on_box(Others&& others)
{
    WorldBuilder builder;
    SolidMaterial material;
    material.young = 1e5;
    material.damping = 0.05;
    const Index block = builder.add_solid(make_tet_box({1, 1, 1}, {4, 4, 4}), material, named("block", {0, 0.52, 0}));
    builder.add_obstacle(make_box({2, 0.2, 2}), named("table", {0, -0.1, 0}));
    others(builder);
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    Ends ends;
    const Body& body = world.model.bodies[block];
    for (int i = 0; i < 400; ++i) {
        method->step(world, 0.01);
        if (i < 390) continue;
        for (Index b = body.first_block; b < body.first_block + body.block_count; ++b)
            ends.fastest = std::max(ends.fastest, world.state.velocity[b].norm());
    }
    ends.position.assign(world.state.position.begin() + body.first_block,
                         world.state.position.begin() + body.first_block + body.block_count);
    return ends;
}

Real largest_difference(const Ends& a, const Ends& b)
{
    Real largest = 0;
    for (std::size_t i = 0; i < a.position.size(); ++i)
        largest = std::max(largest, (a.position[i] - b.position[i]).norm());
    return largest;
}

} // namespace

TEST(Gaps, ABlockRestsTheSameWhateverElseIsInTheScene)
{
    const Ends alone = block_on_box([](WorldBuilder&) {});
    EXPECT_LT(alone.fastest, 1e-3);
    const Ends with_pea = block_on_box([](WorldBuilder& builder) {
        builder.add_plane({}, named("shelf", {0, 2, 0}));
        builder.add_rigid(make_sphere(0.004, 1), {}, named("pea", {5, 2.01, 0}));
        builder.exclude_contact(0, 2); // the shelf is a half-space above the block
    });
    EXPECT_LT(with_pea.fastest, 1e-3);
    EXPECT_LT(largest_difference(alone, with_pea), 1e-4);
    const Ends with_anvil = block_on_box([](WorldBuilder& builder) {
        RigidMaterial lead;
        lead.density = 11000;
        BodyOptions options = named("anvil", {50, 20, 0});
        options.velocity = {0, -200, 0};
        builder.add_rigid(make_box({4, 4, 4}), lead, options);
    });
    EXPECT_LT(with_anvil.fastest, 1e-3);
    EXPECT_LT(largest_difference(alone, with_anvil), 1e-4);
}

/// A piston of a radius smaller than its cylinder's by less than their default gap.
TEST(Gaps, APistonMovesInACylinderThatIsTighterThanTheDefaultGap)
{
    WorldBuilder builder;
    const Real radius = 0.1, clearance = 2e-4;
    const auto wall = [&](const char* name, const Vec3& size, const Vec3& at) {
        builder.add_obstacle(make_box(size), named(name, at));
    };
    const Real inner = radius + clearance;
    wall("left", {0.1, 1, 0.5}, {-inner - 0.05, 0, 0});
    wall("right", {0.1, 1, 0.5}, {inner + 0.05, 0, 0});
    wall("front", {0.2, 1, 0.1}, {0, 0, inner + 0.05});
    wall("back", {0.2, 1, 0.1}, {0, 0, -inner - 0.05});
    FrictionTable smooth;
    smooth.value = 0;
    builder.set_friction(smooth);
    const Index piston = builder.add_rigid(make_box({2 * radius, 0.1, 2 * radius}), {}, named("piston", {0, 0.4, 0}));
    World world = builder.build();
    EXPECT_GT(world.model.bodies[piston].gap, 2 * clearance);
    fit_gaps(world);
    EXPECT_EQ(world.model.pair_gaps.size(), 4U);
    const auto method = make_method(world, implicit_options());
    int halvings = 0;
    for (int i = 0; i < 20; ++i) halvings += implicit_part(method->step(world, 0.01)).halvings;
    EXPECT_EQ(halvings, 0);
    EXPECT_NEAR(center(world, piston).y(), 0.4 - 9.81 * 0.2 * 0.21 / 2, 1e-3) << "it falls freely";
}

TEST(Gaps, AGapThatTheUserAskedForIsKeptWhateverTheClearance)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    BodyOptions options = named("box", {0, 0.0505, 0});
    options.gap = 1e-3;
    builder.add_rigid(make_box({0.1, 0.1, 0.1}), {}, options);
    World world = builder.build();
    fit_gaps(world);
    EXPECT_TRUE(world.model.pair_gaps.empty());
}
