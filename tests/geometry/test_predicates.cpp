// Exact signs against rational arithmetic, and winding numbers of rays that hit edges and vertices.

#include "pliant/core/random.hpp"
#include "pliant/geometry/predicates.hpp"
#include "pliant/mesh/generators.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

using namespace pliant;
using Rational = boost::multiprecision::cpp_rational;

namespace {

using Exact3 = std::array<Rational, 3>;

Exact3 difference(const Vec3& a, const Vec3& b)
{
    return {Rational(a.x()) - Rational(b.x()), Rational(a.y()) - Rational(b.y()), Rational(a.z()) - Rational(b.z())};
}

int rational_sign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const Exact3 u = difference(b, a), v = difference(c, a), w = difference(d, a);
    const Rational det =
        u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
    return det.sign();
}

int rational_sign(const Vec2& a, const Vec2& b, const Vec2& c)
{
    const auto q = [](Real x) { return Rational(x); };
    const Rational det = (q(b.x()) - q(a.x())) * (q(c.y()) - q(a.y())) - (q(b.y()) - q(a.y())) * (q(c.x()) - q(a.x()));
    return det.sign();
}

/// Winding number of the mesh around p.
int winding(const TriangleMesh& mesh, const Vec3& p)
{
    int sum = 0;
    for (const Triangle& t : mesh.triangles)
        sum += ray_crossing(p, mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]);
    return sum;
}

} // namespace

TEST(Predicates, SignsAreThoseOfRationalArithmeticNearZero)
{
    Random random(1);
    const Vec3 lo(-1, -1, -1), hi(1, 1, 1);
    int zeros = 0, undecided = 0;
    for (int i = 0; i < 20'000; ++i) {
        // A point of the plane (line), rounded: the true sign is decided by the last bits.
        const Real scale = std::exp2(random.uniform(-20, 20)), shift = i % 3 == 0 ? 1e3 : 0;
        const auto corner = [&] { return Vec3((scale * random.in_box(lo, hi)).array() + shift); };
        const Vec3 a = corner(), b = corner(), c = corner();
        Vec3 d = a + random.uniform(-1, 2) * (b - a) + random.uniform(-1, 2) * (c - a);
        if (i % 4 == 0) d = a + 0.5 * (b - a);
        EXPECT_EQ(orientation_sign(a, b, c, d), rational_sign(a, b, c, d));
        zeros += rational_sign(a, b, c, d) == 0;
        undecided += std::abs((b - a).dot((c - a).cross(d - a))) < 1e-15 * scale * scale * scale;

        const Vec2 p(a.x(), a.y()), q(b.x(), b.y());
        const Vec2 r = p + random.uniform(-1, 2) * (q - p);
        EXPECT_EQ(orientation_sign(p, q, r), rational_sign(p, q, r));
    }
    EXPECT_GT(undecided, 5000); // the cases are as hard as they are meant to be
    EXPECT_GT(zeros, 0);
}

TEST(Predicates, SignsOfCoordinatesOfVeryDifferentSizeAreExact)
{
    Random random(2);
    const auto number = [&] { return random.uniform(-1, 1) * std::exp2(random.uniform(-60, 60)); };
    const auto point = [&] { return Vec3(number(), number(), number()); };
    for (int i = 0; i < 5000; ++i) {
        const Vec3 a = point(), b = point(), c = point();
        const Vec3 d = i % 2 == 0 ? point() : Vec3(a + (b - a) * 0.25 + (c - a) * 0.5);
        EXPECT_EQ(orientation_sign(a, b, c, d), rational_sign(a, b, c, d));
        EXPECT_EQ(orientation_sign(a, b, c, d), -orientation_sign(b, a, c, d));
        EXPECT_EQ(orientation_sign(a, b, c, a), 0);
    }
}

TEST(Predicates, RaysThroughEdgesAndVerticesCrossAClosedSurfaceOnce)
{
    const TriangleMesh box = make_box({4, 4, 4}, {4, 4, 4}); // vertices at whole numbers
    for (int i = -12; i <= 12; ++i)
        for (int j = -12; j <= 12; ++j)
            for (int k = -12; k <= 12; ++k) {
                const Vec3 p(i / 4.0, j / 4.0, k / 4.0);
                const Real far = p.lpNorm<Eigen::Infinity>();
                if (far == 2) continue; // on the surface
                EXPECT_EQ(winding(box, p), far < 2 ? 1 : 0) << p.transpose();
            }
}

TEST(Predicates, WindingNumberCountsHowOftenASurfaceGoesAround)
{
    TriangleMesh sphere = make_sphere(1, 2);
    const TriangleMesh inner = make_sphere(0.5, 2);
    const Index shift = count(sphere.vertices);
    sphere.vertices.insert(sphere.vertices.end(), inner.vertices.begin(), inner.vertices.end());
    for (const Triangle& t : inner.triangles) sphere.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
    for (const Vec3& v : inner.vertices) {
        EXPECT_EQ(winding(sphere, 1.5 * v), 1);
        EXPECT_EQ(winding(sphere, 0.5 * v), 2);
        EXPECT_EQ(winding(sphere, 2.5 * v), 0);
        EXPECT_EQ(winding(sphere, -0.5 * v), 2);
    }
    for (Triangle& t : sphere.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(winding(sphere, {0, 0, 0}), -2);
}
