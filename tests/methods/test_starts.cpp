// Bodies that touch at the start: a normal start, from which the gap opens softly.

#include "methods/contact_fixture.hpp"
#include "pliant/methods/table.hpp"

using namespace pliant;

namespace {

/// Simulates a second and expects the body at its start plus its gap, without a fast move on the way.
void expect_rest_on_the_floor(WorldBuilder& builder, Index body, Real start_height)
{
    World world = builder.build();
    const auto method = make_method(world, implicit_options());
    Real fastest = 0;
    for (int i = 0; i < 100; ++i) {
        method->step(world, 0.01);
        for (Index b = 0; b < world.model.block_count(); ++b)
            if (world.model.mass[b] > 0) fastest = std::max(fastest, world.state.velocity[b].norm());
    }
    const Real gap = world.model.bodies[body].gap;
    EXPECT_LT(fastest, 0.2 * gap / 0.01) << "the gap opens by a part of itself a step, nothing flies";
    EXPECT_NEAR(center(world, body).y(), start_height + gap, 0.2 * gap);
}

} // namespace

TEST(Starts, ABoxExactlyOnTheFloorRestsThere)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    const Index box = builder.add_rigid(make_box({0.2, 0.1, 0.3}), {}, named("box", {0, 0.05, 0}));
    expect_rest_on_the_floor(builder, box, 0.05);
}

TEST(Starts, AnElasticBlockExactlyOnTheFloorRestsThere)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    SolidMaterial stiff;
    stiff.young = 1e7;
    stiff.damping = 1e-3;
    const Index block =
        builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {3, 2, 3}), stiff, named("block", {0, 0.05, 0}));
    expect_rest_on_the_floor(builder, block, 0.05);
}

TEST(Starts, AClothExactlyOnTheFloorRestsThere)
{
    WorldBuilder builder;
    builder.add_plane({}, named("floor"));
    const Index sheet = builder.add_cloth(make_grid(0.5, 0.5, 8, 8), {}, named("sheet"), GridShape{8, 8});
    expect_rest_on_the_floor(builder, sheet, 0);
}
