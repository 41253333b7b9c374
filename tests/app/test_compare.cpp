// compare as a user calls it.
#include "app/process.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/run/files.hpp"
#include "pliant/show/compare.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace pliant {
namespace {

namespace fs = std::filesystem;

class Compare : public ::testing::Test {
protected:
    void write_scene(const std::string& text) { std::ofstream(dir / "scene.yaml") << text; }
    ProcessResult compare(std::vector<std::string> arguments, const ProcessOptions& options = {})
    {
        arguments.insert(arguments.begin(), {"compare", (dir / "scene.yaml").string()});
        if (std::find(arguments.begin(), arguments.end(), "-o") == arguments.end())
            arguments.insert(arguments.end(), {"-o", (dir / "out").string()});
        return run_process(arguments, (dir / "log").string(), options);
    }
    std::string page() { return read_file(dir / "out" / "compare.html"); }

    TemporaryDirectory dir;
};

std::size_t occurrences(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

constexpr char falling_box[] = R"(title: A <box> falls
time: {step: 10 ms, end: 0.2 s, fps: 50}
materials: {wood: {type: rigid, density: 500}}
bodies:
  box: {material: wood, mesh: {box: {size: [0.2, 0.2, 0.2]}}, place: {at: [0, 0.15, 0]}}
  floor: {obstacle: {plane: {y: 0}}}
)";

TEST_F(Compare, MethodsAndValuesGiveOnePageWithEveryCombination)
{
    write_scene(falling_box);
    const ProcessResult first = compare({"--methods", "implicit,none", "--vary", "contact.friction=0,0.5"});
    ASSERT_EQ(first.code, 0) << first.out;
    EXPECT_EQ(first.last_line(), (dir / "out" / "compare.html").string());
    for (const char* name : {"implicit-friction-0", "implicit-friction-0.5", "none-friction-0", "none-friction-0.5"})
        EXPECT_TRUE(fs::exists(dir / "out" / name / run_file::report)) << name;
    const std::string html = page();
    EXPECT_NE(html.find("implicit, friction 0.5"), std::string::npos);
    EXPECT_NE(html.find("A &lt;box&gt; falls"), std::string::npos) << "the title is escaped";
    EXPECT_EQ(html.find("<box>"), std::string::npos);
    EXPECT_EQ(html.find("http"), std::string::npos) << "nothing comes from a network";
    EXPECT_EQ(occurrences(html, "data:image/png;base64,"), 20u) << "five instants of four variants";
    EXPECT_EQ(occurrences(html, "<polyline"), 4 * occurrences(html, "<svg")) << "a line a variant in every plot";
    EXPECT_NE(html.find("deepest penetration"), std::string::npos);

    const ProcessResult again = compare({"--methods", "implicit,none", "--vary", "contact.friction=0,0.5"});
    EXPECT_EQ(again.code, 0);
    EXPECT_EQ(occurrences(again.out, "is already there"), 4u) << again.out;
}

TEST_F(Compare, TheTableSaysWhatPhysicsDemands)
{
    write_scene(falling_box);
    ASSERT_EQ(compare({"-q", "--methods", "implicit,none"}).code, 0);
    const CompareSummary caught = summarise(RunReader(dir / "out" / "implicit"));
    const CompareSummary free = summarise(RunReader(dir / "out" / "none"));
    // 4 kg fall for 0.2 s through the floor: by backward Euler 9.81 * 0.01^2 * (1 + ... + 20) = 0.206 m, from 0.05 m
    // above it.
    EXPECT_NEAR(free.deepest, 0.206 - 0.05, 1e-3);
    EXPECT_EQ(free.max_contacts, 0);
    EXPECT_NEAR(free.max_kinetic, 0.5 * 4 * 1.962 * 1.962, 1e-6);
    EXPECT_LT(free.momentum_error, 1e-12 * free.momentum_scale) << "gravity alone acts";
    EXPECT_EQ(free.momentum_steps, 20);
    EXPECT_EQ(caught.deepest, 0);
    EXPECT_EQ(caught.intersections, 0);
    EXPECT_GE(caught.max_contacts, 4) << "the corners of its lower face";
    EXPECT_LT(caught.energy_rise, 1e-4 * caught.max_kinetic) << "contact brings no energy but the solver's tolerance";
    EXPECT_LT(caught.end_energy, caught.start_energy);
    EXPECT_GT(caught.momentum_steps, 0);
    EXPECT_LT(caught.momentum_error, 1e-2 * caught.momentum_scale) << "the floor's force explains the change";
    EXPECT_EQ(caught.max_elongation, 0) << "rigid";
    ASSERT_TRUE(caught.rounds && caught.iterations);
    EXPECT_GE(caught.rounds->max, 1);
    EXPECT_FALSE(free.rounds || free.iterations) << "there is no such thing without contact";
}

TEST_F(Compare, AVariantThatStopsIsARowOfThePage)
{
    write_scene(R"(title: Squeezed
time: {step: 10 ms, end: 0.3 s, fps: 50}
materials: {wood: {type: rigid}}
bodies:
  box: {material: wood, mesh: {box: {size: [0.2, 0.2, 0.2]}}, place: {at: [0, 0.11, 0]}}
  press: {obstacle: {plane: {normal: [0, -1, 0], point: [0, 0.4, 0]}}, motion: {keyframes: [{time: 0}, {time: 0.3, move: [0, -0.35, 0]}]}}
  floor: {obstacle: {plane: {y: 0}}}
)");
    const ProcessResult result = compare({"--vary", "contact.pinch=stop,release"});
    EXPECT_EQ(result.code, 1) << result.out;
    const std::string html = page();
    EXPECT_NE(html.find("stopped at"), std::string::npos);
    EXPECT_NE(html.find("pinch release"), std::string::npos);
    const RunReader stopped(dir / "out" / "pinch-stop"), whole(dir / "out" / "pinch-release");
    EXPECT_EQ(stopped.info()["summary"]["status"], "failed");
    EXPECT_EQ(whole.info()["summary"]["status"], "finished");
    EXPECT_EQ(summarise(whole).steps, 30);
    EXPECT_LT(summarise(stopped).steps, 30);
}

TEST_F(Compare, GoesOnAfterAnInterrupt)
{
    write_scene(falling_box);
    const std::vector<std::string> arguments = {"--methods", "implicit,none", "--set", "time.step=10 us"};
    ProcessOptions options;
    options.signal = SIGINT;
    options.delay = 0;
    options.wait_for = (dir / "out" / "implicit" / "frames" / "000001.frame").string();
    const ProcessResult stopped = compare(arguments, options);
    ASSERT_EQ(stopped.code, 130) << stopped.out;
    EXPECT_FALSE(fs::exists(dir / "out" / "compare.html"));
    const std::int64_t reached = RunReader(dir / "out" / "implicit").info()["summary"]["step"];
    EXPECT_GT(reached, 0);
    EXPECT_LT(reached, 20000);
    const ProcessResult done = compare(arguments);
    EXPECT_EQ(done.code, 0) << done.out;
    EXPECT_EQ(RunReader(dir / "out" / "implicit").stats().rows.size(), 20000u);
}

TEST_F(Compare, BadInputIsOneLineAndLeavesNothing)
{
    write_scene(falling_box);
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{}, "nothing to compare"},
        {{"--methods", "implicit"}, "nothing to compare"},
        {{"--methods", "implicit,nine"}, "did you mean 'none'"},
        {{"--methods", "none,none"}, "twice"},
        {{"--methods", "none,,implicit"}, "empty value"},
        {{"--vary", "contact.friction"}, "--vary must be like"},
        {{"--vary", "contact.frction=1,2"}, "did you mean 'friction'"},
        {{"--vary", "contact.friction=1,-2"}, "at least 0"},
        {{"--vary", "contact.friction=1,2", "--vary", "contact.friction=3,4"}, "varied twice"},
        {{"--vary", "contact.friction=1,2,3,4,5,6", "--vary", "time.fps=10,20,30,40,50,60"}, "more than 32"},
        {{"--methods", "none,implicit", "--set", "bodies.box.place.at=[0, 0, 0]"}, "behind the plane"},
        {{"--methods", "none,implicit", "-o", "/proc/no"}, "/proc/no"},
    };
    for (const auto& [arguments, words] : cases) {
        const ProcessResult result = compare(arguments);
        EXPECT_EQ(result.code, 2) << result.out;
        EXPECT_EQ(occurrences(result.out, "\n"), 1u) << result.out;
        EXPECT_NE(result.out.find(words), std::string::npos) << words << ": " << result.out;
        EXPECT_FALSE(fs::exists(dir / "out"));
    }
}

} // namespace
} // namespace pliant
