#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/runner.hpp"

#include <gtest/gtest.h>

#include <fstream>

using namespace pliant;
namespace fs = std::filesystem;

namespace {

/// A ball falls onto a box that lies on the ground.
std::string falling_ball(const std::string& method, const std::string& expect = "{}")
{
    return "time: {step: 5 ms, end: 0.5 s, fps: 50}\n"
           "contact: {method: " +
           method +
           "}\n"
           "materials: {lead: {type: rigid, density: 1000}}\n"
           "bodies:\n"
           "  ball: {material: lead, mesh: {sphere: {radius: 0.1, subdivisions: 2}}, place: {at: [0, 0.8, 0]}}\n"
           "  table: {obstacle: {mesh: {box: {size: [1, 0.5, 1]}}}, place: {at: [0, 0.3, 0]}}\n"
           "  ground: {obstacle: {plane: {y: 0}}}\n"
           "expect: " +
           expect + "\n";
}

class CertificateRun : public testing::Test {
protected:
    void SetUp() override
    {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        directory = fs::path(testing::TempDir()) / (std::string("certificate-") + info->name());
        fs::remove_all(directory);
    }
    void TearDown() override { fs::remove_all(directory); }

    void simulate(const std::string& text, bool every_step = false) const
    {
        const Scene scene = parse_scene(text, "test.yaml");
        World world = build_world(scene);
        RunOptions options;
        options.directory = directory;
        options.every_step = every_step;
        run_scene(scene, world, options);
    }

    Certificate certify() const { return certify_run(RunReader(directory)); }

    fs::path directory;
};

} // namespace

TEST_F(CertificateRun, ShowsWhatPassesThroughWithoutContactAndPromisesNothing)
{
    simulate(falling_ball("none"));
    const Certificate c = certify();
    EXPECT_FALSE(c.promise.no_crossing);
    EXPECT_TRUE(c.kept()) << "nothing was promised or expected";
    EXPECT_FALSE(c.clean());
    EXPECT_EQ(c.frames, 26);
    ASSERT_GT(c.intersections, 0);
    // It reaches the table's top, 0.15 below its lowest point, after sqrt(2 * 0.15 / g) = 0.175 s.
    EXPECT_GE(c.crossings[0].time, 0.17);
    EXPECT_LE(c.crossings[0].time, 0.21);
    const RunReader reader(directory);
    bool inside = false;
    for (const CertificateEnclosure& e : c.enclosed) {
        EXPECT_EQ(reader.bodies()[e.body].name, "ball");
        inside = inside || reader.bodies()[e.container].name == "table";
    }
    EXPECT_TRUE(inside) << "vertices inside the table";
    bool whole = false; // at some frame all of the ball is inside: no triangles meet, and still it shows
    for (const CertificateEnclosure& e : c.enclosed)
        whole = whole ||
                (reader.bodies()[e.container].name == "table" && e.vertices == reader.bodies()[e.body].vertex_count);
    EXPECT_TRUE(whole);
}

TEST_F(CertificateRun, ChecksWhatTheSceneExpects)
{
    simulate(falling_ball("none", "{intersections: 0, contacts: 1, at-rest-by: 0.4 s, "
                                  "bounds: {min: [-1, -9, -1], max: [1, 1, 1]}}"));
    const Certificate c = certify();
    ASSERT_EQ(c.expectations.size(), 4u);
    for (const ExpectationResult& e : c.expectations) EXPECT_EQ(e.met, e.name == "bounds") << e.name;
    EXPECT_FALSE(c.kept());
}

