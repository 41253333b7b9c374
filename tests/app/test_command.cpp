// The pliant command as a user meets it: exit codes, kills, full disks, threads.
#include "app/process.hpp"
#include "pliant/core/random.hpp"
#include "pliant/run/reader.hpp"
#include "pliant/show/report_parts.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace pliant {
namespace {

namespace fs = std::filesystem;

const fs::path source = PLIANT_SOURCE_DIR;
const std::string hello = (source / "scenes/hello.yaml").string();

class Command : public ::testing::Test {
protected:
    ProcessResult run(std::vector<std::string> arguments, ProcessOptions options = {})
    {
        if (!arguments.empty() && arguments[0] == "run")
            arguments.push_back("--no-report"); // these watch the simulation
        if (options.directory.empty()) options.directory = dir.path().string();
        return run_process(arguments, (dir / "log").string(), options);
    }
    std::string path(const std::string& name) { return (dir / name).string(); }

    TemporaryDirectory dir;
};

/// Every frame of a run can be read; returns how many there are.
Index readable_frames(const std::string& directory)
{
    const RunReader reader(directory);
    for (Index i = 0; i < reader.frame_count(); ++i) reader.frame(i);
    return reader.frame_count();
}

TEST_F(Command, PrintsTheSameHashForOneTwoAndFourThreads)
{
    std::vector<std::string> hashes;
    for (const char* threads : {"1", "2", "4"}) {
        const ProcessResult r = run({"run", hello, "--end", "0.4", "-o", path(threads), "--threads", threads});
        EXPECT_EQ(r.code, 0) << r.out;
        hashes.push_back(r.last_line());
    }
    EXPECT_EQ(hashes[0].substr(0, 11), "state hash ");
    EXPECT_EQ(hashes[0].size(), 27u);
    EXPECT_EQ(hashes[0], hashes[1]);
    EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_F(Command, SurvivesTwentyKillsAndEndsWithTheSameBits)
{
    const std::vector<std::string> common = {hello, "--end", "0.6", "--threads", "1", "--checkpoint", "0"};
    const auto command = [&](const std::string& name, bool resume) {
        std::vector<std::string> arguments = {"run", "-o", path(name)};
        arguments.insert(arguments.end(), common.begin(), common.end());
        if (resume) arguments.push_back("--resume");
        return arguments;
    };
    const auto begin = std::chrono::steady_clock::now();
    const ProcessResult whole = run(command("whole", false));
    const double duration = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ASSERT_EQ(whole.code, 0) << whole.out;

    // Moments within the first ninth of an undisturbed run, so that about twenty of them are needed to get through;
    // some hit the start of the process, some a write.
    Random random(20);
    int kills = 0;
    ProcessResult part;
    while (kills < 20) {
        part = run(command("killed", true), {SIGKILL, random.uniform(0, duration / 9), RLIM_INFINITY, {}, {}});
        if (part.signal == SIGKILL) {
            ++kills;
        } else {
            ASSERT_EQ(part.code, 0) << part.out;
            EXPECT_EQ(part.last_line(), whole.last_line());
            fs::remove_all(path("killed")); // it came through: kill the next run
        }
    }
    part = run(command("killed", true));
    EXPECT_EQ(part.code, 0) << part.out;
    EXPECT_EQ(part.last_line(), whole.last_line());
    EXPECT_EQ(readable_frames(path("killed")), readable_frames(path("whole")));
    EXPECT_EQ(RunReader(path("killed")).stats().rows.size(), RunReader(path("whole")).stats().rows.size());
}

TEST_F(Command, SavesAndExitsWith130WhenInterrupted)
{
    for (const int signal : {SIGINT, SIGTERM}) {
        const std::string name = path(std::to_string(signal));
        ProcessOptions interrupt{signal, 0.1, RLIM_INFINITY, {}, name + "/run.json"};
        ProcessResult part = run({"run", hello, "--end", "1000", "-o", name}, interrupt);
        EXPECT_EQ(part.code, 130) << part.out;
        EXPECT_NE(part.out.find("state saved; continue with --resume"), std::string::npos) << part.out;
        const std::int64_t step = RunReader(name).info()["summary"]["step"];
        const std::string end = std::to_string(0.004 * static_cast<double>(step + 20));
        part = run({"run", hello, "--end", end, "-o", name, "--resume"});
        EXPECT_EQ(part.code, 0) << part.out;
        EXPECT_EQ(part.last_line(), run({"run", hello, "--end", end, "-o", name + "-whole"}).last_line());
    }
}

TEST_F(Command, AnswersAnInterruptWithinAStepThatWouldNotEnd)
{
    // A block pressed on the floor, and a tolerance that no arithmetic reaches.
    std::ofstream(path("endless.yaml")) << R"(
title: Endless
time: {step: 10 ms, end: 1}
contact: {tolerance: 1e-300, max-iterations: 1000000}
materials: {rubber: {type: solid}}
bodies:
  block: {material: rubber, mesh: {tet-box: {size: [0.4, 0.4, 0.4], cells: [4, 4, 4]}}, place: {at: [0, 0.2, 0]}}
  floor: {obstacle: {plane: {y: 0}}}
)";
    const ProcessOptions interrupt{SIGINT, 0.5, RLIM_INFINITY, {}, path("run") + "/run.json"};
    const ProcessResult r = run({"run", "endless.yaml", "-o", path("run")}, interrupt);
    EXPECT_EQ(r.code, 130) << r.out;
    EXPECT_NE(r.out.find("interrupted at step 0 of 100, state saved"), std::string::npos) << r.out;
    EXPECT_EQ(readable_frames(path("run")), 1);
}

/// Waits until run.json says how the run ended; a minute at most.
void wait_for_status(const std::string& directory, const std::string& status)
{
    for (int i = 0; i < 60'000; ++i) {
        std::ifstream file(directory + "/run.json");
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        if (text.find('"' + status + '"') != std::string::npos) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TEST_F(Command, AnswersAnInterruptWhileARunIsCheckedAndReportedOn)
{
    // A held corner goes into the floor, beside a ball with so many triangles that looking at it takes a while.
    std::ofstream(path("pressed.yaml")) << R"(
title: Pressed
time: {step: 10 ms, end: 30 ms, fps: 100}
materials: {cotton: {type: cloth}}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [0.1, 0.1], vertices: [3, 3]}}, place: {at: [0, 0.1, 0]}, pin: {vertices: [0]}, motion: {keyframes: [{time: 0}, {time: 0.02, move: [0, -0.2, 0]}]}}
  ball: {obstacle: {mesh: {sphere: {radius: 1, subdivisions: 6}}}, place: {at: [3, 2, 0]}}
  floor: {obstacle: {plane: {y: 0}}}
)";
    for (const auto& [status, change] :
         {std::pair("failed", "contact.pinch=stop"), std::pair("finished", "contact.pinch=release")}) {
        ProcessOptions interrupt{SIGINT, 0, RLIM_INFINITY, {}, path(status) + "/run.json"};
        interrupt.meanwhile = [&, name = std::string(status)] { wait_for_status(path(name), name); };
        const ProcessResult r =
            run_process({"run", path("pressed.yaml"), "-o", path(status), "--set", change}, path("log"), interrupt);
        EXPECT_EQ(r.code, 130) << r.out;
        EXPECT_NE(r.out.find("interrupted; what was simulated is stored"), std::string::npos) << r.out;
        EXPECT_EQ(RunReader(path(status)).info()["summary"]["status"], status);
        EXPECT_GE(readable_frames(path(status)), 1);
        EXPECT_FALSE(fs::exists(path(status) + "/report.html")) << "it came too late to show anything";
    }
}

