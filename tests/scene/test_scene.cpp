#include "pliant/bodies/corotational.hpp"
#include "pliant/scene/document.hpp"
#include "pliant/scene/meshes.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/scene/schema.hpp"
#include "pliant/scene/units.hpp"
#include "pliant/scene/yaml_reader.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numbers>
#include <numeric>
#include <sstream>

namespace pliant {
namespace {

namespace fs = std::filesystem;

const std::string small = R"(
title: Small
time: {step: 10 ms, end: 1, fps: 50 Hz}
contact: {method: none, friction: 0.4}
materials:
  cotton: {type: cloth, density: 150 g/m^2, max-strain: 10 %}
  rubber: {type: solid, young: 20 kN/m^2}
  steel: {type: rigid, density: 7.8 g/cm^3}
bodies:
  sheet:
    material: cotton
    mesh: {grid: {size: [2, 1], vertices: [5, 3]}}
    place: {at: [0, 1, 0], turn: [90, 0, 0]}
    pin: [{vertices: [0]}, {box: {min: [0.9, -1, -1], max: [1.1, 1, 1]}, motion: {keyframes: [{time: 1, move: [0, 0, 1]}]}}]
  bar: {material: rubber, mesh: {tet-bar: {cells: [4, 1, 1]}}, velocity: [0, 1, 0]}
  ball: {material: steel, mesh: {sphere: {radius: 0.1}}, spin: [0, 60 rpm, 0], copies: {grid: {count: [2, 1, 2], spacing: [1, 1, 3]}}}
  floor: {obstacle: {plane: {y: -1}}}
friction: {between: [ball, floor], value: 0.7}
no-contact: [[ball, bar]]
)";

TEST(Scene, BecomesAWorld)
{
    const Scene scene = parse_scene(small, "small.yaml");
    EXPECT_EQ(scene.title, "Small");
    EXPECT_EQ(scene.step_count(), 100);
    const World world = build_world(scene);
    const Model& model = world.model;
    ASSERT_EQ(model.bodies.size(), 7u);
    EXPECT_EQ(model.bodies[0].name, "sheet");
    EXPECT_EQ(model.bodies[3].name, "ball#2");
    EXPECT_EQ(model.bodies[6].kind, BodyKind::plane);
    const auto mass_of = [&](const Body& body) {
        const auto first = model.mass.begin() + body.first_block;
        return std::accumulate(first, first + body.block_count, Real(0));
    };
    EXPECT_NEAR(mass_of(model.bodies[0]), 0.3, 1e-12) << "two square metres of 0.15 kg/m^2";
    ASSERT_GT(model.bodies[0].limit_count, 0);
    EXPECT_DOUBLE_EQ(model.length_limits[model.bodies[0].first_limit].ratio, 1.1);
    const auto& bar = dynamic_cast<const CorotationalBatch&>(*model.batches[1]);
    const Elasticity& e = bar.elasticity();
    EXPECT_NEAR(e.mu * (3 * e.lambda + 2 * e.mu) / (e.lambda + e.mu), 2e4, 1e-9) << "Young's modulus";
    EXPECT_DOUBLE_EQ(model.rotors[0].rigid.material.density, 7800);
    EXPECT_DOUBLE_EQ(model.friction.between(0, 1), 0.4);
    for (Index ball = 2; ball < 6; ++ball) EXPECT_DOUBLE_EQ(model.friction.between(ball, 6), 0.7);
    EXPECT_EQ(model.no_contact.size(), 4u);

    EXPECT_EQ(model.pins.size(), 4u); // one corner, and the three vertices of the edge x = 1
    EXPECT_EQ(model.pins[0].motion, none);
    EXPECT_NE(model.pins[1].motion, none);
    EXPECT_TRUE(pin_positions(model, 1)[1].isApprox(model.pins[1].start + Vec3(0, 0, 1)));

    // x, y, z = -1, 0, -0.5 turned by 90 degrees about x, then moved up
    EXPECT_TRUE(world.state.position[0].isApprox(Vec3(-1, 1.5, 0), 1e-12));
    const Body& last = model.bodies[5];
    EXPECT_TRUE(world.state.position[last.first_block].isApprox(Vec3(1, 0, 3), 1e-12));
    EXPECT_NEAR(world.state.velocity[last.first_block + 1].y(), 6.283185307, 1e-9);
}

TEST(Scene, HasZUpOnRequest)
{
    const World world = build_world(parse_scene(R"(
up: z
contact: {method: none}
materials: {cotton: {type: cloth}}
bodies: {sheet: {material: cotton, mesh: {grid: {size: [2, 1]}}}}
)",
                                                "z.yaml"));
    EXPECT_EQ(world.model.gravity, Vec3(0, 0, -9.81));
    Eigen::AlignedBox<Real, 3> box;
    for (const Vec3& x : world.state.position) box.extend(x);
    EXPECT_TRUE(box.sizes().isApprox(Vec3(2, 1, 0)));
}

