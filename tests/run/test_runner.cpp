#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/reader.hpp"
#include "pliant/run/runner.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace pliant {
namespace {

namespace fs = std::filesystem;

const std::string text = R"(
title: Small
time: {step: 4 ms, end: 0.2, fps: 60}
contact: {method: none}
materials:
  cotton: {type: cloth}
  rubber: {type: solid}
  steel: {type: rigid}
bodies:
  flag: {material: cotton, mesh: {grid: {vertices: [8, 8]}}, pin: {vertices: [0, 7]}}
  bar: {material: rubber, mesh: {tet-bar: {cells: [6, 1, 1]}}, place: {at: [0, 2, 0]}}
  top: {material: steel, mesh: {box: {size: [3, 1, 2]}}, spin: [1, 2, 3], place: {at: [9, 0, 0]}}
  wall: {obstacle: {mesh: {box: {}}}, place: {at: [0, -3, 0]}, motion: {keyframes: [{time: 0}, {time: 1, turn: [0, 90, 0]}]}}
  floor: {obstacle: {plane: {y: -5}}, motion: {keyframes: [{time: 0}, {time: 0.1, move: [0, 1, 0]}]}}
)";

Scene small_scene(const std::vector<std::string>& overrides = {})
{
    return parse_scene(text, "small.yaml", overrides);
}

RunResult run_small(const RunOptions& options, const std::vector<std::string>& overrides = {})
{
    const Scene scene = small_scene(overrides);
    World world = build_world(scene);
    return run_scene(scene, world, options);
}

RunOptions into(const fs::path& directory)
{
    RunOptions options;
    options.directory = directory;
    return options;
}

/// Stops after a number of steps of this process.
RunOptions stop_after(RunOptions options, int steps)
{
    auto left = std::make_shared<int>(steps);
    options.on_step = [left](const RunProgress&) { --*left; };
    options.interrupted = [left] { return *left <= 0; };
    return options;
}

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "";
}

TEST(Frames, AreTheStepsNearestToTheirTimes)
{
    const Scene scene = small_scene(); // 250 steps a second, 60 frames
    for (Index k = 0; k < 100; ++k) {
        const std::int64_t step = frame_step(scene, false, k);
        EXPECT_LE(std::abs(static_cast<Real>(step) * scene.step - k / 60.0), scene.step / 2 + 1e-12);
        EXPECT_EQ(frame_step(scene, true, k), k);
        EXPECT_EQ(frame_step(small_scene({"time.fps=1000"}), false, k), k);
    }
}

TEST(Run, IsReadBackAsItWasComputed)
{
    const TemporaryDirectory dir;
    const RunResult result = run_small(into(dir / "run"));
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.steps, 50);

    const RunReader reader(dir / "run");
    ASSERT_EQ(reader.bodies().size(), 5u);
    EXPECT_EQ(reader.bodies()[2].name, "top");
    EXPECT_EQ(reader.bodies()[2].kind, BodyKind::rigid);
    EXPECT_TRUE(reader.bodies()[2].closed);
    EXPECT_EQ(reader.find_body("wall"), 3);
    EXPECT_NE(message_of([&] { reader.find_body("wal"); }).find("did you mean 'wall'"), std::string::npos);
    EXPECT_EQ(reader.frame_count(), 13); // frame 12 is time 0.2
    EXPECT_EQ(reader.frame_count(), result.frames);
    EXPECT_EQ(reader.info()["summary"]["status"], "finished");
    EXPECT_EQ(reader.info()["summary"]["hash"], [&] {
        char hex[17];
        std::snprintf(hex, sizeof hex, "%016lx", static_cast<unsigned long>(result.hash));
        return std::string(hex);
    }());

    // the last frame holds the surface of the last state, bit for bit
    const Scene scene = reader.scene();
    World world = build_world(scene);
    const std::unique_ptr<Method> method = make_method(world, scene.method);
    for (int i = 0; i < 50; ++i) method->step(world, scene.step);
    EXPECT_EQ(world.state.hash(), result.hash);
    Vec3s positions, velocities;
    surface_positions(world.model, world.state, positions);
    surface_velocities(world.model, world.state, scene.step, velocities);
    const Frame last = reader.frame(12);
    EXPECT_EQ(last.step, 50);
    EXPECT_EQ(last.time, world.state.time);
    EXPECT_EQ(last.positions, positions);
    EXPECT_EQ(last.velocities, velocities);
    EXPECT_NEAR(last.planes.at(0).offset, -4, 1e-12);

    const Stats stats = reader.stats();
    EXPECT_EQ(stats.rows.size(), 50u);
    EXPECT_EQ(stats.values("step").back(), 50);
    EXPECT_EQ(stats.values("kinetic_energy").back(), energy(world.model, world.state).kinetic);
    EXPECT_GT(stats.values("s:solve").back(), 0);
    EXPECT_EQ(stats.column("no such column"), none);
}

