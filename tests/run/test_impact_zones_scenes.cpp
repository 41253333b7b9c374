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
    const std::vector<Real> contacts = reader.stats().values("contacts");
    EXPECT_GT(*std::max_element(contacts.begin(), contacts.end()), 0) << "a cut that says nothing about contact";
}

const std::vector<Cut> cuts = {
    {"falling-cloth", {"bodies.sheet.mesh.grid.vertices=[25, 25]"}, 120},
    {"cloth-over-sphere", {"bodies.sheet.mesh.grid.vertices=[25, 25]", "bodies.sheet.place.at=[0, 0.32, 0]"}, 60},
    {"tablecloth", {"bodies.cloth.motion.keyframes=[{time: 0.05}, {time: 0.35, move: [1.2, 0, 0]}]"}, 40},
    {"layers", {"bodies.right-leg.motion.keyframes=[{time: 0}, {time: 0.2, turn: [-60, 0, 0]}]"}, 40},
    {"unified", {}, 40},
};

INSTANTIATE_TEST_SUITE_P(, ImpactZonesScene, testing::ValuesIn(cuts),
                         [](const auto& cut) { return test_name(cut.param.scene); });

} // namespace
} // namespace pliant