TEST(Scene, WrittenBackDescribesTheSameWorld)
{
    const Scene scene = parse_scene(small, "small.yaml");
    const std::string text = to_yaml(scene);
    const Scene again = parse_scene(text, "again.yaml");
    EXPECT_EQ(to_yaml(again), text);
    EXPECT_EQ(build_world(scene).state.hash(), build_world(again).state.hash());
    EXPECT_NE(text.find("young: 20000"), std::string::npos) << text;
    EXPECT_NE(text.find("diagonals: alternating"), std::string::npos) << text;
}

TEST(Scene, TakesOverrides)
{
    const Scene scene = parse_scene(small, "small.yaml",
                                    {"contact.friction=0.9", "bodies.sheet.mesh.disc.around=12", "time.end=2 s",
                                     "bodies.sheet.pin=[{vertices: [1, 2]}]", "friction.value=0.1"});
    EXPECT_EQ(scene.step_count(), 200);
    const World world = build_world(scene);
    EXPECT_DOUBLE_EQ(world.model.friction.between(0, 1), 0.9);
    EXPECT_DOUBLE_EQ(world.model.friction.between(2, 6), 0.1);
    EXPECT_EQ(world.model.pins.size(), 2u);
    EXPECT_FALSE(scene.document.at("bodies").at("sheet").at("mesh").has("grid"));
}

TEST(Scene, IncludesAnotherOneAndChangesIt)
{
    const TemporaryDirectory temporary;
    const fs::path& dir = temporary.path();
    fs::create_directories(dir / "parts");
    std::ofstream(dir / "parts/base.yaml") << small;
    std::ofstream(dir / "top.yaml") << "include: [parts/base.yaml]\ntitle: Changed\n"
                                       "bodies: {sheet: {mesh: {disc: {}}}, second: {obstacle: {plane: {x: -9}}}}\n";
    const Scene scene = load_scene(dir / "top.yaml");
    EXPECT_EQ(scene.title, "Changed");
    EXPECT_TRUE(scene.document.at("bodies").at("sheet").at("mesh").has("disc"));
    EXPECT_TRUE(scene.document.at("bodies").has("bar"));
    EXPECT_TRUE(scene.document.at("bodies").has("second"));
}

TEST(Scene, AcceptsAliases)
{
    const Scene scene = parse_scene(R"(
contact: {method: none}
materials: {cotton: &cloth {type: cloth, density: 0.3}, wool: *cloth}
bodies: {sheet: {material: wool, mesh: {grid: {}}}}
)",
                                    "alias.yaml");
    EXPECT_DOUBLE_EQ(scene.document.at("materials").at("wool").at("density").real(), 0.3);
}

