#include "detection/tet_scene.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/penetration_depth.hpp"
#include "pliant/detection/points_in_bodies.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numbers>

using namespace pliant;

namespace {

/// Detection and depth of a scene, for tests that look at one state after the other.
struct Depths {
    explicit Depths(const TetScene& s, const TetHashOptions& options = {})
        : scene(s), mesh(s.mesh()), tree(mesh), stage1(mesh, tree, options), depth(mesh, tree)
    {}
    void find() { points = stage1.find(scene.x, scene.half_spaces); }
    const PenetrationDepths& consistent()
    {
        find();
        return depth.consistent(scene.x, scene.half_spaces, points);
    }
    const PenetrationDepths& closest()
    {
        find();
        return depth.closest_feature(scene.x, scene.half_spaces, points);
    }
    /// The depth of one node in a body; fails the test where it is not inside.
    PointDepth of(const PenetrationDepths& depths, Index node, Index body) const
    {
        for (std::size_t i = 0; i < points.size(); ++i)
            if (points[i].node == node && points[i].body == body) return depths.points[i];
        ADD_FAILURE() << "node " << node << " is not in body " << body;
        return {};
    }

    TetScene scene;
    CollisionMesh mesh;
    FaceTree tree;
    PointsInBodies stage1;
    PenetrationDepth depth;
    std::vector<PointInBody> points;
};

Vec3 normal_of(const Vec3s& x, const Triangle& f)
{
    return (x[f[1]] - x[f[0]]).cross(x[f[2]] - x[f[0]]).normalized();
}

Vec3 angle_weighted_normal(const CollisionMesh& mesh, const Vec3s& x, Index node)
{
    Vec3 sum = Vec3::Zero();
    for (const Triangle& f : mesh.faces)
        for (int k = 0; k < 3; ++k) {
            if (f[k] != node) continue;
            const Vec3 a = (x[f[(k + 1) % 3]] - x[node]).normalized(), b = (x[f[(k + 2) % 3]] - x[node]).normalized();
            sum += std::acos(std::clamp(a.dot(b), -1.0, 1.0)) * normal_of(x, f);
        }
    return sum.normalized();
}

/// Stages 2 to 4 written down a second time, straight from the paper: all faces, no grid, maps and loops.
std::map<std::pair<Index, Index>, std::pair<Vec3, Real>> reference(const CollisionMesh& mesh, const Vec3s& x,
                                                                   const std::vector<PointInBody>& points)
{
    std::map<std::pair<Index, Index>, std::pair<Vec3, Real>> done; // (body, node) -> direction, depth
    std::map<std::pair<Index, Index>, bool> inside;
    for (const PointInBody& p : points) inside[{p.body, p.node}] = true;
    for (const PointInBody& point : points) {
        Real weights = 0, depth = 0;
        Vec3 direction = Vec3::Zero();
        const Vec3& p = x[point.node];
        for (Index q : mesh.neighbours[point.node]) {
            if (inside.count({point.body, q})) continue;
            Real nearest = 2;
            Vec3 n = Vec3::Zero();
            for (Index f = mesh.face_begin[point.body]; f < mesh.face_begin[point.body + 1]; ++f) {
                const Triangle& v = mesh.faces[f];
                Mat3 m; // q + t (p - q) = a + u (b - a) + v (c - a)
                m.col(0) = x[q] - p;
                m.col(1) = x[v[1]] - x[v[0]];
                m.col(2) = x[v[2]] - x[v[0]];
                const Vec3 tuv = m.inverse() * (x[q] - x[v[0]]);
                if (!(tuv.x() > 0 && tuv.x() < 1 && tuv.y() > 0 && tuv.z() > 0 && tuv.y() + tuv.z() < 1)) continue;
                if (tuv.x() > nearest) continue;
                nearest = tuv.x();
                n = ((1 - tuv.y() - tuv.z()) * angle_weighted_normal(mesh, x, v[0]) +
                     tuv.y() * angle_weighted_normal(mesh, x, v[1]) + tuv.z() * angle_weighted_normal(mesh, x, v[2]))
                        .normalized();
                EXPECT_GT(n.dot(normal_of(x, v)), 0.5);
            }
            if (nearest > 1) continue;
            const Vec3 out = x[q] + nearest * (p - x[q]) - p;
            const Real w = 1 / out.squaredNorm();
            weights += w;
            depth += w * std::max(out.dot(n), 0.0);
            direction += w * n;
        }
        if (weights > 0) done[{point.body, point.node}] = {direction.normalized(), depth / weights};
    }
    for (bool more = true; more;) {
        const auto before = done;
        more = false;
        for (const PointInBody& point : points) {
            if (before.count({point.body, point.node})) continue;
            Real weights = 0, depth = 0;
            Vec3 direction = Vec3::Zero();
            for (Index q : mesh.neighbours[point.node]) {
                const auto it = before.find({point.body, q});
                if (it == before.end()) continue;
                const Vec3 step = x[q] - x[point.node];
                const Real w = 1 / step.squaredNorm();
                weights += w;
                depth += w * (step.dot(it->second.first) + it->second.second);
                direction += w * it->second.first;
            }
            if (weights == 0) continue;
            done[{point.body, point.node}] = {direction.normalized(), std::max(depth / weights, 0.0)};
            more = true;
        }
    }
    return done;
}

Real degrees_between(const Vec3& a, const Vec3& b)
{
    return std::atan2(a.cross(b).norm(), a.dot(b)) * 180 / std::numbers::pi;
}

} // namespace

