// How far bodies that turn, and scripts, leave the straight lines that detection follows.

#include "pliant/methods/path_finder.hpp"

#include <cmath>
#include <limits>

namespace pliant {

void PathFinder::find_paths(const Model& model)
{
    const Surface& surface = model.surface;
    rotor_radius_.assign(model.rotors.size(), 0);
    for (Index b = 0; b < count(model.bodies); ++b) {
        const Body& body = model.bodies[b];
        Real nearest = std::numeric_limits<Real>::infinity(); // certified distance to any other body
        for (Index c = 0; c < count(model.bodies); ++c)
            if (c != b && !(model.is_scripted(b) && model.is_scripted(c)))
                nearest = std::min(nearest, hard_gaps_.between(b, c));
        straight_.push_back(options_.chord_fraction * nearest);
        for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count && body.rotor != none; ++v)
            rotor_radius_[body.rotor] = std::max(rotor_radius_[body.rotor], surface.local[v].norm());
        if (body.obstacle == none || model.obstacles[body.obstacle].is_still()) continue;
        if (const auto& vertices = model.obstacles[body.obstacle].vertices) {
            paths_.push_back({b, nullptr, 0, vertices.get()});
            continue;
        }
        const Motion& motion = model.obstacles[body.obstacle].motion;
        Real radius = 0;
        for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
            radius = std::max(radius, (surface.local[v] - motion.pivot()).norm());
        paths_.push_back({b, &motion, radius, nullptr});
    }
    for (Index m = 0; m < count(model.motions); ++m) {
        ScriptedPath path{none, &model.motions[m], 0, nullptr};
        for (const Pin& pin : model.pins) {
            if (pin.motion != m) continue;
            path.body = model.block_body[pin.block];
            path.radius = std::max(path.radius, (pin.start - path.motion->pivot()).norm());
        }
        if (path.body != none) paths_.push_back(path);
    }
    for (Index f = 0; f < count(model.followed); ++f) {
        const auto pin = std::ranges::find(model.pins, f, &Pin::follows);
        if (pin != model.pins.end())
            paths_.push_back({model.block_body[pin->block], nullptr, 0, model.followed[f].get()});
    }
}

/// A plane moves all of space along: the farthest vertex that it may meet counts.
Real PathFinder::path_radius(const ScriptedPath& path, const Model& model, const Vec3s& x) const
{
    if (!model.bodies[path.body].plane) return path.radius;
    Real radius = 0;
    for (const Vec3& p : x) radius = std::max(radius, (p - path.motion->pivot()).norm());
    return radius;
}

Real PathFinder::uninterrupted(const Model& model, Real time, Real dt) const
{
    Real end = time + dt;
    for (const ScriptedPath& path : paths_) {
        const Real key = path.next_keyframe(time, end);
        if (key == end) continue;
        // A keyframe that is passed on a straight line interrupts nothing.
        const Real radius = model.bodies[path.body].plane ? 1 : path.radius;
        if (path.chord_error(time, end, radius) > straight_[path.body]) end = key;
    }
    return end == time + dt ? dt : end - time;
}

/// Per body: what it leaves the lines of this sub-step by, 0 where it does not matter; empty where it does not at all.
std::vector<Real> PathFinder::curvatures(const PathStart& s, const Vec3s& v) const
{
    std::vector<Real> curvature = s.curvature;
    bool any = false;
    for (Index b = 0; b < count(curvature); ++b) {
        if (const Index r = s.model.bodies[b].rotor; r != none) {
            const Real angle = s.dt * v[s.model.rotors[r].angular_block()].norm();
            curvature[b] = std::max(curvature[b], rotor_radius_[r] * std::min(angle * angle / 8, 2.0));
        }
        if (!(curvature[b] > straight_[b])) curvature[b] = 0;
        any |= curvature[b] > 0;
    }
    if (!any) curvature.clear();
    return curvature;
}

} // namespace pliant
