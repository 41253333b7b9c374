// Frames store what drives the surface; the surface that readers get is the simulation's.

#include "pliant/core/error.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/reader.hpp"
#include "pliant/run/runner.hpp"
#include "pliant/world/strain.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Every kind of body, something that moves each, and steps that are cut: there is little room for refinement.
const std::string zoo = R"(
time: {step: 10 ms, end: 0.12 s}
contact: {max-rounds: 1}
materials: {cotton: {type: cloth}, rubber: {type: solid}, jelly: {type: lattice}, lead: {type: rigid, density: 2000}}
bodies:
  sheet: {material: cotton, mesh: {grid: {size: [0.6, 0.6], vertices: [12, 12]}}, place: {at: [0, 0.15, 0]}}
  needle: {material: lead, mesh: {box: {size: [0.02, 0.2, 0.02]}}, place: {at: [0.02, 0.4, 0.01], turn: [20, 0, 30]}, velocity: [3, -30, 0], spin: [50, 0, 30]}
  block: {material: rubber, mesh: {tet-box: {size: [0.2, 0.2, 0.2], cells: [2, 2, 2]}}, place: {at: [1, 0.2, 0]}, spin: [0, 3, 1]}
  egg: {material: rubber, mesh: {sphere: {radius: 0.1, subdivisions: 3}}, embed: {cells: 3}, place: {at: [2, 0.15, 0]}, velocity: [1, 0, 0]}
  wall: {obstacle: {mesh: {box: {}}}, place: {at: [0, -3, 0]}, motion: {keyframes: [{time: 0}, {time: 1, move: [0.1, 0, 0], turn: [0, 90, 0]}]}}
  ground: {obstacle: {plane: {y: 0}}, motion: {keyframes: [{time: 0}, {time: 1, move: [0, 0.01, 0]}]}}
  bun: {material: jelly, mesh: {sphere: {radius: 0.1, subdivisions: 3}}, lattice: {cells: 3}, place: {at: [3, 0.15, 0]}, velocity: [0, 0, 1]}
)";

RunOptions into(const fs::path& directory)
{
    RunOptions options;
    options.directory = directory;
    return options;
}

void simulate(const std::string& text, const RunOptions& options)
{
    const Scene scene = parse_scene(text, "test.yaml");
    World world = build_world(scene);
    run_scene(scene, world, options);
}

void expect_same_bits(const Vec3s& a, const Vec3s& b)
{
    ASSERT_EQ(a.size(), b.size());
    EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0);
}

std::string message_of(const std::function<void()>& action)
{
    try {
        action();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "";
}

TEST(Frame, HasTheSurfaceOfTheSimulationToTheBit)
{
    const TemporaryDirectory dir;
    RunOptions options = into(dir / "run");
    options.every_step = true;
    simulate(zoo, options);

    const RunReader reader(dir / "run");
    const Scene scene = parse_scene(zoo, "test.yaml");
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    std::vector<InnerState> inner;
    std::size_t cuts = 0;
    for (Index i = 0; i < reader.frame_count(); ++i) {
        const StoredFrame stored = reader.stored_frame(i);
        const Frame frame = reader.frame(i);
        Vec3s positions, velocities;
        std::vector<Real> stress;
        surface_positions(world.model, world.state, positions);
        surface_velocities(world.model, world.state, scene.step, velocities);
        surface_stress(world.model, world.state, stress);
        expect_same_bits(frame.positions, positions);
        expect_same_bits(frame.velocities, velocities);
        EXPECT_EQ(frame.stress, stress);
        EXPECT_EQ(frame.planes.at(0).offset, plane_at(world.model, 1, world.state.time).offset);
        // also what no surface vertex touches: nodes inside of the block and of the egg's lattice
        expect_same_bits(stored.state.position, world.state.position);
        expect_same_bits(stored.velocity, world.state.velocity);

        ASSERT_EQ(stored.inner.size(), inner.size());
        cuts += inner.size();
        for (std::size_t k = 0; k < inner.size(); ++k) {
            State state = world.state;
            state.time = inner[k].time;
            state.position = inner[k].position;
            state.orientation = inner[k].orientation;
            surface_positions(world.model, state, positions);
            const PathState corner = make_path_state(reader.mesh(), stored.inner[k]);
            expect_same_bits(corner.positions, positions);
            EXPECT_EQ(corner.time, state.time);
            EXPECT_EQ(corner.planes.at(0).offset, plane_at(world.model, 1, state.time).offset);
        }
        inner = method->step(world, scene.step).inner;
    }
    EXPECT_EQ(reader.frame_count(), 13);
    EXPECT_GT(cuts, 0u) << "no step was cut";
}

TEST(Frame, OfAnEmbeddedSurfaceCostsWhatItsLatticeCosts)
{
    const TemporaryDirectory dir;
    simulate(R"(
time: {step: 10 ms, end: 0.01 s, fps: 100}
contact: {method: none}
materials: {rubber: {type: solid}}
bodies: {egg: {material: rubber, mesh: {sphere: {radius: 0.1, subdivisions: 6}}, embed: {cells: 4}}}
)",
             into(dir / "run"));
    const RunReader reader(dir / "run");
    const auto nodes = static_cast<std::size_t>(reader.mesh().block_count);
    EXPECT_EQ(reader.frame(1).positions.size(), 40962u);
    EXPECT_LT(nodes, 1000u);
    // position, velocity and stress of a node are 7 numbers
    EXPECT_LT(fs::file_size(reader.frame_path(1)), 7 * sizeof(Real) * nodes + 1500);
}

