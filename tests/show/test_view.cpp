// What the viewer is given: statistics as they grow, nodes instead of the vertices of lattices, a live scene that is
// reset while it is looked at.

#include "pliant/mesh/lattice.hpp"
#include "pliant/run/files.hpp"
#include "pliant/show/view_live.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
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

TEST(LiveView, SendsNodesOfLatticesFromWhichThePageMakesTheirVertices)
{
    const Scene scene = parse_scene(R"(
time: {step: 10 ms, end: 10}
contact: {method: boxes}
materials: {jelly: {type: lattice, young: 1e4}}
bodies:
  table: {obstacle: {mesh: {box: {size: [1, 0.2, 1]}}}}
  ball: {material: jelly, mesh: {sphere: {radius: 0.3, subdivisions: 3}}, lattice: {cells: 3}, place: {at: [0, 1, 0]}}
)",
                                    "live.yaml");
    const World world = build_world(scene);
    Vec3s expected;
    surface_positions(world.model, world.state, expected);
    LiveViewSource source(scene, build_world(scene));
    const std::string topology = source.topology(), frame = source.frame(0);
    const auto number = [](const std::string& bytes, std::size_t at, auto kind) {
        std::memcpy(&kind, bytes.data() + at, sizeof kind);
        return kind;
    };
    const auto u32 = [&](const std::string& bytes, std::size_t at) { return number(bytes, at, std::uint32_t()); };
    const std::size_t vertices = u32(topology, 0), triangles = u32(topology, 4), cells = u32(topology, 8);
    ASSERT_EQ(vertices, expected.size());
    EXPECT_EQ(cells, 26U) << "3 x 3 x 3 without the middle";
    EXPECT_LT(u32(frame, 0), 100U) << "points: 8 vertices of the table, and the nodes";
    const std::size_t corners = 12 + 12 * (vertices + triangles), carrier = corners + 32 * cells;
    const std::size_t place = carrier + 4 * vertices;
    ASSERT_EQ(topology.size(), place + 12 * vertices);
    for (std::size_t v = 0; v < vertices; ++v) {
        const auto point = [&](std::size_t p) {
            const auto coordinate = [&](std::size_t k) { return Real(number(frame, 32 + 4 * (3 * p + k), float())); };
            return Vec3(coordinate(0), coordinate(1), coordinate(2));
        };
        const std::int32_t c = number(topology, carrier + 4 * v, std::int32_t());
        Vec3 x = Vec3::Zero();
        if (c < 0) {
            x = point(static_cast<std::size_t>(-1 - c));
        } else {
            Vec3 local;
            for (std::size_t k = 0; k < 3; ++k) local[Index(k)] = number(topology, place + 4 * (3 * v + k), float());
            const auto weight = trilinear_weights(local);
            for (std::size_t k = 0; k < 8; ++k)
                x += weight[k] * point(u32(topology, corners + 4 * (8 * static_cast<std::size_t>(c) + k)));
        }
        EXPECT_LT((x - expected[v]).norm(), 1e-6) << "vertex " << v;
    }
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
