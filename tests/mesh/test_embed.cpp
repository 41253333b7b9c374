#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/embed.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/mesh/validate.hpp"

#include <gtest/gtest.h>

#include <numbers>

using namespace pliant;
using std::numbers::pi;

namespace {

Vec4 barycentric(const TetMesh& mesh, Index tet, const Vec3& x)
{
    const auto [a, b, c, d] = mesh.tets[tet];
    Mat3 m;
    m << mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a], mesh.vertices[d] - mesh.vertices[a];
    const Vec3 w = m.inverse() * (x - mesh.vertices[a]);
    return {1 - w.sum(), w.x(), w.y(), w.z()};
}

bool covered(const TetMesh& mesh, const Vec3& x)
{
    for (Index t = 0; t < count(mesh.tets); ++t)
        if (barycentric(mesh, t, x).minCoeff() > -1e-6) return true;
    return false;
}

Real volume_of(const TetMesh& mesh)
{
    Real sum = 0;
    for (const auto& [a, b, c, d] : mesh.tets) {
        const Vec3& o = mesh.vertices[a];
        sum += (mesh.vertices[b] - o).cross(mesh.vertices[c] - o).dot(mesh.vertices[d] - o) / 6;
    }
    return sum;
}

/// The contract of an embedding, for any surface.
void expect_embedded(const EmbeddedMesh& mesh)
{
    const Real size = mesh.surface.vertices.front().norm() + 1;
    ASSERT_EQ(mesh.tet.size(), mesh.surface.vertices.size());
    ASSERT_EQ(mesh.weights.size(), mesh.surface.vertices.size());
    for (std::size_t v = 0; v < mesh.tet.size(); ++v) {
        ASSERT_GE(mesh.weights[v].minCoeff(), 0);
        ASSERT_NEAR(mesh.weights[v].sum(), 1, 1e-14);
        Vec3 x = Vec3::Zero();
        for (int k = 0; k < 4; ++k) x += mesh.weights[v][k] * mesh.tets.vertices[mesh.tets.tets[mesh.tet[v]][k]];
        ASSERT_LT((x - mesh.surface.vertices[v]).norm(), 1e-8 * size);
    }
    validate(mesh.tets);
    const Real volume = enclosed_volume(mesh.surface);
    EXPECT_NEAR(volume_of(mesh.tets), volume * (1 + mesh.volume_error), 1e-12 * volume_of(mesh.tets));
    EXPECT_GT(mesh.volume_error, -1e-9) << "the lattice covers the surface, so it cannot be smaller";
    Random random(3);
    for (int i = 0; i < 200; ++i) {
        const Triangle& t = mesh.surface.triangles[random.below(count(mesh.surface.triangles))];
        Real u = random.uniform(), w = random.uniform();
        if (u + w > 1) u = 1 - u, w = 1 - w;
        const Vec3 x = (1 - u - w) * mesh.surface.vertices[t[0]] + u * mesh.surface.vertices[t[1]] +
                       w * mesh.surface.vertices[t[2]];
        ASSERT_TRUE(covered(mesh.tets, x)) << x.transpose();
    }
}

/// A square ring with one side cut open: extruded along z, all faces on round coordinates.
TriangleMesh c_shape(Real gap)
{
    const std::vector<Vec2> outline = {{0, 0},       {3, 0},       {3, 1},       {1, 1},
                                       {1, 1 + gap}, {3, 1 + gap}, {3, 2 + gap}, {0, 2 + gap}};
    std::string text;
    for (int side = 0; side < 2; ++side)
        for (const Vec2& x : outline)
            text += "v " + std::to_string(x.x()) + " " + std::to_string(x.y()) + " " + std::to_string(side) + "\n";
    text += "f 8 7 6 5 4 3 2 1\nf 9 10 11 12 13 14 15 16\n";
    for (int i = 1; i <= 8; ++i) {
        const int j = i % 8 + 1;
        text += "f " + std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(j + 8) + " " +
                std::to_string(i + 8) + "\n";
    }
    return parse_obj(text, "c.obj");
}

void turn(TriangleMesh& mesh, Random& random)
{
    const Quat rotation = random.rotation();
    for (Vec3& x : mesh.vertices) x = rotation * x;
}

} // namespace

TEST(Embed, ABoxIsFilledExactly)
{
    const EmbeddedMesh mesh = embed(make_box({1, 2, 3}, {3, 4, 5}), {.cells = 6});
    expect_embedded(mesh);
    EXPECT_NEAR(mesh.volume_error, 0, 1e-12);
    EXPECT_EQ(count(mesh.tets.tets), 6 * 2 * 4 * 6);
}

TEST(Embed, VolumeErrorShrinksWithTheCells)
{
    Real last = 1e9;
    for (const Index cells : {2, 5, 10, 20, 40}) {
        const EmbeddedMesh mesh = embed(make_sphere(1, 3), {.cells = cells});
        if (cells <= 20) expect_embedded(mesh);
        EXPECT_LT(mesh.volume_error, 0.75 * last);
        last = mesh.volume_error;
    }
    EXPECT_LT(last, 0.1);
}

TEST(Embed, CellSizeIsAnUpperBoundOfTheCells)
{
    const EmbeddedMesh mesh = embed(make_box({1, 1, 1}), {.cell_size = 0.3});
    EXPECT_EQ(count(mesh.tets.tets), 6 * 4 * 4 * 4);
}