TEST(Frame, KeepsTheTetrahedraOfSolids)
{
    const Scene scene = parse_scene(zoo, "test.yaml");
    const World world = build_world(scene);
    const TemporaryDirectory dir;
    save_mesh(make_run_mesh(world.model), dir / "mesh");
    const RunMesh mesh = load_mesh(dir / "mesh");
    const auto volume = [&](const RunBody& body) {
        Real sum = 0;
        for (Index t = body.first_tet; t < body.first_tet + body.tet_count; ++t) {
            const auto x = [&](int k) -> const Vec3& { return world.state.position[mesh.tets[t][k]]; };
            sum += (x(1) - x(0)).cross(x(2) - x(0)).dot(x(3) - x(0)) / 6;
        }
        return sum;
    };
    EXPECT_EQ(mesh.bodies[0].tet_count, 0);
    EXPECT_NEAR(volume(mesh.bodies[2]), 0.008, 1e-12);
    EXPECT_GT(volume(mesh.bodies[3]), 4.0 / 3 * 3.1 * 0.001) << "the lattice covers the egg";
}

/// Damages a mesh, stores it and expects that it is not read.
void expect_refused(const RunMesh& good, const char* what, const std::function<void(RunMesh&)>& damage)
{
    const TemporaryDirectory dir;
    RunMesh mesh = good;
    damage(mesh);
    save_mesh(mesh, dir / "mesh");
    EXPECT_EQ(message_of([&] { load_mesh(dir / "mesh"); }),
              (dir / "mesh").string() + ": its arrays do not fit together")
        << what;
}

