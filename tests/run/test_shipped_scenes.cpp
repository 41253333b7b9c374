// The beginning of every shipped scene: it runs, and what its method promises holds in every step and on the way.
// Those that take a few seconds run to their end; the soak tests run all of them in full length.

#include "run/shipped_scenes.hpp"

namespace pliant {
namespace {

class ShippedScene : public testing::TestWithParam<std::string> {};

TEST_P(ShippedScene, KeepsThePromiseOfItsMethodInItsFirstSteps)
{
#ifdef PLIANT_SANITIZED
    constexpr int steps = 5; // up to twenty times slower: they look at the code that runs, not at how long it does
#else
    constexpr int steps = 30;
#endif
    const Scene scene = shipped_scene(GetParam());
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    options.every_step = promise_of(scene.method).no_crossing; // or there is nothing to follow on the way
    options.most_steps = steps;
    EXPECT_EQ(run_scene(scene, world, options).step, steps);
    const Certificate c = certify_run(RunReader(dir / "run"));
    if (promise_of(scene.method).no_crossing) {
        EXPECT_EQ(c.frames, steps + 1);
        EXPECT_EQ(c.uncertain_impacts, 0);
        EXPECT_TRUE(c.clean());
    }
}

INSTANTIATE_TEST_SUITE_P(, ShippedScene, testing::ValuesIn(shipped_scenes()),
                         [](const auto& scene) { return test_name(scene.param); });

class ShortScene : public testing::TestWithParam<std::string> {};

TEST_P(ShortScene, KeepsItsPromiseAndMeetsItsExpectationsInFullLength)
{
    expect_all_of_it_in_full_length(GetParam());
}

INSTANTIATE_TEST_SUITE_P(, ShortScene,
                         testing::Values("cube-on-cube", "hello", "local-response", "local-vs-global", "stiff-in-soft",
                                         "tablecloth", "two-cubes"),
                         [](const auto& scene) { return test_name(scene.param); });

} // namespace
} // namespace pliant
