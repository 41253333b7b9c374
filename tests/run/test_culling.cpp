// Leaving out patches that cannot meet themselves changes time and nothing else.

#include "pliant/core/parallel.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/scene/scene.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

struct Cut {
    const char* name;
    const char* scene;
    std::vector<std::string> overrides;
    int steps;
};

const std::vector<Cut> cuts = {
    {"ClothOverSphere", "cloth-over-sphere", {"bodies.sheet.place.at=[0, 0.4, 0]"}, 120},
    {"FallingCloth", "falling-cloth", {}, 90},
    {"Layers", "layers", {"bodies.right-leg.motion.keyframes=[{time: 0}, {time: 0.1, turn: [-60, 0, 0]}]"}, 25},
    {"Ribbon", "ribbon", {}, 60},
    {"Unified", "unified", {}, 12},
};

void PrintTo(const Cut& c, std::ostream* out)
{
    *out << c.name;
}

std::uint64_t hash_of(const Cut& c, const char* culling, int threads)
{
    std::vector<std::string> overrides = c.overrides;
    overrides.push_back(std::string("contact.culling=") + culling);
    const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/" + c.scene + ".yaml", overrides);
    set_thread_count(threads);
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    int contacts = 0;
    for (int i = 0; i < c.steps; ++i) contacts = std::max(contacts, method->step(world, scene.step).contact_count);
    set_thread_count(0);
    EXPECT_GT(contacts, 0) << "a cut that says nothing about contact";
    return world.state.visible_hash();
}

class CulledRun : public testing::TestWithParam<Cut> {};

TEST_P(CulledRun, HasTheBitsOfARunWithoutCulling)
{
    const std::uint64_t all = hash_of(GetParam(), "none", 2);
    EXPECT_EQ(hash_of(GetParam(), "sound", 2), all);
    EXPECT_EQ(hash_of(GetParam(), "sound", 1), all);
}

INSTANTIATE_TEST_SUITE_P(, CulledRun, testing::ValuesIn(cuts), [](const auto& run) { return run.param.name; });

TEST(Culling, ByConesPromisesNothing)
{
    const auto promise = [](const char* culling) {
        const Scene scene = load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/falling-cloth.yaml",
                                       {std::string("contact.culling=") + culling});
        return find_method(scene.method.method)->promise(scene.method).no_crossing;
    };
    EXPECT_TRUE(promise("sound"));
    EXPECT_TRUE(promise("none"));
    EXPECT_FALSE(promise("cones"));
    EXPECT_FALSE(promise("cones-paper"));
}

} // namespace
} // namespace pliant
