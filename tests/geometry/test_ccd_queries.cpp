// The third-party query sets: no miss, few false alarms, each of them a near miss, and none undecided.

#include "geometry/query_sets.hpp"
#include "pliant/geometry/closest.hpp"

#include <gtest/gtest.h>

#include <cstdio>

using namespace pliant;

namespace {

enum class Type { vertex_face, edge_edge };

std::optional<CcdHit> run(Type type, const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options)
{
    return type == Type::vertex_face ? vertex_face_ccd(x_t0, x_t1, options) : edge_edge_ccd(x_t0, x_t1, options);
}

Real distance_at(Type type, const CcdQuery& q, Real t)
{
    CcdPoints x;
    for (int k = 0; k < 4; ++k) x[k] = (1 - t) * q.x_t0[k] + t * q.x_t1[k];
    return type == Type::vertex_face ? closest_point_triangle(x[0], x[1], x[2], x[3]).distance
                                     : closest_edge_edge(x[0], x[1], x[2], x[3]).distance;
}

/// Largest side of the box around all eight points.
Real extent(const CcdQuery& q)
{
    Vec3 lo = q.x_t0[0], hi = lo;
    for (const CcdPoints* x : {&q.x_t0, &q.x_t1})
        for (const Vec3& p : *x) {
            lo = lo.cwiseMin(p);
            hi = hi.cwiseMax(p);
        }
    return (hi - lo).maxCoeff();
}

struct Figures {
    int colliding = 0, free = 0, missed = 0, false_alarms = 0;
    int most_iterations = 0; ///< of a query that ends with a hit

    void add(const Figures& o)
    {
        colliding += o.colliding;
        free += o.free;
        missed += o.missed;
        false_alarms += o.false_alarms;
        most_iterations = std::max(most_iterations, o.most_iterations);
    }
    void print(const char* type, const char* set) const
    {
        std::printf("%-11s %-28s %6d colliding %6d free %4d missed %4d false alarms (%.2f %%), at most %d iterations\n",
                    type, set, colliding, free, missed, false_alarms, free ? 100.0 * false_alarms / free : 0.0,
                    most_iterations);
    }
};

Figures measure(Type type, const std::vector<CcdQuery>& queries)
{
    Figures f;
    for (const CcdQuery& q : queries) {
        const std::optional<CcdHit> hit = run(type, q.x_t0, q.x_t1, {});
        if (hit) f.most_iterations = std::max(f.most_iterations, hit->iterations);
        ++(q.collides ? f.colliding : f.free);
        if (q.collides && !hit) ++f.missed;
        if (!q.collides && hit) {
            ++f.false_alarms;
            Real closest = distance_at(type, q, hit->time); // an upper bound of the true distance during the step
            for (int i = 0; i <= 64; ++i) closest = std::min(closest, distance_at(type, q, i / 64.0));
            EXPECT_LT(closest, 1e-6 * extent(q)) << "a false alarm that is no near miss";
        }
    }
    return f;
}

} // namespace

TEST(CcdQueries, NeverMissAndSeldomCryWolf)
{
    std::vector<QuerySet> sets = read_query_sets();
    if (sets.empty())
        GTEST_SKIP() << "no query sets in " << data_directory() / "ccd-queries"
                     << " (set PLIANT_DATA)";
    for (Type type : {Type::vertex_face, Type::edge_edge}) {
        const char* name = type == Type::vertex_face ? "vertex-face" : "edge-edge";
        Figures all;
        for (const QuerySet& set : sets) {
            Figures f = measure(type, type == Type::vertex_face ? set.vertex_face : set.edge_edge);
            all.add(f);
            f.print(name, set.name.c_str());
        }
        all.print(name, "all sets");
        EXPECT_EQ(all.missed, 0) << name;
        EXPECT_LE(all.false_alarms, 0.03 * all.free) << name;
        EXPECT_LT(all.most_iterations, CcdOptions().max_iterations) << name << ": given up undecided";
    }
}

TEST(CcdQueries, DoNotDependOnTheOrderOfVerticesOrFeatures)
{
    const std::vector<QuerySet> sets = read_query_sets();
    if (sets.empty())
        GTEST_SKIP() << "no query sets in " << data_directory() / "ccd-queries"
                     << " (set PLIANT_DATA)";
    const auto check = [](Type type, const CcdQuery& q, const std::array<int, 4>& order, Real sign) {
        const std::optional<CcdHit> a = run(type, q.x_t0, q.x_t1, {});
        CcdQuery p = q;
        for (int k = 0; k < 4; ++k) {
            p.x_t0[k] = q.x_t0[order[k]];
            p.x_t1[k] = q.x_t1[order[k]];
        }
        const std::optional<CcdHit> b = run(type, p.x_t0, p.x_t1, {});
        ASSERT_EQ(a.has_value(), b.has_value());
        if (!a) return;
        EXPECT_EQ(a->time, b->time);
        EXPECT_EQ(a->normal, sign * b->normal);
        EXPECT_EQ(a->distance, b->distance);
        // Coincident vertices are interchangeable, so weights are compared as the contact points that they give.
        for (const CcdPoints* x : {&q.x_t0, &q.x_t1}) {
            Vec3 wa = Vec3::Zero(), wb = Vec3::Zero();
            for (int k = 0; k < 4; ++k) {
                wa += a->weights[k] * (*x)[k];
                wb += sign * b->weights[k] * (*x)[order[k]];
            }
            EXPECT_LE((wa - wb).norm(), 1e-12 * (1 + wa.norm()));
        }
    };
    for (const QuerySet& set : sets) {
        for (const CcdQuery& q : set.vertex_face) {
            check(Type::vertex_face, q, {0, 2, 3, 1}, 1);
            check(Type::vertex_face, q, {0, 2, 1, 3}, 1);
        }
        for (const CcdQuery& q : set.edge_edge) {
            check(Type::edge_edge, q, {1, 0, 2, 3}, 1);
            check(Type::edge_edge, q, {2, 3, 0, 1}, -1);
            check(Type::edge_edge, q, {3, 2, 1, 0}, -1);
        }
    }
}
