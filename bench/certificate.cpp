// The exact certificate of one frame, and of one step's path, on one thread: a sheet that is rolled up, beside a ball
// that lies in it. Goal: a frame of 100,000 triangles in less than a second.

#include "pliant/core/parallel.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/run/certificate_path.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>

using namespace pliant;

namespace {

void add(RunMesh& mesh, Vec3s& x, const TriangleMesh& body, BodyKind kind)
{
    RunBody b;
    b.name = to_string(kind);
    b.kind = kind;
    b.first_vertex = count(x);
    b.vertex_count = count(body.vertices);
    b.first_triangle = count(mesh.triangles);
    b.triangle_count = count(body.triangles);
    b.closed = is_closed(body.triangles);
    x.insert(x.end(), body.vertices.begin(), body.vertices.end());
    for (const Triangle& t : body.triangles)
        mesh.triangles.push_back({t[0] + b.first_vertex, t[1] + b.first_vertex, t[2] + b.first_vertex});
    mesh.bodies.push_back(b);
}

/// A sheet in a spiral of several turns around a ball.
std::pair<RunMesh, Vec3s> roll(Index side, Index subdivisions)
{
    RunMesh mesh;
    Vec3s x;
    TriangleMesh sheet = make_grid(4, 1, 2 * side, side / 2);
    for (Vec3& p : sheet.vertices) {
        const Real angle = 4.5 * (p.x() + 2), radius = 0.16 + 0.004 * angle + 0.01 * std::sin(30 * p.z());
        p = Vec3(radius * std::cos(angle), radius * std::sin(angle), p.z());
    }
    add(mesh, x, sheet, BodyKind::cloth);
    add(mesh, x, make_sphere(0.13, subdivisions), BodyKind::solid);
    mesh.rest = x;
    mesh.prescribed.assign(x.size(), 0);
    return {mesh, x};
}

Real seconds(const std::function<void()>& work)
{
    Real best = 1e300;
    for (int i = 0; i < 3; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

} // namespace

int main()
{
    set_thread_count(1);
    fmt::print("{:>10} {:>12} {:>14} {:>10} {:>14} {:>14} {:>10}\n", "triangles", "frame [s]", "pairs", "crossings",
               "path [s]", "feature pairs", "impacts");
    for (const auto& [side, subdivisions] : {std::pair{70, 3}, {220, 5}, {700, 6}}) {
        const auto [mesh, x] = roll(side, subdivisions);
        const FrameChecker checker(mesh);
        Frame frame;
        frame.positions = x;
        FrameCheck found;
        const Real frame_time = seconds([&] { found = checker.check(frame); });
        Vec3s next = x;
        for (Vec3& p : next) p += Vec3(0.001, 0, 0.002) + 0.002 * p.z() * Vec3(p.y(), -p.x(), 0);
        PathCheck path;
        const Real path_time = seconds([&] { path = check_path(checker, x, next); });
        fmt::print("{:>10} {:>12.3f} {:>14} {:>10} {:>14.3f} {:>14} {:>10}\n", mesh.triangles.size(), frame_time,
                   found.pairs_tested, found.intersections, path_time, path.pairs_tested, path.impacts);
    }
    return 0;
}