TEST(Scene, KeepsMeshFilesWithTheirContent)
{
    const TemporaryDirectory temporary;
    const fs::path& dir = temporary.path();
    fs::create_directories(dir / "shapes");
    std::ofstream(dir / "shapes/tet.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::ofstream(dir / "scene.yaml") << "contact: {method: none}\nmaterials: {steel: {type: rigid}}\n"
                                         "bodies: {tet: {material: steel, mesh: {file: shapes/tet.obj}}}\n";
    const Scene scene = load_scene(dir / "scene.yaml");
    ASSERT_EQ(scene.files.size(), 1u);
    EXPECT_EQ(scene.files[0].path, dir / "shapes/tet.obj");
    EXPECT_NEAR(build_world(scene).model.rotors[0].rigid.mass, 1000.0 / 6, 1e-9);

    // A copy beside the resolved scene is the same scene, however often it is copied.
    const fs::path copy = dir / "copy";
    fs::create_directories(copy / "meshes");
    std::ofstream(copy / "scene.yaml") << to_yaml(scene);
    fs::copy_file(scene.files[0].path, copy / scene.files[0].stored);
    const Scene again = load_scene(copy / "scene.yaml");
    EXPECT_EQ(to_yaml(again), to_yaml(scene));
    EXPECT_EQ(build_world(again).state.hash(), build_world(scene).state.hash());

    std::ofstream(dir / "shapes/tet.obj", std::ios::app) << "# changed\n";
    EXPECT_NE(to_yaml(load_scene(dir / "scene.yaml")), to_yaml(scene));
}

TEST(Scene, MakesABodyOfEachLetterAndEmbedsIt)
{
    const World world = build_world(parse_scene(R"(
contact: {method: none}
materials: {rubber: {type: solid}}
bodies:
  word:
    material: rubber
    mesh: {letters: {text: a b, height: 0.2, depth: 0.05}}
    embed: {cells: 4}
    pin: {box: {min: [-9, -9, -9], max: [9, 0, 9]}}
  other: {obstacle: {plane: {y: -1}}}
friction: [{between: [word, other], value: 0.9}]
)",
                                                "letters.yaml"));
    ASSERT_EQ(world.model.bodies.size(), 3u);
    EXPECT_EQ(world.model.bodies[1].name, "word#2");
    EXPECT_EQ(world.model.bodies[1].kind, BodyKind::solid);
    EXPECT_LT(world.model.bodies[0].block_count, world.model.bodies[0].vertex_count);
    EXPECT_DOUBLE_EQ(world.model.friction.between(1, 2), 0.9);
    EXPECT_GT(world.model.pins.size(), 4u);
}

TEST(Copies, AtRandomDoNotOverlapAndDependOnTheSeedOnly)
{
    const std::string text = R"(
contact: {method: none}
materials: {steel: {type: rigid}}
bodies:
  ball:
    material: steel
    mesh: {sphere: {radius: 0.1, subdivisions: 1}}
    place: {at: [0, 5, 0]}
    copies: {random: {count: 40, box: {min: [-1, 0, -1], max: [1, 2, 1]}, seed: 7}}
)";
    const World world = build_world(parse_scene(text, "random.yaml"));
    ASSERT_EQ(world.model.bodies.size(), 40u);
    Vec3s centers;
    for (const Body& b : world.model.bodies) centers.push_back(world.state.position[b.first_block]);
    for (std::size_t i = 0; i < centers.size(); ++i) {
        EXPECT_TRUE((Eigen::AlignedBox<Real, 3>(Vec3(-1, 5, -1), Vec3(1, 7, 1)).contains(centers[i])));
        for (std::size_t j = 0; j < i; ++j) EXPECT_GE((centers[i] - centers[j]).norm(), 0.2 - 1e-12);
    }
    EXPECT_EQ(world.state.hash(), build_world(parse_scene(text, "random.yaml")).state.hash());
    const Scene other = parse_scene(text, "random.yaml", {"bodies.ball.copies.random.seed=8"});
    EXPECT_NE(world.state.hash(), build_world(other).state.hash());
}

TEST(Copies, AtRandomMayOverlapWhereAsked)
{
    const std::string text = R"(
contact: {method: none}
materials: {steel: {type: rigid}}
bodies:
  ball:
    material: steel
    mesh: {sphere: {radius: 0.1, subdivisions: 1}}
    copies: {random: {count: 200, box: {min: [-0.2, 0, -0.2], max: [0.2, 0.4, 0.2]}, distance: 0.03}}
)";
    const World world = build_world(parse_scene(text, "random.yaml"));
    ASSERT_EQ(world.model.bodies.size(), 200u);
    for (std::size_t i = 0; i < 200; ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_GE((world.state.position[2 * i] - world.state.position[2 * j]).norm(), 0.03 - 1e-12);
}