TEST_F(Command, ThatStallsLeavesAReportAndNamesPairForceAndCure)
{
    std::ofstream(path("crush.yaml")) << R"(
title: Crushed
time: {step: 10 ms, end: 2, fps: 25}
gravity: [0, 0, 0]
contact: {friction: 0.5}
materials: {foam: {type: solid, young: 2e4}}
bodies:
  ball: {material: foam, mesh: {tet-sphere: {radius: 0.1, layers: 3}}}
  left: {obstacle: {mesh: {box: {size: [0.05, 0.4, 0.4]}}}, place: {at: [-0.13, 0, 0]}, motion: {keyframes: [{time: 0}, {time: 0.5, move: [0.105, 0, 0]}]}}
  right: {obstacle: {mesh: {box: {size: [0.05, 0.4, 0.4]}}}, place: {at: [0.13, 0, 0]}, motion: {keyframes: [{time: 0}, {time: 0.5, move: [-0.105, 0, 0]}]}}
)";
    const ProcessResult r = run_process({"run", path("crush.yaml"), "-o", path("run")}, path("log"));
    EXPECT_EQ(r.code, 1) << r.out;
    const std::string words = r.last_line();
    for (const char* part : {"pliant: step ", "body 'ball' (vertex ", " N between them",
                             "let the script leave more room", "smaller gap", "friction (0.5)"})
        EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
    EXPECT_TRUE(words.find("'left'") != std::string::npos || words.find("'right'") != std::string::npos) << words;
    EXPECT_NE(r.out.find("no intersections"), std::string::npos) << "what is stored is certified\n" << r.out;
    std::ifstream page(path("run") + "/report.html");
    const std::string html{std::istreambuf_iterator<char>(page), {}};
    EXPECT_NE(html.find("The run is not finished: failed"), std::string::npos);
    EXPECT_NE(html.find("N between them"), std::string::npos) << "the report says why";
}

