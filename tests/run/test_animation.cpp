// Obstacles whose vertices move one by one, and garments, from files to certified runs.

#include "pliant/core/error.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/world/sewing.hpp"
#include "run/temporary_directory.hpp"
#include "scene/animation_files.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// A sheet that falls on a ball that pulses and moves.
std::string sheet_on(const std::string& obstacle, const std::string& more = "")
{
    return "time: {step: 10 ms, end: 0.4 s, fps: 25}\n"
           "materials: {cotton: {type: cloth}}\n"
           "bodies:\n"
           "  ball: {obstacle: {sequence: {" +
           obstacle +
           "}}}\n"
           "  sheet: {material: cotton, mesh: {grid: {size: [0.8, 0.8], vertices: [20, 20]}}, place: {at: [0, 0.26, "
           "0]}" +
           more + "}\n";
}

Scene scene_in(const fs::path& folder, const std::string& text)
{
    write_file(folder / "scene.yaml", text);
    return load_scene(folder / "scene.yaml");
}

Vec3s surface_at(World& world, Real time)
{
    world.state.time = time;
    Vec3s x;
    surface_positions(world.model, world.state, x);
    return x;
}

std::string fault_of(const fs::path& folder, const std::string& text)
{
    try {
        build_world(scene_in(folder, text));
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

RunResult run_in(const fs::path& folder, const Scene& scene, std::int64_t most_steps = 1'000'000, bool resume = false)
{
    World world = build_world(scene);
    RunOptions options;
    options.directory = folder;
    options.every_step = true;
    options.most_steps = most_steps;
    options.resume = resume;
    return run_scene(scene, world, options);
}

TEST(Animation, FilesAreFramesInTheOrderOfTheirNumbers)
{
    const TemporaryDirectory folder;
    const auto places = write_ball_sequence(folder.path(), 12);
    for (const char* files : {"ball_*.obj", "ball_%d.obj"}) {
        World world = build_world(scene_in(folder.path(), sheet_on(std::string("files: ") + files + ", fps: 20")));
        for (int f : {0, 2, 11}) {
            const Vec3s x = surface_at(world, 0.05 * f);
            for (std::size_t v = 0; v < places[0].size(); ++v)
                ASSERT_LT((x[v] - places[static_cast<std::size_t>(f)][v]).norm(), 1e-12) << files << ", frame " << f;
        }
    }
}

TEST(Animation, PointCachesMoveLikeTheFilesTheyWereMadeFrom)
{
    const TemporaryDirectory folder;
    const auto places = write_ball_sequence(folder.path(), 6);
    write_file(folder.path() / "a.pc2", pc2_bytes(places, 2));
    write_file(folder.path() / "a.mdd", mdd_bytes(places, 0.1));
    for (const char* cache : {"mesh: ball_0.obj, cache: a.pc2, fps: 20", "mesh: ball_0.obj, cache: a.mdd"}) {
        World world = build_world(scene_in(folder.path(), sheet_on(cache)));
        const Vec3s x = surface_at(world, 0.35);
        for (std::size_t v = 0; v < places[0].size(); ++v)
            ASSERT_LT((x[v] - (places[3][v] + places[4][v]) / 2).norm(), 1e-6) << cache;
    }
}

TEST(Animation, ASheetRidesOnABallThatPulsesAndTheWholePathIsCertified)
{
    const TemporaryDirectory folder;
    write_ball_sequence(folder.path(), 8);
    const Scene scene = scene_in(folder.path(), sheet_on("files: ball_*.obj, fps: 12, repeat: loop"));
    run_in(folder.path() / "run", scene);
    const RunReader reader(folder.path() / "run");
    const Certificate c = certify_run(reader);
    EXPECT_TRUE(c.kept());
    EXPECT_EQ(c.intersections, 0);
    EXPECT_EQ(c.path_impacts, 0);
    World world = build_world(scene);
    for (const Index number : {7, 40}) { // readers see the bits of the simulation
        const Frame frame = reader.frame(number);
        const Vec3s x = surface_at(world, frame.time);
        const std::size_t ball = static_cast<std::size_t>(world.model.bodies[0].vertex_count);
        EXPECT_EQ(std::memcmp(x.data(), frame.positions.data(), ball * sizeof(Vec3)), 0);
    }
    Real lowest = 1;
    for (const Vec3& x : reader.frame(40).positions) lowest = std::min(lowest, x.y());
    EXPECT_LT(lowest, 0.1) << "the sheet hangs over the ball";
}

TEST(Animation, ARunThatIsResumedEndsWithTheSameBits)
{
    const TemporaryDirectory folder;
    write_ball_sequence(folder.path(), 8);
    const Scene scene = scene_in(folder.path(), sheet_on("files: ball_*.obj, fps: 12"));
    const std::uint64_t whole = run_in(folder.path() / "whole", scene).hash;
    run_in(folder.path() / "parts", scene, 17);
    EXPECT_EQ(run_in(folder.path() / "parts", load_scene(folder.path() / "parts" / "scene.yaml"), 1000, true).hash,
              whole)
        << "also from the copies of the files in the run directory";
}

TEST(Animation, AnOpenObstacleHoldsASheetFromBothSides)
{
    const std::string text = R"(
time: {step: 10 ms, end: 0.3 s}
materials: {cotton: {type: cloth}}
bodies:
  tray: {obstacle: {mesh: {grid: {size: [0.5, 0.5], vertices: [4, 4]}}}}
  above: {material: cotton, mesh: {grid: {size: [0.4, 0.4], vertices: [10, 10]}}, place: {at: [0, 0.03, 0], turn: [5, 0, 0]}}
)";
    const TemporaryDirectory folder;
    const Scene scene = scene_in(folder.path(), text);
    run_in(folder.path() / "run", scene);
    const RunReader reader(folder.path() / "run");
    EXPECT_TRUE(certify_run(reader).kept());
    const Frame last = reader.frame(30);
    const RunBody& sheet = reader.mesh().bodies[1];
    for (Index v = sheet.first_vertex; v < sheet.first_vertex + sheet.vertex_count; ++v)
        EXPECT_GT(last.positions[v].y(), 0);
}

TEST(Animation, APinnedSideGoesAlongWithTheObstacleItFollows)
{
    const TemporaryDirectory folder;
    write_ball_sequence(folder.path(), 8);
    const Scene scene = scene_in(
        folder.path(), sheet_on("files: ball_*.obj, fps: 12", ", pin: [{vertices: [190, 209], follow: ball}]"));
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    const Vec3 before = world.state.position[190];
    for (int i = 0; i < 15; ++i) method->step(world, 0.01);
    EXPECT_GT((world.state.position[190] - before).norm(), 0.01);
}

/// A cuff of two halves that is sewn around a post.
const std::string cuff = R"(
time: {step: 5 ms, end: 1 s, fps: 25}
materials: {cotton: {type: cloth, drag: 1, max-strain: 0.2}}
gravity: [0, -1, 0]
bodies:
  post: {obstacle: {mesh: {cylinder: {radius: 0.06, height: 0.6}}}}
  cuff:
    material: cotton
    mesh:
      garment:
        edge: 2 cm
        pull: 0.05
        panels:
          front: {outline: [{to: [20, 0], name: hem}, {to: [20, 14], name: right}, {to: [0, 14], name: top}, {to: [0, 0], name: left}], at: [-0.1, -0.05, 0.1]}
          back: {outline: [{to: [20, 0], name: hem}, {to: [20, 14], name: right}, {to: [0, 14], name: top}, {to: [0, 0], name: left}], at: [0.1, -0.05, -0.1], turn: [0, 180, 0]}
        seams: [[front.left, back.right], [front.right, back.left]]
        elastic: [{side: front.top, length: 0.9}, {side: back.top, length: 0.9}]
)";