TEST(PenetrationDepth, OfACubeInAFlatBodyIsTheTrueDepthAtEveryLayer)
{
    // A half-space three times: a thick slab of tetrahedra, a closed mesh, and itself. Turned, so that nothing is
    // aligned with the axes.
    const Pose turn = {Vec3(0.3, -0.2, 0.1), Quat(Eigen::AngleAxisd(0.6, Vec3(1, 2, -1).normalized()))};
    const Vec3 up = turn.rotation * Vec3::UnitY();
    for (int kind = 0; kind < 3; ++kind) {
        TetScene scene;
        const Index cube = scene.add(make_tet_box({1, 1, 1}, {6, 6, 6}),
                                     {turn(Vec3(0.03, -0.26, 0.02)), turn.rotation}); // its lower 76 % are inside
        Index ground = 0;
        if (kind == 0)
            ground = scene.add(make_tet_box({9, 3, 9}, {9, 3, 9}), {turn(Vec3(0, -1.5, 0)), turn.rotation});
        else if (kind == 1)
            ground = scene.add_shell(make_box({9, 3, 9}, {9, 3, 9}), {turn(Vec3(0, -1.5, 0)), turn.rotation});
        else
            ground = scene.add_half_space(up, up.dot(turn.translation));
        Depths d(scene);
        const PenetrationDepths& found = d.consistent();
        Index layers = 0, points = 0;
        for (std::size_t i = 0; i < d.points.size(); ++i) {
            if (d.points[i].body != ground || d.mesh.node_body[d.points[i].node] != cube) continue;
            const PointDepth& p = found.points[i];
            EXPECT_NEAR(p.depth, up.dot(turn.translation - d.scene.x[d.points[i].node]), 1e-12);
            EXPECT_LT((p.direction - up).norm(), 1e-12);
            layers = std::max(layers, p.layer);
            ++points;
        }
        EXPECT_EQ(points, 5 * 49);
        EXPECT_EQ(layers, kind < 2 ? 4 : 0);
        EXPECT_TRUE(found.enclosed.empty());
    }
}

