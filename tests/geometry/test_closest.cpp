// Closest points against a rational reference (exact up to one final square root) and against brute force.

#include "pliant/core/random.hpp"
#include "pliant/geometry/closest.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <cmath>

using namespace pliant;

namespace {

using Rational = boost::multiprecision::cpp_rational;
using RVec = std::array<Rational, 3>;

RVec exact(const Vec3& x)
{
    return {Rational(x[0]), Rational(x[1]), Rational(x[2])};
}
RVec operator-(const RVec& a, const RVec& b)
{
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
RVec along(const RVec& a, const Rational& t, const RVec& e)
{
    return {a[0] + t * e[0], a[1] + t * e[1], a[2] + t * e[2]};
}
Rational dot(const RVec& a, const RVec& b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Squared distance of p from the segment a b.
Rational segment_sq(const RVec& p, const RVec& a, const RVec& b)
{
    const RVec e = b - a;
    const Rational ee = dot(e, e);
    Rational t = ee == 0 ? Rational(0) : Rational(dot(p - a, e) / ee);
    if (t < 0) t = 0;
    if (t > 1) t = 1;
    const RVec d = p - along(a, t, e);
    return dot(d, d);
}

/// Squared distance by the definition: the best of the boundary and, if it exists, the stationary point inside.
Rational point_triangle_sq(const RVec& p, const RVec& a, const RVec& b, const RVec& c)
{
    Rational best = std::min({segment_sq(p, a, b), segment_sq(p, b, c), segment_sq(p, c, a)});
    const RVec u = b - a, v = c - a, r = p - a;
    const Rational uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
    if (det == 0) return best;
    const Rational s = (vv * dot(r, u) - uv * dot(r, v)) / det, t = (uu * dot(r, v) - uv * dot(r, u)) / det;
    if (s < 0 || t < 0 || s + t > 1) return best;
    const RVec d = p - along(along(a, s, u), t, v);
    return std::min(best, Rational(dot(d, d)));
}

Rational edge_edge_sq(const RVec& a0, const RVec& a1, const RVec& b0, const RVec& b1)
{
    Rational best =
        std::min({segment_sq(a0, b0, b1), segment_sq(a1, b0, b1), segment_sq(b0, a0, a1), segment_sq(b1, a0, a1)});
    const RVec u = a1 - a0, v = b1 - b0, r = a0 - b0;
    const Rational uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
    if (det == 0) return best;
    const Rational s = (uv * dot(v, r) - vv * dot(u, r)) / det, t = (uu * dot(v, r) - uv * dot(u, r)) / det;
    if (s < 0 || s > 1 || t < 0 || t > 1) return best;
    const RVec d = along(a0, s, u) - along(b0, t, v);
    return std::min(best, Rational(dot(d, d)));
}

Real root(const Rational& square)
{
    return std::sqrt(static_cast<double>(square));
}

constexpr Real rounding = 4e-14; ///< of a distance of the points below [m]

/// Four points: random, on a small lattice (degenerate in every way), slivers, or far from the origin.
std::array<Vec3, 4> points(Random& random, int family)
{
    std::array<Vec3, 4> x;
    const Vec3 line = random.on_sphere();
    const Real width = std::pow(10.0, -random.uniform(0, 14));
    for (Vec3& p : x) {
        switch (family) {
        case 0:
            p = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
            break;
        case 1:
            p = Vec3(random.below(3), random.below(3), random.below(3));
            break;
        case 2:
            p = random.uniform(-1, 1) * line + width * random.on_sphere();
            break;
        default:
            p = Vec3::Constant(1000) + random.on_sphere();
            break;
        }
    }
    return x;
}

} // namespace

TEST(ClosestPointTriangle, HasTheExactDistanceUpToRounding)
{
    Random random(1);
    for (int i = 0; i < 20'000; ++i) {
        const auto x = points(random, i % 4);
        const PointTriangle c = closest_point_triangle(x[0], x[1], x[2], x[3]);
        EXPECT_NEAR(c.weights.sum(), 1, 1e-15 * 4);
        EXPECT_GE(c.weights.minCoeff(), 0);
        EXPECT_LE((c.difference - (x[0] - c.weights[0] * x[1] - c.weights[1] * x[2] - c.weights[2] * x[3])).norm(),
                  1e-14 * (1 + x[0].norm()));
        const Real expected = root(point_triangle_sq(exact(x[0]), exact(x[1]), exact(x[2]), exact(x[3])));
        EXPECT_NEAR(c.distance, expected, rounding) << i;
    }
}

TEST(ClosestEdgeEdge, HasTheExactDistanceUpToRounding)
{
    Random random(2);
    for (int i = 0; i < 20'000; ++i) {
        const auto x = points(random, i % 4);
        const EdgeEdge c = closest_edge_edge(x[0], x[1], x[2], x[3]);
        EXPECT_TRUE(c.s >= 0 && c.s <= 1 && c.t >= 0 && c.t <= 1);
        const Real expected = root(edge_edge_sq(exact(x[0]), exact(x[1]), exact(x[2]), exact(x[3])));
        EXPECT_NEAR(c.distance, expected, rounding) << i;
    }
}

TEST(ClosestPointTriangle, IsNotFartherThanAnyPointOfTheTriangle)
{
    Random random(3);
    for (int i = 0; i < 2000; ++i) {
        const auto x = points(random, i % 4);
        const Real d = closest_point_triangle(x[0], x[1], x[2], x[3]).distance;
        for (int u = 0; u <= 8; ++u)
            for (int v = 0; v <= 8 - u; ++v)
                EXPECT_LE(d, (x[0] - (8 - u - v) / 8.0 * x[1] - u / 8.0 * x[2] - v / 8.0 * x[3]).norm() + 1e-12);
    }
}

TEST(ClosestPointTriangle, NamesTheFeatureByZeroWeights)
{
    const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 0, 1);
    EXPECT_EQ(closest_point_triangle({-1, 2, -1}, a, b, c).weights, Vec3(1, 0, 0));
    EXPECT_EQ(closest_point_triangle({0.25, 2, -1}, a, b, c).weights, Vec3(0.75, 0.25, 0));
    EXPECT_EQ(closest_point_triangle({0.25, 2, 0.25}, a, b, c).weights, Vec3(0.5, 0.25, 0.25));
    EXPECT_EQ(closest_point_triangle({1, 0, 1}, a, b, c).weights, Vec3(0, 0.5, 0.5));
}

TEST(ClosestEdgeEdge, TakesTheMiddleOfTheOverlapOfParallelEdges)
{
    const EdgeEdge c = closest_edge_edge({0, 1, 0}, {4, 1, 0}, {1, 0, 0}, {3, 0, 0});
    EXPECT_DOUBLE_EQ(c.s, 0.5);
    EXPECT_DOUBLE_EQ(c.t, 0.5);
    EXPECT_DOUBLE_EQ(c.distance, 1);
    const EdgeEdge d =
        closest_edge_edge({0, 1, 0}, {4, 1, 0}, {6, 0, 0}, {3, 0, 0}); // runs the other way, overlap [3, 4]
    EXPECT_DOUBLE_EQ(d.s, 3.5 / 4);
    EXPECT_DOUBLE_EQ(d.t, 2.5 / 3);
    const EdgeEdge apart = closest_edge_edge({0, 1, 0}, {1, 1, 0}, {2, 0, 0}, {3, 0, 0}); // no overlap: end to end
    EXPECT_EQ(apart.s, 1);
    EXPECT_EQ(apart.t, 0);
}

TEST(ClosestEdgeEdge, HandlesEdgesOfLengthZero)
{
    const Vec3 p(0.25, 1, 0);
    const EdgeEdge c = closest_edge_edge(p, p, {0, 0, 0}, {1, 0, 0});
    EXPECT_DOUBLE_EQ(c.t, 0.25);
    EXPECT_DOUBLE_EQ(c.distance, 1);
    EXPECT_DOUBLE_EQ(closest_edge_edge(p, p, {0.25, 0, 0}, {0.25, 0, 0}).distance, 1);
    EXPECT_EQ(closest_edge_edge(p, p, p, p).distance, 0);
}

TEST(ClosestPointTriangle, HandlesTrianglesThatAreASegmentOrAPoint)
{
    EXPECT_DOUBLE_EQ(closest_point_triangle({0.5, 1, 0}, {0, 0, 0}, {1, 0, 0}, {0.25, 0, 0}).distance, 1);
    EXPECT_DOUBLE_EQ(closest_point_triangle({0.5, 1, 0}, {0.5, 0, 0}, {0.5, 0, 0}, {0.5, 0, 0}).distance, 1);
}

TEST(ClosestFeatures, DoNotDependOnTheOrderOfTheVertices)
{
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
        const auto x = points(random, i % 4);
        EXPECT_NEAR(closest_point_triangle(x[0], x[1], x[2], x[3]).distance,
                    closest_point_triangle(x[0], x[3], x[1], x[2]).distance, 2 * rounding);
        EXPECT_NEAR(closest_edge_edge(x[0], x[1], x[2], x[3]).distance,
                    closest_edge_edge(x[3], x[2], x[0], x[1]).distance, 2 * rounding);
    }
}
