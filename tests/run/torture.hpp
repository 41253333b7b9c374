#pragma once
// Random worlds that try to make a method let something through.

#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pliant {

/// Fast bodies, layered cloth between closing walls, thin against thick, edges against edges; by seed.
inline World torture_world(std::uint64_t seed)
{
    Random random(seed);
    WorldBuilder builder;
    FrictionTable friction;
    friction.value = random.uniform(0, 0.8);
    builder.set_friction(friction);
    BodyOptions floor;
    floor.name = "floor";
    builder.add_plane({}, floor);
    const auto placed = [&](const std::string& name, const Vec3& at, bool turned) {
        BodyOptions options;
        options.name = name;
        options.place.translation = at;
        if (turned) options.place.rotation = random.rotation();
        return options;
    };
    const int kind = static_cast<int>(seed % 4);
    if (kind == 0) { // shot at a sheet
        ClothMaterial cloth;
        builder.add_cloth(make_grid(0.6, 0.6, 14, 14), cloth, placed("sheet", {0, 0.4, 0}, false), GridShape{14, 14});
        BodyOptions bullet = placed("bullet", {0, 0.9, 0}, true);
        bullet.velocity = {random.uniform(-5, 5), -50, random.uniform(-5, 5)};
        bullet.angular_velocity = 50 * random.on_sphere();
        builder.add_rigid(make_box({0.06, 0.1, 0.08}), {}, bullet);
    } else if (kind == 1) { // layers crushed by walls
        for (int i = 0; i < 4; ++i)
            builder.add_cloth(make_grid(0.4, 0.4, 10, 10), {},
                              placed("layer" + std::to_string(i), {0, 0.1 + 0.02 * i, 0}, false), GridShape{10, 10});
        for (int side : {-1, 1}) {
            BodyOptions wall = placed(side < 0 ? "left" : "right", Vec3::Zero(), false);
            wall.motion = Motion({{0, Vec3::Zero(), Vec3::Zero()}, {0.25, Vec3(-0.2 * side, 0, 0), Vec3::Zero()}},
                                 Vec3::Zero(), false);
            builder.add_plane({Vec3(-side, 0, 0), -0.25}, wall);
        }
    } else if (kind == 2) { // thin against thick, soft against rigid
        SolidMaterial soft;
        soft.young = 2e4;
        BodyOptions jelly = placed("jelly", {0, 0.35, 0}, true);
        jelly.velocity = {0, -20, 0};
        builder.add_solid(make_tet_box(Vec3::Constant(0.2), {2, 2, 2}), soft, jelly);
        builder.add_rigid(make_box({0.5, 0.004, 0.5}, {4, 1, 4}), {}, placed("plate", {0, 0.05, 0}, false));
        builder.add_rigid(make_box({0.02, 0.3, 0.02}), {}, placed("needle", {0.02, 0.75, 0.01}, true));
    } else { // edges against edges
        for (int i = 0; i < 6; ++i) {
            BodyOptions stick = placed("stick" + std::to_string(i), {0, 0.3 + 0.35 * i, 0}, true);
            stick.velocity = {0, -10, 0};
            builder.add_rigid(make_box({0.3, 0.01, 0.01}), {}, stick);
        }
    }
    return builder.build();
}

inline MethodOptions hasty_implicit()
{
    ImplicitOptions options;
    options.solver.tolerance = 1e-2;
    return options;
}

/// Every state exactly free of intersections and tunnelling.
inline void expect_no_crossing(std::uint64_t seed, int steps, Real dt, const MethodOptions& options = hasty_implicit())
{
    World world = torture_world(seed);
    const auto method = make_method(world, options);
    const RunMesh mesh = make_run_mesh(world.model);
    const FrameChecker checker(mesh);
    const std::vector<Enclosure> at_start = checker.check(make_frame(world, 0, dt, {})).enclosed;
    int touched = 0;
    for (int i = 0; i < steps; ++i) {
        touched += method->step(world, dt).active_contacts > 0;
        const FrameCheck found = checker.check(make_frame(world, i + 1, dt, {}));
        ASSERT_EQ(found.intersections, 0) << "seed " << seed << " step " << i;
        ASSERT_EQ(found.enclosed.size(), at_start.size()) << "seed " << seed << " step " << i;
    }
    EXPECT_GT(touched, 0) << "seed " << seed << " never touched anything";
}

} // namespace pliant
