// Cuts of the scenes with garments, certified. The soak tests run them in full.

#include "run/shipped_scenes.hpp"

namespace pliant {
namespace {

struct GarmentCut {
    const char* scene;
    const char* method;
    std::vector<std::string> overrides;
    int steps;
    bool sewn;       ///< at the end
    bool on_the_way; ///< every path is certified, too; otherwise 25 states a second
};

void PrintTo(const GarmentCut& cut, std::ostream* out)
{
    *out << cut.scene << " with " << cut.method;
}

class GarmentScene : public testing::TestWithParam<GarmentCut> {};

TEST_P(GarmentScene, IsCertified)
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
    options.every_step = cut.on_the_way;
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

const std::vector<std::string> coarse_shirt = {"bodies.shirt.mesh.garment.edge=3 cm"};
const std::vector<std::string> coarse_trousers = {"bodies.trousers.mesh.garment.edge=5 cm"};

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
    std::vector<std::string> overrides = {"time.step=8 ms"};
    for (int i = 1; i <= 6; ++i) {
        const std::string cone = "bodies.skirt-" + std::to_string(i) + ".mesh.cone.";
        overrides.push_back(cone + "around=20");
        overrides.push_back(cone + "along=9");
    }
    return overrides;
}

const std::vector<GarmentCut> garment_cuts = {
    {"shirt", "impact-zones", coarse_shirt, 80, true, false},
    {"shirt", "implicit", {}, 220, true, false},
    {"trousers", "impact-zones", {"bodies.trousers.mesh.garment.edge=2.6 cm"}, 90, true, false},
    {"trousers", "implicit", coarse_trousers, 210, true, true},
    {"outfit", "implicit", coarse_outfit(), 30, false, true},
    {"dress", "implicit", coarse_dress(), 180, false, true},
};

INSTANTIATE_TEST_SUITE_P(, GarmentScene, testing::ValuesIn(garment_cuts), [](const auto& cut) {
    return test_name(cut.param.scene + std::string("_") + cut.param.method);
});

} // namespace
} // namespace pliant
