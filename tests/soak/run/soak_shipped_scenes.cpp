// Every shipped scene in full length: certified, and with what it expects.

#include "run/shipped_scenes.hpp"

namespace pliant {
namespace {

class ShippedScene : public testing::TestWithParam<std::string> {};

TEST_P(ShippedScene, KeepsItsPromiseAndMeetsItsExpectationsInFullLength)
{
    const Scene scene = shipped_scene(GetParam());
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    EXPECT_TRUE(run_scene(scene, world, options).finished);
    EXPECT_TRUE(certify_run(RunReader(dir / "run")).kept());
}

INSTANTIATE_TEST_SUITE_P(, ShippedScene, testing::ValuesIn(shipped_scenes()),
                         [](const auto& scene) { return test_name(scene.param); });

} // namespace
} // namespace pliant
