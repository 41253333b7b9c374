#pragma once
// Compares CCD with the exact oracle on seeded queries; used by the tests and, with more queries, by the soak test.

#include "geometry/exact_ccd.hpp"
#include "geometry/random_queries.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/geometry/closest.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <functional>

namespace pliant {

struct OracleFigures {
    std::int64_t colliding = 0, free = 0, missed = 0, late = 0, false_alarms = 0, far_false_alarms = 0;
    OracleFigures& operator+=(const OracleFigures& o)
    {
        colliding += o.colliding;
        free += o.free;
        missed += o.missed;
        late += o.late;
        false_alarms += o.false_alarms;
        far_false_alarms += o.far_false_alarms;
        return *this;
    }
};

using CcdFunction = std::function<std::optional<CcdHit>(const CcdPoints&, const CcdPoints&)>;

/// n queries of one type: counts misses, times of impact after the true one, and false alarms.
inline OracleFigures against_exact(bool vertex_face, std::uint64_t seed, std::int64_t n, const CcdFunction& ccd)
{
    constexpr std::int64_t block = 256;
    std::vector<OracleFigures> blocks(static_cast<std::size_t>((n + block - 1) / block));
    std::atomic<Index> done = 0;
    parallel_for(
        count(blocks),
        [&](Index b) {
            OracleFigures& f = blocks[b];
            for (std::int64_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
                const RandomQuery q = random_query(seed, i, vertex_face);
                const std::optional<CcdHit> hit = ccd(q.x_t0, q.x_t1);
                const auto contact = exact::first_contact(
                    vertex_face ? exact::Features::vertex_face : exact::Features::edge_edge, q.x_t0, q.x_t1);
                ++(contact ? f.colliding : f.free);
                if (contact && !hit) {
                    ++f.missed;
                    std::printf("missed: seed %llu, query %lld\n", static_cast<unsigned long long>(seed),
                                static_cast<long long>(i));
                }
                if (contact && hit && !exact::not_before(*contact, hit->time)) ++f.late;
                if (!contact && hit) {
                    ++f.false_alarms;
                    CcdPoints x;
                    Vec3 lo = q.x_t0[0], hi = lo;
                    for (int k = 0; k < 4; ++k) {
                        x[k] = (1 - hit->time) * q.x_t0[k] + hit->time * q.x_t1[k];
                        lo = lo.cwiseMin(q.x_t0[k]).cwiseMin(q.x_t1[k]);
                        hi = hi.cwiseMax(q.x_t0[k]).cwiseMax(q.x_t1[k]);
                    }
                    const Real distance = vertex_face ? closest_point_triangle(x[0], x[1], x[2], x[3]).distance
                                                      : closest_edge_edge(x[0], x[1], x[2], x[3]).distance;
                    if (!(distance < 1e-6 * (hi - lo).maxCoeff())) ++f.far_false_alarms;
                }
            }
            const Index now = ++done, parts = 20;
            if (n >= 1'000'000 && now * parts / count(blocks) != (now - 1) * parts / count(blocks)) {
                std::printf("%lld of %lld queries\n", static_cast<long long>(now * block), static_cast<long long>(n));
                std::fflush(stdout);
            }
        },
        1);
    OracleFigures total;
    for (const OracleFigures& f : blocks) total += f;
    return total;
}

inline void expect_exact(bool vertex_face, std::uint64_t seed, std::int64_t n, CcdKind kind = CcdKind::advancement)
{
    const CcdOptions options = {.kind = kind};
    const OracleFigures f = against_exact(vertex_face, seed, n, [&](const CcdPoints& x_t0, const CcdPoints& x_t1) {
        return vertex_face ? vertex_face_ccd(x_t0, x_t1, options) : edge_edge_ccd(x_t0, x_t1, options);
    });
    std::printf("%s: %lld colliding, %lld free, %lld false alarms (%.2f %% of the free)\n",
                vertex_face ? "vertex-face" : "edge-edge", static_cast<long long>(f.colliding),
                static_cast<long long>(f.free), static_cast<long long>(f.false_alarms),
                100.0 * static_cast<double>(f.false_alarms) / static_cast<double>(f.free));
    EXPECT_EQ(f.missed, 0);
    EXPECT_EQ(f.late, 0) << "times of impact after the true one";
    if (kind == CcdKind::advancement) { // the cubic promises no misses, but not how near its false alarms are
        EXPECT_EQ(f.far_false_alarms, 0) << "false alarms farther apart than 1e-6 of the extent";
    }
    EXPECT_GT(f.colliding, n / 10);
    EXPECT_GT(f.free, n / 10);
}

} // namespace pliant
