#include "detection/surfaces.hpp"
#include "pliant/core/random.hpp"
#include "pliant/detection/sieve.hpp"
#include "pliant/geometry/ccd.hpp"
#include "pliant/geometry/closest.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

/// Triangles in a small room, among them needles, specks, and some that lie in one plane or on one line with others.
TriangleMesh crowd(Random& random, Real size, const Vec3& middle)
{
    TriangleMesh mesh;
    Vec3 along = random.on_sphere(), across = along.unitOrthogonal();
    for (Index i = 0; i < 32; ++i) {
        const Vec3 at = random.in_box(Vec3::Constant(-size / 2), Vec3::Constant(size / 2));
        if (i % 8 == 0) along = random.on_sphere(), across = along.unitOrthogonal();
        const Real thin = std::pow(10.0, random.uniform(-7, 0)), length = size * std::pow(10.0, random.uniform(-2, 0));
        const bool in_plane = i % 2;
        const Vec3 base = in_plane ? Vec3(at - at.dot(along.cross(across)) * along.cross(across)) : at;
        const Index first = count(mesh.vertices);
        for (const Vec3& p : {base, Vec3(base + length * along), Vec3(base + length * (0.4 * along + thin * across))})
            mesh.vertices.push_back(middle + p);
        mesh.triangles.push_back({first, first + 1, first + 2});
    }
    return mesh;
}

struct Case {
    explicit Case(std::uint64_t seed) : random(seed)
    {
        const Real size = std::pow(10.0, random.uniform(-4, 1));
        const Vec3 middle = seed % 3 == 0 ? Vec3(100 * size * random.on_sphere()) : Vec3::Zero();
        mesh = crowd(random, size, middle);
        add_body(surface, mesh);
        x_t0 = x_t1 = mesh.vertices;
        radius.resize(x_t0.size());
        for (Real& r : radius) r = size * random.uniform(0, 0.1);
        for (Vec3& x : x_t1) x += random.uniform(0, 1) * size * random.on_sphere();
    }
    Real limit(std::span<const Index> a, std::span<const Index> b) const
    {
        Real of_a = 0, of_b = 0;
        for (const Index v : a) of_a = std::max(of_a, radius[v]);
        for (const Index v : b) of_b = std::max(of_b, radius[v]);
        return of_a + of_b;
    }
    std::vector<Pair> vertex_faces() const
    {
        std::vector<Pair> pairs;
        for (Index v = 0; v < surface.vertex_count(); ++v)
            for (Index f = 0; f < count(surface.triangles); ++f)
                if (v / 3 != f) pairs.push_back({v, f});
        return pairs;
    }
    std::vector<Pair> edge_edges() const
    {
        std::vector<Pair> pairs;
        for (Index e = 0; e < count(surface.edges); ++e)
            for (Index g = e + 1; g < count(surface.edges); ++g)
                if (surface.edges[e][0] / 3 != surface.edges[g][0] / 3) pairs.push_back({e, g});
        return pairs;
    }

    Random random;
    TriangleMesh mesh;
    Surface surface;
    Vec3s x_t0, x_t1;
    std::vector<Real> radius;
};

/// The pairs that a test leaves, one flag each.
template <class Test>
std::vector<char> left_by(const std::vector<Pair>& pairs, Test&& test)
{
    std::vector<char> left;
    std::size_t next = 0;
    Sieve::for_each(pairs, test, [&](const Pair& p) {
        for (; pairs[next] != p; ++next) left.push_back(0);
        left.push_back(1);
        ++next;
    });
    left.resize(pairs.size(), 0);
    return left;
}

} // namespace

