// Shapes that melt together: closed, manifold, of the wanted size, and where the shapes are.

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/mesh/blend.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/mesh/validate.hpp"

#include <gtest/gtest.h>

#include <numbers>

using namespace pliant;
using std::numbers::pi;

namespace {

BlendPart ball(const Vec3& at, Real radius, Real melt = 0)
{
    return {BlendCapsule{at, at, radius, radius}, melt};
}

Real mean_edge(const TriangleMesh& mesh)
{
    Real sum = 0;
    const std::vector<Edge> edges = edges_of(mesh.triangles);
    for (const auto& [a, b] : edges) sum += (mesh.vertices[a] - mesh.vertices[b]).norm();
    return sum / static_cast<Real>(edges.size());
}

/// V - E + F.
Index euler(const TriangleMesh& mesh)
{
    return count(mesh.vertices) - count(edges_of(mesh.triangles)) + count(mesh.triangles);
}

/// Smallest angle of all triangles [rad].
Real smallest_angle(const TriangleMesh& mesh)
{
    Real least = pi;
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) {
            const Vec3& a = mesh.vertices[t[k]];
            const Vec3 u = mesh.vertices[t[(k + 1) % 3]] - a, v = mesh.vertices[t[(k + 2) % 3]] - a;
            least = std::min(least, std::atan2(u.cross(v).norm(), u.dot(v)));
        }
    return least;
}

/// Every vertex has one fan of triangles: the surface is a manifold there too.
bool has_single_fans(const TriangleMesh& mesh)
{
    std::vector<Index> corners(mesh.vertices.size(), 0), links(mesh.vertices.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (const Index v : t) ++corners[v];
    std::vector<std::vector<std::array<Index, 2>>> fan(mesh.vertices.size());
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) fan[t[k]].push_back({t[(k + 1) % 3], t[(k + 2) % 3]});
    for (const auto& edges : fan) {
        Index at = edges.front()[0];
        std::size_t steps = 0;
        do {
            const auto next = std::find_if(edges.begin(), edges.end(), [&](const auto& e) { return e[0] == at; });
            if (next == edges.end()) return false;
            at = (*next)[1];
            ++steps;
        } while (at != edges.front()[0] && steps <= edges.size());
        if (steps != edges.size()) return false;
    }
    return true;
}

} // namespace

TEST(Blend, OfRandomShapesIsAClosedManifold)
{
    Random random(11);
    for (int trial = 0; trial < 30; ++trial) {
        BlendOptions options;
        options.edge = 0.035;
        const int parts = 1 + random.below(6);
        for (int i = 0; i < parts; ++i) {
            const Vec3 at = random.in_box(Vec3::Constant(-0.3), Vec3::Constant(0.3));
            BlendPart part;
            part.melt = random.below(2) * random.uniform(0, 0.2);
            switch (random.below(3)) {
            case 0:
                part.shape = BlendCapsule{at, random.in_box(Vec3::Constant(-0.3), Vec3::Constant(0.3)),
                                          random.uniform(0.06, 0.2), random.uniform(0.0, 0.2)};
                break;
            case 1:
                part.shape =
                    BlendEllipsoid{at, random.in_box(Vec3::Constant(0.06), Vec3::Constant(0.4)), random.rotation()};
                break;
            default:
                part.shape =
                    BlendBox{at, random.in_box(Vec3::Constant(0.15), Vec3::Constant(0.5)), 0.05, random.rotation()};
            }
            options.parts.push_back(part);
        }
        if (random.below(3) == 0) options.shell = 0.03;
        const TriangleMesh mesh = make_blend(options);
        validate(mesh);
        EXPECT_TRUE(is_closed(mesh.triangles)) << trial;
        EXPECT_TRUE(has_single_fans(mesh)) << trial;
        EXPECT_GT(enclosed_volume(mesh), 0) << trial;
        EXPECT_EQ(euler(mesh) % 2, 0) << trial;
    }
}

TEST(Blend, BallHasItsVolumeAndTheWantedEdges)
{
    for (const Real edge : {0.2, 0.1, 0.05}) {
        const TriangleMesh mesh = make_blend({{ball({1, 2, 3}, 1)}, edge, 0});
        EXPECT_EQ(euler(mesh), 2);
        EXPECT_NEAR(mean_edge(mesh), edge, 0.08 * edge);
        EXPECT_NEAR(enclosed_volume(mesh), 4 * pi / 3, 4 * edge * edge);
        for (const Vec3& x : mesh.vertices) EXPECT_NEAR((x - Vec3(1, 2, 3)).norm(), 1, 0.05 * edge * edge + 1e-9);
        EXPECT_GT(smallest_angle(mesh), 10 * pi / 180);
        const Real estimate = blend_triangles({{ball({1, 2, 3}, 1)}, edge, 0});
        EXPECT_NEAR(count(mesh.triangles), estimate, 0.3 * estimate);
    }
}