TEST_F(CertificateRun, MeasuresHowDeepVerticesAreInOtherBodies)
{
    // A block that hangs 3 cm behind a plane and 2 cm in a box from the start, and does not move.
    const std::string text =
        "time: {step: 10 ms, end: 20 ms, fps: 100}\ngravity: [0, 0, 0]\n"
        "contact: {method: none}\nmaterials: {lead: {type: rigid}}\n"
        "bodies:\n"
        "  block: {material: lead, mesh: {box: {size: [0.2, 0.2, 0.2]}}, place: {at: [0, 0.07, 0]}}\n"
        "  post: {obstacle: {mesh: {box: {size: [0.1, 1, 1]}}}, place: {at: [0.13, 0.2, 0]}}\n"
        "  ground: {obstacle: {plane: {y: 0}}}\n";
    for (const auto& [expect, met] : {std::pair("0.031", true), {"0.029", false}}) {
        simulate(text + "expect: {penetration: " + expect + "}\n");
        const Certificate c = certify();
        EXPECT_NEAR(c.penetration.depth, 0.03, 1e-12);
        EXPECT_NEAR(c.penetration.edges, 0.15, 1e-12) << "of edges of 20 cm";
        EXPECT_EQ(c.penetration.body, "block");
        EXPECT_EQ(c.penetration.container, "ground");
        ASSERT_EQ(c.expectations.size(), 1u);
        EXPECT_EQ(c.expectations[0].met, met);
        fs::remove_all(directory);
    }
    simulate(text + "no-contact: [[block, ground]]\n");
    const Certificate c = certify();
    EXPECT_NEAR(c.penetration.depth, 0.02, 1e-12) << "what does not collide does not count";
    EXPECT_NE(certificate_words(c).find("The deepest penetration is 0.02 m, 0.1 of an edge: 'block' in 'post'"),
              std::string::npos)
        << certificate_words(c);
}

TEST_F(CertificateRun, SaysWhereTetrahedraAreInsideOut)
{
    // Its top is pulled down through its bottom.
    simulate("time: {step: 10 ms, end: 0.2, fps: 50}\ngravity: [0, 0, 0]\ncontact: {method: none}\n"
             "materials: {jelly: {type: solid, young: 1 kPa}}\n"
             "bodies: {cube: {material: jelly, mesh: {tet-box: {cells: [1, 1, 1]}},\n"
             "  pin: [{box: {min: [-1, 0.4, -1], max: [1, 1, 1]},\n"
             "         motion: {keyframes: [{time: 0}, {time: 0.2, move: [0, -2, 0]}]}},\n"
             "        {box: {min: [-1, -1, -1], max: [1, -0.4, 1]}}]}}\n");
    const Certificate c = certify();
    ASSERT_EQ(c.not_reached.size(), 1u);
    EXPECT_EQ(c.not_reached[0].find("tetrahedra the right way round in 1"), 0u) << c.not_reached[0];
    EXPECT_NE(c.not_reached[0].find("at most 6 were inside out"), std::string::npos) << c.not_reached[0];
    EXPECT_NE(c.not_reached[0].find("'cube'"), std::string::npos) << c.not_reached[0];
}

TEST_F(CertificateRun, LetsPinnedPartsSlideExactlyOnAPlane)
{
    simulate(R"(
time: {step: 10 ms, end: 0.2, fps: 25}
materials: {cotton: {type: cloth}}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [0.2, 0.2], vertices: [5, 5]}}, pin: {vertices: [0, 4]}, motion: {keyframes: [{time: 0}, {time: 0.2, move: [0.1, 0, 0]}]}}
  floor: {obstacle: {plane: {y: 0}}}
)",
             true);
    const Certificate c = certify();
    EXPECT_TRUE(c.kept()) << certificate_words(c);
    EXPECT_EQ(c.steps_checked, 20);
}

TEST_F(CertificateRun, ImplicitContactKeepsItsPromiseInEveryStep)
{
    simulate(falling_ball("implicit", "{intersections: 0, contacts: 1}"), true);
    const Certificate c = certify();
    EXPECT_TRUE(c.promise.no_crossing);
    EXPECT_TRUE(c.clean());
    EXPECT_TRUE(c.kept());
    EXPECT_EQ(c.frames, 101);
    EXPECT_EQ(c.steps_checked, 100);
    EXPECT_GT(c.pairs_tested, 0);
    EXPECT_GT(c.path_pairs, 0);
}