TEST(Sieve, LosesNoPairThatIsNear)
{
    Index near = 0, dropped = 0, all = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Case c(seed);
        Sieve sieve(c.surface);
        sieve.look_from_the_middle_of(c.x_t0);
        sieve.look_at({c.x_t0, c.x_t0, c.radius, c.radius});
        const auto check = [&](const std::vector<Pair>& pairs, const std::vector<char>& left, auto&& is_near) {
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                const bool wanted = is_near(pairs[i]);
                near += wanted, dropped += !left[i], ++all;
                ASSERT_LE(wanted, bool(left[i])) << "seed " << seed << ", pair " << i;
            }
        };
        const std::vector<Pair> faces = c.vertex_faces(), edges = c.edge_edges();
        check(faces, left_by(faces, [&](const Sieve::Batch& b) { return sieve.vertex_face(b); }), [&](const Pair& p) {
            const Triangle& t = c.surface.triangles[p[1]];
            return closest_point_triangle(c.x_t0[p[0]], c.x_t0[t[0]], c.x_t0[t[1]], c.x_t0[t[2]]).distance <=
                   c.limit(std::array{p[0]}, t);
        });
        const auto closest = [&](const Pair& p) {
            const Edge &a = c.surface.edges[p[0]], &b = c.surface.edges[p[1]];
            return closest_edge_edge(c.x_t0[a[0]], c.x_t0[a[1]], c.x_t0[b[0]], c.x_t0[b[1]]);
        };
        const auto limit = [&](const Pair& p) { return c.limit(c.surface.edges[p[0]], c.surface.edges[p[1]]); };
        check(edges, left_by(edges, [&](const Sieve::Batch& b) { return sieve.edge_edge(b); }),
              [&](const Pair& p) { return closest(p).distance <= limit(p); });
        check(edges, left_by(edges, [&](const Sieve::Batch& b) { return sieve.crossing(b); }), [&](const Pair& p) {
            const EdgeEdge e = closest(p);
            return e.distance <= limit(p) && e.s > 0 && e.s < 1 && e.t > 0 && e.t < 1;
        });
    }
    EXPECT_GT(near, all / 100) << "else the test has no power";
#ifdef __AVX2__
    EXPECT_GT(dropped, all / 2) << "else the sieve has no use";
#endif
}

TEST(Sieve, LosesNoPairThatMeetsOnItsWay)
{
    Index meet = 0, dropped = 0, all = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Case c(seed);
        Sieve sieve(c.surface);
        sieve.look_from_the_middle_of(c.x_t0);
        sieve.look_at({c.x_t0, c.x_t1, c.radius, c.radius});
        const auto hit = [&](const std::array<Index, 4>& v, Real separation, auto* ccd) {
            CcdOptions options;
            options.min_separation = 0.8 * separation;
            options.tolerance = 0.2 * separation;
            options.relax_to_start = false;
            return ccd(CcdPoints{c.x_t0[v[0]], c.x_t0[v[1]], c.x_t0[v[2]], c.x_t0[v[3]]},
                       CcdPoints{c.x_t1[v[0]], c.x_t1[v[1]], c.x_t1[v[2]], c.x_t1[v[3]]}, options)
                .has_value();
        };
        const auto check = [&](const std::vector<Pair>& pairs, const std::vector<char>& left, auto&& meets) {
            for (std::size_t i = 0; i < pairs.size(); i += 3) {
                const bool wanted = meets(pairs[i]);
                meet += wanted, dropped += !left[i], ++all;
                ASSERT_LE(wanted, bool(left[i])) << "seed " << seed << ", pair " << i;
            }
        };
        const std::vector<Pair> faces = c.vertex_faces(), edges = c.edge_edges();
        check(faces, left_by(faces, [&](const Sieve::Batch& b) { return sieve.vertex_face(b); }), [&](const Pair& p) {
            const Triangle& t = c.surface.triangles[p[1]];
            return hit({p[0], t[0], t[1], t[2]}, c.limit(std::array{p[0]}, t), ccd::vertex_face);
        });
        check(edges, left_by(edges, [&](const Sieve::Batch& b) { return sieve.edge_edge(b); }), [&](const Pair& p) {
            const Edge &a = c.surface.edges[p[0]], &b = c.surface.edges[p[1]];
            return hit({a[0], a[1], b[0], b[1]}, c.limit(a, b), ccd::edge_edge);
        });
    }
    EXPECT_GT(meet, all / 100);
#ifdef __AVX2__
    EXPECT_GT(dropped, all / 4);
#endif
}