TEST(Blend, MeltingJoinsWhatIsNearAndRoundsTheCrease)
{
    const auto two = [](Real distance, Real melt) {
        return make_blend({{ball({0, 0, 0}, 1, melt), ball({distance, 0, 0}, 1, melt)}, 0.04, 0});
    };
    EXPECT_EQ(euler(two(2.1, 0)), 4) << "two balls that are apart";
    EXPECT_EQ(euler(two(2.1, 0.5)), 2) << "melted into one body";
    EXPECT_GT(enclosed_volume(two(1.5, 0.5)), enclosed_volume(two(1.5, 0)));
}

TEST(Blend, ShellIsAHollowBodyOfItsThickness)
{
    const TriangleMesh shell = make_blend({{ball({0, 0, 0}, 1)}, 0.06, 0.1});
    EXPECT_TRUE(is_closed(shell.triangles));
    EXPECT_EQ(euler(shell), 4) << "an outer and an inner sphere";
    EXPECT_NEAR(enclosed_volume(shell), 4 * pi / 3 * (1 - std::pow(0.9, 3)), 0.03);
}

TEST(Blend, FieldOfEachShapeIsADistanceNearItsSurface)
{
    const std::vector<BlendPart> parts = {
        {BlendCapsule{{0, 0, 0}, {1, 0.5, 0}, 0.3, 0.1}, 0},
        {BlendCapsule{{0, 0, 0}, {0.1, 0, 0}, 0.1, 0.4}, 0}, // one end swallows the other
        {BlendEllipsoid{{0, 0, 0}, {1, 0.5, 0.3}, Random(2).rotation()}, 0},
        {BlendBox{{0, 0, 0}, {1, 0.5, 0.4}, 0.1, Random(4).rotation()}, 0}};
    Random random(8);
    for (const BlendPart& part : parts) {
        int near = 0;
        for (int i = 0; i < 20000; ++i) {
            const Vec3 x = random.in_box(Vec3::Constant(-1.5), Vec3::Constant(1.5));
            const Real d = blend_distance(part, x);
            if (std::abs(d) > 0.02) continue;
            ++near;
            Vec3 gradient;
            for (int k = 0; k < 3; ++k)
                gradient[k] =
                    (blend_distance(part, x + 1e-6 * Vec3::Unit(k)) - blend_distance(part, x - 1e-6 * Vec3::Unit(k))) /
                    2e-6;
            EXPECT_NEAR(gradient.norm(), 1, 0.1);
        }
        EXPECT_GT(near, 50);
    }
}

TEST(Blend, IsTheSameForAnyNumberOfThreads)
{
    const BlendOptions options = {{ball({0, 0, 0}, 1, 0.2), ball({1, 0.4, 0}, 0.7, 0.2)}, 0.05, 0};
    set_thread_count(1);
    const TriangleMesh one = make_blend(options);
    set_thread_count(0);
    const TriangleMesh many = make_blend(options);
    EXPECT_EQ(one.triangles, many.triangles);
    EXPECT_EQ(one.vertices, many.vertices);
}

TEST(Blend, RefusesShapesWithoutSize)
{
    EXPECT_THROW(make_blend({{}, 0.1, 0}), Error);
    EXPECT_THROW(make_blend({{ball({0, 0, 0}, 0)}, 0.1, 0}), Error);
    EXPECT_THROW(make_blend({{{BlendBox{{0, 0, 0}, {1, 1, 1}, 0.6, Quat::Identity()}, 0}}, 0.1, 0}), Error);
    EXPECT_THROW(make_blend({{ball({0, 0, 0}, 1)}, 1e-7, 0}), Error);
}

TEST(Decimate, KeepsAClosedSurfaceItsShapeAndItsFineParts)
{
    // A large ball with a finger: all of the finger's detail is in few large triangles' worth of area.
    const std::vector<BlendPart> parts = {ball(Vec3::Zero(), 0.2),
                                          {BlendCapsule{{0.19, 0, 0}, {0.3, 0, 0}, 0.012, 0.01}, 0.005}};
    const TriangleMesh fine = make_blend({.parts = parts, .edge = 0.008});
    const TriangleMesh few = make_blend({.parts = parts, .edge = 0.008, .triangles = 1500});
    ASSERT_GT(count(fine.triangles), 9000);
    EXPECT_LE(count(few.triangles), 1500);
    EXPECT_GT(count(few.triangles), 1400);
    EXPECT_TRUE(is_closed(few.triangles));
    EXPECT_EQ(euler(few), 2);
    EXPECT_NEAR(enclosed_volume(few), enclosed_volume(fine), 0.01 * enclosed_volume(fine));
    EXPECT_GT(smallest_angle(few), 0.05);
    Real finger = 0, back = 0;
    int at_finger = 0, at_back = 0;
    for (const auto& [a, b] : edges_of(few.triangles)) {
        const Vec3 middle = (few.vertices[a] + few.vertices[b]) / 2;
        const Real length = (few.vertices[a] - few.vertices[b]).norm();
        if (middle.x() > 0.22) finger += length, ++at_finger;
        if (middle.x() < 0) back += length, ++at_back;
    }
    EXPECT_GT(at_finger, 50);
    EXPECT_LT(finger / at_finger, 0.7 * back / at_back) << "smaller triangles where the shape is finer";
    for (const Vec3& x : few.vertices) EXPECT_LT(std::abs(blend_distance(parts, x)), 0.003);
}
