// Cases with known answers, and the corners of the input's range.

#include "pliant/core/error.hpp"
#include "pliant/core/random.hpp"
#include "pliant/geometry/ccd.hpp"
#include "pliant/geometry/closest.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace pliant;

namespace {

const CcdPoints above = {Vec3(0.25, 1, 0.25), Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
const CcdPoints crossed = {Vec3(-1, 1, 0), Vec3(1, 1, 0), Vec3(0, 0, -1), Vec3(0, 0, 1)};

CcdPoints shifted(CcdPoints x, std::initializer_list<int> which, const Vec3& by)
{
    for (int k : which) x[k] += by;
    return x;
}
CcdPoints scaled(CcdPoints x, Real s, const Vec3& origin = Vec3::Zero())
{
    for (Vec3& p : x) p = s * p + origin;
    return x;
}

} // namespace

TEST(Ccd, GivesTheTimeNormalAndWeightsOfAVertexThatFallsOnAFace)
{
    const auto hit =
        vertex_face_ccd(above, shifted(above, {0}, {0, -2, 0}), {.min_separation = 0.1, .tolerance = 0.01});
    ASSERT_TRUE(hit);
    EXPECT_LE(hit->time, 0.45);
    EXPECT_GE(hit->time, 0.445);
    EXPECT_LE((hit->normal - Vec3::UnitY()).norm(), 1e-12);
    EXPECT_NEAR(hit->weights[0], 1, 1e-12);
    EXPECT_NEAR(hit->weights[1], -0.5, 1e-12);
    EXPECT_NEAR(hit->weights[2], -0.25, 1e-12);
    EXPECT_NEAR(hit->weights[3], -0.25, 1e-12);
    EXPECT_GE(hit->distance, 0.1);
    EXPECT_LE(hit->distance, 0.11);
    EXPECT_NEAR(hit->start_distance, 1, 1e-12);
}

TEST(Ccd, GivesTheTimeNormalAndWeightsOfCrossingEdges)
{
    const auto hit = edge_edge_ccd(crossed, shifted(crossed, {0, 1}, {0, -4, 0}), {});
    ASSERT_TRUE(hit);
    EXPECT_LE(hit->time, 0.25);
    EXPECT_NEAR(hit->time, 0.25, 1e-12);
    EXPECT_LE((hit->normal - Vec3::UnitY()).norm(), 1e-9);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(hit->weights[k], k < 2 ? 0.5 : -0.5, 1e-9);
}

TEST(Ccd, IsFreeWhenTheFeaturesStayApart)
{
    EXPECT_FALSE(vertex_face_ccd(above, shifted(above, {0}, {0, -0.9, 0}), {}));
    EXPECT_FALSE(vertex_face_ccd(above, shifted(above, {0, 1, 2, 3}, {50, -30, 7}), {})) << "they move together";
    EXPECT_FALSE(vertex_face_ccd(shifted(above, {0}, {2, 0, 0}), shifted(above, {0}, {2, -3, 0}), {}))
        << "it falls past";
    EXPECT_FALSE(edge_edge_ccd(crossed, shifted(crossed, {0, 1}, {5, -4, 0}), {})) << "it slides past";
}

TEST(Ccd, SeesASeparationThatIsNotKept)
{
    const CcdPoints end = shifted(above, {0}, {0, -0.9, 0});
    EXPECT_TRUE(vertex_face_ccd(above, end, {.min_separation = 0.11}));
    EXPECT_FALSE(vertex_face_ccd(above, end, {.min_separation = 0.09}));
}

TEST(Ccd, ReportsContactAtTheVeryStartAndAtTheVeryEnd)
{
    const CcdPoints touching = shifted(above, {0}, {0, -1, 0});
    const auto start = vertex_face_ccd(touching, shifted(touching, {0}, {0, 1, 0}), {});
    ASSERT_TRUE(start);
    EXPECT_EQ(start->time, 0);
    const auto end = vertex_face_ccd(above, touching, {});
    ASSERT_TRUE(end);
    EXPECT_NEAR(end->time, 1, 1e-12);
    EXPECT_LE(end->time, 1);
}

TEST(Ccd, HandlesMotionOfZeroLength)
{
    EXPECT_FALSE(vertex_face_ccd(above, above, {}));
    EXPECT_FALSE(edge_edge_ccd(crossed, crossed, {}));
    const CcdPoints touching = shifted(above, {0}, {0, -1, 0});
    const auto hit = vertex_face_ccd(touching, touching, {});
    ASSERT_TRUE(hit);
    EXPECT_NEAR(std::abs(hit->normal.y()), 1, 1e-12);
}

TEST(Ccd, HandlesFourCoincidentPoints)
{
    const CcdPoints x = {Vec3(1, 2, 3), Vec3(1, 2, 3), Vec3(1, 2, 3), Vec3(1, 2, 3)};
    for (const auto& hit : {vertex_face_ccd(x, x, {}), edge_edge_ccd(x, x, {})}) {
        ASSERT_TRUE(hit);
        EXPECT_EQ(hit->time, 0);
        EXPECT_NEAR(hit->normal.norm(), 1, 1e-12);
        EXPECT_NEAR(hit->weights[0] + hit->weights[1] + hit->weights[2] + hit->weights[3], 0, 1e-12);
    }
}

TEST(Ccd, HandlesCoplanarMotion)
{
    const CcdPoints outside = shifted(above, {0}, {2, -1, 0}); // beside the face, in its plane
    const auto hit = vertex_face_ccd(outside, shifted(outside, {0}, {-3, 0, 0}), {});
    ASSERT_TRUE(hit);
    EXPECT_LE(hit->time, 0.5);
    EXPECT_NEAR(hit->time, 0.5, 1e-9);
    EXPECT_FALSE(vertex_face_ccd(outside, shifted(outside, {0}, {0, 0, 5}), {}));
}

TEST(Ccd, HoldsForAnyUnitAndAnyPlace)
{
    for (const Real s : {1e-300, 1e-150, 1e-80, 1e-60, 1e-30, 1e-9, 1.0, 1e9, 1e30, 1e60, 1e80, 1e150, 1e300}) {
        const CcdPoints x = scaled(above, s), hits = scaled(shifted(above, {0}, {0, -2, 0}), s),
                        misses = scaled(shifted(above, {0}, {0, -0.9, 0}), s);
        const auto hit = vertex_face_ccd(x, hits, {});
        ASSERT_TRUE(hit) << s;
        EXPECT_NEAR(hit->time, 0.5, 1e-9) << s;
        EXPECT_NEAR(hit->start_distance / s, 1, 1e-9) << s;
        EXPECT_FALSE(vertex_face_ccd(x, misses, {})) << s;
        const CcdPoints e = scaled(crossed, s);
        EXPECT_TRUE(edge_edge_ccd(e, scaled(shifted(crossed, {0, 1}, {0, -4, 0}), s), {})) << s;
        EXPECT_FALSE(edge_edge_ccd(e, scaled(shifted(crossed, {0, 1}, {5, -4, 0}), s), {})) << s;
    }
    const Vec3 far(1e9, -1e9, 1e9); // a grid of 1e-7 there
    EXPECT_TRUE(vertex_face_ccd(scaled(above, 1, far), scaled(shifted(above, {0}, {0, -2, 0}), 1, far), {}));
    EXPECT_FALSE(vertex_face_ccd(scaled(above, 1, far), scaled(shifted(above, {0}, {0, -0.9, 0}), 1, far), {}));
    const Real largest = std::numeric_limits<Real>::max(), smallest = std::numeric_limits<Real>::denorm_min();
    EXPECT_TRUE(vertex_face_ccd(
        {Vec3(0, largest, 0), Vec3(-largest, 0, -largest), Vec3(largest, 0, -largest), Vec3(0, 0, largest)},
        {Vec3(0, -largest, 0), Vec3(-largest, 0, -largest), Vec3(largest, 0, -largest), Vec3(0, 0, largest)}, {}));
    EXPECT_TRUE(
        vertex_face_ccd(scaled(above, 4 * smallest), scaled(shifted(above, {0}, {0, -2, 0}), 4 * smallest), {}));
}

TEST(Ccd, SeesAContactOfAFaceWhoseSideIsSoShortThatPowersOfItUnderflow)
{
    // The vertex starts on a corner of the face; another side of the face shrinks to 1e-41.
    const Real a = 0x1p-30;
    const CcdPoints x_t0 = {Vec3(a, a, -a), Vec3(a, -a, a), Vec3(a, a, -a), Vec3(a, -a, a)};
    const CcdPoints x_t1 = {Vec3(0, 9.3132257461547831e-10, -9.3132257461547831e-10),
                            Vec3(0, 1.0339757656912846e-25, -1.0339757656912848e-25), Vec3(a, -a, 0),
                            Vec3(0, 1.0339757656912848e-25, -1.0339757656912846e-25)};
    const auto hit = vertex_face_ccd(x_t0, x_t1, {});
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->time, 0);
}