TEST(Garments, ACuffIsSewnAroundAPostAndTheWholePathIsCertified)
{
    const TemporaryDirectory folder;
    const Scene scene = scene_in(folder.path(), cuff);
    run_in(folder.path() / "run", scene);
    const RunReader reader(folder.path() / "run");
    const Certificate c = certify_run(reader);
    EXPECT_TRUE(c.kept());
    EXPECT_EQ(c.intersections, 0);
    EXPECT_EQ(c.path_impacts, 0);
    const StoredFrame last = reader.stored_frame(reader.frame_count() - 1);
    for (const Seam& seam : build_world(scene).model.seams)
        for (const auto& [a, b] : seam.pairs) EXPECT_EQ(last.state.position[a], last.state.position[b]) << seam.name;
}

TEST(Garments, ARunThatIsResumedAfterSewingEndsWithTheSameBits)
{
    const TemporaryDirectory folder;
    const Scene scene = scene_in(folder.path(), cuff);
    const std::uint64_t whole = run_in(folder.path() / "whole", scene).hash;
    run_in(folder.path() / "parts", scene, 150);
    EXPECT_EQ(run_in(folder.path() / "parts", scene, 1000, true).hash, whole);
    EXPECT_TRUE(certify_run(RunReader(folder.path() / "parts")).kept());
}

TEST(Animation, FaultsOfASequenceNameTheFrame)
{
    const TemporaryDirectory folder;
    write_ball_sequence(folder.path(), 4);
    write_triangle_mesh(folder.path() / "ball_2.obj", pulsing_ball(0.2, 1, 0));
    std::string fault = fault_of(folder.path(), sheet_on("files: ball_*.obj"));
    for (const char* word : {"ball_2.obj", "frame 2", "42 vertices", "162"})
        EXPECT_NE(fault.find(word), std::string::npos) << fault;
    TriangleMesh other = pulsing_ball(0.2, 2, 0);
    std::swap(other.triangles[7][0], other.triangles[7][1]);
    write_triangle_mesh(folder.path() / "ball_2.obj", other);
    fault = fault_of(folder.path(), sheet_on("files: ball_*.obj"));
    EXPECT_NE(fault.find("another triangle 7"), std::string::npos) << fault;
    write_file(folder.path() / "a.pc2", pc2_bytes({other.vertices}).substr(0, 500));
    fault = fault_of(folder.path(), sheet_on("mesh: ball_0.obj, cache: a.pc2"));
    EXPECT_NE(fault.find("cut off"), std::string::npos) << fault;
    fault = fault_of(folder.path(), sheet_on("files: cube_*.obj"));
    EXPECT_NE(fault.find("no file is called like"), std::string::npos) << fault;
}

} // namespace
} // namespace pliant
