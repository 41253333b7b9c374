// Broad phase, proximity and CCD: in whole scenes, beside what they took before; on the cloth-ball pair, on a generated
// folded cloth of growing size, and query by query on the third-party sets; and what each way of culling leaves out.

#include "../tests/detection/surfaces.hpp"
#include "../tests/geometry/query_sets.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/scene/scene.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>

using namespace pliant;

namespace {

Real seconds(const std::function<void()>& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count();
}

struct QueryScene {
    std::string name;
    Surface surface;
    Vec3s x_t0, x_t1;
    Real reach = 0, hard_gap = 0;
};

std::optional<QueryScene> cloth_ball()
{
    const std::filesystem::path directory = data_directory() / "meshes";
    if (!std::filesystem::exists(directory / "cloth_ball92.ply")) {
        std::printf("no cloth_ball92.ply in %s (set PLIANT_DATA): left out\n", directory.c_str());
        return {};
    }
    QueryScene scene;
    scene.name = "cloth-ball";
    const TriangleMesh mesh = read_triangle_mesh(directory / "cloth_ball92.ply");
    add_body(scene.surface, mesh);
    scene.x_t0 = mesh.vertices;
    scene.x_t1 = read_triangle_mesh(directory / "cloth_ball93.ply").vertices;
    scene.reach = 0.1 * median_edge_length(mesh.vertices, scene.surface.edges);
    return scene;
}

/// Eight layers, half an edge apart.
QueryScene folded_cloth(Index n, const char* name)
{
    QueryScene scene;
    scene.name = name;
    const TriangleMesh grid = make_grid(1, 1, n, n);
    add_body(scene.surface, grid);
    const Real edge = 1.0 / (n - 1);
    scene.x_t0 = folded(grid, 8, 0.5 * edge, 1);
    scene.x_t1 = scene.x_t0;
    Random random(2);
    for (Vec3& p : scene.x_t1) p += 0.2 * edge * random.on_sphere();
    scene.reach = 0.6 * edge;
    scene.hard_gap = 0.01 * edge;
    return scene;
}

/// Fastest of a few runs.
struct Row {
    Real total = 1e9;
    DetectionStats stats;
    std::size_t found = 0, bytes = 0;