TEST_F(Command, SaysALimitThatBreaksAsItHappensAndInTheReport)
{
    std::ofstream(path("load.yaml")) << R"(
title: Load
time: {step: 5 ms, end: 0.3, fps: 40}
contact: {tolerance: 1e-6, max-iterations: 2}
materials:
  cotton: {type: cloth, stretch: 50 N/m, shear: 10 N/m, max-strain: 10 %}
  lead: {type: rigid, density: 20000}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [0.5, 0.5], vertices: [9, 9]}}, pin: {vertices: [0, 8, 72, 80]}}
  ball: {material: lead, mesh: {sphere: {radius: 0.06, subdivisions: 2}}, place: {at: [0, 0.065, 0]}}
)";
    const ProcessResult r = run_process({"run", path("load.yaml"), "-o", path("run")}, path("log"));
    EXPECT_EQ(r.code, 0) << r.out;
    for (const char* note : {"'sheet' is ", " % longer than max-strain allows", "a solve ended at "})
        EXPECT_LT(r.out.find(note), r.out.find("60 steps, ")) << "while the run goes on: " << note << "\n" << r.out;
    std::ifstream page(path("run") + "/report.html");
    const std::string html{std::istreambuf_iterator<char>(page), {}};
    for (const char* words : {"Not reached: max-strain in ", "Not reached: the solver's tolerance in "}) {
        EXPECT_NE(html.find(html_escape(words)), std::string::npos) << words;
        EXPECT_NE(r.out.find(words), std::string::npos) << words << "\n" << r.out;
    }
}

TEST_F(Command, StopsClearlyAtAFullDiskAndCanBeResumed)
{
    // Which file meets the limit first must not depend on how fast the run is or on the digits of its timings: with a
    // checkpoint after every step the files are written in a fixed order (scene.yaml, mesh, the first frame, then a
    // line of stats.csv and the checkpoint for each step), and two sizes of the flag make either of the last two the
    // largest.
    struct Case {
        std::string file, vertices, last, end;
        std::size_t steps;
    };
    const Case small{"", "[12, 12]", "11", "1.6", 400}, large{"", "[60, 60]", "59", "0.02", 5};
    const auto of = [](Case c, const char* file) { return c.file = file, c; };
    for (const Case& c :
         {of(small, "scene.yaml"), of(small, "mesh"), of(small, "stats.csv"), of(large, "checkpoint")}) {
        const auto with = [&](const std::vector<std::string>& more) {
            std::vector<std::string> arguments = {"run",   hello,
                                                  "--end", c.end,
                                                  "--set", "contact.method=implicit",
                                                  "--set", "bodies.bar.mesh.tet-bar.cells=[4, 1, 1]",
                                                  "--set", "bodies.flag.mesh.grid.vertices=" + c.vertices,
                                                  "--set", "bodies.flag.pin.vertices=[0, " + c.last + "]"};
            arguments.insert(arguments.end(), more.begin(), more.end());
            return arguments;
        };
        const ProcessResult whole = run(with({"-o", path("whole")}));
        ASSERT_EQ(whole.code, 0) << whole.out;
        const auto size = [&](const std::string& file) {
            return static_cast<rlim_t>(fs::file_size(dir.path() / "whole" / file));
        };
        const rlim_t limit = c.file == "stats.csv" ? size(c.file) / 2 : size(c.file) - 1;
        for (const char* earlier : {"scene.yaml", "mesh", "frames/000000.frame", "checkpoint"}) {
            if (c.file == earlier) break;
            ASSERT_LT(size(earlier) + 1000, limit) << earlier << " must not meet the limit of " << c.file;
        }
        ProcessResult part = run(with({"-o", path("full"), "--checkpoint", "0"}), {0, 0, limit, {}, {}});
        EXPECT_EQ(part.code, 1) << part.out;
        EXPECT_EQ(part.last_line(), "pliant: cannot write " + path("full") + "/" + c.file +
                                        ": File too large; what is stored so far can be continued with --resume");
        EXPECT_EQ(part.out.find("pliant: "), part.out.rfind("pliant: ")) << "one message\n" << part.out;
        part = run(with({"-o", path("full"), "--resume"}));
        EXPECT_EQ(part.code, 0) << part.out;
        EXPECT_EQ(part.last_line(), whole.last_line());
        EXPECT_EQ(readable_frames(path("full")), readable_frames(path("whole")));
        EXPECT_EQ(RunReader(path("full")).stats().rows.size(), c.steps);
        fs::remove_all(path("full"));
        fs::remove_all(path("whole"));
    }
#ifndef PLIANT_SANITIZED_THREADS // ThreadSanitizer's runtime writes a file of its own before main() begins
    // Not a word can be written, not even the message.
    EXPECT_EQ(run({"run", hello, "-o", path("full")}, {0, 0, 0, {}, {}}).code, 1);
#endif
}