TEST(Run, StoresEveryStepOnRequest)
{
    const TemporaryDirectory dir;
    RunOptions options = into(dir / "run");
    options.every_step = true;
    run_small(options);
    EXPECT_EQ(RunReader(dir / "run").frame_count(), 51);
}

TEST(Run, ResumedAfterInterruptionsEndsWithTheSameBits)
{
    const TemporaryDirectory dir;
    const RunResult whole = run_small(into(dir / "whole"));
    RunOptions options = into(dir / "parts");
    options.resume = true;
    int parts = 1;
    for (RunResult part = run_small(stop_after(options, 7)); !part.finished; ++parts) {
        EXPECT_EQ(RunReader(dir / "parts").info()["summary"]["status"], "interrupted");
        part = run_small(stop_after(options, 7));
        EXPECT_EQ(part.finished, part.hash == whole.hash);
    }
    EXPECT_EQ(parts, 8);
    const RunReader a(dir / "whole"), b(dir / "parts");
    ASSERT_EQ(a.frame_count(), b.frame_count());
    for (Index i = 0; i < a.frame_count(); ++i) EXPECT_EQ(a.frame(i).positions, b.frame(i).positions);
    EXPECT_EQ(a.stats().rows.size(), b.stats().rows.size());
    EXPECT_EQ(a.stats().values("kinetic_energy"), b.stats().values("kinetic_energy"));

    const RunResult again = run_small(options); // nothing left to do
    EXPECT_TRUE(again.finished);
    EXPECT_EQ(again.hash, whole.hash);
}

const std::string contact_text = R"(
time: {step: 10 ms, end: 0.4, fps: 25}
materials: {cotton: {type: cloth}, rubber: {type: solid}, steel: {type: rigid}}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [1, 1], vertices: [10, 10]}}, place: {at: [0, 0.45, 0]}}
  block: {material: rubber, mesh: {tet-box: {size: [0.4, 0.4, 0.4], cells: [2, 2, 2]}}, place: {at: [0, 0.21, 0]}}
  ball: {material: steel, mesh: {sphere: {radius: 0.1, subdivisions: 2}}, place: {at: [0, 0.7, 0]}}
  floor: {obstacle: {plane: {y: 0}}}
)";

TEST(Run, InterruptedWithinAStepSavesTheLastWholeStepAndResumesToTheSameBits)
{
    const TemporaryDirectory dir;
    for (const char* method : {"implicit", "none"}) { // solves, and explicit sub-steps
        std::vector<std::string> overrides = {"contact.method=" + std::string(method)};
        if (overrides[0] == "contact.method=none") overrides.push_back("time.integrator=verlet");
        const Scene scene = parse_scene(contact_text, "contact.yaml", overrides);
        const auto run = [&](RunOptions options) {
            World world = build_world(scene);
            return run_scene(scene, world, options);
        };
        const RunResult whole = run(into(dir / method / "whole"));
        RunOptions options = into(dir / method / "parts");
        options.resume = true;
        int polls = 0, within_a_step = 0;
        bool stepped = true; // since the last poll
        options.on_step = [&](const RunProgress&) { stepped = true; };
        options.interrupted = [&] {
            const bool stop = ++polls % 97 == 0; // 97 is prime: everywhere in a step
            if (stop && !stepped) ++within_a_step;
            stepped = false;
            return stop;
        };
        RunResult part;
        std::int64_t before = -1;
        int parts = 0;
        while (!part.finished) {
            part = run(options);
            EXPECT_GE(part.step, before) << "nothing that was saved is lost";
            before = part.step;
            ASSERT_LT(++parts, 1000) << "a part takes a step at least now and then";
        }
        EXPECT_GT(within_a_step, 5) << method;
        EXPECT_EQ(part.hash, whole.hash) << method;
        EXPECT_EQ(RunReader(dir / method / "whole").stats().values("kinetic_energy"),
                  RunReader(dir / method / "parts").stats().values("kinetic_energy"));
    }
}