TEST(PenetrationDepth, IsThatOfThePaperOnRandomBodies)
{
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        TetScene scene;
        Random random(seed);
        for (int b = 0; b < 4; ++b) { // convex and finely cut: no interpolated normal needs the clamp
            const Pose pose = {0.5 * random.on_sphere(), random.rotation()};
            // The last bodies have so many faces that they go into a grid, and their edges to several threads.
            scene.add(make_tet_sphere(random.uniform(0.4, 0.7), seed < 4 ? 4 : 12), pose);
        }
        Depths d(scene);
        const PenetrationDepths& found = d.consistent();
        const auto expected = reference(d.mesh, d.scene.x, d.points);
        EXPECT_GT(expected.size(), 50u);
        for (std::size_t i = 0; i < d.points.size(); ++i) {
            const PointDepth& p = found.points[i];
            EXPECT_NEAR(p.direction.norm(), 1, 1e-14);
            const auto it = expected.find({d.points[i].body, d.points[i].node});
            EXPECT_EQ(p.origin != DepthOrigin::enclosed, it != expected.end());
            if (it == expected.end()) continue;
            EXPECT_NEAR(p.depth, it->second.second, 1e-9);
            EXPECT_LT((p.direction - it->second.first).norm(), 1e-9);
        }
    }
}

TEST(PenetrationDepth, OfTwoBallsPointsAlongTheLineOfTheirCentres)
{
    TetScene scene;
    const Quat turn(Eigen::AngleAxisd(0.4, Vec3(3, 1, 2).normalized()));
    const Vec3 line = Vec3(1, 2, 3).normalized();
    scene.add(make_tet_sphere(1, 12), {Vec3::Zero(), turn});
    scene.add(make_tet_sphere(1, 12), {1.975 * line, Quat::Identity()}); // they meet in a cap of 9 degrees
    Depths d(scene);
    const PenetrationDepths& found = d.consistent();
    EXPECT_GT(d.points.size(), 5u);
    for (std::size_t i = 0; i < d.points.size(); ++i) {
        const Vec3 out = d.mesh.node_body[d.points[i].node] == 0 ? Vec3(-line) : line;
        EXPECT_LT(degrees_between(found.points[i].direction, out), 10);
        EXPECT_LE(found.points[i].depth, 0.025);
    }
}

TEST(PenetrationDepth, DoesNotDependOnTheOrderOfThePoints)
{
    Depths d(random_bodies(5, 8, 1));
    const PenetrationDepths expected = d.consistent();
    ASSERT_GT(d.points.size(), 100u);
    std::vector<Index> order(d.points.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = Index(i);
    Random random(1);
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(Index(i) + 1)]);
    std::vector<PointInBody> shuffled;
    for (Index i : order) shuffled.push_back(d.points[i]);
    const PenetrationDepths& found = d.depth.consistent(d.scene.x, {}, shuffled);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(found.points[i], expected.points[order[i]]);
    EXPECT_EQ(found.enclosed, expected.enclosed);
}

TEST(PenetrationDepth, DoesNotDependOnTheNumberingOfTheNodes)
{
    const TetScene scene = random_bodies(5, 6, 1);
    TetScene other = scene;
    const Index n = count(scene.x);
    const auto renumber = [&](Index i) { return Index((std::int64_t(i) * 7919 + 13) % n); };
    ASSERT_NE(n % 7919, 0);
    for (Index i = 0; i < n; ++i) {
        other.x[renumber(i)] = scene.x[i];
        other.input.rest[renumber(i)] = scene.input.rest[i];
        other.input.node_body[renumber(i)] = scene.input.node_body[i];
    }
    for (Tet& t : other.input.tets)
        for (Index& v : t) v = renumber(v);
    Depths a(scene), b(other);
    const PenetrationDepths& expected = a.consistent();
    const PenetrationDepths& found = b.consistent();
    ASSERT_EQ(a.points.size(), b.points.size());
    for (std::size_t i = 0; i < a.points.size(); ++i) {
        const PointDepth p = b.of(found, renumber(a.points[i].node), a.points[i].body), &q = expected.points[i];
        EXPECT_NEAR(p.depth, q.depth, 1e-12);
        EXPECT_LT((p.direction - q.direction).norm(), 1e-12);
        EXPECT_EQ(p.layer, q.layer);
    }
}

