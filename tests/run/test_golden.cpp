// What a user sees of a run, to the last bit, as it was when the hash was written down: a change of structure keeps
// every one of them, and a commit that changes one says why. They hold for one compiler and one instruction set only.

#include "pliant/scene/scene.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace pliant {
namespace {

struct Golden {
    const char* name;                   ///< of the test
    const char* scene;                  ///< file in scenes/, or none: the stack below
    std::vector<std::string> overrides; ///< as with --set
    int steps;
    std::uint64_t hash; ///< State::visible_hash()
};

const char* stack = R"(
title: Stack
time: {step: 10 ms, end: 1, fps: 25}
contact: {method: implicit, friction: 0.5}
materials: {wood: {type: rigid}}
bodies:
  floor: {obstacle: {plane: {y: 0}}}
  low: {material: wood, mesh: {box: {size: [0.2, 0.1, 0.2]}}, place: {at: [0, 0.06, 0], turn: [0, 10, 0]}}
  middle: {material: wood, mesh: {box: {size: [0.2, 0.1, 0.2]}}, place: {at: [0.02, 0.18, 0], turn: [0, 30, 0]}}
  high: {material: wood, mesh: {box: {size: [0.2, 0.1, 0.2]}}, place: {at: [0, 0.3, 0.01], turn: [0, 50, 0]}}
  ball: {material: wood, mesh: {sphere: {radius: 0.05}}, place: {at: [0.01, 0.5, 0.02]}, spin: [0, 0, 4]}
)";

const std::vector<Golden> golden = {
    {"Hello", "hello", {}, 100, 0xb555e1b236452e3b},
    {"Demo",
     "falling-cloth",
     {"bodies.sheet.mesh.grid.vertices=[30, 30]", "contact.tolerance=1e-3"},
     200,
     0x8e54342002c9cb11},
    {"FallingCloth", "falling-cloth", {}, 125, 0xde5820c5392663d9},
    {"Letters", "letters", {}, 14, 0x1b75145d009da2a4},
    {"Layers",
     "layers",
     {"bodies.right-leg.motion.keyframes=[{time: 0}, {time: 0.2, turn: [-60, 0, 0]}]"},
     60,
     0xb5e8ad4bc6613e58},
    {"Unified", "unified", {}, 33, 0x8660ca50fca5ae21},
    {"RigidStack", nullptr, {}, 100, 0xba87928732d2fb51},
};

void PrintTo(const Golden& g, std::ostream* out)
{
    *out << g.name;
}

class GoldenRun : public testing::TestWithParam<Golden> {};

TEST_P(GoldenRun, HasTheBitsOfBefore)
{
#if !defined(__AVX2__) || !defined(__FMA__) || defined(__AVX512F__) || !defined(__GNUC__) || defined(__clang__) ||     \
    __GNUC__ != 12 || !defined(__OPTIMIZE__) || defined(PLIANT_SANITIZED)
    GTEST_SKIP() << "the hashes were taken from an optimised build by GCC 12 for x86-64-v3";
#endif
    const Golden& g = GetParam();
    const Scene scene = g.scene
                            ? load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + g.scene + ".yaml", g.overrides)
                            : parse_scene(stack, "stack.yaml", g.overrides);
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    int contacts = 0;
    for (int i = 0; i < g.steps; ++i) contacts = std::max(contacts, method->step(world, scene.step).active_contacts);
    char text[20];
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(world.state.visible_hash()));
    EXPECT_EQ(world.state.visible_hash(), g.hash) << "now " << text;
    EXPECT_TRUE(contacts > 0 || scene.method.method == "none") << "a cut that says nothing about contact";
}

INSTANTIATE_TEST_SUITE_P(, GoldenRun, testing::ValuesIn(golden),
                         [](const auto& golden_run) { return golden_run.param.name; });

} // namespace
} // namespace pliant
