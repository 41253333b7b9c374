// render, export, report and check as a user calls them.
#include "pliant/mesh/io.hpp"
#include "pliant/run/files.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

using namespace pliant;
namespace fs = std::filesystem;

namespace {

struct Outcome {
    int code = -1;
    std::string out, err;
    Index error_lines() const { return static_cast<Index>(std::count(err.begin(), err.end(), '\n')); }
};

fs::path place()
{
    static const fs::path path = fs::path(testing::TempDir()) / ("pliant-app-" + std::to_string(::getpid()));
    fs::create_directories(path);
    return path;
}

Outcome pliant_command(const std::string& arguments)
{
    const fs::path out = place() / "stdout", err = place() / "stderr";
    const std::string line =
        std::string(PLIANT_BINARY_DIR) + "/pliant " + arguments + " > '" + out.string() + "' 2> '" + err.string() + "'";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

class ShowCommands : public testing::Test {
protected:
    static void SetUpTestSuite()
    {
        std::ofstream(place() / "scene.yaml") << R"(title: A <ball> & a sheet
time: {step: 10 ms, end: 0.2 s, fps: 50}
contact: {method: none}
materials:
  rubber: {type: solid, density: 1000, young: 1e5, poisson: 0.3}
  cotton: {type: cloth, density: 0.2, stretch: 100, shear: 30}
bodies:
  ball: {material: rubber, mesh: {tet-sphere: {radius: 0.2, layers: 2}}, place: {at: [0, 0.4, 0]}, velocity: [0, -2, 0]}
  sheet: {material: cotton, mesh: {grid: {size: [1, 1], vertices: [8, 8]}}, place: {at: [0, 0.19, 0]}, pin: {vertices: [0, 7, 56, 63]}}
  floor: {obstacle: {plane: {y: 0}}}
)";
        ASSERT_EQ(pliant_command("run -q " + (place() / "scene.yaml").string() + " -o " + run().string()).code, 0);
    }
    static void TearDownTestSuite() { fs::remove_all(place()); }
    static fs::path run() { return place() / "run"; }

    /// One line, exit 2, and no trace of an output.
    static void expect_refused(const std::string& arguments, const std::string& words, const fs::path& output)
    {
        const Outcome o = pliant_command(arguments);
        EXPECT_EQ(o.code, 2) << arguments;
        EXPECT_EQ(o.error_lines(), 1) << arguments << "\n" << o.err;
        EXPECT_NE(o.err.find(words), std::string::npos) << arguments << "\n" << o.err;
        EXPECT_FALSE(fs::exists(output)) << arguments;
    }
};

std::array<unsigned, 2> png_size(const fs::path& path)
{
    const std::string bytes = read_file(path);
    EXPECT_EQ(bytes.substr(1, 3), "PNG");
    const auto number = [&](std::size_t at) {
        unsigned n = 0;
        for (std::size_t k = 0; k < 4; ++k) n = n << 8 | static_cast<unsigned char>(bytes.at(at + k));
        return n;
    };
    return {number(16), number(20)};
}

} // namespace

TEST_F(ShowCommands, RunLeavesACertificateAndAReport)
{
    EXPECT_TRUE(fs::exists(run() / run_file::certificate));
    const std::string page = read_file(run() / run_file::report);
    EXPECT_NE(page.find("A &lt;ball&gt; &amp; a sheet"), std::string::npos) << "the title is escaped";
    EXPECT_EQ(page.find("<ball>"), std::string::npos);
    EXPECT_EQ(page.find("http://"), std::string::npos) << "nothing comes from a network";
    EXPECT_EQ(page.find("https://"), std::string::npos);
    EXPECT_NE(page.find("data:image/png;base64,"), std::string::npos);
    EXPECT_NE(page.find("<svg"), std::string::npos);
    EXPECT_NE(page.find("triangle pairs were tested"), std::string::npos);
    EXPECT_LT(page.size(), 20u << 20);
}

TEST_F(ShowCommands, RenderWritesAPictureOfTheAskedSize)
{
    const fs::path picture = place() / "a.png", sheet = place() / "sheet.png";
    ASSERT_EQ(pliant_command("render " + run().string() + " -o " + picture.string() +
                             " --size 200x120 --samples 2 --frame 3 --subdivide --contacts --penetrations --label")
                  .code,
              0);
    EXPECT_EQ(png_size(picture), (std::array<unsigned, 2>{200, 120}));
    ASSERT_EQ(
        pliant_command("render " + run().string() + " -o " + sheet.string() + " --size 400x200 --samples 1 --sheet 2x2")
            .code,
        0);
    EXPECT_GE(png_size(sheet)[0], 400u);
    ASSERT_EQ(pliant_command("render " + run().string() + " -o " + picture.string() +
                             " --size 64x64 --samples 1 --camera 0,1,3,0,0,0")
                  .code,
              0);
    EXPECT_EQ(png_size(picture), (std::array<unsigned, 2>{64, 64}));
}