TEST(PenetrationDepth, ChangesLittleWhenBodiesMoveLittleWhereTheClosestFeatureJumps)
{
    // [Heidelberger04, fig. 2]: a bar comes down through the top of a block, near its side. Moving along, its deep
    // nodes cross the plane from which side and top are equally far.
    TetScene scene;
    scene.add(make_tet_box({2, 2, 2}, {8, 8, 8}));
    const Index bar = scene.add(make_tet_box({0.1, 1, 0.1}, {1, 5, 1}), at(0, 1.05, 0));
    Depths d(scene);
    const Vec3s start = scene.x;
    Index tip = none; // a lowest node: 0.45 below the top
    for (Index i = 0; i < count(start); ++i)
        if (d.mesh.node_body[i] == bar && start[i].y() < 0.6) tip = i;
    const Real step = 1e-3;
    Real consistent_turn = 0, closest_turn = 0, consistent_change = 0;
    PointDepth last[2];
    for (int k = 0; k < 400; ++k) {
        for (Index i = 0; i < count(start); ++i)
            if (d.mesh.node_body[i] == bar) d.scene.x[i] = start[i] + Vec3(0.35 + step * k, 0, 0.013);
        const PointDepth now[2] = {d.of(d.consistent(), tip, 0), d.of(d.closest(), tip, 0)};
        if (k > 0) {
            consistent_turn = std::max(consistent_turn, degrees_between(now[0].direction, last[0].direction));
            consistent_change = std::max(consistent_change, std::abs(now[0].depth - last[0].depth));
            closest_turn = std::max(closest_turn, degrees_between(now[1].direction, last[1].direction));
        }
        EXPECT_LT(degrees_between(now[0].direction, Vec3::UnitY()), 50);
        std::copy(now, now + 2, last);
    }
    EXPECT_LT(consistent_turn, 1);
    EXPECT_LT(consistent_change, 2 * step);
    EXPECT_GT(closest_turn, 80);
}

TEST(PenetrationDepth, BecomesTheExactDepthAsAPointReachesTheSurface)
{
    TetScene scene;
    scene.add(make_tet_sphere(1, 10));
    const Index probe = scene.add(make_tet_box({0.2, 0.2, 0.2}, {1, 1, 1}));
    Depths d(scene);
    const Index tip = count(scene.x) - 8;                           // a corner of the probe
    const Vec3 corner = scene.x[tip], out = (-corner).normalized(); // the probe lies along its diagonal behind it
    const Quat turn = Quat::FromTwoVectors(out, Vec3(0.3, 0.9, 0.5).normalized());
    const Vec3 radial = Vec3(0.3, 0.9, 0.5).normalized();
    for (Real depth : {1e-2, 1e-3, 1e-4, 1e-6}) {
        // The ball's surface along the ray, then that deep.
        Real surface = 2;
        for (const Triangle& f : d.mesh.faces)
            if (d.mesh.node_body[f[0]] == 0) {
                const Vec3 n = normal_of(scene.x, f);
                if (n.dot(radial) > 0) surface = std::min(surface, n.dot(scene.x[f[0]]) / n.dot(radial)); // convex
            }
        for (Index i = 0; i < count(scene.x); ++i)
            if (d.mesh.node_body[i] == probe) d.scene.x[i] = turn * (scene.x[i] - corner) + (surface - depth) * radial;
        const PointDepth consistent = d.of(d.consistent(), tip, 0);
        const PointDepth exact = d.of(d.closest(), tip, 0);
        EXPECT_NEAR(consistent.depth, exact.depth, 0.05 * depth);
        EXPECT_LT(degrees_between(consistent.direction, exact.direction), 8); // interpolated against flat normals
    }
}

