#include "pliant/run/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

bool moves(const RunBody& body)
{
    return !is_scripted(body.kind);
}

ExpectationResult check_contacts(const RunReader& run, std::int64_t wanted)
{
    const Stats stats = run.stats();
    Real most = 0;
    for (const Real contacts : stats.values("contacts")) most = std::max(most, contacts);
    return {"contacts", most >= static_cast<Real>(wanted),
            fmt::format("{} at most, at least {} expected", most, wanted)};
}

ExpectationResult check_energy(const RunReader& run, Real wanted)
{
    const Stats stats = run.stats();
    const std::vector<Real> kinetic = stats.values("kinetic_energy"), elastic = stats.values("elastic_energy"),
                            gravity = stats.values("gravity_energy"), time = stats.values("time");
    Real gain = 0, when = 0, scale = 0, before = 0;
    for (std::size_t i = 0; i < kinetic.size(); ++i) {
        const Real now = kinetic[i] + elastic[i] + gravity[i];
        scale = std::max(scale, kinetic[i]);
        if (i > 0 && now - before > gain) {
            gain = now - before;
            when = time[i];
        }
        before = now;
    }
    const Real part = gain > 0 ? gain / scale : 0;
    return {"energy-gain", part <= wanted,
            fmt::format("{:.3g} of the kinetic energy in the step to {:.4g} s, at most {:.3g} expected", part, when,
                        wanted)};
}

ExpectationResult check_bounds(const RunReader& run, const Eigen::AlignedBox<Real, 3>& wanted)
{
    Eigen::AlignedBox<Real, 3> box;
    const Frame last = run.frame(run.frame_count() - 1);
    for (const RunBody& body : run.bodies())
        if (moves(body))
            for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
                box.extend(last.positions[v]);
    if (box.isEmpty()) return {"bounds", true, "nothing moves"};
    const Vec3 low = box.min(), high = box.max();
    return {"bounds", wanted.contains(box),
            fmt::format("({:.4g}, {:.4g}, {:.4g}) to ({:.4g}, {:.4g}, {:.4g})", low.x(), low.y(), low.z(), high.x(),
                        high.y(), high.z())};
}

/// Root mean square over the vertices of a body [m/s]: one vertex that trembles is not a body that moves.
Real mean_speed(const Frame& frame, const RunBody& body)
{
    Real sum_sq = 0;
    for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
        sum_sq += frame.velocities[v].squaredNorm();
    return std::sqrt(sum_sq / std::max<Index>(1, body.vertex_count));
}

ExpectationResult check_rest(const RunReader& run, const Scene& scene, Real from)
{
    // frames are in the order of their times, so the last ones are the ones to look at
    Index checked = 0;
    Real most = 0; // of the limit
    std::string fastest;
    for (Index i = run.frame_count() - 1; i >= 0; --i) {
        const Frame frame = run.frame(i);
        if (frame.time < from - scene.step / 2) break;
        ++checked;
        for (const RunBody& body : run.bodies()) {
            if (!moves(body)) continue;
            const Real limit = scene.expect.rest_speed.value_or(rest_speed(run.mesh(), body, scene.gravity));
            const Real speed = mean_speed(frame, body);
            if (!(speed <= limit))
                return {"at-rest-by", false,
                        fmt::format("at {:.4g} s '{}' still moves with {:.3g} m/s (rest is below {:.3g})", frame.time,
                                    body.name, speed, limit)};
            if (speed > most * limit || fastest.empty()) {
                most = limit > 0 ? speed / limit : 0;
                fastest = fmt::format("'{}' with {:.3g} m/s at {:.4g} s (rest is below {:.3g})", body.name, speed,
                                      frame.time, limit);
            }
        }
    }
    if (checked == 0) return {"at-rest-by", false, fmt::format("the run has no frame from {:.4g} s on", from)};
    if (fastest.empty()) return {"at-rest-by", true, "nothing moves"};
    return {"at-rest-by", true, fmt::format("at rest from {:.4g} s on, the fastest {}", from, fastest)};
}

} // namespace

Real rest_speed(const RunMesh& mesh, const RunBody& body, const Vec3& gravity)
{
    Eigen::AlignedBox<Real, 3> box;
    for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) box.extend(mesh.rest[v]);
    const Real size = box.isEmpty() ? 0 : box.diagonal().norm(), g = gravity.norm();
    return 0.01 * (g > 0 ? std::sqrt(g * size) : size);
}

std::vector<ExpectationResult> check_expectations(const RunReader& run)
{
    const Scene scene = run.scene();
    std::vector<ExpectationResult> results;
    if (run.frame_count() == 0) return {{"frames", false, "the run has no frame"}};
    if (scene.expect.at_rest_by) results.push_back(check_rest(run, scene, *scene.expect.at_rest_by));
    if (scene.expect.contacts) results.push_back(check_contacts(run, *scene.expect.contacts));
    if (scene.expect.energy_gain) results.push_back(check_energy(run, *scene.expect.energy_gain));
    if (scene.expect.bounds) results.push_back(check_bounds(run, *scene.expect.bounds));
    return results;
}

} // namespace pliant
