#include "detection/tet_scene.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/points_in_bodies.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

std::vector<PointInBody> brute_force(const CollisionMesh& mesh, const Vec3s& x, const TetHashOptions& options)
{
    std::vector<PointInBody> found;
    for (Index node = 0; node < count(x); ++node) {
        std::vector<PointInBody> best(static_cast<std::size_t>(mesh.bodies));
        for (Index t = 0; t < count(mesh.tets); ++t) {
            const std::optional<Vec4> w = TetHash::weights_inside(mesh, options, x, node, t);
            PointInBody& b = best[mesh.tet_body[t]];
            if (w && (b.node == none || w->minCoeff() > b.weights.minCoeff())) b = {node, mesh.tet_body[t], t, *w};
        }
        for (const PointInBody& b : best)
            if (b.node != none) found.push_back(b);
    }
    return found;
}

/// The rule's cells and table, and others that are far from it.
void expect_brute_force(const TetScene& scene, bool some = true)
{
    const CollisionMesh mesh = scene.mesh();
    for (SelfCollision self : {SelfCollision::off, SelfCollision::on}) {
        const std::vector<PointInBody> expected = brute_force(mesh, scene.x, {.self_collision = self});
        EXPECT_EQ(!expected.empty(), some);
        for (const auto& [cell, buckets] : {std::pair(0.0, 0), {0.03, 1}, {0.4, 16}, {1e3, 0}, {1e-7, 64}}) {
            TetHash hash(mesh, {.self_collision = self, .cell = cell, .buckets = buckets});
            EXPECT_EQ(hash.find(scene.x), expected) << "cell " << cell;
            EXPECT_EQ(hash.find(scene.x), expected) << "a second time";
        }
    }
}

} // namespace

TEST(TetHash, FindsTheBruteForcePointsOfRandomBodies)
{
    for (std::uint64_t seed = 1; seed <= 6; ++seed) expect_brute_force(random_bodies(seed, 6, 1));
}

TEST(TetHash, FindsTheBruteForcePointsOfCrushedAndInvertedBodies)
{
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        TetScene scene = random_bodies(seed, 4, 0.5);
        Random random(seed);
        for (Vec3& x : scene.x) x += random.uniform(0, 0.3) * random.on_sphere();
        expect_brute_force(scene);
    }
}

TEST(TetHash, FindsTheBruteForcePointsOfDegenerateScenes)
{
    TetScene twice; // every node on a node, every face on a face
    twice.add(make_tet_box({1, 1, 1}, {3, 3, 3}));
    twice.add(make_tet_box({1, 1, 1}, {3, 3, 3}));
    expect_brute_force(twice);

    TetScene touching; // nodes on faces, edges and corners of cells
    touching.add(make_tet_box({1, 1, 1}, {2, 2, 2}));
    touching.add(make_tet_box({1, 1, 1}, {4, 4, 4}), at(0, 1, 0));
    touching.add(make_tet_box({0.5, 0.5, 0.5}, {1, 1, 1}), at(0.25, 0.25, 0.25));
    expect_brute_force(touching);

    TetScene sizes; // one tetrahedron covers thousands of the others
    sizes.add(make_tet_sphere(50, 1));
    sizes.add(make_tet_sphere(0.05, 2), at(1, 0, 0));
    expect_brute_force(sizes);

    TetScene flat = random_bodies(3, 3, 0.2);
    for (Vec3& x : flat.x) x.y() = 0;
    expect_brute_force(flat, false);
}

TEST(TetHash, AgreesWithTheExactWindingNumberOfTheBoundary)
{
    const TetScene scene = random_bodies(7, 9, 1.2);
    const CollisionMesh mesh = scene.mesh();
    FaceTree tree(mesh);
    std::vector<Index> all;
    for (Index b = 0; b < mesh.bodies; ++b) all.push_back(b);
    tree.refit(scene.x, all);
    TetHash hash(mesh);
    const std::vector<PointInBody>& found = hash.find(scene.x);
    std::vector<std::pair<Index, Index>> expected, got;
    for (Index node = 0; node < count(scene.x); ++node)
        for (Index b = 0; b < mesh.bodies; ++b)
            if (b != mesh.node_body[node] && tree.winding(scene.x, b, scene.x[node]) == 1)
                expected.emplace_back(node, b);
    for (const PointInBody& p : found) {
        got.emplace_back(p.node, p.body);
        Vec3 y = Vec3::Zero();
        for (int k = 0; k < 4; ++k) y += p.weights[k] * scene.x[mesh.tets[p.tet][k]];
        EXPECT_LT((y - scene.x[p.node]).norm(), 1e-14);
    }
    EXPECT_GT(got.size(), 100u);
    EXPECT_EQ(got, expected);
}

TEST(TetHash, LosesNoPointOnAFaceBetweenTwoTetrahedra)
{
    TetScene scene;
    const TetMesh ball = make_tet_sphere(1, 4);
    scene.add(ball, {Vec3(0.1, 0.2, 0.3), Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()))});
    // One-tetrahedron bodies with a corner on a face or an edge inside of the ball.
    const CollisionMesh lone = scene.mesh();
    const TetMesh tiny = {{{0, 0, 0}, {1e-5, 0, 0}, {0, 1e-5, 0}, {0, 0, 1e-5}}, {{0, 1, 2, 3}}};
    Random random(5);
    std::vector<Index> on_face;
    for (Index t = 0; t < count(lone.tets); ++t)
        for (int k = 0; k < 4; ++k) {
            if (lone.tet_out[t][k] < 0) continue;
            Vec4 w(random.uniform(), random.uniform(), random.uniform(), random.uniform());
            w[k] = 0;
            if (t % 5 == 0) w[(k + 1) % 4] = 0;
            Vec3 p = Vec3::Zero();
            for (int i = 0; i < 4; ++i) p += w[i] / w.sum() * scene.x[lone.tets[t][i]];
            on_face.push_back(count(scene.x));
            scene.add(tiny, {p, Quat::Identity()});
        }
    const CollisionMesh mesh = scene.mesh();
    TetHash hash(mesh);
    const std::vector<PointInBody>& found = hash.find(scene.x);
    for (Index node : on_face)
        EXPECT_TRUE(std::binary_search(found.begin(), found.end(), PointInBody{node, 0, none, Vec4::Zero()}));
}