    void run(Detector& detector, int runs, const std::function<std::size_t()>& query)
    {
        for (int i = 0; i < runs; ++i) {
            const Real t = seconds([&] { found = query(); });
            if (t > total) continue;
            total = t;
            stats = detector.stats();
        }
        bytes = detector.bytes();
    }
    void print(const QueryScene& scene, int threads, const char* query) const
    {
        const Real vf = 1e-6 * static_cast<Real>(stats.vertex_face_candidates);
        const Real ee = 1e-6 * static_cast<Real>(stats.edge_edge_candidates);
        std::printf("%-12s %7d %-15s %8.2f %9.2f %8.2f %8.2f %7.2f %7.2f %8.1f %8zu %7.1f %7.0f\n", scene.name.c_str(),
                    threads, query, 1e3 * stats.update_seconds, 1e3 * stats.collect_seconds, 1e3 * stats.narrow_seconds,
                    1e3 * total, vf, ee, (vf + ee) / total, found, 1e-6 * static_cast<Real>(bytes),
                    1e9 * total / static_cast<Real>(scene.surface.triangles.size()));
    }
};

/// Times of proximity and of impacts.
std::array<Real, 2> measure(const QueryScene& scene, int threads)
{
    set_thread_count(threads);
    Detector detector(scene.surface);
    const int runs = scene.surface.triangles.size() > 500'000 ? 2 : 5;
    const ImpactOptions options = {.hard_gap = scene.hard_gap, .tolerance = 0.1 * scene.hard_gap};
    Row build, proximity, impacts, earliest;
    build.run(detector, 1, [&] { return detector.proximity(scene.x_t0, {.reach = scene.reach}).size(); });
    build.print(scene, threads, "build+proximity");
    proximity.run(detector, runs, [&] { return detector.proximity(scene.x_t0, {.reach = scene.reach}).size(); });
    proximity.print(scene, threads, "proximity");
    impacts.run(detector, runs, [&] { return detector.impacts(scene.x_t0, scene.x_t1, options).size(); });
    impacts.print(scene, threads, "impacts");
    std::optional<Impact> first;
    earliest.run(detector, runs, [&] {
        first = detector.earliest_impact(scene.x_t0, scene.x_t1, options);
        return first ? 1 : 0;
    });
    earliest.print(scene, threads, "earliest impact");
    return {proximity.total, impacts.total};
}

void measure_queries()
{
    const std::vector<QuerySet> sets = read_query_sets();
    if (sets.empty()) {
        std::printf("no query sets in %s (set PLIANT_DATA): left out\n", (data_directory() / "ccd-queries").c_str());
        return;
    }
    for (bool vertex_face : {true, false}) {
        std::vector<Real> nanoseconds;
        for (const QuerySet& set : sets)
            for (const CcdQuery& q : vertex_face ? set.vertex_face : set.edge_edge) {
                Real fastest = 1e9;
                for (int repeat = 0; repeat < 5; ++repeat)
                    fastest = std::min(fastest, 1e9 * seconds([&] {
                                                    vertex_face ? vertex_face_ccd(q.x_t0, q.x_t1, {})
                                                                : edge_edge_ccd(q.x_t0, q.x_t1, {});
                                                }));
                nanoseconds.push_back(fastest);
            }
        std::sort(nanoseconds.begin(), nanoseconds.end());
        const std::size_t n = nanoseconds.size();
        std::printf("%-11s %6zu queries: median %.0f ns, 99 %% below %.1f us, worst %.1f us (goal: 300 ns, 100 us)\n",
                    vertex_face ? "vertex-face" : "edge-edge", n, nanoseconds[n / 2], 1e-3 * nanoseconds[n * 99 / 100],
                    1e-3 * nanoseconds.back());
    }
}

/// A scene from its start. `before`: processor's time of detection a step [ms] at commit ecc288c, before pairs were
/// sieved, lists shared and trees kept, taken in the same minutes as the figures of docs/performance.md.
struct SceneCase {
    const char* name;
    const char* file;
    std::vector<std::string> overrides;
    int steps;
    Real before, goal;
};

const std::vector<SceneCase> scene_cases = {
    {"cloth-over-sphere", "cloth-over-sphere", {}, 500, 11.2, 4},
    {"falling-cloth", "falling-cloth", {}, 250, 9.4, 2},
    {"layers", "layers", {}, 100, 29.5, 2.5},
    {"cloth-over-sphere 200 x 200",
     "cloth-over-sphere",
     {"bodies.sheet.mesh.grid.vertices=[200, 200]"},
     80,
     172.3,
     2.5},
};

Scene load(const char* file, std::vector<std::string> overrides)
{
    return load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + file + ".yaml", overrides);
}

void measure_scenes()
{
    std::printf("%-28s %6s %14s %14s %8s %8s %6s\n", "scene, one thread", "steps", "without cull", "detection ms",
                "before", "ratio", "goal");
    set_thread_count(1);
    for (const SceneCase& c : scene_cases) {
        std::array<Real, 2> ms{};
        for (const int sound : {0, 1}) {
            std::vector<std::string> overrides = c.overrides;
            overrides.emplace_back(sound ? "contact.culling=sound" : "contact.culling=none");
            const Scene scene = load(c.file, overrides);
            World world = build_world(scene);
            const auto method = make_method(world, scene.method);
            Real stages = 0, wall = 0;
            const std::clock_t cpu = std::clock();
            for (int i = 0; i < c.steps; ++i)
                wall += seconds([&] {
                    const Profile profile = method->step(world, scene.step).profile;
                    stages += profile.seconds("proximity") + profile.seconds("ccd");
                });
            const Real used = Real(std::clock() - cpu) / CLOCKS_PER_SEC;
            ms[sound] = 1e3 * used * stages / wall / c.steps; // the machine may be shared: their part of what was used
        }
        std::printf("%-28s %6d %14.2f %14.2f %8.1f %8.1f %6.1f\n", c.name, c.steps, ms[0], ms[1], c.before,
                    c.before / ms[1], c.goal);
    }
    set_thread_count(0);
}

