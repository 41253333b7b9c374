#include "pliant/run/array_file.hpp"
#include "pliant/run/expectations.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/runner.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <map>

namespace pliant {
namespace {

/// One box that flies off, and one that stays where it is.
const std::string text = R"(
time: {step: 10 ms, end: 0.2, fps: 50}
gravity: [0, 0, 0]
contact: {method: none}
materials: {steel: {type: rigid}}
bodies:
  still: {material: steel, mesh: {box: {}}}
  flying: {material: steel, mesh: {box: {}}, place: {at: [3, 0, 0]}, velocity: [0, 2, 0]}
)";

std::vector<ExpectationResult> check(const std::string& expect, const std::vector<std::string>& overrides = {})
{
    const TemporaryDirectory dir;
    std::vector<std::string> all = overrides;
    all.push_back("expect=" + expect);
    const Scene scene = parse_scene(text, "scene.yaml", all);
    World world = build_world(scene);
    RunOptions options;
    options.directory = dir / "run";
    run_scene(scene, world, options);
    return check_expectations(RunReader(options.directory));
}

TEST(Expectation, OfBoundsLooksAtTheLastFrame)
{
    EXPECT_TRUE(check("{bounds: {min: [-1, -1, -1], max: [4, 1, 1]}}").at(0).met);
    const ExpectationResult failed = check("{bounds: {min: [-1, -1, -1], max: [4, 0.8, 1]}}").at(0);
    EXPECT_FALSE(failed.met);
    EXPECT_EQ(failed.detail, "(-0.5, -0.5, -0.5) to (3.5, 0.9, 0.5)");
}

TEST(Expectation, OfRestNamesTheBodyThatMoves)
{
    const ExpectationResult failed = check("{at-rest-by: 0.1}").at(0);
    EXPECT_FALSE(failed.met);
    EXPECT_NE(failed.detail.find("'flying' still moves with 2 m/s"), std::string::npos) << failed.detail;
    EXPECT_TRUE(check("{at-rest-by: 0.1}", {"bodies.flying.velocity=[0, 0, 0]"}).at(0).met);
    EXPECT_TRUE(check("{at-rest-by: 0.1, rest-speed: 2.1 m/s}").at(0).met) << "the scene's own idea of rest";
    EXPECT_FALSE(check("{at-rest-by: 0.1, rest-speed: 1.9 m/s}").at(0).met);
    EXPECT_FALSE(check("{at-rest-by: 5}", {"bodies.flying.velocity=[0, 0, 0]"}).at(0).met); // the run is shorter
}

TEST(Expectation, OfAMethodStandsInPlaceOfTheOthers)
{
    const std::string expect = "{at-rest-by: 0.1, contacts: 9, methods: {none: {at-rest-by: 0.1, rest-speed: 3}}}";
    const std::vector<ExpectationResult> own = check(expect);
    ASSERT_EQ(own.size(), 1u) << "contacts are not asked for";
    EXPECT_TRUE(own[0].met) << own[0].detail;
    const std::vector<ExpectationResult> common = check(expect, {"contact.method=implicit"});
    ASSERT_EQ(common.size(), 2u);
    EXPECT_FALSE(common[0].met);
    EXPECT_FALSE(common[1].met);
    EXPECT_TRUE(check("{contacts: 9, methods: {none: {}}}").empty()) << "an empty map expects nothing";
}

TEST(Expectation, OfRestLooksAtTheRootMeanSquareSpeedOfABody)
{
    // A cube that spins about a diagonal: two corners rest, six move with sqrt(2/3) m/s, on average sqrt(1/2) m/s.
    const std::vector<std::string> spin = {"bodies.flying.velocity=[0, 0, 0]",
                                           "bodies.flying.spin=[0.57735, 0.57735, 0.57735]"};
    EXPECT_TRUE(check("{at-rest-by: 0.1, rest-speed: 0.71 m/s}", spin).at(0).met);
    EXPECT_FALSE(check("{at-rest-by: 0.1, rest-speed: 0.70 m/s}", spin).at(0).met);
}

TEST(Expectation, OfContactsFailsWithoutContact)
{
    EXPECT_FALSE(check("{contacts: 1}").at(0).met);
    EXPECT_TRUE(check("{contacts: 0}").at(0).met);
    EXPECT_TRUE(check("{contacts: 1}", {"contact.method=implicit", "bodies.flying.place.at=[0, -1.2, 0]"}).at(0).met);
}

TEST(Expectation, OfLayersCountsSheetsAlongGravity)
{
    const auto layers = [](const std::string& gravity, int wanted) {
        const TemporaryDirectory dir;
        const Scene scene =
            parse_scene(R"(
time: {step: 1 ms, end: 1 ms, fps: 1000}
contact: {method: none}
materials: {cotton: {type: cloth, density: 0.2, stretch: 10}}
bodies:
  low: {material: cotton, mesh: {grid: {size: [1, 1], vertices: [5, 5]}}, copies: {grid: {count: [1, 3, 1], spacing: [1, 0.2, 1]}}}
  far: {material: cotton, mesh: {grid: {size: [1, 1], vertices: [5, 5]}}, place: {at: [5, 0, 0]}}
  block: {obstacle: {mesh: {box: {}}}, place: {at: [0, 5, 0]}}
)",
                        "scene.yaml", {"gravity=" + gravity, "expect={layers: " + std::to_string(wanted) + "}"});
        World world = build_world(scene);
        RunOptions options;
        options.directory = dir / "run";
        run_scene(scene, world, options);
        return check_expectations(RunReader(options.directory)).at(0);
    };
    EXPECT_TRUE(layers("[0, -9.81, 0]", 3).met);
    const ExpectationResult more = layers("[0, -9.81, 0]", 4);
    EXPECT_FALSE(more.met);
    EXPECT_EQ(more.detail, "3 at most, at least 4 expected");
    EXPECT_TRUE(layers("[0, 0, 0]", 3).met) << "without gravity along y";
    EXPECT_FALSE(layers("[0, 0, -9.81]", 2).met) << "edge on they hide nothing";
}