TEST_F(CertificateRun, BothKindsOfContinuousDetectionKeepThePromiseInEveryStep)
{
    for (const std::string ccd : {"advancement", "cubic"}) {
        fs::remove_all(directory);
        simulate("time: {step: 5 ms, end: 0.6 s}\n"
                 "contact: {friction: 0.3, ccd: " +
                     ccd +
                     "}\n"
                     "materials: {cotton: {type: cloth, bend: 1e-4}, lead: {type: rigid, density: 2000}}\n"
                     "bodies:\n"
                     "  sheet: {material: cotton, mesh: {grid: {size: [0.6, 0.6], vertices: [14, 14]}},"
                     " place: {at: [0, 0.38, 0]}}\n"
                     "  edge: {obstacle: {mesh: {box: {size: [0.2, 0.2, 0.2]}}}, place: {at: [0, 0.18, 0],"
                     " turn: [45, 0, 30]}}\n"
                     "  ball: {material: lead, mesh: {sphere: {radius: 0.05, subdivisions: 2}},"
                     " place: {at: [0.02, 0.45, 0.01]}}\n"
                     "  ground: {obstacle: {plane: {y: 0}}}\n"
                     "expect: {intersections: 0, contacts: 20}\n",
                 true);
        const Certificate c = certify();
        EXPECT_EQ(c.frames, 121) << ccd;
        EXPECT_EQ(c.intersections, 0) << ccd;
        EXPECT_TRUE(c.kept()) << ccd << ": " << certificate_words(c);
    }
}

TEST_F(CertificateRun, FollowsTheSubStepsOfAStep)
{
    // Without room for refinement, some of the steps are cut.
    simulate("time: {step: 10 ms, end: 0.2 s}\n"
             "contact: {max-rounds: 1}\n"
             "materials: {cotton: {type: cloth}, lead: {type: rigid, density: 2000}}\n"
             "bodies:\n"
             "  sheet: {material: cotton, mesh: {grid: {size: [0.6, 0.6], vertices: [12, 12]}},"
             " place: {at: [0, 0.15, 0]}}\n"
             "  needle: {material: lead, mesh: {box: {size: [0.02, 0.2, 0.02]}}, place: {at: [0.02, 0.4, 0.01],"
             " turn: [20, 0, 30]}, velocity: [3, -30, 0], spin: [50, 0, 30]}\n"
             "  ground: {obstacle: {plane: {y: 0}}}\n",
             true);
    Certificate c = certify();
    EXPECT_TRUE(c.clean()) << certificate_words(c);
    EXPECT_EQ(c.uncertain_impacts, 0);
    const RunReader reader(directory);
    Index cut = none;
    for (Index i = 1; i < reader.frame_count(); ++i) {
        const StoredFrame frame = reader.stored_frame(i);
        for (const StoredState& s : frame.inner) {
            EXPECT_GT(s.time, reader.frame(i - 1).time);
            EXPECT_LT(s.time, frame.state.time);
            EXPECT_EQ(s.planes.size(), 1u);
        }
        if (!frame.inner.empty()) cut = i;
    }
    ASSERT_NE(cut, none) << "no step was cut";
    StoredFrame frame = reader.stored_frame(cut);
    const RunBody& sheet = reader.bodies()[reader.find_body("sheet")];
    frame.inner[0].position[sheet.first_block + 5].y() = -0.1; // behind the ground, in between only
    save_frame(frame, reader.frame_path(cut));
    c = certify();
    EXPECT_FALSE(c.kept());
    ASSERT_GT(c.path_impacts, 0);
    bool ground = false;
    for (const CertificateImpact& i : c.impacts) {
        EXPECT_EQ(i.frame, cut);
        ground = ground || i.impact.kind == PathKind::vertex_plane;
    }
    EXPECT_TRUE(ground);
}

