#include "pliant/core/error.hpp"
#include "pliant/core/random.hpp"
#include "pliant/geometry/plain_tree.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/run/certificate_path.hpp"
#include "pliant/run/exact.hpp"
#include "run/run_meshes.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

using namespace pliant;

namespace {

FrameCheck check(const TriangleWorld& w)
{
    return FrameChecker(w.mesh).check(w.frame);
}

PathCheck path(const TriangleWorld& w, const Vec3s& before)
{
    return check_path(FrameChecker(w.mesh), before, w.frame.positions);
}

} // namespace

TEST(CertificateFrame, GeneratedMeshesAreFreeOfIntersections)
{
    TriangleWorld w;
    w.add(make_grid(1, 1, 30, 30), Vec3(0, 3, 0), BodyKind::cloth);
    w.add(make_sphere(0.5, 3));
    w.add(make_torus(1, 0.2, 40, 12), Vec3(0, -2, 0));
    w.add(make_box({1, 1, 1}, {4, 4, 4}), Vec3(3, 0, 0));
    w.add(make_cone(1, 0.2, 1, 24, 8), Vec3(-3, 0, 0), BodyKind::cloth);
    const FrameCheck found = check(w);
    EXPECT_EQ(found.intersections, 0);
    EXPECT_TRUE(found.enclosed.empty());
    EXPECT_GT(found.pairs_tested, count(w.mesh.triangles)) << "neighbours are tested too";
}

TEST(CertificateFrame, DepthsAreDistancesToTheSurfaceOrThePlane)
{
    TriangleWorld w;
    w.add(make_box({2, 2, 2}));
    const Index small = w.add(make_box({0.2, 0.2, 0.2}), Vec3(0, 0.6, 0));
    const Index floor = w.add_plane({Vec3::UnitY(), -0.7}); // the lowest part of the large box is behind it
    const FrameCheck found = check(w);
    EXPECT_EQ(found.deepest, 0) << "nothing crosses";
    Real inside = 0, behind = 0;
    for (const Enclosure& e : found.enclosed) {
        Real& deepest = e.container == floor ? behind : inside;
        deepest = std::max(deepest, e.depth);
    }
    EXPECT_NEAR(behind, 1 - 0.7, 1e-12);
    EXPECT_NEAR(inside, 1 - 0.5, 1e-12) << "the lower corners of the small box are below the large one's top";
    w.move(small, Vec3(0, 0.4, 0)); // now its upper half is outside
    EXPECT_GT(check(w).deepest, 0);
    EXPECT_LE(check(w).deepest, 0.2 + 1e-12) << "it can be moved out along its edge";
}

