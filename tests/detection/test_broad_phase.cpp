#include "detection/surfaces.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/mesh/io.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

using namespace pliant;

namespace {

void expect_same_candidates(const Surface& s, const Vec3s& x_t0, const Vec3s& x_t1, Real radius,
                            std::span<const std::array<Index, 2>> no_contact = {})
{
    Detector reference(s, no_contact, BroadPhaseKind::all_pairs);
    const Candidates expected = reference.candidates(x_t0, x_t1, radius);
    EXPECT_FALSE(expected.vertex_face.empty());
    EXPECT_FALSE(expected.edge_edge.empty());
    for (BroadPhaseKind kind : {BroadPhaseKind::tree, BroadPhaseKind::hash}) {
        Detector detector(s, no_contact, kind);
        const Candidates found = detector.candidates(x_t0, x_t1, radius);
        EXPECT_EQ(found.vertex_face, expected.vertex_face);
        EXPECT_EQ(found.edge_edge, expected.edge_edge);
    }
}

Vec3s moved(const Vec3s& x, Random& random, Real distance)
{
    Vec3s y = x;
    for (Vec3& p : y) p += distance * random.on_sphere();
    return y;
}

Surface two_sheets(Index n)
{
    Surface s;
    TriangleMesh grid = make_grid(1, 1, n, n);
    add_body(s, grid);
    for (Vec3& p : grid.vertices) p += Vec3(0.013, 0.02, 0.007);
    add_body(s, grid);
    return s;
}

} // namespace

TEST(BroadPhase, ReturnsTheBruteForceCandidatesOfRandomTriangles)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        Surface s;
        add_body(s, random_soup(random, 400, 500, 0.1));
        add_body(s, random_soup(random, 40, 50, 0.3));
        expect_same_candidates(s, s.rest, moved(s.rest, random, 0.05), 0.01);
        expect_same_candidates(s, s.rest, s.rest, 0.02);
    }
}

TEST(BroadPhase, ReturnsTheBruteForceCandidatesOfFoldedCloth)
{
    const TriangleMesh grid = make_grid(1, 1, 40, 40);
    Surface s;
    add_body(s, grid);
    const Vec3s x = folded(grid, 5, 0.01, 7);
    Random random(3);
    expect_same_candidates(s, x, x, 0.005);
    expect_same_candidates(s, x, moved(x, random, 0.01), 0.001);
}

TEST(BroadPhase, ReturnsTheBruteForceCandidatesOfAPartOfTheClothBall)
{
    const char* data = std::getenv("PLIANT_DATA");
    const std::filesystem::path meshes =
        (data ? std::filesystem::path(data) : std::filesystem::path(PLIANT_SOURCE_DIR) / "../shared/data") / "meshes";
    if (!std::filesystem::exists(meshes / "cloth_ball92.ply"))
        GTEST_SKIP() << "no cloth_ball92.ply in " << meshes << " (set PLIANT_DATA)";
    const TriangleMesh whole = read_triangle_mesh(meshes / "cloth_ball92.ply");
    const Vec3s end = read_triangle_mesh(meshes / "cloth_ball93.ply").vertices;
    // the 2500 triangles nearest to the middle of the cloth: crumpled layers and a part of the ball
    std::vector<std::pair<Real, Index>> order;
    const auto centre = [&](Index f) {
        const Triangle& t = whole.triangles[f];
        return Vec3((whole.vertices[t[0]] + whole.vertices[t[1]] + whole.vertices[t[2]]) / 3);
    };
    for (Index f = 0; f < count(whole.triangles); ++f) order.emplace_back((centre(f) - centre(0)).norm(), f);
    std::sort(order.begin(), order.end());
    TriangleMesh part;
    Vec3s part_end;
    std::map<Index, Index> number;
    for (Index i = 0; i < 2500; ++i) {
        Triangle t = whole.triangles[order[i].second];
        for (Index& v : t) {
            const auto [it, inserted] = number.try_emplace(v, count(part.vertices));
            if (inserted) {
                part.vertices.push_back(whole.vertices[v]);
                part_end.push_back(end[v]);
            }
            v = it->second;
        }
        part.triangles.push_back(t);
    }
    Surface s;
    add_body(s, part);
    expect_same_candidates(s, part.vertices, part_end, 0);
    expect_same_candidates(s, part.vertices, part.vertices, 0.02);
}

