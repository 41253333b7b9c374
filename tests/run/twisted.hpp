#pragma once
// A sheet whose ends turn against each other until it is a rope.

#include "run/watched.hpp"

namespace pliant {

/// A strip of 0.4 m by 0.2 m, `across` vertices wide, both short ends held and turned against each other about its long
/// axis by `turns` in all, one turn in half a second, while they come nearer by a quarter of the length.
inline Watched twist(Real turns, Index across)
{
    constexpr Real length = 0.4, width = 0.2, dt = 5e-3;
    const Index along = 2 * across - 1;
    const Real duration = turns / 2;
    BodyOptions options = named("sheet");
    for (int side : {-1, 1}) {
        PinGroup end;
        for (Index row = 0; row < across; ++row) end.particles.push_back(row * along + (side < 0 ? 0 : along - 1));
        end.motion = Motion({{0, Vec3::Zero(), Vec3::Zero()},
                             {duration, Vec3(-side * length / 8, 0, 0), Vec3(side * std::numbers::pi * turns, 0, 0)}},
                            Vec3::Zero(), false);
        options.pin_groups.push_back(end);
    }
    WorldBuilder builder;
    builder.set_friction(friction(0.3));
    ClothMaterial cloth;
    cloth.bend = 1e-4;
    cloth.drag = 1;
    builder.add_cloth(make_grid(length, width, along, across), cloth, options, GridShape{along, across});
    return watch(builder.build(), implicit_options(), dt, duration, true);
}

} // namespace pliant