TEST_F(ShowCommands, RenderColoursByStressAndElongation)
{
    std::set<std::string> pictures;
    for (const std::string colour : {"body", "elongation", "stress"}) {
        const fs::path picture = place() / ("colour-" + colour + ".png");
        const Outcome o = pliant_command("render " + run().string() + " -o " + picture.string() +
                                         " --size 160x90 --samples 2 --subdivide --colour " + colour);
        ASSERT_EQ(o.code, 0) << o.err;
        pictures.insert(read_file(picture));
    }
    EXPECT_EQ(pictures.size(), 3u) << "all differ";
    expect_refused("render " + run().string() + " -o " + (place() / "c.png").string() + " --colour heat", "--colour",
                   place() / "c.png");
}

TEST_F(ShowCommands, RenderWritesAFilm)
{
    const fs::path film = place() / "a.mp4";
    const Outcome o = pliant_command("render " + run().string() + " -o " + film.string() + " --size 64x48 --samples 1");
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(read_file(film).substr(4, 4), "ftyp");
}

TEST_F(ShowCommands, ExportWritesEveryFormat)
{
    for (const std::string format : {"ply", "obj", "stl", "pc2", "vtk", "vtu", "gltf"}) {
        const fs::path out = place() / ("export-" + format + (format == "gltf" ? ".glb" : ""));
        const Outcome o = pliant_command("export " + run().string() + " --format " + format + " -o " + out.string() +
                                         " --frames 2:4 --body ball");
        EXPECT_EQ(o.code, 0) << o.err;
        EXPECT_TRUE(fs::exists(out)) << format;
    }
    Index files = 0;
    for (const auto& entry : fs::directory_iterator(place() / "export-ply")) {
        EXPECT_EQ(read_triangle_mesh(entry.path()).triangles.size(), 80u);
        ++files;
    }
    EXPECT_EQ(files, 3) << "frames 2, 3 and 4 of one body";
    const std::string vtk = read_file(place() / "export-vtk" / "ball_00000.vtp");
    EXPECT_NE(vtk.find("velocity"), std::string::npos);
    EXPECT_NE(vtk.find("contact_force"), std::string::npos);
    EXPECT_NE(vtk.find("Name=\"stress\" NumberOfComponents=\"1\""), std::string::npos);
}

TEST_F(ShowCommands, BadInputIsOneLineAndLeavesNothing)
{
    const fs::path png = place() / "bad.png", out = place() / "bad";
    const std::string good = run().string();
    for (const std::string command : {"render", "export --format ply", "report"}) {
        expect_refused(command + " " + (place() / "nowhere").string() + " -o " + png.string(), "no such run directory",
                       png);
        expect_refused(command + " " + place().string() + " -o " + png.string(), "not a run directory", png);
    }
    expect_refused("check " + place().string(), "not a run directory", place() / run_file::certificate);
    expect_refused("render " + good + " -o " + png.string() + " --frame 99", "no frame 99", png);
    expect_refused("render " + good + " -o " + png.string() + " --size 10", "--size", png);
    expect_refused("render " + good + " -o " + png.string() + " --sheet 0x3", "--sheet", png);
    expect_refused("render " + good + " -o " + png.string() + " --view up", "--view", png);
    expect_refused("render " + good + " -o " + (place() / "bad.gif").string(), ".png or .mp4", place() / "bad.gif");
    expect_refused("export " + good + " --format ply -o " + out.string() + " --body bull", "'ball'", out);
    expect_refused("export " + good + " --format ply -o " + out.string() + " --body floor", "plane", out);
    expect_refused("export " + good + " --format ply -o " + out.string() + " --frames 3:99", "--frames", out);
    expect_refused("export " + good + " --format exe -o " + out.string(), "exe", out);
    const fs::path unwritable = place() / "no" / "such" / "x.png";
    expect_refused("render " + good + " --size 32x32 --samples 1 -o " + unwritable.string(), "x.png", unwritable);
    expect_refused("report " + good + " -o " + unwritable.string(), "x.png", unwritable);
}

