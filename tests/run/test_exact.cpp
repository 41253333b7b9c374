#include "pliant/core/random.hpp"
#include "pliant/run/exact.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <cmath>

using namespace pliant;

namespace {

/// Two triangles, without a common vertex number.
bool meet(const std::array<Vec3, 6>& p)
{
    const Vec3s x(p.begin(), p.end());
    const bool result = exact::triangles_meet(x, {0, 1, 2}, {3, 4, 5});
    // The answer does not depend on the order of the triangles or of their corners.
    EXPECT_EQ(exact::triangles_meet(x, {3, 4, 5}, {0, 1, 2}), result);
    EXPECT_EQ(exact::triangles_meet(x, {1, 0, 2}, {5, 3, 4}), result);
    return result;
}

/// Triangles (s, a, b) and (s, c, d) with the vertex s in common.
bool meet_at_vertex(const Vec3& s, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const Vec3s x = {s, a, b, c, d};
    const bool result = exact::triangles_meet(x, {0, 1, 2}, {0, 3, 4});
    EXPECT_EQ(exact::triangles_meet(x, {3, 4, 0}, {2, 0, 1}), result);
    return result;
}

/// Triangles (s, t, a) and (t, s, b) with the edge s, t in common.
bool meet_at_edge(const Vec3& s, const Vec3& t, const Vec3& a, const Vec3& b)
{
    const Vec3s x = {s, t, a, b};
    const bool result = exact::triangles_meet(x, {0, 1, 2}, {1, 0, 3});
    EXPECT_EQ(exact::triangles_meet(x, {3, 1, 0}, {2, 0, 1}), result);
    return result;
}

const Vec3 A(0, 0, 0), B(1, 0, 0), C(0, 1, 0);

} // namespace

TEST(ExactTriangles, CrossingTrianglesMeet)
{
    EXPECT_TRUE(meet({A, B, C, Vec3(0.2, 0.2, -1), Vec3(0.3, 0.2, 1), Vec3(0.2, 0.3, 1)})) << "a corner pierces";
    EXPECT_TRUE(meet({A, B, C, Vec3(0.2, -1, -1), Vec3(0.2, -1, 1), Vec3(0.2, 0.5, 0)})) << "one edge of each";
    EXPECT_FALSE(meet({A, B, C, Vec3(0.8, 0.8, -1), Vec3(0.9, 0.8, 1), Vec3(0.8, 0.9, 1)})) << "passes beside";
    EXPECT_FALSE(meet({A, B, C, Vec3(0, 0, 1), Vec3(1, 0, 1), Vec3(0, 1, 1)})) << "parallel";
}

TEST(ExactTriangles, TouchingCountsAndTheNextDoubleDoesNot)
{
    const Real up = std::nextafter(0.0, 1.0);
    EXPECT_TRUE(meet({A, B, C, Vec3(0.25, 0.25, 0), Vec3(0.3, 0.2, 1), Vec3(0.2, 0.3, 1)})) << "corner on the face";
    EXPECT_FALSE(meet({A, B, C, Vec3(0.25, 0.25, up), Vec3(0.3, 0.2, 1), Vec3(0.2, 0.3, 1)}));
    EXPECT_TRUE(meet({A, B, C, Vec3(0.5, 0, -1), Vec3(0.5, 0, 1), Vec3(0.5, -1, 0)})) << "edge on edge";
    EXPECT_FALSE(meet({A, B, C, Vec3(0.5, -up, -1), Vec3(0.5, -up, 1), Vec3(0.5, -1, 0)}));
    EXPECT_TRUE(meet({A, B, C, A, Vec3(-1, 0, 0), Vec3(0, -1, 1)})) << "corner on corner, but not the same vertex";
}

TEST(ExactTriangles, CoplanarTrianglesMeetWhenTheyOverlap)
{
    EXPECT_TRUE(meet({A, B, C, Vec3(0.2, 0.2, 0), Vec3(2, 0.2, 0), Vec3(0.2, 2, 0)}));
    EXPECT_TRUE(meet({A, 4 * B, 4 * C, Vec3(0.5, 0.5, 0), Vec3(1, 0.5, 0), Vec3(0.5, 1, 0)})) << "one in the other";
    EXPECT_TRUE(meet({A, B, C, B, Vec3(2, 0, 0), Vec3(2, 1, 0)})) << "touching in a corner";
    EXPECT_FALSE(meet({A, B, C, Vec3(0.6, 0.6, 0), Vec3(1, 0.6, 0), Vec3(0.6, 1, 0)}));
    // Coplanar in no coordinate plane: all points satisfy x + y + z = 1 exactly.
    EXPECT_TRUE(
        meet({Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(0.25, 0.25, 0.5), Vec3(2, 0, -1), Vec3(0, 2, -1)}));
    EXPECT_FALSE(meet({Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(2, 0, -1), Vec3(3, 0, -2), Vec3(2, 1, -2)}));
}

TEST(ExactTriangles, SliversAndTrianglesWithoutAreaAreSegmentsAndPoints)
{
    const Real thin = 1e-300;
    EXPECT_TRUE(meet({A, B, C, Vec3(0.2, 0.2, -1), Vec3(0.2, 0.2, 1), Vec3(0.2 + thin, 0.2, 1)})) << "a needle";
    EXPECT_TRUE(meet({A, B, C, Vec3(0.2, 0.2, -1), Vec3(0.2, 0.2, 1), Vec3(0.2, 0.2, 0.5)})) << "a segment";
    EXPECT_FALSE(meet({A, B, C, Vec3(0.8, 0.8, -1), Vec3(0.8, 0.8, 1), Vec3(0.8, 0.8, 0.5)}));
    EXPECT_TRUE(meet({A, B, C, Vec3(0.2, 0.2, 0), Vec3(0.2, 0.2, 0), Vec3(0.2, 0.2, 0)})) << "a point";
    EXPECT_FALSE(meet({A, B, C, Vec3(0.2, 0.2, 1), Vec3(0.2, 0.2, 1), Vec3(0.2, 0.2, 1)}));
    EXPECT_TRUE(meet({A, B, 2 * B, Vec3(0.5, -1, 0), Vec3(0.5, 1, 0), Vec3(0.5, 2, 0)})) << "two segments";
    EXPECT_FALSE(meet({A, B, 2 * B, 3 * B, 4 * B, 5 * B})) << "two segments of a line";
    EXPECT_TRUE(meet({A, B, 3 * B, 3 * B, 4 * B, 5 * B}));
}

