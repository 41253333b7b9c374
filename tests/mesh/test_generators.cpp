#include "pliant/core/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numbers>

using namespace pliant;
using std::numbers::pi;

namespace {

int euler_characteristic(const TriangleMesh& mesh)
{
    return count(mesh.vertices) - count(edges_of(mesh.triangles)) + count(mesh.triangles);
}

/// V - E + F - T of a conforming tetrahedral mesh; its faces are counted from the tetrahedra and the boundary.
int euler_characteristic(const TetMesh& mesh)
{
    const Index faces = (4 * count(mesh.tets) + count(boundary_of(mesh.tets))) / 2;
    return count(mesh.vertices) - count(edges_of(mesh.tets)) + faces - count(mesh.tets);
}

Real tet_volume(const TetMesh& mesh, const Tet& t)
{
    const Vec3& a = mesh.vertices[t[0]];
    return (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).dot(mesh.vertices[t[3]] - a) / 6;
}

/// 1 for a regular tetrahedron, 0 for a flat one: volume over the cube of the root mean square edge.
Real quality(const TetMesh& mesh, const Tet& t)
{
    Real sum = 0;
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) sum += (mesh.vertices[t[i]] - mesh.vertices[t[j]]).squaredNorm();
    return 6 * std::sqrt(2.0) * tet_volume(mesh, t) / std::pow(sum / 6, 1.5);
}

Real smallest_angle(const TriangleMesh& mesh)
{
    Real smallest = pi;
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) {
            const Vec3 u = mesh.vertices[t[(k + 1) % 3]] - mesh.vertices[t[k]];
            const Vec3 v = mesh.vertices[t[(k + 2) % 3]] - mesh.vertices[t[k]];
            smallest = std::min(smallest, std::atan2(u.cross(v).norm(), u.dot(v)));
        }
    return smallest;
}

void expect_closed(const TriangleMesh& mesh, int euler, Real volume, Real tolerance)
{
    EXPECT_TRUE(is_closed(mesh.triangles));
    EXPECT_EQ(euler_characteristic(mesh), euler);
    EXPECT_NEAR(enclosed_volume(mesh) / volume, 1, tolerance);
}

void expect_solid(const TetMesh& mesh, int euler, Real volume, Real tolerance, Real least_quality)
{
    Real sum = 0, worst = 1;
    for (const Tet& t : mesh.tets) {
        sum += tet_volume(mesh, t);
        worst = std::min(worst, quality(mesh, t));
    }
    EXPECT_GT(worst, least_quality);
    EXPECT_EQ(euler_characteristic(mesh), euler);
    EXPECT_NEAR(sum / volume, 1, tolerance);
    const TriangleMesh boundary{mesh.vertices, boundary_of(mesh.tets)};
    EXPECT_TRUE(is_closed(boundary.triangles));
    EXPECT_NEAR(enclosed_volume(boundary), sum, 1e-12 * sum);
}

} // namespace

TEST(Generators, BoxIsClosedAndEnclosesItsVolume)
{
    expect_closed(make_box({1, 2, 3}, {2, 3, 4}), 2, 6, 1e-14);
}

TEST(Generators, SphereIsClosedAndApproachesItsVolume)
{
    expect_closed(make_sphere(2, 4), 2, 4.0 / 3 * pi * 8, 5e-3);
}

TEST(Generators, CylinderIsAPrismOverItsPolygon)
{
    for (Index around : {3, 4, 7, 24}) {
        const Real base = around / 2.0 * 0.25 * std::sin(2 * pi / around);
        expect_closed(make_cylinder(0.5, 2, around, 5), 2, base * 2, 1e-13);
    }
    EXPECT_GT(smallest_angle(make_cylinder(0.5, 2, 24, 16)), 25 * pi / 180);
}

TEST(Generators, CapsuleIsClosedAndApproachesItsVolume)
{
    expect_closed(make_capsule(0.5, 1, 64, 12), 2, pi * 0.25 * 1 + pi / 6, 5e-3);
    expect_closed(make_capsule(0.5, 1, 3, 2), 2, enclosed_volume(make_capsule(0.5, 1, 3, 2)), 1e-14);
    EXPECT_GT(enclosed_volume(make_capsule(0.5, 1, 3, 2)), 0);
    EXPECT_GT(smallest_angle(make_capsule(0.5, 1, 32, 12)), 20 * pi / 180);
}

TEST(Generators, TorusIsClosedWithOneHoleAndApproachesItsVolume)
{
    expect_closed(make_torus(1, 0.3, 96, 48), 0, 2 * pi * pi * 0.09, 5e-3);
    expect_closed(make_torus(1, 0.3, 3, 3), 0, enclosed_volume(make_torus(1, 0.3, 3, 3)), 1e-14);
    EXPECT_GT(enclosed_volume(make_torus(1, 0.3, 3, 3)), 0);
}

