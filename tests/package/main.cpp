#include <pliant/mesh/generators.hpp>
#include <pliant/methods/method.hpp>
#include <pliant/world/builder.hpp>

#include <cstdio>

// The library is built for a newer processor than this program; both must lay out quaternions alike.
static_assert(alignof(pliant::Quat) == EIGEN_MAX_ALIGN_BYTES);

int main()
{
    pliant::WorldBuilder builder;
    pliant::BodyOptions options{.name = "ball"};
    options.place.rotation = pliant::rotation_xyz({0.1, 0.2, 0.3});
    builder.add_rigid(pliant::make_sphere(0.1, 2), {}, options);
    pliant::World world = builder.build();
    const auto method = pliant::make_method(world, {.method = "none"});
    for (int i = 0; i < 100; ++i) method->step(world, 0.01);
    std::printf("after %.2f s at y = %.3f m\n", world.state.time, world.state.position[0].y());
    return world.state.position[0].y() < -4 ? 0 : 1; // 1 s of free fall
}
