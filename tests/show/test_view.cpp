// What the viewer is given: statistics as they grow, a live scene that is reset while it is looked at.

#include "pliant/run/files.hpp"
#include "pliant/show/view_live.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

namespace pliant {
namespace {

TEST(StatsLines, GiveTheHeaderAndTheWholeLinesFromAnyOneOn)
{
    const TemporaryDirectory dir;
    const std::filesystem::path path = dir / "stats.csv";
    StatsLines lines;
    const auto text = [&](std::size_t from) {
        lines.update(path);
        return lines.text(path, from);
    };
    EXPECT_EQ(text(0), "\n") << "no file yet";
    std::ofstream(path) << "a,b\n1,2\n3,";
    EXPECT_EQ(text(0), "a,b\n1,2\n") << "a line without its end is still being written";
    EXPECT_EQ(text(1), "a,b\n");
    std::ofstream(path, std::ios::app) << "4\n5,6\n";
    EXPECT_EQ(text(1), "a,b\n3,4\n5,6\n");
    EXPECT_EQ(text(2), "a,b\n5,6\n");
    EXPECT_EQ(text(99), "a,b\n");
    std::ofstream(path) << "a,b,c\n1,2,0\n3,4,0\n5,6,0\n"; // a column more
    EXPECT_EQ(text(2), "a,b,c\n5,6,0\n");
    std::ofstream(path) << "a,b,c\n7,8,9\n"; // from the start
    EXPECT_EQ(text(0), "a,b,c\n7,8,9\n");
    std::filesystem::remove(path);
    EXPECT_EQ(text(0), "\n");
}

TEST(LiveView, IsNeverReadHalfWrittenWhileItIsReset)
{
    const Scene scene = parse_scene(R"(
time: {step: 10 ms, end: 10}
materials: {cotton: {type: cloth}}
bodies:
  sheet: {material: cotton, mesh: {grid: {vertices: [8, 8]}}}
)",
                                    "live.yaml");
    LiveViewSource source(scene, build_world(scene));
    std::atomic<bool> done = false;
    std::atomic<int> reads = 0;
    std::string fault;
    std::thread reader([&] {
        try {
            while (!done) {
                const nlohmann::json about = source.description();
                if (about.at("frameSteps").empty()) throw std::runtime_error("a run without its first frame");
                if (about.at("status") == "unknown") throw std::runtime_error("a run without its run.json");
                source.frame(0);
                source.topology();
                if (source.stats(0).find("step,time") != 0) throw std::runtime_error("statistics without a header");
                ++reads;
            }
        } catch (const std::exception& e) {
            fault = e.what();
        }
    });
    for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(source.control("play"));
        EXPECT_TRUE(source.control("reset"));
    }
    while (reads < 5 && fault.empty()) std::this_thread::yield();
    done = true;
    reader.join();
    EXPECT_EQ(fault, "");
    EXPECT_EQ(source.description().at("frameSteps").size(), 1U) << "a reset run stands at its start";
}

} // namespace
} // namespace pliant
