#include "pliant/run/expectations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

/// How many sheets of cloth a line along `down` meets at most: lines through the middles of all triangles are tried.
Index count_layers(const RunReader& run, const Frame& frame, const Vec3& down)
{
    // Two axes across the line, and a grid over them whose cells hold about a triangle each.
    const Vec3 across = down.unitOrthogonal(), other = down.cross(across);
    const auto flat = [&](Index v) {
        return Eigen::Vector2d(across.dot(frame.positions[v]), other.dot(frame.positions[v]));
    };
    struct Flat {
        Eigen::Vector2d a, b, c;
    };
    std::vector<Flat> triangles;
    Eigen::AlignedBox<Real, 2> box;
    for (const RunBody& body : run.bodies()) {
        if (body.kind != BodyKind::cloth) continue;
        for (Index t = body.first_triangle; t < body.first_triangle + body.triangle_count; ++t) {
            const Triangle& v = run.mesh().triangles[t];
            triangles.push_back({flat(v[0]), flat(v[1]), flat(v[2])});
            for (int k = 0; k < 3; ++k) box.extend(flat(v[k]));
        }
    }
    if (triangles.empty()) return 0;
    const Index side = static_cast<Index>(std::ceil(std::sqrt(Real(triangles.size()))));
    const auto cell = [&](Real x, int axis) {
        const Real part = (x - box.min()[axis]) / std::max(box.sizes()[axis], std::numeric_limits<Real>::min());
        return std::clamp(static_cast<Index>(part * side), Index(0), side - 1);
    };
    std::vector<std::vector<Index>> cells(static_cast<std::size_t>(side) * side);
    for (Index t = 0; t < count(triangles); ++t) {
        const auto& [a, b, c] = triangles[t];
        const Eigen::Vector2d low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c);
        for (Index y = cell(low.y(), 1); y <= cell(high.y(), 1); ++y)
            for (Index x = cell(low.x(), 0); x <= cell(high.x(), 0); ++x) cells[std::size_t(y) * side + x].push_back(t);
    }
    const auto side_of = [](const Eigen::Vector2d& a, const Eigen::Vector2d& b, const Eigen::Vector2d& p) {
        const Real area = (b - a).x() * (p - a).y() - (b - a).y() * (p - a).x();
        return (area > 0) - (area < 0);
    };
    Index most = 0;
    for (const Flat& t : triangles) {
        const Eigen::Vector2d p = (t.a + t.b + t.c) / 3;
        Index layers = 0;
        for (const Index k : cells[std::size_t(cell(p.y(), 1)) * side + cell(p.x(), 0)]) {
            const auto& [a, b, c] = triangles[k];
            const int side_of_ab = side_of(a, b, p); // 0: seen from its edge
            layers += side_of_ab != 0 && side_of_ab == side_of(b, c, p) && side_of_ab == side_of(c, a, p);
        }
        most = std::max(most, layers);
    }
    return most;
}

ExpectationResult check_layers(const RunReader& run, const Vec3& gravity, std::int64_t wanted)
{
    const Vec3 down = gravity.isZero(0) ? Vec3(0, -1, 0) : gravity.normalized();
    const Index layers = count_layers(run, run.frame(run.frame_count() - 1), down);
    return {"layers", layers >= wanted, fmt::format("{} at most, at least {} expected", layers, wanted)};
}

ExpectationResult check_sewn(const RunReader& run, bool wanted)
{
    const RunMesh& mesh = run.mesh();
    if (mesh.weld.empty()) return {"sewn", !wanted, "there is no seam"};
    const Frame last = run.frame(run.frame_count() - 1);
    Index open = 0, widest = none;
    Real opening = 0;
    for (Index v = 0; v < count(mesh.weld); ++v) { // what is tied has one value, up to the bit
        const Real distance = (last.positions[v] - last.positions[mesh.weld[v]]).norm();
        open += distance > 0;
        if (distance > opening) opening = distance, widest = v;
    }
    if (open == 0) return {"sewn", wanted, "every seam is sewn"};
    const auto body = std::ranges::find_if(run.bodies(), [&](const RunBody& b) {
        return widest >= b.first_vertex && widest < b.first_vertex + b.vertex_count;
    });
    return {"sewn", !wanted,
            fmt::format("{} vertices of seams are apart from their partners, those of '{}' by {:.3g} m", open,
                        body->name, opening)};
}

ExpectationResult check_strain(const RunReader& run, Real wanted)
{
    const Stats stats = run.stats();
    const std::vector<Real> excess = stats.values("strain_excess"), time = stats.values("time");
    const auto worst = std::ranges::max_element(excess);
    if (worst == excess.end() || *worst <= 0) return {"strain-excess", true, "no step is beyond max-strain"};
    return {"strain-excess", *worst <= wanted,
            fmt::format("{:.3g} of the allowed length in the step to {:.4g} s, at most {:.3g} expected", *worst,
                        time[worst - excess.begin()], wanted)};
}

ExpectationResult check_rounds(const RunReader& run, const ExpectedRounds& wanted)
{
    const Stats stats = run.stats();
    if (stats.column("max_rounds") == none) return {"rounds", false, "the method of this run has no rounds"};
    const std::vector<Real> rounds = stats.values("max_rounds");
    const auto within = std::ranges::count_if(rounds, [&](Real r) { return r <= static_cast<Real>(wanted.most); });
    const Real part = rounds.empty() ? 1 : static_cast<Real>(within) / static_cast<Real>(rounds.size());
    return {"rounds", part >= wanted.part,
            fmt::format("{:.2f} % of {} steps within {}, at least {:.4g} % expected", 100 * part, rounds.size(),
                        wanted.most, 100 * wanted.part)};
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
    if (scene.expect.layers) results.push_back(check_layers(run, scene.gravity, *scene.expect.layers));
    if (scene.expect.sewn) results.push_back(check_sewn(run, *scene.expect.sewn));
    if (scene.expect.strain_excess) results.push_back(check_strain(run, *scene.expect.strain_excess));
    if (scene.expect.rounds) results.push_back(check_rounds(run, *scene.expect.rounds));
    if (scene.expect.energy_gain) results.push_back(check_energy(run, *scene.expect.energy_gain));
    if (scene.expect.bounds) results.push_back(check_bounds(run, *scene.expect.bounds));
    return results;
}

} // namespace pliant