TEST(TetHash, LeavesOutTetrahedraThatAreInvertedOrNearlyFlat)
{
    for (Real height : {1.0, 0.06, 0.04, 0.0, -1.0}) {
        TetScene scene;
        const Index box = scene.add(make_tet_box({1, 1, 1}, {1, 1, 1}));
        scene.add(make_tet_box({0.01, 0.001, 0.01}, {1, 1, 1}), at(0.1, 0.011, 0.3));
        for (std::size_t i = 0; i < scene.x.size(); ++i)
            if (scene.input.node_body[i] == box) scene.x[i].y() *= height;
        const CollisionMesh mesh = scene.mesh();
        TetHash hash(mesh);
        EXPECT_EQ(hash.find(scene.x).size(), height > 0.05 ? 8u : 0u) << height;
    }
}

TEST(TetHash, FindsABodyFoldedOntoItselfOnlyOnRequest)
{
    TetScene scene;
    scene.add(make_tet_bar(10, 1, 1, {20, 2, 2}));
    const CollisionMesh mesh = scene.mesh();
    for (Vec3& x : scene.x) { // a circle and a half
        const Real angle = x.x() / 10 * 3 * 3.14159, r = 2 + x.y();
        x = {r * std::sin(angle), r * std::cos(angle), x.z()};
    }
    TetHash off(mesh), on(mesh, {.self_collision = SelfCollision::on});
    EXPECT_TRUE(off.find(scene.x).empty());
    const std::vector<PointInBody>& found = on.find(scene.x);
    EXPECT_GT(found.size(), 20u);
    for (const PointInBody& p : found)
        for (Index v : mesh.tets[p.tet]) EXPECT_GT((mesh.rest[v] - mesh.rest[p.node]).norm(), 2 * mesh.edge[0]);
}

TEST(TetHash, GivesTheSameBitsForAnyNumberOfThreads)
{
    const TetScene scene = random_bodies(11, 60, 3);
    const CollisionMesh mesh = scene.mesh();
    std::vector<std::vector<PointInBody>> results;
    for (int threads : {1, 2, 4, 8}) {
        set_thread_count(threads);
        TetHash hash(mesh);
        results.push_back(hash.find(scene.x));
    }
    set_thread_count(0);
    EXPECT_GT(results[0].size(), 100u);
    for (const auto& r : results) EXPECT_EQ(r, results[0]);
}

TEST(TetHash, WorkGrowsLinearlyWithTheScene)
{
    // The same density of bodies: eight times the volume, eight times the bodies.
    const auto work = [](Index bodies, Real side) {
        const TetScene scene = random_bodies(13, bodies, side);
        const CollisionMesh mesh = scene.mesh();
        TetHash hash(mesh);
        hash.find(scene.x);
        return static_cast<Real>(hash.counts().cells + hash.counts().candidates) / bodies;
    };
    const Real small = work(40, 3), large = work(320, 6);
    EXPECT_NEAR(large / small, 1, 0.15);
}

TEST(PointsInBodies, FindsPointsInShellsAndHalfSpacesAndShellVerticesInTetrahedra)
{
    TetScene scene;
    const Index ball = scene.add(make_tet_sphere(1, 5), at(0, 0.9, 0));
    const Index shell = scene.add_shell(make_sphere(0.5, 3), at(0.6, 1, 0));
    const Index floor = scene.add_half_space({0, 1, 0}, 0);
    const Index inner = scene.add_shell(make_sphere(0.1, 1), at(0.6, 1, 0)); // shells do not see each other
    const CollisionMesh mesh = scene.mesh();
    FaceTree tree(mesh);
    PointsInBodies points(mesh, tree);
    const std::vector<PointInBody> found = points.find(scene.x, scene.half_spaces);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    std::array<std::array<int, 4>, 4> seen = {};
    for (const PointInBody& p : found) ++seen[mesh.node_body[p.node]][p.body];

    const TriangleMesh surface = make_sphere(0.5, 3);
    int below = 0, in_shell = 0;
    for (Index i = 0; i < count(scene.x); ++i) {
        if (mesh.node_body[i] != ball) continue;
        below += scene.x[i].y() < 0;
        const Vec3 r = scene.x[i] - Vec3(0.6, 1, 0);
        bool inside = true; // convex: behind every face
        for (const Triangle& t : surface.triangles) {
            const Vec3 &a = surface.vertices[t[0]], &b = surface.vertices[t[1]], &c = surface.vertices[t[2]];
            inside = inside && (b - a).cross(c - a).dot(r - a) < 0;
        }
        in_shell += inside;
    }
    EXPECT_GT(below, 3);
    EXPECT_GT(in_shell, 10);
    EXPECT_EQ(seen[ball][floor], below);
    EXPECT_EQ(seen[ball][shell], in_shell);
    EXPECT_GT(seen[shell][ball], 50);
    EXPECT_EQ(seen[inner][ball], 42);
    EXPECT_EQ(seen[inner][shell] + seen[shell][inner] + seen[shell][floor] + seen[inner][floor], 0);
}