TEST(Embed, AThinPlateInAnyPositionIsCovered)
{
    Random random(5);
    for (int i = 0; i < 10; ++i) {
        TriangleMesh plate = make_box({1, 0.002, 0.7}, {8, 1, 6});
        if (i > 0) turn(plate, random);
        expect_embedded(embed(plate, {.cells = 7}));
    }
    EXPECT_NEAR(embed(make_box({1, 0.002, 0.7}, {8, 1, 6}), {.cells = 7}).volume_error, 0, 1e-9);
}

TEST(Embed, AConcaveShapeOnLatticePlanesStaysOpen)
{
    const EmbeddedMesh mesh = embed(c_shape(1), {.cells = 9});
    expect_embedded(mesh);
    EXPECT_NEAR(mesh.volume_error, 0, 1e-9) << "its faces are lattice planes, so that the fit is exact";
    EXPECT_FALSE(covered(mesh.tets, {2, 1.5, 0.5}));
    // Off the lattice planes, and turned.
    const EmbeddedMesh off = embed(c_shape(0.9), {.cells = 16});
    expect_embedded(off);
    EXPECT_FALSE(covered(off.tets, {2, 1.45, 0.5}));
    Random random(9);
    for (int i = 0; i < 5; ++i) {
        TriangleMesh c = c_shape(1);
        turn(c, random);
        expect_embedded(embed(c, {.cells = 12}));
    }
}

TEST(Embed, ATorusKeepsItsHole)
{
    const EmbeddedMesh mesh = embed(make_torus(1, 0.3, 48, 24), {.cells = 16});
    expect_embedded(mesh);
    const std::vector<Triangle> boundary = boundary_of(mesh.tets.tets);
    EXPECT_FALSE(covered(mesh.tets, {0, 0, 0}));
    EXPECT_TRUE(covered(mesh.tets, {1, 0, 0}));
    EXPECT_LT(mesh.volume_error, 0.8);
}

TEST(Embed, TheInteriorIsFilled)
{
    const EmbeddedMesh mesh = embed(make_sphere(1, 3), {.cells = 9});
    Random random(2);
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(covered(mesh.tets, random.on_sphere() * random.uniform(0, 0.98)));
}

TEST(Embed, AShellKeepsItsCavity)
{
    TriangleMesh shell = make_sphere(1, 3);
    const TriangleMesh inner = make_sphere(0.6, 3);
    const Index offset = count(shell.vertices);
    shell.vertices.insert(shell.vertices.end(), inner.vertices.begin(), inner.vertices.end());
    for (const auto& [a, b, c] : inner.triangles) shell.triangles.push_back({a + offset, c + offset, b + offset});
    const EmbeddedMesh mesh = embed(shell, {.cells = 20});
    expect_embedded(mesh);
    EXPECT_FALSE(covered(mesh.tets, {0, 0, 0}));
    EXPECT_TRUE(covered(mesh.tets, {0, 0.8, 0}));
}

TEST(Embed, DoesNotDependOnTheThreadsOrTheScale)
{
    set_thread_count(1);
    const EmbeddedMesh one = embed(make_torus(1, 0.3, 48, 24), {.cells = 24});
    set_thread_count(0);
    const EmbeddedMesh all = embed(make_torus(1, 0.3, 48, 24), {.cells = 24});
    EXPECT_EQ(one.tets.tets, all.tets.tets);
    EXPECT_EQ(one.tet, all.tet);
    const EmbeddedMesh large = embed(make_torus(1024, 0.3 * 1024, 48, 24), {.cells = 24}); // a power of two: same bits
    EXPECT_EQ(one.tets.tets, large.tets.tets);
}

TEST(Embed, RefusesOpenAndInsideOutSurfacesWithASentence)
{
    const auto message = [](const TriangleMesh& mesh, const EmbedOptions& options = {}) -> std::string {
        try {
            embed(mesh, options, "vase");
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    TriangleMesh open = make_box({1, 1, 1});
    open.triangles.pop_back();
    EXPECT_EQ(message(open),
              "vase: the surface is not closed: 3 edges have a triangle on one side only, the first between "
              "vertices 2 and 3; close its holes.");
    TriangleMesh inward = make_box({1, 1, 1});
    for (Triangle& t : inward.triangles) std::swap(t[0], t[1]);
    EXPECT_EQ(message(inward), "vase: the surface faces inward; turn its triangles around.");
    EXPECT_EQ(message(make_box({1, 1, 1}), {.cells = 0}),
              "vase: embedding: the number of cells must be at least 1, not 0.");
    EXPECT_EQ(message(make_box({1, 1, 1}), {.cells = 100000}),
              "vase: embedding: a lattice of more than 1e8 cells is too fine; ask for fewer.");
}

TEST(MeshData, TheScannedBunnyHasHolesAndIsRefused)
{
    const char* from_environment = std::getenv("PLIANT_DATA");
    const std::filesystem::path dir = from_environment ? std::filesystem::path(from_environment)
                                                       : std::filesystem::path(PLIANT_SOURCE_DIR) / "../shared/data";
    if (!std::filesystem::exists(dir / "meshes/stanford-bunny.obj"))
        GTEST_SKIP() << "no meshes in " << dir << "; set PLIANT_DATA to test with them";
    EXPECT_THROW(embed(read_triangle_mesh(dir / "meshes/stanford-bunny.obj")), Error);
    EXPECT_THROW(embed(read_triangle_mesh(dir / "meshes/teapot.obj")), Error);
}
