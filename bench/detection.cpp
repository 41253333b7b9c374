// Broad phase, proximity and CCD on the cloth-ball pair and on a generated folded cloth of growing size.

#include "../tests/detection/surfaces.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/mesh/io.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

using namespace pliant;

namespace {

Real seconds(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
}

struct Scene {
    std::string name;
    Surface surface;
    Vec3s x_t0, x_t1;
    Real reach = 0, hard_gap = 0;
};

/// Fastest of a few runs, each after an update of the detector's tree to the other end of the step.
struct Times {
    Real update = 1e9, collect = 1e9, narrow = 1e9, total = 1e9;
    void take(const DetectionStats& s, Real all)
    {
        if (all > total) return;
        update = s.update_seconds;
        collect = s.collect_seconds;
        narrow = s.narrow_seconds;
        total = all;
    }
};

void print_row(const Scene& scene, int threads, const char* query, const Times& t, const DetectionStats& s,
               std::size_t found, std::size_t bytes)
{
    const Real candidates = static_cast<Real>(s.vertex_face_candidates + s.edge_edge_candidates);
    std::printf("%-14s %2d %-10s %8.2f %8.2f %8.2f %8.2f %9.2f %9.2f %8.1f %8zu %7.1f %6.1f\n", scene.name.c_str(), threads,
                query, 1e3 * t.update, 1e3 * t.collect, 1e3 * t.narrow, 1e3 * t.total,
                1e-6 * static_cast<Real>(s.vertex_face_candidates), 1e-6 * static_cast<Real>(s.edge_edge_candidates),
                1e-6 * candidates / t.total, found, 1e-6 * static_cast<Real>(bytes),
                1e9 * t.total / static_cast<Real>(scene.surface.triangles.size()));
}

void measure(const Scene& scene, int threads)
{
    set_thread_count(threads);
    Detector detector(scene.surface);
    const int runs = scene.surface.triangles.size() > 500'000 ? 2 : 4;
    Times proximity, impacts, earliest;
    std::size_t found = 0;
    DetectionStats stats;
    for (int i = 0; i < runs + 1; ++i) {
        const Real t = seconds([&] { found = detector.proximity(scene.x_t0, {.reach = scene.reach}).size(); });
        stats = detector.stats();
        if (i > 0) proximity.take(stats, t);
    }
    print_row(scene, threads, "proximity", proximity, stats, found, detector.bytes());
    const ImpactOptions options = {.hard_gap = scene.hard_gap, .tolerance = 0.1 * scene.hard_gap};
    for (int i = 0; i < runs; ++i) {
        const Real t = seconds([&] { found = detector.impacts(scene.x_t0, scene.x_t1, options).size(); });
        stats = detector.stats();
        impacts.take(stats, t);
    }
    print_row(scene, threads, "impacts", impacts, stats, found, detector.bytes());
    std::optional<Impact> first;
    for (int i = 0; i < runs; ++i) {
        const Real t = seconds([&] { first = detector.earliest_impact(scene.x_t0, scene.x_t1, options); });
        stats = detector.stats();
        earliest.take(stats, t);
    }
    print_row(scene, threads, "earliest", earliest, stats, first ? 1 : 0, detector.bytes());
    if (first) std::printf("%-14s    safe step %.17g\n", "", first->time);
}

std::optional<Scene> cloth_ball()
{
    const char* data = std::getenv("PLIANT_DATA");
    const std::filesystem::path directory =
        (data ? std::filesystem::path(data) : std::filesystem::path("../shared/data")) / "meshes";
    if (!std::filesystem::exists(directory / "cloth_ball92.ply")) {
        std::printf("cloth_ball92.ply not found in %s (set PLIANT_DATA): left out\n", directory.c_str());
        return {};
    }
    Scene scene;
    scene.name = "cloth-ball";
    const TriangleMesh mesh = read_triangle_mesh(directory / "cloth_ball92.ply");
    add_body(scene.surface, mesh);
    scene.x_t0 = mesh.vertices;
    scene.x_t1 = read_triangle_mesh(directory / "cloth_ball93.ply").vertices;
    const Real edge = median_edge_length(mesh.vertices, scene.surface.edges);
    scene.reach = 0.1 * edge;
    return scene;
}

Scene folded_cloth(Index n, const char* name)
{
    Scene scene;
    scene.name = name;
    const TriangleMesh grid = make_grid(1, 1, n, n);
    add_body(scene.surface, grid);
    const Real edge = 1.0 / (n - 1);
    scene.x_t0 = folded(grid, 8, 0.5 * edge, 1);
    scene.x_t1 = scene.x_t0;
    Random random(2);
    for (Vec3& p : scene.x_t1) p += 0.1 * edge * random.on_sphere();
    scene.reach = 0.6 * edge;
    scene.hard_gap = 0.01 * edge;
    return scene;
}

} // namespace

int main()
{
    std::printf("%-14s %2s %-10s %8s %8s %8s %8s %9s %9s %8s %8s %7s %6s\n", "scene", "n", "query", "refit ms", "trav. ms",
                "narrow", "total ms", "VF mio", "EE mio", "Mcand/s", "found", "MB", "ns/tri");
    std::vector<Scene> scenes;
    if (auto ball = cloth_ball()) scenes.push_back(std::move(*ball));
    scenes.push_back(folded_cloth(71, "folded 10k"));
    scenes.push_back(folded_cloth(225, "folded 100k"));
    if (!std::getenv("BENCH_SMALL"))     scenes.push_back(folded_cloth(708, "folded 1M"));
    for (const Scene& scene : scenes)
        for (int threads : {1, 2}) measure(scene, threads);
}