TEST(CertificateFrame, FindsExactlyThePairsOfBruteForce)
{
    TriangleWorld w;
    Random random(11);
    TriangleMesh soup;
    for (int i = 0; i < 300; ++i) {
        const Vec3 at = random.in_box(Vec3::Zero(), Vec3::Ones());
        for (int k = 0; k < 3; ++k) soup.vertices.push_back(at + 0.15 * random.on_sphere());
        soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    w.add(soup, Vec3::Zero(), BodyKind::cloth);
    std::int64_t expected = 0;
    for (Index i = 0; i < count(w.mesh.triangles); ++i)
        for (Index j = i + 1; j < count(w.mesh.triangles); ++j)
            expected += exact::triangles_meet(w.frame.positions, w.mesh.triangles[i], w.mesh.triangles[j]);
    EXPECT_EQ(check(w).intersections, expected);
    EXPECT_GT(expected, 20);
}

TEST(CertificateFrame, NamesBodiesTrianglesPlaceAndDepthOfACrossing)
{
    TriangleWorld w;
    w.add({{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {{0, 1, 2}}}, Vec3::Zero(), BodyKind::cloth);
    w.add({{{0.2, -0.1, 0.2}, {0.3, 1, 0.2}, {0.2, 1, 0.3}}, {{0, 1, 2}}}, Vec3::Zero(), BodyKind::cloth);
    const FrameCheck found = check(w);
    ASSERT_EQ(found.intersections, 1);
    const TriangleCrossing& x = found.crossings.at(0);
    EXPECT_EQ(x.body_a, 0);
    EXPECT_EQ(x.body_b, 1);
    EXPECT_EQ(x.triangle_a, 0);
    EXPECT_EQ(x.triangle_b, 1);
    EXPECT_LT((x.position - Vec3(0.2, 0, 0.2)).norm(), 0.02);
    EXPECT_NEAR(x.depth, 0.1, 1e-12) << "a tip of 0.1 has gone through";
}

TEST(CertificateFrame, TouchingBodiesIntersectWithDepthZero)
{
    TriangleWorld w;
    w.add(make_box({1, 1, 1}));
    const Index upper = w.add(make_box({1, 1, 1}), Vec3(0.25, 1, 0.125));
    const FrameCheck touching = check(w);
    EXPECT_GT(touching.intersections, 0);
    for (const TriangleCrossing& x : touching.crossings) EXPECT_NEAR(x.depth, 0, 1e-15);
    EXPECT_TRUE(touching.enclosed.empty()) << "a vertex on a surface is not inside";
    w.move(upper, Vec3(0, 1e-12, 0));
    EXPECT_EQ(check(w).intersections, 0);
}

TEST(CertificateFrame, FindsClothFoldedFlatOntoItself)
{
    TriangleWorld w;
    w.add(make_grid(1, 1, 3, 2), Vec3::Zero(), BodyKind::cloth);
    EXPECT_EQ(check(w).intersections, 0);
    for (Vec3& x : w.frame.positions)
        if (x.x() > 0) x.x() = -x.x();
    EXPECT_GT(check(w).intersections, 0);
    for (Vec3& x : w.frame.positions)
        if (w.mesh.rest[&x - w.frame.positions.data()].x() > 0) x.y() += 1e-15;
    EXPECT_EQ(check(w).intersections, 0) << "a hair's breadth above itself";
}

TEST(CertificateFrame, NestedBodiesDoNotIntersectButEnclose)
{
    TriangleWorld w;
    const Index shell = w.add(make_sphere(1, 3));
    const Index ball = w.add(make_sphere(0.3, 2), Vec3(0.1, 0.2, -0.1));
    const FrameCheck found = check(w);
    EXPECT_EQ(found.intersections, 0);
    ASSERT_EQ(count(found.enclosed), w.mesh.bodies[ball].vertex_count);
    for (const Enclosure& e : found.enclosed) EXPECT_EQ(e.container, shell);
    w.move(ball, Vec3(2, 0, 0));
    EXPECT_TRUE(check(w).enclosed.empty());
}

TEST(CertificateFrame, InsideIsExactOnAlignedGrids)
{
    // Rays through vertices, along edges and within faces of the container: everything lies on one lattice.
    TriangleWorld w;
    w.add(make_box({2, 2, 2}, {4, 4, 4}));
    TriangleMesh points;
    std::set<Index> inside;
    for (int i = -3; i <= 3; ++i)
        for (int j = -3; j <= 3; ++j)
            for (int k = -3; k <= 3; ++k) {
                if (std::abs(i) < 2 && std::abs(j) < 2 && std::abs(k) < 2)
                    inside.insert(w.mesh.bodies[0].vertex_count + count(points.vertices));
                points.vertices.push_back(0.5 * Vec3(i, j, k));
            }
    w.add(points, Vec3::Zero(), BodyKind::cloth);
    std::set<Index> found;
    for (const Enclosure& e : check(w).enclosed) {
        EXPECT_EQ(e.container, 0);
        found.insert(e.vertex);
    }
    EXPECT_EQ(found, inside);
}

TEST(CertificateFrame, TellsWhatIsBehindAPlane)
{
    TriangleWorld w;
    w.add(make_box({1, 1, 1}), Vec3(0, 0.5, 0));
    const Index plane = w.add_plane({Vec3::UnitY(), 0});
    EXPECT_TRUE(check(w).enclosed.empty()) << "on the plane is not behind it";
    for (Vec3& x : w.frame.positions)
        if (x.y() == 0) x.y() = -1e-300;
    const FrameCheck found = check(w);
    ASSERT_EQ(found.enclosed.size(), 4u);
    EXPECT_EQ(found.enclosed[0].container, plane);
    EXPECT_EQ(found.intersections, 0);
}

TEST(CertificateFrame, LeavesOutWhatNoMethodSeparates)
{
    TriangleWorld w;
    w.add(make_box({1, 1, 1}), Vec3::Zero(), BodyKind::obstacle);
    w.add(make_box({1, 1, 1}), Vec3(0.5, 0.5, 0.5), BodyKind::obstacle);
    EXPECT_EQ(check(w).intersections, 0) << "scripts may move obstacles through each other";
    const Index ball = w.add(make_sphere(0.4, 2));
    EXPECT_GT(check(w).intersections, 0);
    w.mesh.no_contact = {{0, ball}, {1, ball}};
    const FrameCheck found = check(w);
    EXPECT_EQ(found.intersections, 0) << "the scene lets them through";
    EXPECT_TRUE(found.enclosed.empty());
}

TEST(CertificateFrame, RefusesPositionsThatAreNotFinite)
{
    TriangleWorld w;
    w.add(make_box({1, 1, 1}));
    w.frame.positions[3].y() = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_THROW(check(w), Error);
}

TEST(CertificatePath, SeesABodyPassThroughASheetBetweenTwoCleanStates)
{
    TriangleWorld w;
    w.add(make_grid(1, 1, 10, 10), Vec3::Zero(), BodyKind::cloth);
    const Index ball = w.add(make_sphere(0.1, 2), Vec3(0.05, 0.5, 0.03));
    const Vec3s before = w.frame.positions;
    w.move(ball, Vec3(0, -1, 0));
    EXPECT_EQ(check(w).intersections, 0) << "the frames alone show nothing";
    const PathCheck found = path(w, before);
    ASSERT_GT(found.impacts, 0);
    EXPECT_EQ(found.listed[0].kind, PathKind::vertex_face);
    EXPECT_EQ(found.listed[0].body_a, ball) << "a vertex of the ball comes first";
    EXPECT_EQ(found.listed[0].body_b, 0);
    EXPECT_GT(found.listed[0].fraction, 0.38) << "its lowest point meets the sheet after 0.4";
    EXPECT_LT(found.listed[0].fraction, 0.45);
}

TEST(CertificatePath, CleanMotionIsClean)
{
    TriangleWorld w;
    w.add(make_grid(1, 1, 10, 10), Vec3::Zero(), BodyKind::cloth);
    const Index ball = w.add(make_sphere(0.1, 2), Vec3(0.3, 0.1001, 0.03));
    const Vec3s before = w.frame.positions;
    w.move(ball, Vec3(-0.6, 0, 0)); // slides over the sheet at a distance of 0.1 mm
    const PathCheck found = path(w, before);
    EXPECT_EQ(found.impacts, 0);
    EXPECT_GT(found.pairs_tested, 1000);

    for (Vec3& x : w.frame.positions) x += Vec3(1e3, -2e3, 5e2); // all move together, fast
    EXPECT_EQ(path(w, before).impacts, 0);
}

TEST(CertificatePath, FindsTheTimeOfAnImpact)
{
    // The point (0.25, h, 0.25) falls by 1 through a triangle in the plane y = 0.
    const std::array<Vec3, 4> before = {Vec3(0.25, 0.3, 0.25), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
    std::array<Vec3, 4> after = before;
    after[0].y() -= 1;
    EXPECT_NEAR(first_contact_vertex_face(before, after), 0.3, 1e-11);
    after[0].y() = 1e-9;
    EXPECT_LT(first_contact_vertex_face(before, after), 0) << "stays a nanometre above";
    after[0].y() = 0;
    EXPECT_NEAR(first_contact_vertex_face(before, after), 1, 1e-11) << "arrives on it";

    // In and out again within a step: both states are on the same side. The triangle's far corners swing through.
    const std::array<Vec3, 4> edges = {Vec3(-1, 0.5, 0), Vec3(1, 0.5, 0), Vec3(0, 0, -1), Vec3(0, 0, 1)};
    std::array<Vec3, 4> moved = edges;
    moved[0].y() = moved[1].y() = -0.5;
    EXPECT_NEAR(first_contact_edge_edge(edges, moved), 0.5, 1e-11);
    moved[0].x() = moved[1].x() = 5; // has gone aside before it comes down
    EXPECT_LT(first_contact_edge_edge(edges, moved), 0);
}

TEST(CertificatePath, FindsWhatPassesAMovingPlaneWithinAStep)
{
    // A plane that turns by 90 degrees about z while a point moves: in front at both ends, behind in between.
    const Plane upright = {Vec3(1, 0, 0), 0}, lying = {Vec3(0, 1, 0), 0};
    EXPECT_GE(first_contact_vertex_plane({0.2, -1, 0}, {-1, 0.2, 0}, upright, lying), 0);
    EXPECT_LT(first_contact_vertex_plane({1, 1, 0}, {1, 1, 0}, upright, lying), 0);
    EXPECT_LT(first_contact_vertex_plane({0.2, -0.1, 0}, {-0.1, 0.2, 0}, upright, lying), 0) << "0.2 > 0.1";
    EXPECT_NEAR(first_contact_vertex_plane({0, 0.3, 0}, {0, -0.7, 0}, lying, lying), 0.3, 1e-12);
    EXPECT_NEAR(first_contact_vertex_plane({0, 0.3, 0}, {0, 0, 0}, lying, lying), 1, 1e-12) << "arrives on it";
    EXPECT_LT(first_contact_vertex_plane({0.1, 0, 0}, {0.3, 0.2, 0}, lying, lying), 0) << "starts on it and rises";
    EXPECT_EQ(first_contact_vertex_plane({0.1, 0, 0}, {0.3, -0.2, 0}, lying, lying), 0) << "starts on it and sinks";
    EXPECT_LT(first_contact_vertex_plane({0.1, 0, 0}, {0.3, 0, 0}, lying, lying), 0) << "slides on it";
    EXPECT_EQ(first_contact_vertex_plane({0.1, 0, 0}, {0.3, -1e-300, 0}, lying, lying), 0) << "all but slides on it";
    EXPECT_EQ(first_contact_vertex_plane({0.1, 0, 0}, {-0.1, 0, 0}, lying, upright), 0) << "the plane turns over it";

    TriangleWorld w;
    const Index ball = w.add(make_sphere(0.1, 1), Vec3(0, 0.5, 0));
    const Index plane = w.add_plane(lying);
    const FrameChecker checker(w.mesh);
    const PathState before = {0, w.frame.positions, {lying}};
    const PathState raised = {1, w.frame.positions, {{Vec3(0, 1, 0), 0.45}}}, lowered = {1, w.frame.positions, {lying}};
    EXPECT_EQ(check_path(checker, before, lowered).impacts, 0);
    const PathCheck found = check_path(checker, before, raised);
    ASSERT_GT(found.impacts, 0);
    EXPECT_EQ(found.listed[0].kind, PathKind::vertex_plane);
    EXPECT_EQ(found.listed[0].body_a, ball);
    EXPECT_EQ(found.listed[0].body_b, plane);
}

TEST(CertificatePath, NeverMissesASampledCrossing)
{
    // Random motions; where the point is on different sides of the triangle at two close times and projects well inside
    // it, there was an impact between.
    Random random(5);
    int crossed = 0, clear = 0;
    for (int n = 0; n < 3000; ++n) {
        std::array<Vec3, 4> a, b;
        for (int k = 0; k < 4; ++k) {
            a[k] = random.in_box(-Vec3::Ones(), Vec3::Ones());
            b[k] = random.in_box(-Vec3::Ones(), Vec3::Ones());
        }
        bool sampled = false;
        int last = 0;
        for (int i = 0; i <= 400 && !sampled; ++i) {
            const Real t = i / 400.0;
            std::array<Vec3, 4> x;
            for (int k = 0; k < 4; ++k) x[k] = (1 - t) * a[k] + t * b[k];
            const Vec3 normal = (x[2] - x[1]).cross(x[3] - x[1]);
            const Real area = normal.squaredNorm();
            const Real w1 = normal.dot((x[2] - x[0]).cross(x[3] - x[0])) / area,
                       w2 = normal.dot((x[3] - x[0]).cross(x[1] - x[0])) / area;
            const bool within = w1 > 0.1 && w2 > 0.1 && w1 + w2 < 0.9 && area > 0.01;
            const int side = !within ? 0 : normal.dot(x[0] - x[1]) > 0 ? 1 : -1;
            sampled = side * last < 0;
            last = side;
        }
        const bool found = first_contact_vertex_face(a, b) >= 0;
        if (sampled) {
            ASSERT_TRUE(found) << "case " << n;
        }
        crossed += sampled;
        clear += !found;
    }
    EXPECT_GT(crossed, 100);
    EXPECT_GT(clear, 1000) << "and it does not cry wolf";
}