/// Part of a cloth's own candidates that each way of culling leaves out, for a step from a state.
void measure_culling(const char* name, const char* file, int steps)
{
    const Scene scene = load(file, {});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    Vec3s x_t0, x_t1;
    surface_positions(world.model, world.state, x_t0);
    for (int i = 0; i < steps; ++i) {
        surface_positions(world.model, world.state, x_t0);
        method->step(world, scene.step);
    }
    surface_positions(world.model, world.state, x_t1);
    const Surface& surface = world.model.surface;
    const Real radius = 0.08 * world.model.bodies[0].edge_length; // of a contact in slow motion
    const auto own_pairs = [&](Culling culling) {
        Detector detector(surface, world.model.no_contact);
        detector.set_culling(culling);
        const Candidates c = detector.candidates(x_t0, x_t1, radius);
        std::size_t n = 0;
        for (const auto& [v, f] : c.vertex_face) n += surface.vertex_body[v] == 0 && surface.triangle_body[f] == 0;
        for (const auto& [e, g] : c.edge_edge) n += surface.edge_body[e] == 0 && surface.edge_body[g] == 0;
        return static_cast<Real>(n);
    };
    const Real all = own_pairs(Culling::off);
    const auto left_out = [&](Culling culling) { return 100 * (1 - own_pairs(culling) / all); };
    std::printf("%-12s %10.0f %9.1f %% %9.1f %% %9.1f %%\n", name, all, left_out(Culling::sound),
                left_out(Culling::cones), left_out(Culling::cones_paper));
}

} // namespace

int main()
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("%-12s %10s %11s %11s %11s\n", "culled", "pairs", "sound", "cones", "cones-paper");
    measure_culling("flat", "cloth-over-sphere", 30);
    measure_culling("draped", "cloth-over-sphere", 300);
    measure_culling("crumpled", "falling-cloth", 300);
    std::printf("\n");
    measure_scenes();
    std::printf("\n");
    measure_queries();
    std::printf("\n%-12s %7s %-15s %8s %9s %8s %8s %7s %7s %8s %8s %7s %7s\n", "scene", "threads", "query", "refit ms",
                "travers.", "narrow", "total ms", "VF mio", "EE mio", "Mcand/s", "found", "MB", "ns/tri");
    std::vector<QueryScene> scenes;
    if (auto ball = cloth_ball()) scenes.push_back(std::move(*ball));
    scenes.push_back(folded_cloth(72, "folded 10k"));
    scenes.push_back(folded_cloth(225, "folded 100k"));
    scenes.push_back(folded_cloth(708, "folded 1M"));
    std::array<Real, 2> per_triangle_100k{};
    for (const QueryScene& scene : scenes) {
        const auto one = measure(scene, 1), two = measure(scene, 2);
        std::printf("%-12s two threads are %.2f (proximity) and %.2f (impacts) times as fast as one\n",
                    scene.name.c_str(), one[0] / two[0], one[1] / two[1]);
        const Real n = static_cast<Real>(scene.surface.triangles.size());
        if (scene.name == "folded 100k") per_triangle_100k = {one[0] / n, one[1] / n};
        if (scene.name == "folded 1M")
            std::printf(
                "%-12s costs %.2f (proximity) and %.2f (impacts) times as much a triangle as 100k (goal: 1.5)\n",
                scene.name.c_str(), one[0] / n / per_triangle_100k[0], one[1] / n / per_triangle_100k[1]);
    }
    set_thread_count(0);
}
