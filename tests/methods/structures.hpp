#pragma once
// Structures that stand or fall by friction.

#include "methods/contact_fixture.hpp"

namespace pliant {

/// A half-circle of `stones` wedges that springs from the floor, every joint at its gap. Its thickness is 0.18 of its
/// radius: more than the 0.107 that a half-circle needs to stand on friction alone.
inline World arch(int stones, Real mu)
{
    constexpr Real inner = 1, outer = 1.2, depth = 0.2, gap = 1e-3;
    const Real pitch = std::numbers::pi / stones;
    const Real angle = pitch - gap / ((inner + outer) / 2);
    WorldBuilder builder;
    builder.set_friction(friction(mu));
    builder.add_plane({}, named("floor"));
    for (int i = 0; i < stones; ++i) {
        BodyOptions options = named("stone" + std::to_string(i), {0, 1.2 * gap, 0});
        options.gap = gap;
        options.place.rotation = rotation_xyz({0, 0, (i + 0.5) * pitch - std::numbers::pi / 2});
        builder.add_rigid(make_wedge(inner, outer, angle, depth), {}, options);
    }
    return builder.build();
}

/// Solver settings for structures that stand by friction alone.
inline ImplicitOptions accurate()
{
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-5;
    options.solver.max_iterations = 1000;
    return options;
}

/// Height of the highest vertex.
inline Real top(const World& world)
{
    Vec3s x;
    surface_positions(world.model, world.state, x);
    Real highest = -1e30;
    for (const Vec3& p : x) highest = std::max(highest, p.y());
    return highest;
}

inline World simulate(World world, const MethodOptions& options, Real dt, Real duration)
{
    const auto method = make_method(world, options);
    const int steps = int(std::lround(duration / dt));
    for (int i = 0; i < steps; ++i) method->step(world, dt);
    return world;
}

} // namespace pliant
