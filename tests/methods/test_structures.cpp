#include "methods/structures.hpp"

using namespace pliant;

namespace {

MethodOptions accurate()
{
    MethodOptions options = implicit_options();
    options.solver.tolerance = 1e-5;
    options.solver.max_iterations = 1000;
    return options;
}

} // namespace

TEST(Structures, ArchOfTwentyFiveStonesStandsOnFrictionOneHalf)
{
    const World start = arch(25, 0.5);
    const World end = simulate(start, accurate(), 0.01, 2);
    EXPECT_GT(top(end), 0.98 * top(start));
    EXPECT_LT(energy(end.model, end.state).kinetic, 1e-3);
}

TEST(Structures, HeavyBlockRestsOnALightOne)
{
    WorldBuilder builder;
    builder.set_friction(friction(0.5));
    builder.add_plane({}, named("floor"));
    builder.add_rigid(make_box(Vec3::Constant(0.1)), {10}, named("light", {0, 0.052, 0}));
    builder.add_rigid(make_box(Vec3::Constant(0.1)), {1e5}, named("heavy", {0, 0.155, 0}));
    World world = simulate(builder.build(), accurate(), 0.01, 2);
    EXPECT_GT(world.state.position[2].y(), 0.149);
    EXPECT_LT(world.state.velocity[2].norm(), 1e-2);
}
