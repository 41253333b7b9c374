#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

#include <numbers>

using namespace pliant;

TEST(Generators, BoxIsClosedAndEnclosesItsVolume)
{
    const TriangleMesh box = make_box({1, 2, 3}, {2, 3, 4});
    EXPECT_TRUE(is_closed(box.triangles));
    EXPECT_NEAR(enclosed_volume(box), 6, 1e-12);
}

TEST(Generators, SphereIsClosedAndApproachesItsVolume)
{
    const TriangleMesh sphere = make_sphere(2, 4);
    EXPECT_TRUE(is_closed(sphere.triangles));
    const Real exact = 4.0 / 3 * std::numbers::pi * 8;
    EXPECT_NEAR(enclosed_volume(sphere) / exact, 1, 5e-3);
}

TEST(Generators, TetBoxFillsTheBoxAndItsBoundaryIsClosed)
{
    const TetMesh box = make_tet_box({1, 2, 3}, {2, 2, 3});
    Real volume = 0;
    for (const Tet& t : box.tets) {
        const Vec3& a = box.vertices[t[0]];
        const Real v = (box.vertices[t[1]] - a).cross(box.vertices[t[2]] - a).dot(box.vertices[t[3]] - a) / 6;
        EXPECT_GT(v, 0);
        volume += v;
    }
    EXPECT_NEAR(volume, 6, 1e-12);
    const std::vector<Triangle> boundary = boundary_of(box.tets);
    EXPECT_TRUE(is_closed(boundary));
    EXPECT_NEAR(enclosed_volume({box.vertices, boundary}), 6, 1e-12);
}