/// The run of a scene in a directory, and its first expectation with other statistics or without change.
ExpectationResult checked_run(const std::string& scene_text, const std::vector<std::string>& overrides,
                              const std::map<std::string, std::vector<std::string>>& touched = {})
{
    const TemporaryDirectory dir;
    const Scene scene = parse_scene(scene_text, "scene.yaml", overrides);
    World world = build_world(scene);
    RunOptions options;
    options.directory = dir / "run";
    run_scene(scene, world, options);
    if (!touched.empty()) {
        const Stats stats = RunReader(options.directory).stats();
        std::string csv;
        const auto add = [&](const std::vector<std::string>& row) {
            for (std::size_t i = 0; i < row.size(); ++i) csv += (i == 0 ? "" : ",") + row[i];
            csv += "\n";
        };
        add(stats.columns);
        for (std::size_t i = 0; i < stats.rows.size(); ++i) {
            std::vector<std::string> row = stats.rows[i];
            for (const auto& [name, values] : touched) row.at(stats.column(name)) = values.at(i % values.size());
            add(row);
        }
        write_atomically(options.directory / run_file::stats, csv);
    }
    return check_expectations(RunReader(options.directory)).at(0);
}

TEST(Expectation, OfSeamsWantsAllPartnersTogetherAtTheEnd)
{
    const std::string bag = R"(
time: {step: 5 ms, end: 1 s, fps: 5}
gravity: [0, 0, 0]
materials: {cotton: {type: cloth, drag: 1}}
bodies:
  bag:
    material: cotton
    mesh:
      garment:
        edge: 5 cm
        pull: 0.03
        panels:
          front: {outline: [{to: [20, 0], name: hem}, {to: [20, 15], name: right}, {to: [0, 15], name: top}, {to: [0, 0], name: left}], at: [0.05, 0, 0]}
          back: {outline: [{to: [20, 0], name: hem}, {to: [20, 15], name: right}, {to: [0, 15], name: top}, {to: [0, 0], name: left}], at: [-0.25, 0, 0]}
        seams: [[front.left, back.right]]
)";
    const ExpectationResult sewn = checked_run(bag, {"expect={sewn: true}"});
    EXPECT_TRUE(sewn.met) << sewn.detail;
    const ExpectationResult open = checked_run(bag, {"expect={sewn: true}", "time.end=10 ms"});
    EXPECT_FALSE(open.met);
    EXPECT_NE(open.detail.find("4 vertices of seams are apart from their partners, those of 'bag' by 0.1"),
              std::string::npos)
        << open.detail;
    EXPECT_TRUE(checked_run(bag, {"expect={sewn: false}", "time.end=10 ms"}).met);
    EXPECT_FALSE(check("{sewn: true}").at(0).met) << "there is no seam";
}

TEST(Expectation, OfStrainLooksAtTheWorstStep)
{
    EXPECT_TRUE(checked_run(text, {"expect={strain-excess: 0}"}).met);
    const std::map<std::string, std::vector<std::string>> strained = {{"strain_excess", {"0", "0.002", "0", "0.004"}}};
    EXPECT_TRUE(checked_run(text, {"expect={strain-excess: 0.004}"}, strained).met);
    const ExpectationResult failed = checked_run(text, {"expect={strain-excess: 0.003}"}, strained);
    EXPECT_FALSE(failed.met);
    EXPECT_EQ(failed.detail, "0.004 of the allowed length in the step to 0.04 s, at most 0.003 expected");
}

TEST(Expectation, OfRoundsCountsTheStepsWithin)
{
    const std::map<std::string, std::vector<std::string>> rounds = {{"max_rounds", {"1", "3", "4", "2", "2"}}};
    const auto with = [&](const std::string& part) {
        return checked_run(text, {"contact.method=implicit", "expect={rounds: {most: 3, part: " + part + "}}"}, rounds);
    };
    EXPECT_TRUE(with("0.8").met);
    EXPECT_FALSE(with("0.81").met);
    EXPECT_EQ(with("0.81").detail, "80.00 % of 20 steps within 3, at least 81 % expected");
    EXPECT_FALSE(checked_run(text, {"expect={rounds: {most: 3, part: 0}}"}).met) << "free motion has no rounds";
}

TEST(Expectation, OfEnergyFindsTheStepThatGains)
{
    EXPECT_TRUE(check("{energy-gain: 1e-9}").at(0).met) << "nothing happens to them";
    // A run whose statistics are touched up: 4 J more in the fifth step, of 4000 J.
    std::vector<std::string> elastic(20, "4");
    std::fill_n(elastic.begin(), 4, "0");
    const ExpectationResult failed = checked_run(text, {"expect={energy-gain: 1e-4}"}, {{"elastic_energy", elastic}});
    EXPECT_FALSE(failed.met);
    EXPECT_EQ(failed.detail, "0.002 of the kinetic energy in the step to 0.05 s, at most 0.0001 expected");
}

} // namespace
} // namespace pliant