TEST_F(ShowCommands, ADamagedFrameIsNamed)
{
    const fs::path copy = place() / "damaged", png = place() / "damaged.png", out = place() / "damaged-export";
    fs::copy(run(), copy, fs::copy_options::recursive);
    fs::remove(copy / run_file::certificate);
    fs::resize_file(run_file::frame(copy, 4), 100);
    expect_refused("render " + copy.string() + " -o " + png.string() + " --frame 4", "000004.frame", png);
    expect_refused("export " + copy.string() + " --format obj -o " + out.string(), "000004.frame", out);
    expect_refused("check " + copy.string(), "000004.frame", copy / run_file::certificate);
}

TEST_F(ShowCommands, CheckSaysWhatItFindsAndKeepsToThePromise)
{
    const Outcome run_check = pliant_command("check " + run().string());
    EXPECT_EQ(run_check.code, 0) << "method none promises nothing";
    EXPECT_NE(run_check.out.find("intersection in frame"), std::string::npos) << run_check.out;
    EXPECT_NE(run_check.out.find("'ball' triangle"), std::string::npos);

    const std::string scene = (place() / "scene.yaml").string();
    EXPECT_EQ(pliant_command("check " + scene).code, 0);
    const Outcome bad = pliant_command("check " + scene + " --set bodies.ball.place.at='[0, 0.3, 0]'" +
                                       " --set contact.method=implicit");
    EXPECT_EQ(bad.code, 1) << bad.err;
    EXPECT_NE(bad.out.find("at the start 'ball' and '"), std::string::npos) << bad.out;
    EXPECT_NE(bad.out.find("intersect at ("), std::string::npos) << bad.out;
    EXPECT_EQ(bad.out.find("the scene is valid"), std::string::npos) << bad.out;
}

TEST_F(ShowCommands, CheckAndRunGiveOneAnswerAboutAStart)
{
    const std::string scene = (place() / "start.yaml").string();
    std::ofstream(scene) << R"(
title: Start
time: {step: 10 ms, end: 20 ms, fps: 100}
contact: {method: implicit}
materials: {wood: {type: rigid}, cotton: {type: cloth}}
bodies:
  floor: {obstacle: {plane: {y: 0}}}
  box: {material: wood, mesh: {box: {size: [0.2, 0.2, 0.2]}}, place: {at: [0, 0.1, 0]}}
)";
    const std::string out = (place() / "start-out").string();
    const auto check = [&](const std::string& more) { return pliant_command("check " + scene + more); };
    const auto run_it = [&](const std::string& more) {
        return pliant_command("run " + scene + " -o " + out + " --force" + more);
    };
    EXPECT_EQ(check("").code, 0) << "exactly on the floor";
    EXPECT_EQ(run_it("").code, 0);
    const std::string sunk = " --set bodies.box.place.at='[0, 0.05, 0]'";
    const std::string words = "'box' is partly behind the plane 'floor', by 0.05 m";
    const Outcome checked = check(sunk), ran = run_it(sunk);
    EXPECT_EQ(checked.code, 1);
    EXPECT_NE(checked.out.find(words), std::string::npos) << checked.out;
    EXPECT_EQ(checked.out.find("the scene is valid"), std::string::npos) << checked.out;
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    // Cloth inside of a closed obstacle may be meant, and both say it.
    const std::string jar = (place() / "jar.yaml").string();
    std::ofstream(jar) << R"(
title: Jar
time: {step: 10 ms, end: 20 ms, fps: 100}
contact: {method: implicit}
materials: {cotton: {type: cloth}}
bodies:
  box: {obstacle: {mesh: {box: {size: [2, 2, 2]}}}}
  sheet: {material: cotton, mesh: {grid: {size: [0.1, 0.1], vertices: [3, 3]}}}
)";
    const std::string note = "note: at the start 'sheet' is inside 'box'";
    const Outcome checked_inside = pliant_command("check " + jar),
                  ran_inside = pliant_command("run " + jar + " -o " + out + " --force");
    EXPECT_EQ(checked_inside.code, 0) << checked_inside.err;
    EXPECT_NE(checked_inside.out.find(note), std::string::npos) << checked_inside.out;
    EXPECT_NE(ran_inside.out.find(note), std::string::npos) << ran_inside.out << ran_inside.err;
}

TEST_F(ShowCommands, ViewRefusesWhatIsNoRunInOneLine)
{
    const Outcome o = pliant_command("view --no-open " + place().string());
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.error_lines(), 1) << o.err;
    EXPECT_TRUE(o.err.find("not a run directory") != std::string::npos || o.err.find("no viewer") != std::string::npos)
        << o.err;
}