TEST_F(Command, ExitsWith2AndCreatesNothingForEveryBadScene)
{
    const fs::path bad = source / "tests/scene/bad";
    int scenes = 0;
    for (const auto& entry : fs::directory_iterator(bad)) {
        if (entry.path().extension() != ".yaml") continue;
        ++scenes;
        const ProcessResult r =
            run({"run", entry.path().filename().string(), "-o", path("out")}, {0, 0, RLIM_INFINITY, bad.string(), {}});
        EXPECT_EQ(r.code, 2) << entry.path() << "\n" << r.out;
        EXPECT_EQ(r.out.substr(0, 8), "pliant: ") << r.out;
        EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 1) << r.out;
        EXPECT_FALSE(fs::exists(path("out"))) << entry.path();
    }
    EXPECT_GE(scenes, 50);
}

TEST_F(Command, AnswersBadArgumentsInOneLine)
{
    const std::vector<std::vector<std::string>> commands = {{},
                                                            {"runn"},
                                                            {"run"},
                                                            {"run", hello, "--threads", "-1"},
                                                            {"run", hello, "--wibble"},
                                                            {"run", "nowhere.yaml"},
                                                            {"run", hello, "--set", "contact.frction=1"},
                                                            {"run", hello, "--end", "never"},
                                                            {"check", "nowhere"},
                                                            {"run", hello, "-o", "/proc/nowhere"},
                                                            {"run", "."}};
    for (const auto& arguments : commands) {
        const ProcessResult r = run(arguments);
        EXPECT_EQ(r.code, 2) << r.out;
        EXPECT_EQ(r.last_line().substr(0, 8), "pliant: ") << r.out;
    }
    EXPECT_FALSE(fs::exists(dir / "out"));
}

TEST_F(Command, RefusesADirectoryThatAnotherProcessWrites)
{
    ProcessResult r;
    ProcessOptions interrupt{SIGTERM, 0, RLIM_INFINITY, {}, path("run") + "/run.json"};
    interrupt.meanwhile = [&] { r = run({"run", hello, "--end", "1000", "-o", path("run"), "--resume"}); };
    run_process({"run", hello, "--end", "1000", "-o", path("run")}, path("other.log"), interrupt);
    EXPECT_EQ(r.code, 2) << r.out;
    EXPECT_NE(r.out.find("another pliant is writing into this directory"), std::string::npos) << r.out;
}

TEST_F(Command, ListsItsScenesAndChecksThem)
{
    const ProcessResult list = run({"scenes"});
    EXPECT_EQ(list.code, 0) << list.out;
    EXPECT_NE(list.out.find("hello.yaml"), std::string::npos) << list.out;
    const ProcessResult check = run({"check", hello});
    EXPECT_EQ(check.code, 0) << check.out;
    EXPECT_NE(check.out.find("paddle"), std::string::npos) << check.out;
    EXPECT_EQ(run({"--help"}).code, 0);
    EXPECT_EQ(run({"--version"}).code, 0);
}

TEST_F(Command, PutsARunWhereItIsExpected)
{
    const ProcessResult r = run({"run", hello, "--end", "20 ms", "-q"});
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_EQ(r.out, r.last_line() + "\n");
    EXPECT_TRUE(fs::exists(dir.path() / "out/hello/run.json"));
    // the resolved scene inside the directory continues the run without the original
    const ProcessResult again =
        run({"run", "out/hello/scene.yaml", "-o", "out/hello", "--resume", "--end", "40 ms", "-q"});
    EXPECT_EQ(again.code, 0) << again.out;
    EXPECT_EQ(again.last_line(), run({"run", hello, "--end", "40 ms", "-o", path("whole")}).last_line());
}

} // namespace
} // namespace pliant