TEST(Generators, WedgeIsASectorOfARing)
{
    const Real angle = 20 * pi / 180;
    expect_closed(make_wedge(2, 3, angle, 0.5, {32, 3, 2}), 2, 0.5 * angle / 2 * (9 - 4), 1e-4);
    // The joint faces lie in planes through the arch's axis, so that turned copies meet face to face.
    const TriangleMesh stone = make_wedge(2, 3, angle, 0.5);
    for (const Vec3& x : stone.vertices) EXPECT_NEAR(std::abs(std::atan2(x.x(), x.y())), angle / 2, 1e-14);
}

TEST(Generators, DiscFacesUpAndKeepsItsTrianglesRegular)
{
    const TriangleMesh disc = make_disc(1, 60);
    EXPECT_EQ(euler_characteristic(disc), 1);
    Real area = 0;
    for (const Triangle& t : disc.triangles) {
        const Vec3 n = (disc.vertices[t[1]] - disc.vertices[t[0]]).cross(disc.vertices[t[2]] - disc.vertices[t[0]]);
        EXPECT_GT(n.y(), 0);
        area += n.y() / 2;
    }
    EXPECT_NEAR(area, 30 * std::sin(2 * pi / 60), 1e-13);
    EXPECT_GT(smallest_angle(disc), 30 * pi / 180);
}

TEST(Generators, ConeIsAnOpenBandOfRowsFromTheBottomUp)
{
    const TriangleMesh skirt = make_cone(1, 0.25, 2, 20, 9);
    EXPECT_EQ(count(skirt.vertices), 180);
    EXPECT_EQ(euler_characteristic(skirt), 0);
    for (Index i = 0; i < 20; ++i) {
        EXPECT_NEAR(skirt.vertices[i].y(), -1, 1e-15);
        EXPECT_NEAR(std::hypot(skirt.vertices[i].x(), skirt.vertices[i].z()), 1, 1e-14);
        EXPECT_NEAR(std::hypot(skirt.vertices[160 + i].x(), skirt.vertices[160 + i].z()), 0.25, 1e-14);
    }
    for (const Triangle& t : skirt.triangles) { // outward
        const Vec3 &a = skirt.vertices[t[0]], &b = skirt.vertices[t[1]], &c = skirt.vertices[t[2]];
        const Vec3 middle = (a + b + c) / 3;
        EXPECT_GT((b - a).cross(c - a).dot(Vec3(middle.x(), 0, middle.z())), 0);
    }
    EXPECT_EQ(euler_characteristic(make_cone(1, 0, 2, 20, 9)), 1);
}

TEST(Generators, TetBoxFillsTheBoxAndItsBoundaryIsClosed)
{
    expect_solid(make_tet_box({1, 2, 3}, {2, 2, 3}), 1, 6, 1e-14, 0.3);
}

TEST(Generators, TetBoxOfFiveTetrahedraACubeFillsTheBoxAndItsFacesMatch)
{
    for (const std::array<Index, 3>& cells : {std::array<Index, 3>{1, 1, 1}, {2, 2, 3}, {5, 5, 5}, {4, 1, 2}}) {
        const TetMesh box = make_tet_box({1, 2, 3}, cells, TetSplit::five);
        EXPECT_EQ(count(box.tets), 5 * cells[0] * cells[1] * cells[2]);
        expect_solid(box, 1, 6, 1e-14, 0.05);
        // All of the boundary is on the box: a face without its partner would be inside.
        for (const Triangle& t : boundary_of(box.tets)) {
            const Vec3 middle = (box.vertices[t[0]] + box.vertices[t[1]] + box.vertices[t[2]]) / 3;
            EXPECT_NEAR(middle.cwiseQuotient(Vec3(0.5, 1, 1.5)).lpNorm<Eigen::Infinity>(), 1, 1e-14);
        }
    }
    expect_solid(make_tet_box({1, 1, 1}, {3, 3, 3}, TetSplit::five), 1, 1, 1e-14, 0.7);
}

TEST(Generators, TetWedgeIsTheWedgeFilledWithTetrahedra)
{
    const Real angle = 20 * pi / 180;
    for (TetSplit split : {TetSplit::six, TetSplit::five}) {
        const TetMesh stone = make_tet_wedge(2, 3, angle, 0.5, {5, 5, 3}, split);
        EXPECT_EQ(count(stone.tets), split == TetSplit::five ? 375 : 450);
        // Its sections are polygons of 5 chords.
        const Real volume = 0.5 * 5 * std::sin(angle / 5) / 2 * (9 - 4);
        expect_solid(stone, 1, volume, 1e-13, 0.2);
        EXPECT_NEAR(enclosed_volume(make_wedge(2, 3, angle, 0.5, {5, 5, 3})), volume, 1e-13);
    }
}