TEST(Ccd, RefusesInputThatIsNotFinite)
{
    for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
        for (int k = 0; k < 4; ++k) {
            CcdPoints x = above;
            x[k].y() = bad;
            EXPECT_THROW(vertex_face_ccd(x, above, {}), Error);
            EXPECT_THROW(vertex_face_ccd(above, x, {}), Error);
            EXPECT_THROW(edge_edge_ccd(x, above, {}), Error);
            EXPECT_THROW(edge_edge_ccd(above, x, {}), Error);
        }
}

TEST(Ccd, LetsAPairThatStartsBelowTheSeparationMoveApartButNotCloser)
{
    const CcdPoints start = shifted(above, {0}, {0, -0.99, 0}); // 0.01 apart
    const CcdOptions options = {.min_separation = 0.1, .tolerance = 0.01, .relax_to_start = true};
    EXPECT_FALSE(vertex_face_ccd(start, shifted(start, {0}, {0, 1, 0}), options));
    EXPECT_FALSE(vertex_face_ccd(start, start, options));
    const auto hit = vertex_face_ccd(start, shifted(start, {0}, {0, -0.02, 0}), options);
    ASSERT_TRUE(hit);
    EXPECT_GE(hit->distance, 0.005);
    EXPECT_TRUE(vertex_face_ccd(start, start, {.min_separation = 0.1})) << "without the rule it is a hit at the start";
}

