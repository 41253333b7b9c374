#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/subdivision.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

using namespace pliant;

TEST(LoopSubdivision, KeepsAClosedSurfaceClosedWithItsTopology)
{
    const TriangleMesh coarse = make_torus(1, 0.4, 12, 8);
    const TriangleMesh fine = loop_subdivide(coarse);
    EXPECT_EQ(count(fine.triangles), 4 * count(coarse.triangles));
    EXPECT_TRUE(is_closed(fine.triangles));
    EXPECT_EQ(count(fine.vertices) - count(edges_of(fine.triangles)) + count(fine.triangles), 0);
    EXPECT_GT(enclosed_volume(fine), 0.8 * enclosed_volume(coarse));
    EXPECT_LT(enclosed_volume(fine), enclosed_volume(coarse)) << "a convex average shrinks";
}

TEST(LoopSubdivision, CommutesWithAffineMaps)
{
    Random random(4);
    const TriangleMesh coarse = make_sphere(1, 1);
    Mat3 a;
    for (int i = 0; i < 9; ++i) a(i / 3, i % 3) = random.uniform(-1, 1);
    const Vec3 b = random.in_box({-1, -1, -1}, {1, 1, 1});
    TriangleMesh mapped = coarse;
    for (Vec3& x : mapped.vertices) x = a * x + b;
    const TriangleMesh fine = loop_subdivide(coarse), fine_mapped = loop_subdivide(mapped);
    for (std::size_t v = 0; v < fine.vertices.size(); ++v)
        EXPECT_LT((fine_mapped.vertices[v] - (a * fine.vertices[v] + b)).norm(), 1e-14);
}

TEST(LoopSubdivision, RegularVerticesUseTheMasksOfTheBoxSpline)
{
    // A hexagon: centre 0 of valence six lifted to height one, rim vertices 1 to 6.
    TriangleMesh hexagon = make_disc(1, 6);
    Index centre = none;
    for (Index v = 0; v < 7; ++v)
        if (hexagon.vertices[v].norm() < 1e-12) centre = v;
    ASSERT_NE(centre, none);
    hexagon.vertices[centre].y() = 1;
    const TriangleMesh fine = loop_subdivide(hexagon);
    EXPECT_NEAR(fine.vertices[centre].y(), 10.0 / 16, 1e-15);
    const std::vector<Edge> edges = edges_of(hexagon.triangles);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const bool spoke = edges[e][0] == centre || edges[e][1] == centre;
        EXPECT_NEAR(fine.vertices[7 + e].y(), spoke ? 3.0 / 8 : 0, 1e-15);
    }
}

TEST(LoopSubdivision, BoundariesDependOnTheBoundaryOnly)
{
    TriangleMesh grid = make_grid(1, 1, 6, 6);
    const TriangleMesh before = loop_subdivide(grid);
    for (Vec3& x : grid.vertices)
        if (std::abs(x.x()) < 0.49 && std::abs(x.z()) < 0.49) x.y() = 5;
    const TriangleMesh after = loop_subdivide(grid);
    std::vector<char> on_boundary(after.vertices.size(), 0);
    for (const Hinge& h : hinges_of(after.triangles))
        if (h.triangle[1] == none) on_boundary[h.edge[0]] = on_boundary[h.edge[1]] = 1;
    Index checked = 0;
    for (std::size_t v = 0; v < after.vertices.size(); ++v)
        if (on_boundary[v]) {
            EXPECT_EQ(after.vertices[v], before.vertices[v]);
            ++checked;
        }
    EXPECT_EQ(checked, 40);
}