TEST(Generators, TurnedSolidIsAStackOfFrustums)
{
    const std::vector<Vec2> pawn = {{0.5, 0}, {0.55, 0.1}, {0.2, 0.4}, {0.15, 0.9}, {0.3, 1}, {0.35, 1.2}, {0, 1.5}};
    for (Index around : {3, 4, 5, 6, 12}) {
        const Real section = around / 2.0 * std::sin(2 * pi / around); // area of a polygon of radius 1
        Real volume = 0;
        for (std::size_t i = 0; i + 1 < pawn.size(); ++i) {
            const Real r = pawn[i].x(), s = pawn[i + 1].x();
            volume += (pawn[i + 1].y() - pawn[i].y()) / 3 * section * (r * r + r * s + s * s);
        }
        for (TurnedCore core : {TurnedCore::axis, TurnedCore::bare}) {
            const TetMesh figure = make_tet_turned(pawn, around, core);
            const bool axis = core == TurnedCore::axis;
            EXPECT_EQ(count(figure.vertices), 6 * (around + axis) + 1);
            EXPECT_EQ(count(figure.tets), (axis ? around : around - 2) * (5 * 3 + 1));
            expect_solid(figure, 1, volume, 1e-13, 0.005);
            for (Index v = 0; v < count(figure.vertices); ++v) // every vertex is used
                EXPECT_TRUE(std::any_of(figure.tets.begin(), figure.tets.end(),
                                        [&](const Tet& t) { return std::find(t.begin(), t.end(), v) != t.end(); }));
        }
    }
    const std::vector<Vec2> top = {{0, -1}, {1, 0}, {0, 2}};
    expect_solid(make_tet_turned(top, 8), 1, 4 * std::sin(pi / 4) * 3 / 3, 1e-13, 0.01);
}

TEST(Generators, TetSphereFillsTheBallWithNearlyRegularTetrahedra)
{
    for (Index layers : {1, 2, 3, 8}) {
        const TetMesh ball = make_tet_sphere(1, layers);
        EXPECT_EQ(count(ball.tets), 20 * layers * layers * layers);
        expect_solid(ball, 1, enclosed_volume({ball.vertices, boundary_of(ball.tets)}), 1e-12, 0.45);
    }
    expect_solid(make_tet_sphere(2, 12), 1, 4.0 / 3 * pi * 8, 1e-2, 0.45);
}

TEST(Generators, TetTorusFillsTheRing)
{
    expect_solid(make_tet_torus(1, 0.3, 64, 32), 0, 2 * pi * pi * 0.09, 1e-2, 0.1);
    const TetMesh coarse = make_tet_torus(1, 0.3, 3, 3);
    expect_solid(coarse, 0, enclosed_volume({coarse.vertices, boundary_of(coarse.tets)}), 1e-12, 0.01);
}

TEST(Generators, RefuseSenselessNumbersWithASentence)
{
    const Real nan = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_THROW(make_grid(1, 1, 1, 5), Error);
    EXPECT_THROW(make_grid(-1, 1, 5, 5), Error);
    EXPECT_THROW(make_disc(nan, 12), Error);
    EXPECT_THROW(make_disc(1, 2), Error);
    EXPECT_THROW(make_sphere(0, 2), Error);
    EXPECT_THROW(make_sphere(1, 40), Error);
    EXPECT_THROW(make_box({1, 1, 1}, {1, 0, 1}), Error);
    EXPECT_THROW(make_cylinder(1, 1, 12, 1), Error);
    EXPECT_THROW(make_torus(1, 1.5, 12, 12), Error);
    EXPECT_THROW(make_wedge(2, 1, 0.1, 1), Error);
    EXPECT_THROW(make_wedge(1, 2, 4, 1), Error);
    EXPECT_THROW(make_tet_box({1, 1, 1}, {100000, 100000, 100000}), Error);
    EXPECT_THROW(make_tet_sphere(1, 0), Error);
    EXPECT_THROW(make_tet_wedge(2, 1, 0.1, 1, {1, 1, 1}), Error);
    EXPECT_THROW(make_tet_turned({{1, 0}}, 6), Error);
    EXPECT_THROW(make_tet_turned({{1, 0}, {0, 1}, {1, 2}}, 6), Error);
    EXPECT_THROW(make_tet_turned({{0, 0}, {0, 1}}, 6), Error);
    EXPECT_THROW(make_tet_turned({{1, 0}, {1, 1}, {2, 1}}, 6), Error);
    EXPECT_THROW(make_tet_turned({{1, 0}, {1, nan}}, 6), Error);
    try {
        make_cone(1, 0.5, 1, 2, 4);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "cone: vertices around must be at least 3, not 2.");
    }
}