TEST(Ccd, ReportsNoHitAfterMaxTimeAndTheSameHitBefore)
{
    const CcdPoints end = shifted(above, {0}, {0.1, -2, 0.05});
    const auto whole = vertex_face_ccd(above, end, {});
    ASSERT_TRUE(whole);
    EXPECT_FALSE(vertex_face_ccd(above, end, {.max_time = 0.4}));
    const auto part = vertex_face_ccd(above, end, {.max_time = 0.6});
    ASSERT_TRUE(part);
    EXPECT_EQ(part->time, whole->time);
    EXPECT_EQ(part->normal, whole->normal);
}

TEST(Ccd, KeepsTheSeparationUpToTheTimeOfImpactAndStopsWithinTheTolerance)
{
    Random random(21);
    int hits = 0;
    for (int i = 0; i < 20'000; ++i) {
        CcdPoints x_t0, x_t1;
        for (int k = 0; k < 4; ++k) {
            x_t0[k] = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
            x_t1[k] = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
        }
        const bool vertex_face = i % 2 == 0;
        const CcdOptions options = {.min_separation = 1e-3, .tolerance = 1e-4, .relax_to_start = true};
        const auto distance = [&](Real t) {
            CcdPoints x;
            for (int k = 0; k < 4; ++k) x[k] = (1 - t) * x_t0[k] + t * x_t1[k];
            return vertex_face ? closest_point_triangle(x[0], x[1], x[2], x[3]).distance
                               : closest_edge_edge(x[0], x[1], x[2], x[3]).distance;
        };
        const auto hit = vertex_face ? vertex_face_ccd(x_t0, x_t1, options) : edge_edge_ccd(x_t0, x_t1, options);
        const Real kept = std::min(options.min_separation, distance(0) / 2), until = hit ? hit->time : 1;
        for (int j = 0; j <= 16; ++j) EXPECT_GT(distance(until * j / 16), kept);
        if (!hit) continue;
        ++hits;
        EXPECT_NEAR(hit->distance, distance(hit->time), 1e-12);
        EXPECT_LE(hit->distance, kept + options.tolerance * (1 + 1e-9));
        EXPECT_LE(hit->iterations, 40);
    }
    EXPECT_GT(hits, 1000);
}

TEST(Cubic, AgreesWithAdvancementOnPlainCollisions)
{
    const CcdOptions cubic = {.kind = CcdKind::cubic};
    const auto hit = vertex_face_ccd(above, shifted(above, {0}, {0, -2, 0}), cubic);
    ASSERT_TRUE(hit);
    EXPECT_LE(hit->time, 0.5);
    EXPECT_NEAR(hit->time, 0.5, 1e-9);
    EXPECT_NEAR(hit->normal.y(), 1, 1e-6);
    EXPECT_NEAR(hit->weights[1], -0.5, 1e-6);
    EXPECT_FALSE(vertex_face_ccd(above, shifted(above, {0}, {0, -0.9, 0}), cubic));
    EXPECT_TRUE(edge_edge_ccd(crossed, shifted(crossed, {0, 1}, {0, -4, 0}), cubic));
    EXPECT_FALSE(edge_edge_ccd(crossed, shifted(crossed, {0, 1}, {5, -4, 0}), cubic));
}

TEST(Cubic, KeepsASeparationAtTheEndsOfTheStepOnly)
{
    const CcdOptions options = {.min_separation = 0.1, .kind = CcdKind::cubic};
    // ends 0.05 above the face
    const auto end = vertex_face_ccd(above, shifted(above, {0}, {0, -0.95, 0}), options);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->time, 1);
    EXPECT_NEAR(end->distance, 0.05, 1e-12);
    EXPECT_NEAR(end->normal.y(), 1, 1e-12);
    EXPECT_FALSE(vertex_face_ccd(above, shifted(above, {0}, {0, -0.85, 0}), options));
    // from one side of an edge to the other, nearer than 0.1 on the way
    const CcdPoints beside = {Vec3(0, 1, -1), Vec3(0, 1, 1), Vec3(0.05, 0, 0), Vec3(1, 0, 0)};
    EXPECT_FALSE(edge_edge_ccd(beside, shifted(beside, {0, 1}, {0, -2, 0}), options));
    EXPECT_TRUE(edge_edge_ccd(beside, shifted(beside, {0, 1}, {0, -2, 0}), {.min_separation = 0.1}));
    // starts too close: reported there, or held to half of its distance
    const CcdPoints near_face = shifted(above, {0}, {0, -0.95, 0});
    EXPECT_EQ(vertex_face_ccd(near_face, near_face, options)->time, 0);
    CcdOptions relaxed = options;
    relaxed.relax_to_start = true;
    EXPECT_FALSE(vertex_face_ccd(near_face, near_face, relaxed));
    EXPECT_TRUE(vertex_face_ccd(near_face, shifted(near_face, {0}, {0, -0.03, 0}), relaxed));
}