TEST_F(CertificateRun, FindsPlantedIntersectionsAndTunnelling)
{
    simulate(falling_ball("implicit"), true);
    const RunReader reader(directory);
    const RunBody& ball = reader.bodies()[reader.find_body("ball")];
    const auto plant = [&](Index number, const Vec3& by) {
        StoredFrame frame = reader.stored_frame(number);
        frame.state.carriers.poses[reader.mesh().map.frame[ball.first_vertex]].translation += by;
        save_frame(frame, reader.frame_path(number));
    };
    const StoredFrame last = reader.stored_frame(100);
    plant(100, Vec3(0, -0.15, 0));
    Certificate c = certify();
    EXPECT_FALSE(c.kept());
    EXPECT_EQ(c.frames_intersecting, 1);
    EXPECT_EQ(c.crossings.at(0).frame, 100);
    EXPECT_GT(c.enclosures, 0);
    EXPECT_GT(c.path_impacts, 0);

    // Through the table and out at its lower side: the frames are clean, the path is not.
    save_frame(last, reader.frame_path(100));
    plant(100, Vec3(3, 0, 0));
    EXPECT_TRUE(certify().clean()) << "aside of the table";
    plant(99, Vec3(3, 0, 0));
    plant(100, Vec3(-6, 0, 0));
    EXPECT_TRUE(certify().clean());
    plant(99, Vec3(0, -0.3, 0));
    plant(100, Vec3(0, -0.3, 0));
    c = certify();
    EXPECT_EQ(c.intersections, 0);
    EXPECT_EQ(c.enclosures, 0);
    EXPECT_GT(c.path_impacts, 0) << "from one side of the table to the other in one step, through it";
    EXPECT_FALSE(c.kept());

    save_frame(last, reader.frame_path(100));
    plant(99, Vec3(-3, 0.3, 0));
    plant(100, Vec3(0, -0.65, 0)); // below the table, half in the ground
    c = certify();
    bool behind = false;
    for (const CertificateEnclosure& e : c.enclosed) behind = behind || reader.bodies()[e.container].name == "ground";
    EXPECT_TRUE(behind);
}

TEST_F(CertificateRun, DoesNotDependOnTheNumberOfThreads)
{
    simulate(falling_ball("none"));
    const RunReader reader(directory);
    const auto text = [&] {
        Certificate c = certify();
        c.seconds = 0;
        nlohmann::ordered_json json = certificate_json(c, reader.mesh());
        json.erase("checked");
        return json.dump();
    };
    set_thread_count(1);
    const std::string one = text();
    set_thread_count(2);
    EXPECT_EQ(text(), one);
    set_thread_count(0);
}

TEST_F(CertificateRun, WritesItsFindingsAsJson)
{
    simulate(falling_ball("none"));
    const RunReader reader(directory);
    save_certificate(certify(), reader);
    std::ifstream stream(directory / run_file::certificate);
    const nlohmann::json json = nlohmann::json::parse(stream);
    EXPECT_EQ(json.at("method"), "none");
    EXPECT_EQ(json.at("clean"), false);
    const nlohmann::json& first = json.at("crossings").at(0);
    EXPECT_EQ(first.at("bodies").at(0), "ball");
    EXPECT_EQ(first.at("bodies").at(1), "table");
    EXPECT_LT(first.at("triangles").at(1).get<int>(), 12) << "numbers count within the body";
}

TEST_F(CertificateRun, RefusesDamagedAndMissingFrames)
{
    simulate(falling_ball("none"));
    const RunReader reader(directory);
    fs::resize_file(reader.frame_path(7), fs::file_size(reader.frame_path(7)) - 9);
    EXPECT_THROW(certify(), Error);
    fs::remove(reader.frame_path(7));
    EXPECT_THROW(certify(), Error) << "a hole is not the end of the run";
}