TEST(PenetrationDepth, SeparatesCubesThatFlewIntoEachOtherAlongTheirFlight)
{
    // [Heidelberger04, fig. 8]: head on, deeper than two edges before anyone looked; and a little off the line, where
    // some nodes really are beside the other cube.
    for (Real off : {0.0, 0.07}) {
        TetScene scene;
        scene.add(make_tet_box({1, 1, 1}, {5, 5, 5}, TetSplit::five));
        scene.add(make_tet_box({1, 1, 1}, {5, 5, 5}, TetSplit::five), at(0.55, off, 0.6 * off));
        Depths d(scene);
        const PenetrationDepths consistent = d.consistent(), closest = d.closest();
        int sideways = 0, closest_sideways = 0;
        for (std::size_t i = 0; i < d.points.size(); ++i) {
            const Real side = d.mesh.node_body[d.points[i].node] == 0 ? -1 : 1;
            sideways += side * consistent.points[i].direction.x() < 0.2;
            closest_sideways += side * closest.points[i].direction.x() < 0.2;
        }
        EXPECT_GE(d.points.size(), 150u);
        EXPECT_GT(closest_sideways, 3 * count(d.points) / 5);
        EXPECT_LE(sideways, off > 0 ? count(d.points) / 3 : 0);
    }
}

TEST(PenetrationDepth, FlagsWhatIsWhollyEnclosedAndStillShowsItTheSameWayOut)
{
    TetScene scene;
    const Index large = scene.add(make_tet_box({2, 2, 2}, {4, 4, 4}));
    const Index small = scene.add(make_tet_box({0.4, 0.4, 0.4}, {2, 2, 2}), at(0.1, 0.5, 0.05));
    const Index shell = scene.add_shell(make_sphere(0.2, 1), at(-0.6, 0, 0));
    scene.add(make_tet_box({0.4, 0.4, 0.4}, {2, 2, 2}), at(1, -0.5, 0.05)); // partly inside
    Depths d(scene);
    const PenetrationDepths& found = d.consistent();
    const std::vector<EnclosedPoints> expected = {{small, large, 27, true}, {shell, large, 42, true}};
    EXPECT_EQ(found.enclosed, expected);
    for (std::size_t i = 0; i < d.points.size(); ++i) {
        const Index body = d.mesh.node_body[d.points[i].node];
        const PointDepth& p = found.points[i];
        EXPECT_EQ(p.origin == DepthOrigin::enclosed, body == small || body == shell);
        if (body == small) { // out through the top, all of it
            EXPECT_NEAR(p.depth, 1 - d.scene.x[d.points[i].node].y(), 1e-12);
            EXPECT_NEAR(p.direction.y(), 1, 1e-12);
        }
    }
}

TEST(PenetrationDepth, KeepsTheBodiesThatAPointIsInApart)
{
    // A node in two walls that face each other: one flag for both would cancel their normals.
    TetScene scene;
    const Index left = scene.add(make_tet_box({2, 2, 2}, {4, 4, 4}), at(-0.95, 0, 0));
    const Index right = scene.add(make_tet_box({2, 2, 2}, {4, 4, 4}), at(0.95, 0, 0));
    const Index plate = scene.add(make_tet_box({0.6, 0.3, 0.3}, {6, 3, 3}), at(0, 0.02, 0.01));
    Depths d(scene);
    const PenetrationDepths& found = d.consistent();
    int both = 0;
    for (std::size_t i = 0; i + 1 < d.points.size(); ++i) {
        if (d.mesh.node_body[d.points[i].node] != plate || d.points[i].node != d.points[i + 1].node) continue;
        ++both;
        EXPECT_EQ(d.points[i].body, left);
        EXPECT_EQ(d.points[i + 1].body, right);
        EXPECT_GT(found.points[i].direction.x(), 0.99);
        EXPECT_LT(found.points[i + 1].direction.x(), -0.99);
    }
    EXPECT_EQ(both, 16);
}

