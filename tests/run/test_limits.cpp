// Limits that the user sets: kept, or said.

#include "pliant/methods/implicit_memory.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"
#include "pliant/world/strain.hpp"
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
    const Certificate c = certificate_of_a_loaded_sheet( // a corner is pulled further than the cloth may stretch
        20, {"bodies.sheet.pin=[{vertices: [8, 72, 80]}, {vertices: [0], motion: {keyframes: [{time: 0.2, move: [-0.2, "
             "0, -0.2]}]}}]"});
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

TEST(Limits, AStepTooLongForItsStrainLimitIsGivenUpEarlyAndTakenInShorterOnes)
{
    // A cloth that meets a ball at 2.4 m/s with steps of 8 cm: the whole of it must be pulled along at once.
    const Scene scene =
        load_scene(std::string(PLIANT_SOURCE_DIR) + "/scenes/cloth-over-sphere.yaml", {"time.step=33 ms"});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    bool halved = false;
    for (int step = 0; step < 10; ++step) {
        const StepReport report = method->step(world, scene.step);
        const ImplicitReport& own = report.own.get<ImplicitReport>();
        EXPECT_LT(own.contact_iterations, 300) << "step " << step; // an attempt to its end takes that many
        EXPECT_EQ(own.unconverged, 0) << "step " << step;
        EXPECT_LE(strain_excess(world.model, world.state.position).amount, 0.01) << "step " << step;
        halved |= own.halvings > 0;
    }
    EXPECT_TRUE(halved) << "the scene shows nothing";
}

TEST(Limits, ASolveThatEndsAboveItsToleranceIsSaid)
{
    const Certificate c = certificate_of_a_loaded_sheet(
        20, {"contact.tolerance=1e-9", "contact.max-iterations=1", "contact.solver=ica-paper"});
    const std::string words = certificate_words(c);
    EXPECT_NE(words.find("Not reached: the solver's tolerance in"), std::string::npos) << words;
}

TEST(Limits, PairsThatAPinchReleasesAreListedInTheRunAndInTheCertificate)
{
    const Scene scene = parse_scene(R"(
time: {step: 10 ms, end: 0.8, fps: 25}
contact: {pinch: release}
materials: {cotton: {type: cloth}}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [0.2, 0.2], vertices: [5, 5]}}, place: {at: [0, 0.1, 0]}, pin: {vertices: [0]}, motion: {keyframes: [{time: 0}, {time: 0.4, move: [0, -0.15, 0]}, {time: 0.8}]}}
  floor: {obstacle: {plane: {y: 0}}}
)",
                                    "pinch.yaml");
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    options.resume = true;
    std::vector<std::string> notes;
    options.on_note = [&](const std::string& note) { notes.push_back(note); };
    for (const std::int64_t steps : {50, 30}) { // what was listed before an interruption stays listed
        World world = build_world(scene);
        options.most_steps = steps;
        run_scene(scene, world, options);
    }
    const RunReader reader(dir / "run");
    const nlohmann::json& listed = reader.info().at("released");
    ASSERT_GE(listed.size(), 1U);
    EXPECT_EQ(listed[0].at("bodies"), nlohmann::json({"sheet", "floor"}));
    EXPECT_EQ(listed[0].at("vertices"), nlohmann::json::array({nlohmann::json::array({"sheet", 0})}));
    EXPECT_NEAR(listed[0].at("time").get<Real>(), 0.26, 0.02) << "as it happens";
    ASSERT_FALSE(notes.empty());
    EXPECT_NE(notes[0].find("pinched between 'sheet' and 'floor'"), std::string::npos) << notes[0];
    const Certificate c = certify_run(reader);
    EXPECT_EQ(c.released.size(), listed.size());
    EXPECT_FALSE(c.clean()) << "the certificate looks at released pairs like at all others";
    EXPECT_NE(certificate_words(c).find("let through as the scene asks"), std::string::npos);
}

} // namespace
} // namespace pliant
