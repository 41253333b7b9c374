// Limits that the user sets: kept, or said.

#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

namespace pliant {
namespace {

/// A sheet held at two corners with a ball of the given density on it, for 0.3 s.
Certificate certificate_of_a_loaded_sheet(Real density, const std::vector<std::string>& overrides = {})
{
    const Scene scene = parse_scene(R"(
title: Load
time: {step: 5 ms, end: 0.3, fps: 40}
contact: {method: implicit}
materials:
  cotton: {type: cloth, stretch: 50 N/m, shear: 10 N/m, max-strain: 10 %}
  lead: {type: rigid, density: )" + std::to_string(density) +
                                        R"(}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [0.5, 0.5], vertices: [9, 9]}}, pin: {vertices: [0, 8, 72, 80]}}
  ball: {material: lead, mesh: {sphere: {radius: 0.06, subdivisions: 2}}, place: {at: [0, 0.065, 0]}}
)",
                                    "load.yaml", overrides);
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    run_scene(scene, world, options);
    return certify_run(RunReader(dir / "run"));
}

TEST(Limits, AStrainLimitThatIsNotKeptIsSaidWithBodyStepAndAmount)
{
    const Certificate c = certificate_of_a_loaded_sheet(20000);
    const std::string words = certificate_words(c);
    EXPECT_NE(words.find("Not reached: max-strain in"), std::string::npos) << words;
    EXPECT_NE(words.find("where 'sheet' was"), std::string::npos) << words;
    EXPECT_TRUE(c.clean()) << "it is no intersection";
}

TEST(Limits, AStrainLimitThatIsKeptIsNotMentioned)
{
    const Certificate c = certificate_of_a_loaded_sheet(20);
    EXPECT_TRUE(c.not_reached.empty()) << c.not_reached.front();
}

TEST(Limits, ASolveThatEndsAboveItsToleranceIsSaid)
{
    const Certificate c = certificate_of_a_loaded_sheet(
        20, {"contact.tolerance=1e-9", "contact.max-iterations=1", "contact.solver=ica-paper"});
    const std::string words = certificate_words(c);
    EXPECT_NE(words.find("Not reached: the solver's tolerance in"), std::string::npos) << words;
}

} // namespace
} // namespace pliant