TEST(Mesh, WithANumberThatLeadsOutOfItsArraysIsRefused)
{
    const RunMesh good = make_run_mesh(build_world(parse_scene(zoo, "test.yaml")).model);
    const Index vertices = count(good.rest), blocks = good.block_count, bodies = count(good.bodies);
    const auto each = [&](const char* what, std::initializer_list<Index> values, const auto& damage) {
        for (const Index value : values) expect_refused(good, what, [&](RunMesh& m) { damage(m, value); });
    };
    each("triangle", {-1, vertices}, [](RunMesh& m, Index i) { m.triangles[3][1] = i; });
    each("triangle of another body", {vertices - 1}, [](RunMesh& m, Index i) { m.triangles[0][1] = i; });
    each("tetrahedron", {-1, 0, blocks}, [](RunMesh& m, Index i) { m.tets[3][1] = i; });
    each("plane", {-1, 1, -7}, [](RunMesh& m, Index i) { m.bodies[5].plane = i; });
    each("plane of a cloth", {0}, [](RunMesh& m, Index i) { m.bodies[0].plane = i; });
    each("no contact", {-1, bodies}, [](RunMesh& m, Index i) { m.no_contact.push_back({0, i}); });
    each("block", {-1, blocks, 1 << 30}, [](RunMesh& m, Index i) { m.map.map_block[5] = i; });
    each("map", {-1, 4, 1 << 30}, [](RunMesh& m, Index i) { m.map.map_begin[3] = i; });
    each("end of the map", {0, 1 << 30}, [](RunMesh& m, Index i) { m.map.map_begin.back() = i; });
    each("angular velocity", {-2, none, blocks}, [](RunMesh& m, Index i) { m.map.frame_spin[0] = i; });
    const Index on_needle = good.bodies[1].first_vertex, on_wall = good.bodies[4].first_vertex;
    each("frame", {-2, 1, 2, 1 << 30}, [&](RunMesh& m, Index i) { m.map.frame[on_needle] = i; });
    each("obstacle's frame", {-2, none, 0, 2}, [&](RunMesh& m, Index i) { m.map.frame[on_wall] = i; });
    each("number of blocks", {-1, blocks - 1, blocks + 1}, [](RunMesh& m, Index i) { m.block_count = i; });
    for (Index RunBody::*range :
         {&RunBody::first_vertex, &RunBody::vertex_count, &RunBody::first_triangle, &RunBody::triangle_count,
          &RunBody::first_block, &RunBody::block_count, &RunBody::first_tet, &RunBody::tet_count})
        each("range of a body", {-1, 7, 1 << 30}, [&](RunMesh& m, Index i) { m.bodies[2].*range = i; });
    expect_refused(good, "weight", [](RunMesh& m) { m.map.map_weight[5] = std::numeric_limits<Real>::quiet_NaN(); });
    expect_refused(good, "place", [](RunMesh& m) { m.map.local[5].x() = std::numeric_limits<Real>::infinity(); });
    expect_refused(good, "pins", [](RunMesh& m) { m.prescribed.pop_back(); });
    expect_refused(good, "body", [](RunMesh& m) { m.bodies.pop_back(), m.bodies.pop_back(); });
}

TEST(Frame, WithANumberThatLeadsOutOfTheMeshIsRefused)
{
    const World world = build_world(parse_scene(zoo, "test.yaml"));
    const RunMesh mesh = make_run_mesh(world.model);
    const TemporaryDirectory dir;
    StoredFrame good = store_frame(world, 3, 0.01, {{Vec3::Zero(), Vec3::UnitY(), Vec3::UnitY(), 0, 5}});
    good.inner = {good.state, good.state};
    save_frame(good, dir / "frame");
    EXPECT_EQ(load_frame(mesh, dir / "frame").contacts.at(0).body_b, 5);
    EXPECT_EQ(load_frame(mesh, dir / "frame").inner.size(), 2u);
    const auto expect_refused = [&](const char* what, const std::function<void(StoredFrame&)>& damage) {
        StoredFrame frame = good;
        damage(frame);
        save_frame(frame, dir / "bad");
        EXPECT_EQ(message_of([&] { load_frame(mesh, dir / "bad"); }),
                  (dir / "bad").string() + ": its arrays do not fit together or to the run's mesh")
            << what;
    };
    for (const Index body : {-1, 7, 1 << 30}) {
        expect_refused("contact", [&](StoredFrame& f) { f.contacts[0].body_a = body; });
        expect_refused("contact", [&](StoredFrame& f) { f.contacts[0].body_b = body; });
    }
    expect_refused("number", [](StoredFrame& f) { f.number = -1; });
    expect_refused("positions", [](StoredFrame& f) { f.state.position.pop_back(); });
    expect_refused("poses", [](StoredFrame& f) { f.state.carriers.poses.pop_back(); });
    expect_refused("earlier poses", [](StoredFrame& f) { f.earlier.poses.clear(); });
    expect_refused("planes", [](StoredFrame& f) { f.state.planes.clear(); });
    expect_refused("velocities", [](StoredFrame& f) { f.velocity.push_back(Vec3::Zero()); });
    expect_refused("stress", [](StoredFrame& f) { f.stress.pop_back(); });
    expect_refused("positions within the step", [](StoredFrame& f) { f.inner[1].position.pop_back(); });
    expect_refused("planes within the step", [](StoredFrame& f) { f.inner[0].planes.clear(); });
}

