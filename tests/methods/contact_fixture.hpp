#pragma once
// Small worlds with contact, and exact checks of what a step may not do.

#include "pliant/core/random.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pliant {

inline ImplicitOptions implicit_options()
{
    return {};
}

/// The implicit method's part of a report.
inline const ImplicitReport& implicit_part(const StepReport& report)
{
    return report.own.get<ImplicitReport>();
}

inline BodyOptions named(const std::string& name, const Vec3& at = Vec3::Zero())
{
    BodyOptions options;
    options.name = name;
    options.place.translation = at;
    return options;
}

inline FrictionTable friction(Real mu)
{
    FrictionTable table;
    table.value = mu;
    return table;
}

/// Gravity of a slope with the given tangent of its angle, falling towards an azimuth about the vertical [rad]: the
/// floor stays y = 0 and "down" leans instead.
inline Vec3 leaning_gravity(Real tangent, Real azimuth)
{
    const Real angle = std::atan(tangent);
    return 9.81 * Vec3(std::sin(angle) * std::cos(azimuth), -std::cos(angle), std::sin(angle) * std::sin(azimuth));
}

/// Centre of the surface vertices of a body.
inline Vec3 center(const World& world, Index body)
{
    Vec3s x;
    surface_positions(world.model, world.state, x);
    const Body& b = world.model.bodies[body];
    Vec3 sum = Vec3::Zero();
    for (Index v = 0; v < b.vertex_count; ++v) sum += x[b.first_vertex + v];
    return sum / b.vertex_count;
}

/// Sum of the contact forces on a body.
inline Vec3 contact_force(const StepReport& report, Index body)
{
    Vec3 force = Vec3::Zero();
    for (const ContactPoint& c : report.contacts) {
        if (c.body_a == body) force += c.force;
        if (c.body_b == body) force -= c.force;
    }
    return force;
}

} // namespace pliant
