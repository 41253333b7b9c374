// What Jung's paper shows with lattices, on shipped scenes and on meshes as they are found.

#include "pliant/geometry/closest.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/methods/boxes.hpp"
#include "pliant/run/start_check.hpp"
#include "run/shipped_scenes.hpp"

#include <fstream>

namespace pliant {
namespace {

Scene scene_with(const std::string& name, const std::vector<std::string>& overrides)
{
    return load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes" / (name + ".yaml"), overrides);
}

const Body& body_of(const World& world, const std::string& name)
{
    for (const Body& b : world.model.bodies)
        if (b.name == name) return b;
    throw Error("no body " + name);
}

Real lowest_vertex(const Body& body, const Vec3s& x)
{
    Real low = std::numeric_limits<Real>::infinity();
    for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) low = std::min(low, x[v].y());
    return low;
}

/// Distance of the vertices of a body from the triangles of another one, where both are near a height.
Real distance_from(const World& world, const Body& a, const Body& b, const Vec3s& x, Real height)
{
    constexpr Real near = 0.08;
    Real least = std::numeric_limits<Real>::infinity();
    for (Index v = a.first_vertex; v < a.first_vertex + a.vertex_count; ++v) {
        if (std::abs(x[v].y() - height) > near) continue;
        for (Index t = b.first_triangle; t < b.first_triangle + b.triangle_count; ++t) {
            const Triangle& f = world.model.surface.triangles[t];
            if ((x[f[0]] - x[v]).squaredNorm() > near * near) continue;
            least = std::min(least, closest_point_triangle(x[v], x[f[0]], x[f[1]], x[f[2]]).difference.norm());
        }
    }
    return least;
}

struct Gaps {
    Real floor = 1, between = 1; ///< smallest at the ends of the last steps [m]
    Real candidates = 0;         ///< pairs of boxes that a step looked at, on average
};

Gaps teapot_gaps(const std::string& boxes)
{
    const Scene scene = scene_with("teapots", {"contact.boxes=" + boxes});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    const Body &lower = body_of(world, "lower"), &upper = body_of(world, "upper");
    const int steps = 400;
    Gaps gaps;
    Vec3s x;
    for (int i = 0; i < steps; ++i) {
        const StepReport report = method->step(world, scene.step);
        gaps.candidates += Real(report.own.get<BoxesReport>().candidates) / steps;
        if (i < steps - 100 || i % 10 != 0) continue; // they rock a little: look for a while
        surface_positions(world.model, world.state, x);
        gaps.floor = std::min(gaps.floor, std::abs(lowest_vertex(lower, x)));
        const Real height = lowest_vertex(upper, x);
        gaps.between = std::min({gaps.between, distance_from(world, lower, upper, x, height),
                                 distance_from(world, upper, lower, x, height)});
    }
    return gaps;
}

} // namespace

TEST(Teapots, StandATenthAsFarAboveTheFloorAndFromEachOtherAsWithTheCellsThemselves)
{
    const Gaps content = teapot_gaps("content"), cells = teapot_gaps("cells");
    EXPECT_LT(content.floor, 0.1 * cells.floor) << cells.floor;
    EXPECT_LT(content.between, 0.1 * cells.between) << cells.between;
    EXPECT_LT(content.candidates, 1.5 * cells.candidates) << "at about the same cost";
}

TEST(Blend, TeapotsAndAnimalsAreFreeOfSelfIntersection)
{
    for (const char* name : {"teapots", "animals-soft"}) {
        const StartCheck start = check_start(build_world(shipped_scene(name)));
        EXPECT_EQ(start.intersections, 0) << name;
        EXPECT_TRUE(start.faults.empty()) << name;
    }
}

TEST(Boxes, TakeMeshesAsTheyAreFoundOpenAndSelfIntersecting)
{
    const char* data = std::getenv("PLIANT_DATA");
    const auto meshes =
        (data ? std::filesystem::path(data) : std::filesystem::path(PLIANT_SOURCE_DIR) / "../shared/data") / "meshes";
    if (!std::filesystem::exists(meshes / "teapot.obj") || !std::filesystem::exists(meshes / "stanford-bunny.obj"))
        GTEST_SKIP() << "no teapot.obj and stanford-bunny.obj in " << meshes << " (set PLIANT_DATA)";
    for (const std::string file : {"teapot.obj", "stanford-bunny.obj"}) {
        const TemporaryDirectory dir;
        const TriangleMesh mesh = read_triangle_mesh(meshes / file);
        Vec3 low = mesh.vertices[0], high = low;
        for (const Vec3& v : mesh.vertices) {
            low = low.cwiseMin(v);
            high = high.cwiseMax(v);
        }
        const Real scale = 0.5 / (high - low).maxCoeff();
        std::ofstream(dir / "scene.yaml")
            << "time: {step: 4 ms, end: 1 s}\ncontact: {method: boxes}\n"
            << "materials:\n  skin: {type: lattice, areal-density: 4, young: 2e4, damping: 1 ms, drag: 0.5}\n"
            << "bodies:\n  floor: {obstacle: {plane: {y: 0}}}\n  thing: {material: skin, mesh: {file: "
            << std::filesystem::absolute(meshes / file).string() << "}, lattice: {cells: 12}, place: {scale: " << scale
            << ", at: [0, " << 0.05 - scale * low.y() << ", 0]}}\n";
        const Scene scene = load_scene(dir / "scene.yaml");
        World world = build_world(scene);
        const auto method = make_method(world, scene.method);
        StepReport report;
        for (std::int64_t i = 0; i < scene.step_count(); ++i) report = method->step(world, scene.step);
        EXPECT_LT(report.own.get<BoxesReport>().overlap, 0.1) << file;
        Vec3s x;
        surface_positions(world.model, world.state, x);
        const Body& thing = body_of(world, "thing");
        const Real side = world.model.lattices[0].mesh->side;
        EXPECT_NEAR(lowest_vertex(thing, x), 0, 0.1 * side) << file << " stands on the floor";
    }
}

} // namespace pliant