TEST(Frame, WithANumberThatIsNotFiniteIsRefused)
{
    const World world = build_world(parse_scene(zoo, "test.yaml"));
    const RunMesh mesh = make_run_mesh(world.model);
    const TemporaryDirectory dir;
    const StoredFrame good = store_frame(world, 3, 0.01, {{Vec3::Zero(), Vec3::UnitY(), Vec3::UnitY(), 0, 5}});
    const auto expect_refused = [&](const char* array, const std::function<void(StoredFrame&)>& damage) {
        StoredFrame frame = good;
        damage(frame);
        save_frame(frame, dir / "bad");
        EXPECT_EQ(message_of([&] { load_frame(mesh, dir / "bad"); }),
                  (dir / "bad").string() + ": array '" + array + "' has a number that is not finite");
    };
    constexpr Real nan = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
    expect_refused("positions", [](StoredFrame& f) { f.state.position[0].x() = nan; });
    expect_refused("velocities", [](StoredFrame& f) { f.velocity[0].x() = infinity; });
    expect_refused("planes", [](StoredFrame& f) { f.state.planes[0].offset = nan; });
    expect_refused("poses", [](StoredFrame& f) { f.state.carriers.poses[0].rotation.x() = nan; });
    expect_refused("stress", [](StoredFrame& f) { f.stress[0] = -infinity; });
    expect_refused("contact_force", [](StoredFrame& f) { f.contacts[0].force.y() = nan; });
    expect_refused("time", [](StoredFrame& f) { f.state.time = nan; });
}

TEST(Frame, OfAnEarlierVersionIsNamedAsSuch)
{
    const TemporaryDirectory dir;
    ArrayFile("mesh", 1).save(dir / "mesh");
    ArrayFile("frame", 1).save(dir / "frame");
    const std::string words =
        ": was written by an earlier Pliant, whose runs this one does not read; run the scene again";
    EXPECT_EQ(message_of([&] { load_mesh(dir / "mesh"); }), (dir / "mesh").string() + words);
    EXPECT_EQ(message_of([&] { load_frame({}, dir / "frame"); }), (dir / "frame").string() + words);
}

/// The code between the fences of docs/run-directory.md.
std::string python_of_the_docs()
{
    std::ifstream stream(fs::path(PLIANT_SOURCE_DIR) / "docs" / "run-directory.md");
    std::stringstream text;
    text << stream.rdbuf();
    const std::string all = text.str(), fence = "```python\n";
    const std::size_t begin = all.find(fence) + fence.size();
    return all.substr(begin, all.find("```", begin) - begin);
}

TEST(Frame, IsReadByThePythonOfTheDocs)
{
    const auto can = [](const std::string& python) {
        return std::system((python + " -c 'import numpy' > /dev/null 2>&1").c_str()) == 0;
    };
    std::string python = "python3"; // the first of the path need not be Debian's, which has its packages
    if (!can(python)) python = "/usr/bin/python3";
    if (!can(python)) GTEST_SKIP() << "python3-numpy is not installed";
    const TemporaryDirectory dir;
    simulate(zoo, into(dir / "run"));
    std::ofstream(dir / "read.py") << python_of_the_docs() << R"(
import sys
mesh = read(sys.argv[1] + "/mesh")
for number in sys.argv[2:]:
    frame = read(sys.argv[1] + "/frames/" + number + ".frame")
    surface(mesh, frame).tofile(sys.argv[1] + "/" + number + ".raw")
)";
    const std::string run = (dir / "run").string(), log = (dir / "log").string();
    ASSERT_EQ(
        std::system(
            (python + " " + (dir / "read.py").string() + " " + run + " 000000 000003 > " + log + " 2>&1").c_str()),
        0)
        << std::ifstream(log).rdbuf();
    const RunReader reader(run);
    for (const Index number : {0, 3}) {
        const Vec3s wanted = reader.frame(number).positions;
        std::ifstream raw(fs::path(run) / ("00000" + std::to_string(number) + ".raw"), std::ios::binary);
        Vec3s found(wanted.size() + 1, Vec3::Zero());
        raw.read(reinterpret_cast<char*>(found.data()), static_cast<std::streamsize>(found.size() * sizeof(Vec3)));
        ASSERT_EQ(static_cast<std::size_t>(raw.gcount()), wanted.size() * sizeof(Vec3));
        found.pop_back();
        EXPECT_EQ(found, wanted) << "frame " << number;
    }
}

} // namespace
} // namespace pliant
