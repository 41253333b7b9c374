// Cuts of the scenes with garments: coarse, with every state and every path certified. The soak tests run them in full.

#include "run/shipped_scenes.hpp"

namespace pliant {
namespace {

struct GarmentCut {
    const char* scene;
    const char* method;
    std::vector<std::string> overrides;
    int steps;
    bool sewn; ///< at the end
};

void PrintTo(const GarmentCut& cut, std::ostream* out)
{
    *out << cut.scene << " with " << cut.method;
}

class GarmentScene : public testing::TestWithParam<GarmentCut> {};

TEST_P(GarmentScene, IsCertifiedInEveryStateAndOnTheWay)
{
    const GarmentCut& cut = GetParam();
    std::vector<std::string> overrides = cut.overrides;
    overrides.push_back(std::string("contact.method=") + cut.method);
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
    EXPECT_EQ(c.uncertain_impacts, 0);
    EXPECT_TRUE(c.clean());
    if (cut.sewn) {
        EXPECT_EQ(world.state.sewn.size(), world.model.seams.size());
    }
    const std::vector<Real> contacts = reader.stats().values("contacts");
    EXPECT_GT(*std::max_element(contacts.begin(), contacts.end()), 0) << "a cut that says nothing about contact";
}

const std::vector<std::string> coarse_shirt = {"bodies.shirt.mesh.garment.edge=4 cm"};
const std::vector<std::string> coarse_trousers = {"bodies.trousers.mesh.garment.edge=4 cm"};

std::vector<std::string> coarse_outfit()
{
    std::vector<std::string> overrides = {"bodies.coat.mesh.garment.edge=5 cm"};
    overrides.insert(overrides.end(), coarse_shirt.begin(), coarse_shirt.end());
    overrides.insert(overrides.end(), coarse_trousers.begin(), coarse_trousers.end());
    return overrides;
}

/// Coarse skirts, up to the end of the first kick.
std::vector<std::string> coarse_dress()
{
    std::vector<std::string> overrides = {"time.step=6 ms"};
    for (int i = 1; i <= 6; ++i) {
        const std::string cone = "bodies.skirt-" + std::to_string(i) + ".mesh.cone.";
        overrides.push_back(cone + "around=24");
        overrides.push_back(cone + "along=12");
    }
    return overrides;
}

const std::vector<GarmentCut> garment_cuts = {
    {"shirt", "impact-zones", coarse_shirt, 120, true},       {"shirt", "implicit", coarse_shirt, 150, true},
    {"trousers", "impact-zones", coarse_trousers, 120, true}, {"trousers", "implicit", coarse_trousers, 250, true},
    {"outfit", "implicit", coarse_outfit(), 60, false},       {"dress", "implicit", coarse_dress(), 250, false},
};

INSTANTIATE_TEST_SUITE_P(, GarmentScene, testing::ValuesIn(garment_cuts), [](const auto& cut) {
    return test_name(cut.param.scene + std::string("_") + cut.param.method);
});

} // namespace
} // namespace pliant