TEST(Copies, OnAHelixFollowItWithTheirAxesAlongAndTwisted)
{
    const std::string text = R"(
contact: {method: none}
materials: {steel: {type: rigid}}
bodies:
  link:
    material: steel
    mesh: {box: {size: [0.2, 0.1, 0.05]}}
    place: {at: [1, 2, 3]}
    copies: {helix: {count: 20, radius: 0.5, rise: 0.3, spacing: 0.15, twist: 90}}
)";
    for (const std::string up : {"y", "z"}) {
        const World world = build_world(parse_scene(text + "up: " + up + "\n", "helix.yaml"));
        ASSERT_EQ(world.model.bodies.size(), 20u);
        const int axis = up == "y" ? 1 : 2;
        const auto place = [&](int i) { return Vec3(world.state.position[2 * i] - Vec3(1, 2, 3)); };
        for (int i = 0; i < 19; ++i) {
            Vec3 across = place(i);
            across[axis] = 0;
            EXPECT_NEAR(across.norm(), 0.5, 1e-12);
            const Vec3 chord = place(i + 1) - place(i), middle = world.state.orientation[i] * Vec3::UnitX();
            EXPECT_NEAR(chord.norm(), 0.15, 1e-3);
            EXPECT_GT(chord.normalized().dot(middle), 0.98) << "the x axis is along the helix";
            const Vec3 flat = world.state.orientation[i] * Vec3::UnitY(),
                       next = world.state.orientation[i + 1] * Vec3::UnitY();
            EXPECT_NEAR(flat.dot(next), 0, 0.2) << "a quarter turn from link to link";
        }
        const Real turns = 19 * 0.15 / (2 * std::numbers::pi * std::hypot(0.5, 0.3 / (2 * std::numbers::pi)));
        EXPECT_NEAR(place(19)[axis], 0.3 * turns, 1e-12);
    }
}

TEST(SceneTable, HasAGeneratorForEveryMeshKeyAndAnHonestEstimate)
{
    const SchemaNode* mesh = scene_schema().field("bodies")->item->field("mesh");
    for (const auto& m : mesh->children) {
        if (m->name == "file") continue;
        const std::string parameters = m->name == "letters" ? "{text: Pliant}"
                                       : m->name == "blend" ? "{parts: [{ball: {radius: 0.5}}]}"
                                       : m->name == "garment"
                                           ? "{panels: {p: {outline: [{to: [40, 0]}, {to: [40, 40]}, {to: [0, 40]}, "
                                             "{to: [0, 0]}]}}}"
                                           : "";
        const std::string type = m->name == "garment" ? "cloth" : "solid";
        const Scene scene =
            parse_scene("contact: {method: none}\nmaterials: {m: {type: " + type +
                            "}}\nbodies: {b: {material: m, mesh: {" + m->name + ": " + parameters + "}}}\n",
                        "mesh.yaml");
        const Value& entry = scene.document.at("bodies").at("b").at("mesh");
        Real elements = 0;
        for (const BodyMesh& made : make_meshes(entry, type == "solid" ? MeshUse::solid : MeshUse::surface))
            elements += made.has_tets() ? Real(std::get<TetMesh>(made.shape).tets.size())
                                        : Real(std::get<TriangleMesh>(made.shape).triangles.size());
        EXPECT_GT(elements, 0) << m->name;
        EXPECT_LT(elements, 2 * estimate_elements(entry)) << m->name;
        EXPECT_GT(elements, estimate_elements(entry) / 3) << m->name;
    }
}

TEST(SceneTable, HasAMeaningAndAValidDefaultForEveryKey)
{
    for (const Key& key : scene_keys()) {
        EXPECT_FALSE(key.meaning.empty()) << key.path;
        EXPECT_TRUE(key.meaning.ends_with(".") || key.meaning.ends_with("...")) << key.path;
        EXPECT_NO_THROW(parse_unit(key.unit)) << key.path;
        EXPECT_EQ(key.kind == KeyKind::choice && key.words.empty(), false) << key.path;
    }
}

