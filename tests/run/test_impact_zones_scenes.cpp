// Cuts of shipped scenes with method "impact-zones": every state and every path certified.

#include "run/shipped_scenes.hpp"

namespace pliant {
namespace {

struct Cut {
    const char* scene;
    std::vector<std::string> overrides; ///< as with --set: coarse, or contact early
    int steps;
};

void PrintTo(const Cut& cut, std::ostream* out)
{
    *out << cut.scene;
}

class ImpactZonesScene : public testing::TestWithParam<Cut> {};

TEST_P(ImpactZonesScene, HasNoCrossingInAnyStateOrOnTheWay)
{
    const Cut& cut = GetParam();
    std::vector<std::string> overrides = cut.overrides;
    overrides.push_back("contact.method=impact-zones");
    const Scene scene =
        load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes" / (cut.scene + std::string(".yaml")), overrides);
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    options.every_step = true;
    options.most_steps = cut.steps;
    EXPECT_EQ(run_scene(scene, world, options).step, cut.steps);
    const RunReader reader(dir / "run");
    const Certificate c = certify_run(reader);
    EXPECT_EQ(c.frames, reader.frame_count());
    EXPECT_GE(c.frames, cut.steps + 1);
    EXPECT_EQ(c.uncertain_impacts, 0);
    EXPECT_TRUE(c.clean());
    const std::vector<Real> impacts = reader.stats().values("impacts");
    EXPECT_GT(*std::max_element(impacts.begin(), impacts.end()), 0) << "a cut that says nothing about contact";
}

TEST(Ribbon, ZonesAppearGrowAndLetGoAgain)
{
    const Scene scene = load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes" / "ribbon.yaml",
                                   {"bodies.ribbon.mesh.grid.vertices=[6, 101]", "time.end=0.6"});
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    run_scene(scene, world, options);
    const std::vector<Real> largest = RunReader(dir / "run").stats().values("largest_zone");
    int appeared = 0, let_go = 0;
    for (std::size_t i = 1; i < largest.size(); ++i) {
        appeared += largest[i - 1] == 0 && largest[i] > 0;
        let_go += largest[i - 1] > 0 && largest[i] == 0;
    }
    EXPECT_GE(appeared, 3);
    EXPECT_GE(let_go, 3);
    EXPECT_GT(*std::max_element(largest.begin(), largest.end()), 12) << "more than three elements meet at once";
}

/// All skirts coarse, and a kick at once.
std::vector<std::string> coarse_layers()
{
    std::vector<std::string> overrides = {
        "bodies.right-leg.motion.keyframes=[{time: 0}, {time: 0.08, turn: [-60, 0, 0]}]"};
    for (int i = 1; i <= 6; ++i) {
        const std::string cone = "bodies.skirt-" + std::to_string(i) + ".mesh.cone.";
        overrides.push_back(cone + "around=24");
        overrides.push_back(cone + "along=10");
    }
    return overrides;
}

const std::vector<Cut> cuts = {
    {"falling-cloth", {"bodies.sheet.mesh.grid.vertices=[20, 20]"}, 100},
    {"cloth-over-sphere", {"bodies.sheet.mesh.grid.vertices=[20, 20]", "bodies.sheet.place.at=[0, 0.32, 0]"}, 40},
    {"tablecloth",
     {"bodies.cloth.mesh.grid.vertices=[19, 13]", "materials.cotton.stretch=100", "materials.cotton.shear=30",
      "bodies.cloth.motion.keyframes=[{time: 0.05}, {time: 0.35, move: [1.2, 0, 0]}]"},
     40},
    {"layers", coarse_layers(), 40},
    {"unified",
     {"bodies.lower-sheet.mesh.grid.vertices=[18, 18]", "bodies.upper-sheet.mesh.grid.vertices=[15, 15]"},
     40},
    {"ribbon", {"bodies.ribbon.mesh.grid.vertices=[6, 101]"}, 130},
};

INSTANTIATE_TEST_SUITE_P(, ImpactZonesScene, testing::ValuesIn(cuts),
                         [](const auto& cut) { return test_name(cut.param.scene); });

} // namespace
} // namespace pliant