TEST(ExactTriangles, TrianglesWithACommonVertexMayMeetOnlyThere)
{
    EXPECT_FALSE(meet_at_vertex(A, B, C, -B, -C)) << "opposite, in one plane";
    EXPECT_FALSE(meet_at_vertex(A, B, C, Vec3(0.1, 0.1, 1), Vec3(0.2, 0.1, 1))) << "above";
    EXPECT_TRUE(meet_at_vertex(A, B, C, Vec3(0.2, 0.2, -1), Vec3(0.2, 0.2, 1))) << "cuts through from the vertex";
    EXPECT_TRUE(meet_at_vertex(A, B, C, Vec3(2, 2, -1), Vec3(2, 2, 1))) << "beyond the opposite edge";
    EXPECT_TRUE(meet_at_vertex(A, B, C, Vec3(0.3, 0.2, 0), Vec3(0, 0, 1))) << "an edge lies on the face";
    EXPECT_TRUE(meet_at_vertex(A, B, C, Vec3(0.3, 0.2, 0), Vec3(-1, 0.2, 0))) << "overlap in one plane";
    EXPECT_TRUE(meet_at_vertex(A, B, C, 2 * B, -C)) << "edges on one another in one plane";
    EXPECT_TRUE(meet_at_vertex(A, B, C, 2 * B, Vec3(0, 0, 1))) << "edges on one another";
}

TEST(ExactTriangles, TrianglesWithACommonEdgeMeetOnlyWhenFoldedFlat)
{
    EXPECT_FALSE(meet_at_edge(A, B, C, -C)) << "flat";
    EXPECT_FALSE(meet_at_edge(A, B, C, Vec3(0, 0, 1))) << "a right angle";
    EXPECT_FALSE(meet_at_edge(A, B, C, Vec3(0.3, 1, 1e-300))) << "all but folded";
    EXPECT_TRUE(meet_at_edge(A, B, C, Vec3(0.3, 1, 0))) << "folded onto itself";
    EXPECT_TRUE(meet_at_edge(A, B, C, Vec3(5, 1e-9, 0))) << "folded, hardly overlapping";
    EXPECT_FALSE(meet_at_edge(A, B, C, Vec3(0.5, 0, 0))) << "no area, within the edge";
    EXPECT_FALSE(meet_at_edge(A, B, 2 * B, -B)) << "two segments in opposite directions";
    EXPECT_TRUE(meet_at_edge(A, B, 2 * B, 3 * B)) << "two segments over one another";
    EXPECT_TRUE(exact::triangles_meet({A, B, C}, {0, 1, 2}, {2, 1, 0})) << "the same triangle twice";
}

TEST(ExactTriangles, AgreesWithSeparatingPlanesOnALattice)
{
    // Coordinates of a few small integers make every degenerate case frequent, and floating point exact.
    Random random(7);
    int met = 0;
    for (int n = 0; n < 5000; ++n) {
        std::array<Vec3, 6> p;
        for (Vec3& x : p)
            for (int k = 0; k < 3; ++k) x[k] = std::floor(random.uniform(0, 4));
        const auto range = [&](const Vec3& n_, int first) {
            std::array<Real, 2> r = {1e9, -1e9};
            for (int k = first; k < first + 3; ++k) r = {std::min(r[0], n_.dot(p[k])), std::max(r[1], n_.dot(p[k]))};
            return r;
        };
        bool separated = false;
        const auto try_axis = [&](const Vec3& axis) {
            const auto a = range(axis, 0), b = range(axis, 3);
            separated = separated || a[1] < b[0] || b[1] < a[0];
        };
        // Where convex polygons are apart, the closest points are two corners, or lie on edges or faces of them.
        Vec3s edges;
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < i; ++j) edges.push_back(p[i] - p[j]);
        for (const Vec3& e : edges) {
            try_axis(e);
            for (const Vec3& f : edges) {
                try_axis(e.cross(f));
                for (const Vec3& g : edges) try_axis(e.cross(f).cross(g));
            }
        }
        const bool result = meet(p);
        met += result;
        ASSERT_EQ(result, !separated) << "case " << n;
    }
    EXPECT_GT(met, 500);
    EXPECT_LT(met, 4500);
}

TEST(ExactPlane, DecidesTheLastBit)
{
    // 0.1 * 3 is not 0.3 in binary; the exact products are compared, not rounded ones.
    using Exact = boost::multiprecision::cpp_rational;
    Random random(3);
    for (int i = 0; i < 2000; ++i) {
        const Vec3 n = Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)).normalized();
        const Vec3 x(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
        const Real offset = n.dot(x);
        Exact sum = -Exact(offset);
        for (int k = 0; k < 3; ++k) sum += Exact(n[k]) * Exact(x[k]);
        ASSERT_EQ(exact::side_of_plane(n, offset, x), sum.sign());
    }
    EXPECT_EQ(exact::side_of_plane(Vec3::UnitY(), 0.5, Vec3(9, 0.5, 9)), 0);
}