TEST(Run, ResumedInTheMiddleOfContactEndsWithTheSameBits)
{
    // Nothing that a method keeps between steps, apart from the state, may influence a bit.
    const TemporaryDirectory dir;
    const Scene scene = parse_scene(contact_text, "contact.yaml");
    const auto run = [&](RunOptions options) {
        World world = build_world(scene);
        return run_scene(scene, world, options);
    };
    const RunResult whole = run(into(dir / "whole"));
    RunOptions options = into(dir / "parts");
    options.resume = true;
    RunResult part;
    while (!part.finished) part = run(stop_after(options, 6));
    EXPECT_EQ(part.hash, whole.hash);
    EXPECT_GT(RunReader(dir / "whole").info()["summary"]["max_contacts"], 20);
    const auto forces = [&](const char* name) {
        std::ifstream stream(dir / name / run_file::forces);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    EXPECT_EQ(forces("whole"), forces("parts"));
    for (const char* pair : {"sheet,block", "sheet,ball", "block,floor"})
        EXPECT_NE(forces("whole").find(pair), std::string::npos) << pair;
}

TEST(Run, MayBeProlonged)
{
    const TemporaryDirectory dir;
    run_small(into(dir / "run"));
    RunOptions options = into(dir / "run");
    options.resume = true;
    const RunResult longer = run_small(options, {"time.end=0.3"});
    EXPECT_EQ(longer.steps, 75);
    EXPECT_EQ(longer.hash, run_small(into(dir / "whole"), {"time.end=0.3"}).hash);
}

TEST(Run, DoesNotDependOnTheNumberOfThreads)
{
    const TemporaryDirectory dir;
    std::vector<std::uint64_t> hashes;
    for (int threads : {1, 2, 4}) {
        set_thread_count(threads);
        hashes.push_back(
            run_small(into(dir / std::to_string(threads)), {"bodies.flag.mesh.grid.vertices=[40, 40]"}).hash);
    }
    set_thread_count(0);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(Run, LeavesOtherPeoplesDirectoriesAlone)
{
    const TemporaryDirectory dir;
    const fs::path path = dir / "run";
    fs::create_directories(path);
    std::ofstream(path / "thesis.tex") << "years of work\n";
    EXPECT_EQ(message_of([&] { run_small(into(path)); }),
              path.string() + ": is not empty and holds no run; choose another directory or add --force");
    EXPECT_FALSE(fs::exists(path / "frames"));
    RunOptions force = into(path);
    force.force = true;
    run_small(force);
    EXPECT_TRUE(fs::exists(path / "thesis.tex"));

    std::ofstream(dir / "file") << "x";
    EXPECT_EQ(message_of([&] { run_small(into(dir / "file")); }),
              (dir / "file").string() + ": exists and is not a directory");
}

TEST(Run, NeverOverwritesAUsersSceneFile)
{
    const TemporaryDirectory dir;
    std::ofstream(dir / "scene.yaml") << text;
    RunOptions options = into(dir.path());
    options.force = true;
    EXPECT_NE(message_of([&] { run_small(options); }).find("would be overwritten"), std::string::npos);
    std::ifstream stream(dir / "scene.yaml");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
}

TEST(Run, ReplacesAFinishedRunOfTheSameSceneOnly)
{
    const TemporaryDirectory dir;
    const RunResult first = run_small(into(dir / "run"));
    EXPECT_EQ(run_small(into(dir / "run")).hash, first.hash);
    EXPECT_EQ(message_of([&] { run_small(into(dir / "run"), {"contact.friction=0.5"}); }),
              (dir / "run").string() + ": holds a run of another scene (it has 'friction: 0.3', the scene has "
                                       "'friction: 0.5'); choose another directory or add --force");
    RunOptions options = into(dir / "run");
    options.resume = true;
    EXPECT_NE(message_of([&] { run_small(options, {"contact.friction=0.5"}); }).find("cannot be resumed"),
              std::string::npos);
    options = into(dir / "run");
    options.force = true;
    EXPECT_TRUE(run_small(stop_after(options, 20), {"gravity=[0, 0, 0]"}).step == 20);
    EXPECT_EQ(RunReader(dir / "run").stats().rows.size(), 20u);
    EXPECT_EQ(RunReader(dir / "run").frame_count(), 5 + 1 - (frame_step(small_scene(), false, 5) > 20));
    EXPECT_EQ(message_of([&] { run_small(into(dir / "run"), {"gravity=[0, 0, 0]"}); }),
              (dir / "run").string() +
                  ": holds an unfinished run of this scene; add --resume to continue it, or --force to start over");
}

TEST(Run, StopsAtADamagedCheckpointAndStartsOverWhenForced)
{
    const TemporaryDirectory dir;
    run_small(stop_after(into(dir / "run"), 20));
    std::fstream(dir.path() / "run" / "checkpoint", std::ios::in | std::ios::out | std::ios::binary).seekp(200)
        << "junk";
    RunOptions options = into(dir / "run");
    options.resume = true;
    EXPECT_EQ(message_of([&] { run_small(options); }),
              (dir.path() / "run" / "checkpoint").string() + ": the file is damaged");
    options = into(dir / "run");
    options.force = true;
    EXPECT_TRUE(run_small(options).finished);
}

TEST(RunReader, NamesADamagedFrameAndAMissingRun)
{
    const TemporaryDirectory dir;
    run_small(into(dir / "run"));
    const RunReader reader(dir / "run");
    fs::resize_file(reader.frame_path(3), fs::file_size(reader.frame_path(3)) - 1);
    EXPECT_EQ(message_of([&] { reader.frame(3); }), reader.frame_path(3).string() + ": the file is damaged");
    EXPECT_EQ(message_of([&] { RunReader(dir.path()); }),
              dir.path().string() + ": not a run directory (there is no run.json)");
    EXPECT_EQ(message_of([&] { RunReader(dir / "nowhere"); }), (dir / "nowhere").string() + ": no such run directory");
}

TEST(Run, ThatExplodesStopsAndSaysWhere)
{
    const TemporaryDirectory dir;
    EXPECT_EQ(message_of([&] { run_small(into(dir / "a"), {"bodies.top.velocity=[1e200, 0, 0]"}); }),
              "step 1: body 'top' moves at 1e+200 m/s: the motion has exploded; set a shorter time.step");
    EXPECT_EQ(
        message_of([&] {
            run_small(into(dir / "b"), {"time.step=1e160", "time.end=1e160"});
        }),
        "step 1: body 'top' has a position or velocity that is not a finite number: the motion has exploded; set a "
        "shorter time.step");
    EXPECT_EQ(RunReader(dir / "b").info()["summary"]["status"], "failed");
}

TEST(Stats, HaveTheColumnsOfAllRunsAndThoseOfTheMethod)
{
    const TemporaryDirectory dir;
    const auto columns = [&](const std::string& method) {
        RunOptions options = into(dir / method);
        options.most_steps = 1;
        run_small(options, {"contact.method=" + method});
        const std::vector<std::string> names = RunReader(dir / method).stats().columns;
        return std::set<std::string>(names.begin(), names.end());
    };
    const std::set<std::string> free = columns("none"), contact = columns("implicit");
    for (const char* name : {"step",
                             "time",
                             "seconds",
                             "substeps",
                             "linear_iterations",
                             "linear_residual",
                             "rounds",
                             "max_rounds",
                             "contacts_vertex_face",
                             "contacts_edge_edge",
                             "contacts_plane",
                             "strain_rows",
                             "active_contacts",
                             "contact_iterations",
                             "residual_dynamics",
                             "residual_gap",
                             "residual_complementarity",
                             "unconverged",
                             "worst_residual",
                             "strain_excess",
                             "rung",
                             "halvings",
                             "zones",
                             "truncated_vertices",
                             "released_pairs",
                             "limiting_a",
                             "limiting_b",
                             "kinetic_energy",
                             "elastic_energy",
                             "gravity_energy",
                             "max_speed",
                             "max_elongation",
                             "momentum_x",
                             "momentum_y",
                             "momentum_z",
                             "momentum_error",
                             "contacts"})
        EXPECT_TRUE(contact.contains(name)) << name;
    for (const char* name : {"step", "contacts", "rung", "kinetic_energy", "linear_iterations"})
        EXPECT_TRUE(free.contains(name)) << name;
    for (const char* name : {"rounds", "contacts_vertex_face", "halvings"}) EXPECT_FALSE(free.contains(name)) << name;
}

} // namespace
} // namespace pliant