std::string file_text(const fs::path& path)
{
    std::ifstream stream(path);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(SceneTable, IsWhatTheDocumentationSays)
{
    const fs::path docs = fs::path(PLIANT_SOURCE_DIR) / "docs";
    EXPECT_TRUE(file_text(docs / "scene.md") == scene_reference()) << "run `make docs`";
    EXPECT_TRUE(file_text(docs / "scene.schema.json") == scene_json_schema()) << "run `make docs`";
}

TEST(Readme, ShowsASceneThatWorks)
{
    const std::string readme = file_text(fs::path(PLIANT_SOURCE_DIR) / "README.md");
    const std::size_t begin = readme.find("```yaml\n") + 8;
    const Scene scene = parse_scene(readme.substr(begin, readme.find("```", begin) - begin), "README.md");
    EXPECT_EQ(build_world(scene).model.bodies.size(), 3u);
}

TEST(ShippedScenes, AreAllValid)
{
    for (const auto& entry : fs::directory_iterator(fs::path(PLIANT_SOURCE_DIR) / "scenes"))
        if (entry.path().extension() == ".yaml") {
            EXPECT_NO_THROW(build_world(load_scene(entry.path()))) << entry.path();
            EXPECT_NE(load_scene(entry.path()).title, "Untitled") << entry.path();
        }
}

TEST(Scene, SurvivesDamagedText)
{
    // Every way to cut the text and to replace one character ends in a scene or in an Error, never in a crash.
    for (std::size_t n = 0; n < small.size(); n += 7) {
        std::string damaged = small;
        damaged[n] = "{}[]:,&*!|>'\"%@`#-0"[n % 19];
        for (const std::string& text : {small.substr(0, n), damaged}) {
            try {
                build_world(parse_scene(text, "damaged.yaml"));
            } catch (const Error&) {
            }
        }
    }
}

TEST(Scatter, GivesEachBodyItsOwnStartAndTheSameOneForTheSameSeed)
{
    const auto start = [](const std::string& scatter) {
        return build_world(parse_scene(R"(
contact: {method: boxes}
materials:
  jelly: {type: lattice}
bodies:
  block:
    material: jelly
    mesh: {box: {size: [0.4, 0.2, 0.2]}}
    lattice: {cells: 2}
    copies: {grid: {count: [3, 1, 1], spacing: [1, 1, 1]}}
    scatter: )" + scatter,
                                       "scatter.yaml"))
            .state;
    };
    const State plain = start("{turn: false}"), moved = start("{turn: false, speed: 2, spin: 3, seed: 4}");
    EXPECT_EQ(plain.position, moved.position);
    EXPECT_EQ(moved.velocity, start("{turn: false, speed: 2, spin: 3, seed: 4}").velocity);
    EXPECT_NE(moved.velocity, start("{turn: false, speed: 2, spin: 3, seed: 5}").velocity);
    const std::size_t n = plain.position.size() / 3;
    for (std::size_t b = 0; b < 3; ++b) {
        Vec3 centre = Vec3::Zero(), mean = Vec3::Zero();
        for (std::size_t i = b * n; i < (b + 1) * n; ++i) {
            centre += plain.position[i] / Real(n);
            mean += moved.velocity[i] / Real(n);
        }
        EXPECT_GT(mean.norm(), 0);
        EXPECT_LE(mean.norm(), 2 * (1 + 1e-12));
        EXPECT_TRUE(b == 0 || (moved.velocity[b * n] - moved.velocity[0]).norm() > 1e-3);
        for (std::size_t i = b * n; i < (b + 1) * n; ++i) { // a rigid motion: no faster than the spin allows
            const Vec3 r = plain.position[i] - centre, u = moved.velocity[i] - mean;
            EXPECT_LE(u.norm(), 3 * r.norm() * (1 + 1e-9));
            EXPECT_NEAR(u.dot(r), 0, 1e-12);
        }
    }
    const State turned = start("{seed: 4}");
    EXPECT_NE(turned.position, plain.position);
    for (std::size_t b = 0; b < 3; ++b) // turned about its middle, as one piece
        for (std::size_t i = b * n; i < (b + 1) * n; ++i)
            EXPECT_NEAR((turned.position[i] - turned.position[b * n]).norm(),
                        (plain.position[i] - plain.position[b * n]).norm(), 1e-12);
}

} // namespace
} // namespace pliant