TEST(PenetrationDepth, WorksInBothOrdersWithAClosedMesh)
{
    TetScene scene;
    scene.add(make_tet_sphere(1, 8), at(0, 1.93, 0));
    const Index stone = scene.add_shell(make_sphere(1, 3));
    Depths d(scene);
    const PenetrationDepths& found = d.consistent();
    int in_stone = 0, in_ball = 0;
    for (std::size_t i = 0; i < d.points.size(); ++i) {
        const Vec3 out = d.points[i].body == stone ? Vec3(0, 1, 0) : Vec3(0, -1, 0);
        EXPECT_LT(degrees_between(found.points[i].direction, out), 20);
        EXPECT_GE(found.points[i].depth, 0);
        EXPECT_LT(found.points[i].depth, 2 * 0.07); // averages over tangent planes around the point
        (d.points[i].body == stone ? in_stone : in_ball)++;
    }
    EXPECT_GT(in_stone, 3);
    EXPECT_GT(in_ball, 3);
}

TEST(PenetrationDepth, OfABodyFoldedOntoItselfIgnoresItsOwnNeighbourhood)
{
    TetScene scene;
    scene.add(make_tet_bar(10, 1, 1, {20, 2, 2}));
    Depths d(scene, {.self_collision = SelfCollision::on});
    for (Vec3& x : d.scene.x) { // a circle and a bit, its ends inside each other by 0.2 sideways
        const Real angle = x.x() / 10 * 2.25 * std::numbers::pi, r = 3 + x.y(), side = x.z() + 0.08 * x.x();
        x = {r * std::sin(angle), r * std::cos(angle), side};
    }
    const PenetrationDepths& found = d.consistent();
    ASSERT_GT(d.points.size(), 4u);
    EXPECT_TRUE(found.enclosed.empty());
    for (std::size_t i = 0; i < d.points.size(); ++i) {
        const Real end = d.mesh.rest[d.points[i].node].x() < 0 ? -1 : 1; // each end is pushed back to its own side
        EXPECT_GT(end * found.points[i].direction.z(), 0.2);
    }
}

TEST(PenetrationDepth, GivesTheSameBitsForAnyNumberOfThreads)
{
    TetScene two_large;
    two_large.add(make_tet_box({1, 1, 1}, {20, 20, 20}, TetSplit::five));
    two_large.add(make_tet_box({1, 1, 1}, {20, 20, 20}, TetSplit::five), at(0.75, 0.07, 0.04));
    for (const TetScene& scene : {random_bodies(17, 60, 3), two_large}) {
        std::vector<std::vector<PointDepth>> results;
        for (int threads : {1, 2, 4, 8}) {
            set_thread_count(threads);
            Depths d(scene);
            results.push_back(d.consistent().points);
            d.closest();
            EXPECT_EQ(d.consistent().points, results.back()) << "the buffers of an earlier call must not matter";
        }
        set_thread_count(0);
        EXPECT_GT(results[0].size(), 100u);
        for (const auto& r : results) EXPECT_EQ(r, results[0]);
    }
}

TEST(PenetrationDepth, WorkGrowsLinearlyWithTheCollidingPoints)
{
    const auto work = [](Index bodies, Real side) {
        Depths d(random_bodies(19, bodies, side));
        const PenetrationDepths& found = d.consistent();
        return static_cast<Real>(found.samples + found.face_tests) / static_cast<Real>(d.points.size());
    };
    EXPECT_NEAR(work(320, 5) / work(40, 2.5), 1, 0.2);
    // Finer bodies: the tests an edge needs stay the same.
    const auto fine = [](Index n) {
        TetScene scene;
        scene.add(make_tet_box({1, 1, 1}, {n, n, n}));
        scene.add(make_tet_box({1, 1, 1}, {n, n, n}), at(0.713, 0.33, 0.27));
        Depths d(scene);
        const PenetrationDepths& found = d.consistent();
        return static_cast<Real>(found.face_tests) / static_cast<Real>(found.samples);
    };
    EXPECT_LT(fine(16) / fine(4), 1.5);
}