TEST(BroadPhase, HandlesMeshesSmallerThanALeaf)
{
    Surface s;
    TriangleMesh triangle{{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {{0, 1, 2}}};
    add_body(s, triangle);
    for (Vec3& p : triangle.vertices) p.y() += 0.1;
    add_body(s, triangle);
    expect_same_candidates(s, s.rest, s.rest, 0.1);
}

TEST(BroadPhase, ReturnsNothingForAnEmptySurface)
{
    const Surface s;
    Detector detector(s);
    EXPECT_TRUE(detector.candidates({}, {}, 1).vertex_face.empty());
    EXPECT_TRUE(detector.proximity({}, {.reach = 1}).empty());
}

TEST(BroadPhase, StaysExactWhileTheTreeIsRefittedAndRebuilt)
{
    const TriangleMesh grid = make_grid(1, 1, 30, 30);
    Surface s;
    add_body(s, grid);
    Detector tree(s), reference(s, {}, BroadPhaseKind::all_pairs);
    Vec3s x = s.rest;
    Random random(5);
    for (int step = 0; step < 8; ++step) {
        for (Vec3& p : x) p = Vec3(0.8 * p.x(), p.y() + 0.1 * random.uniform(), p.z());
        const Candidates a = tree.candidates(x, x, 0.02), b = reference.candidates(x, x, 0.02);
        EXPECT_EQ(a.vertex_face, b.vertex_face);
        EXPECT_EQ(a.edge_edge, b.edge_edge);
    }
}

TEST(BroadPhase, StaysExactHoweverFarBodiesAreFromTheirRestShapes)
{
    const Surface s = two_sheets(20);
    Vec3s shuffled = s.rest;
    Random random(11);
    for (std::size_t i = 0; i < shuffled.size(); ++i) std::swap(shuffled[i], shuffled[random.bits() % shuffled.size()]);
    expect_same_candidates(s, shuffled, shuffled, 0.001);
    expect_same_candidates(s, shuffled, moved(shuffled, random, 0.01), 0.001);
}

TEST(BroadPhase, ReturnsTheBruteForceCandidatesOfManyBodies)
{
    Random random(12);
    Surface s;
    for (Index i = 0; i < 40; ++i) {
        TriangleMesh mesh = i % 3 == 0 ? make_grid(0.4, 0.4, 2 + i % 5, 3) : make_sphere(0.1, i % 2);
        const Vec3 at = random.in_box(Vec3::Constant(-0.5), Vec3::Constant(0.5));
        for (Vec3& p : mesh.vertices) p += at;
        add_body(s, mesh, 0, i % 7 == 0 ? CarriedBy::obstacle : i % 7 == 1 ? CarriedBy::rigid : CarriedBy::particles);
    }
    for (Index v = 0; v < s.vertex_count(); v += 5) s.prescribed[v] = 1;
    s.weld.resize(static_cast<std::size_t>(s.vertex_count()));
    for (Index v = 0; v < s.vertex_count(); ++v) // some neighbours by number are partners in a seam
        s.weld[v] = v % 4 == 3 && s.vertex_body[v - 1] == s.vertex_body[v] ? v - 1 : v;
    const std::array<std::array<Index, 2>, 2> apart = {{{3, 2}, {5, 5}}};
    expect_same_candidates(s, s.rest, moved(s.rest, random, 0.05), 0.01, apart);
    expect_same_candidates(s, s.rest, s.rest, 0.02, apart);
}

TEST(BroadPhase, DoesNotDependOnTheNumberOfThreads)
{
    const Surface s = two_sheets(60);
    Random random(9);
    const Vec3s y = moved(s.rest, random, 0.01);
    std::vector<Candidates> found;
    for (int threads : {1, 2, 4})
        for (BroadPhaseKind kind : {BroadPhaseKind::tree, BroadPhaseKind::hash}) {
            set_thread_count(threads);
            found.push_back(Detector(s, {}, kind).candidates(s.rest, y, 0.01));
        }
    set_thread_count(0);
    for (const Candidates& c : found) {
        EXPECT_EQ(c.vertex_face, found[0].vertex_face);
        EXPECT_EQ(c.edge_edge, found[0].edge_edge);
    }
}

TEST(PairFilter, LeavesOutFixedExcludedAndNeighbouringPairs)
{
    Surface s;
    const TriangleMesh grid = make_grid(1, 1, 4, 4);
    add_body(s, grid);                         // 0
    add_body(s, grid, 0, CarriedBy::obstacle); // 1
    add_body(s, grid, 0, CarriedBy::obstacle); // 2
    add_body(s, grid, 0, CarriedBy::rigid);    // 3
    for (Index v = 0; v < 4; ++v) s.prescribed[v] = 1;
    const std::array<Index, 2> apart = {3, 0};
    const Candidates c = Detector(s, std::span(&apart, 1)).candidates(s.rest, s.rest, 1);
    const auto body = [&](Index v) { return s.vertex_body[v]; };
    std::array<std::array<int, 4>, 4> seen{};
    int pinned_against_obstacle = 0;
    for (auto [v, f] : c.vertex_face) {
        const Triangle& t = s.triangles[f];
        EXPECT_TRUE(v != t[0] && v != t[1] && v != t[2]);
        const bool all_pinned = s.prescribed[v] && s.prescribed[t[0]] && s.prescribed[t[1]] && s.prescribed[t[2]];
        EXPECT_FALSE(all_pinned && body(v) == body(t[0])) << "pinned parts of one body";
        pinned_against_obstacle += body(v) == 0 && s.prescribed[v] && body(t[0]) == 1;
        ++seen[body(v)][body(t[0])];
    }
    for (auto [e, g] : c.edge_edge) {
        EXPECT_LT(e, g);
        ++seen[s.edge_body[e]][s.edge_body[g]];
    }
    EXPECT_GT(seen[0][0], 0);
    EXPECT_GT(seen[0][1], 0);
    EXPECT_GT(pinned_against_obstacle, 0) << "nothing can give way there, but what a script does is seen";
    EXPECT_GT(seen[1][3], 0);
    EXPECT_EQ(seen[1][2] + seen[2][1] + seen[1][1] + seen[2][2], 0) << "obstacle against obstacle";
    EXPECT_EQ(seen[0][3] + seen[3][0], 0) << "excluded by the scene";
    EXPECT_EQ(seen[3][3], 0) << "a rigid body against itself";
}
