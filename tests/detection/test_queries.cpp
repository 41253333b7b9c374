#include "detection/surfaces.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/detection/normal_cones.hpp"
#include "pliant/geometry/closest.hpp"

#include <gtest/gtest.h>

#include <limits>

using namespace pliant;

namespace {

TriangleMesh one_triangle()
{
    return {{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {{0, 1, 2}}};
}

Surface sheet_over_sheet(Real height)
{
    Surface s;
    TriangleMesh grid = make_grid(1, 1, 9, 9);
    add_body(s, grid);
    for (Vec3& p : grid.vertices) p += Vec3(0.031, height, 0.017);
    add_body(s, grid);
    return s;
}

/// pa - pb as the weights give it.
Vec3 difference(const ContactPair& p, const Vec3s& x)
{
    Vec3 d = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
        if (p.vertices[k] != none) d += p.weights[k] * x[p.vertices[k]];
    return d;
}

Vec3s blend(const Vec3s& a, const Vec3s& b, Real t)
{
    Vec3s x = a;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (1 - t) * a[i] + t * b[i];
    return x;
}

/// Smallest distance over all pairs of features that share no vertex.
Real smallest_distance(const Surface& s, const Vec3s& x)
{
    Real d = std::numeric_limits<Real>::infinity();
    const PairFilter filter(s);
    for (Index v = 0; v < s.vertex_count(); ++v)
        for (Index f = 0; f < count(s.triangles); ++f) {
            const Triangle& t = s.triangles[f];
            if (filter.vertex_face(v, f))
                d = std::min(d, closest_point_triangle(x[v], x[t[0]], x[t[1]], x[t[2]]).distance);
        }
    for (Index e = 0; e < count(s.edges); ++e)
        for (Index g = e + 1; g < count(s.edges); ++g) {
            const Edge &a = s.edges[e], &b = s.edges[g];
            if (filter.edge_edge(e, g)) d = std::min(d, closest_edge_edge(x[a[0]], x[a[1]], x[b[0]], x[b[1]]).distance);
        }
    return d;
}

} // namespace

TEST(Proximity, ReportsEachClosestFeaturePairOnceAndSorted)
{
    const Surface s = sheet_over_sheet(0.02);
    Detector detector(s);
    const auto& pairs = detector.proximity(s.rest, {.reach = 0.03});
    ASSERT_FALSE(pairs.empty());
    for (std::size_t i = 1; i < pairs.size(); ++i) EXPECT_LT(pairs[i - 1].key, pairs[i].key);
}

TEST(Proximity, GivesUnitNormalsThatPointFromBToAAndWeightsThatSumToZero)
{
    Random random(4);
    Surface s;
    add_body(s, random_soup(random, 200, 300, 0.2));
    Detector detector(s);
    const auto& pairs = detector.proximity(s.rest, {.reach = 0.05});
    std::array<int, 4> kinds{};
    for (const ContactPair& p : pairs) {
        ++kinds[static_cast<int>(p.key.kind)];
        const Vec3 d = difference(p, s.rest);
        EXPECT_NEAR(d.norm(), p.distance, 1e-14);
        EXPECT_LE(p.distance, 0.05);
        EXPECT_NEAR(p.normal.norm(), 1, 1e-12);
        EXPECT_NEAR(p.normal.dot(d), p.distance, 1e-14);
        EXPECT_NEAR(p.weights[0] + p.weights[1] + p.weights[2] + p.weights[3], 0, 1e-14);
    }
    for (int n : kinds) EXPECT_GT(n, 0) << "every kind of pair occurs";
}

TEST(Proximity, FindsTheFeatureThatIsClosest)
{
    // A spike that stands on its tip and leans away from the triangle.
    const auto keys = [](const Vec3& tip) {
        Surface s;
        add_body(s, one_triangle());
        add_body(s, {{tip, tip + Vec3(-0.1, 5, -0.2), tip + Vec3(-0.2, 5, -0.1)}, {{0, 1, 2}}});
        Detector detector(s);
        std::vector<PairKey> found;
        for (const ContactPair& p : detector.proximity(s.rest, {.reach = 0.11})) found.push_back(p.key);
        return found;
    };
    EXPECT_EQ(keys({0.2, 0.1, 0.3}), (std::vector<PairKey>{{PairKind::vertex_face, 3, 0}}));
    EXPECT_EQ(keys({0.2, 0.0, -0.1}), (std::vector<PairKey>{{PairKind::vertex_edge, 3, 0}}));
    EXPECT_EQ(keys({-0.06, 0.0, -0.06}), (std::vector<PairKey>{{PairKind::vertex_vertex, 0, 3}}));
}

TEST(Proximity, SkipsPairsThatAreCloserAtRestThanTheGap)
{
    Surface s;
    add_body(s, make_grid(1, 1, 9, 9), 0.1); // gap 0.2, edges 0.125
    Detector detector(s);
    EXPECT_TRUE(detector.proximity(s.rest, {.reach = 0.15}).empty());
    EXPECT_FALSE(detector.proximity(s.rest, {.reach = 0.15, .skip_close_at_rest = false}).empty());
}

TEST(Proximity, CanLeaveOutPairsWhoseNormalsLean)
{
    // A tip above the inside of a face of a flat sheet: only the face is really closest, its edges are seen at a slant.
    Surface s;
    add_body(s, make_grid(1, 1, 9, 9));
    const Vec3 tip(0.04, 0.05, 0.02);
    add_body(s, {{tip, tip + Vec3(-0.1, 5, -0.2), tip + Vec3(-0.2, 5, -0.1)}, {{0, 1, 2}}});
    Detector detector(s);
    const std::vector<ContactPair> all = detector.proximity(s.rest, {.reach = 0.08});
    const std::vector<ContactPair> minima = detector.proximity(s.rest, {.reach = 0.08, .cone_tolerance = 0.1});
    EXPECT_GT(all.size(), 1u);
    ASSERT_EQ(minima.size(), 1u);
    EXPECT_EQ(minima[0].key.kind, PairKind::vertex_face);
    EXPECT_NEAR(minima[0].distance, 0.05, 1e-12);
}

TEST(Proximity, KeepsTheEdgesAndCornersOfABoxAsLocalMinima)
{
    // Two boxes corner to corner, and two crossed roofs edge to edge: leaning normals that are right.
    Surface corners;
    TriangleMesh box = make_box(Vec3::Ones());
    add_body(corners, box);
    for (Vec3& p : box.vertices) p += Vec3::Constant(1.01);
    add_body(corners, box);
    Detector detector(corners);
    const auto& found = detector.proximity(corners.rest, {.reach = 0.03, .cone_tolerance = 0.05});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].key.kind, PairKind::vertex_vertex);

    Surface roofs;
    const auto roof = [](Real side) { // ridge along x at y = 0, faces fall away to -side
        return TriangleMesh{{{-1, 0, 0}, {1, 0, 0}, {0, -side, 1}, {0, -side, -1}}, {{0, 1, 2}, {0, 3, 1}}};
    };
    add_body(roofs, roof(1));
    TriangleMesh other = roof(-1);
    for (Vec3& p : other.vertices) p = Vec3(p.z(), p.y() + 0.01, p.x());
    add_body(roofs, other);
    Detector edges(roofs);
    const auto& ridge = edges.proximity(roofs.rest, {.reach = 0.03, .cone_tolerance = 0.05});
    ASSERT_EQ(ridge.size(), 1u);
    EXPECT_EQ(ridge[0].key.kind, PairKind::edge_edge);
    EXPECT_NEAR(ridge[0].distance, 0.01, 1e-12);
}

TEST(Proximity, OfLocalMinimaMissesNone)
{
    // Ends of edges are left to the pairs of a vertex and a face there: whatever is a minimum must still be found.
    Random random(11);
    std::array<int, 4> kinds{};
    for (int trial = 0; trial < 20; ++trial) {
        Surface s;
        for (int k = 0; k < 8; ++k) { // tetrahedra
            const Vec3 at = random.in_box(Vec3::Zero(), Vec3::Constant(1.5));
            TriangleMesh mesh{{}, {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {0, 2, 3}}};
            for (int i = 0; i < 4; ++i)
                mesh.vertices.push_back(at + random.in_box(Vec3::Constant(-0.4), Vec3::Constant(0.4)));
            add_body(s, mesh);
        }
        Detector detector(s);
        const NormalCones cones(s);
        const std::vector<ContactPair> all = detector.proximity(s.rest, {.reach = 0.4});
        const std::vector<ContactPair> minima = detector.proximity(s.rest, {.reach = 0.4, .cone_tolerance = 0.1});
        EXPECT_LT(minima.size(), all.size());
        const auto by_key = [](const ContactPair& a, const ContactPair& b) { return a.key < b.key; };
        for (const ContactPair& p : all) {
            if (!cones.local_minimum(p, s.rest, 0)) continue;
            ++kinds[static_cast<int>(p.key.kind)];
            EXPECT_TRUE(std::binary_search(minima.begin(), minima.end(), p, by_key)) << "trial " << trial;
        }
    }
    for (int n : kinds) EXPECT_GT(n, 0) << "every kind of pair occurs";
}

TEST(Proximity, LeavesOutCrossingsOfSmoothEdges)
{
    const Surface s = sheet_over_sheet(0.02);
    Detector detector(s);
    const auto crossings = [&](std::span<const char> smooth) {
        std::vector<PairKey> keys;
        for (const ContactPair& p : detector.proximity(s.rest, {.reach = 0.03, .smooth = smooth}))
            if (p.key.kind == PairKind::edge_edge) keys.push_back(p.key);
        return keys;
    };
    std::vector<PairKey> expected = crossings({});
    ASSERT_FALSE(expected.empty());
    std::vector<char> smooth(s.edges.size(), 0);
    smooth[expected[0].a] = 1;
    std::erase_if(expected, [&](const PairKey& k) { return smooth[k.a] || smooth[k.b]; });
    EXPECT_EQ(crossings(smooth), expected);
}

TEST(NormalCones, CallTheDiagonalsOfABoxFlatAndItsEdgesAndTheRimOfASheetSharp)
{
    Surface s;
    const TriangleMesh box = make_box({1, 1, 1});
    add_body(s, box);
    const Index box_edges = count(s.edges);
    add_body(s, one_triangle());
    const NormalCones cones(s);
    for (Index e = 0; e < box_edges; ++e) {
        const Real length = (s.rest[s.edges[e][1]] - s.rest[s.edges[e][0]]).norm();
        EXPECT_EQ(cones.is_flat(e, s.rest, 0.1), length > 1.1) << "edge " << e;
    }
    for (Index e = box_edges; e < count(s.edges); ++e) EXPECT_FALSE(cones.is_flat(e, s.rest, 0.1));
    // Folded over onto itself, an edge is as sharp as can be.
    Surface fold;
    add_body(fold, {{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1e-3, 1}}, {{0, 1, 2}, {1, 0, 3}}});
    const NormalCones folded(fold);
    for (Index e = 0; e < count(fold.edges); ++e) EXPECT_FALSE(folded.is_flat(e, fold.rest, 0.1));
}

TEST(Proximity, UsesARadiusPerVertexWhenGiven)
{
    const Surface s = sheet_over_sheet(0.02);
    Detector detector(s);
    std::vector<Real> radius(s.rest.size(), 0.015);
    const std::vector<ContactPair> per_vertex = detector.proximity(s.rest, {.radius = radius});
    const std::vector<ContactPair> uniform = detector.proximity(s.rest, {.reach = 0.03});
    ASSERT_EQ(per_vertex.size(), uniform.size());
    for (std::size_t i = 0; i < uniform.size(); ++i) EXPECT_EQ(per_vertex[i].key, uniform[i].key);
    for (std::size_t v = 0; v < radius.size(); ++v)
        if (s.rest[v].x() > 0) radius[v] = 0.001;
    for (const ContactPair& p : detector.proximity(s.rest, {.radius = radius})) {
        Real reach = 0;
        for (int k = 0; k < 4 && p.vertices[k] != none; ++k) reach += std::abs(p.weights[k]) * radius[p.vertices[k]];
        EXPECT_LE(p.distance, reach);
        EXPECT_LT(s.rest[p.vertices[0]].x(), 0.2);
    }
}

TEST(Impacts, LeaveNoContactBeforeTheEarliestOfThem)
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Random random(seed);
        Surface s;
        TriangleMesh grid = make_grid(1, 1, 7, 7);
        add_body(s, grid);
        for (Vec3& p : grid.vertices) p += Vec3(0.05, 0.1, 0.02);
        add_body(s, grid);
        Vec3s x_t0 = s.rest, x_t1 = s.rest;
        for (Index v = 0; v < s.vertex_count(); ++v) {
            x_t0[v].y() += random.uniform(-0.02, 0.02);
            x_t1[v] = x_t0[v] + 0.1 * random.on_sphere() - Vec3(0, s.vertex_body[v] == 1 ? 0.15 : 0, 0);
        }
        Detector detector(s);
        const ImpactOptions options = {.hard_gap = 1e-3, .tolerance = 1e-4};
        const std::optional<Impact> first = detector.earliest_impact(x_t0, x_t1, options);
        ASSERT_TRUE(first);
        EXPECT_GT(first->time, 0);
        for (int i = 0; i <= 20; ++i)
            EXPECT_GT(smallest_distance(s, blend(x_t0, x_t1, first->time * i / 20)), options.hard_gap);
        EXPECT_LE(smallest_distance(s, blend(x_t0, x_t1, first->time)), 1.2e-3);
        for (const Impact& i : detector.impacts(x_t0, x_t1, options)) {
            EXPECT_GE(i.time, first->time);
            const Vec3 d = difference(i, blend(x_t0, x_t1, i.time));
            EXPECT_NEAR(i.normal.dot(d), i.distance, 1e-12);
            EXPECT_LE(i.distance, options.hard_gap + options.tolerance);
            EXPECT_GT(i.start_normal.dot(difference(i, x_t0)), 0)
                << "the start normal separates any weights at the start";
        }
    }
}

TEST(Impacts, LetAPairThatStartsBelowTheHardGapMove)
{
    const Surface s = sheet_over_sheet(1e-4);
    Vec3s up = s.rest;
    for (Index v = 0; v < s.vertex_count(); ++v)
        if (s.vertex_body[v] == 1) up[v].y() += 1e-3;
    Detector detector(s);
    EXPECT_TRUE(detector.impacts(s.rest, up, {.hard_gap = 1e-3, .tolerance = 1e-4}).empty()) << "it may separate";
    EXPECT_TRUE(detector.impacts(s.rest, s.rest, {.hard_gap = 1e-3, .tolerance = 1e-4}).empty()) << "it may rest";
    Vec3s through = s.rest;
    for (Index v = 0; v < s.vertex_count(); ++v)
        if (s.vertex_body[v] == 1) through[v].y() -= 1e-3;
    for (const Impact& i : detector.impacts(s.rest, through, {.hard_gap = 1e-3, .tolerance = 1e-4}))
        EXPECT_GE(i.distance, i.start_distance / 2);
    EXPECT_FALSE(detector.impacts(s.rest, through, {.hard_gap = 1e-3, .tolerance = 1e-4}).empty());
}

TEST(Impacts, CatchAFastBodyThatWouldTunnel)
{
    Surface s = sheet_over_sheet(1);
    Vec3s below = s.rest;
    for (Index v = 0; v < s.vertex_count(); ++v)
        if (s.vertex_body[v] == 1) below[v].y() -= 1000;
    Detector detector(s);
    const std::optional<Impact> first = detector.earliest_impact(s.rest, below, {.hard_gap = 1e-3, .tolerance = 1e-4});
    ASSERT_TRUE(first);
    EXPECT_NEAR(first->time, 1e-3, 2e-6);
    EXPECT_NEAR(std::abs(first->normal.y()), 1, 1e-6);
}

TEST(Planes, AreFoundByProximityAndByImpacts)
{
    Surface s;
    TriangleMesh t = one_triangle();
    for (Vec3& p : t.vertices) p.y() = 0.5 + 0.1 * p.x();
    add_body(s, t);
    const MovingPlane floor{{Vec3::UnitY(), 0.45}, {Vec3::UnitY(), 0.45}, 7};
    Detector detector(s);
    const auto& near = detector.proximity(s.rest, {.reach = 0.06, .planes = std::span(&floor, 1)});
    ASSERT_EQ(near.size(), 2u);
    EXPECT_EQ(near[0].key, (PairKey{PairKind::vertex_plane, 0, 0}));
    EXPECT_NEAR(near[0].distance, 0.05, 1e-12);
    EXPECT_EQ(near[0].normal, Vec3::UnitY());

    Vec3s fallen = s.rest;
    for (Vec3& p : fallen) p.y() -= 0.1;
    const ImpactOptions options = {.hard_gap = 1e-3, .tolerance = 1e-4, .planes = std::span(&floor, 1)};
    const auto& hits = detector.impacts(s.rest, fallen, options);
    ASSERT_EQ(hits.size(), 2u);
    EXPECT_LE(hits[0].time, 0.49);
    EXPECT_NEAR(hits[0].time, 0.49, 1e-3);
    const MovingPlane rising{{Vec3::UnitY(), 0}, {Vec3::UnitY(), 1}, 7}; // the floor comes up instead
    const ImpactOptions up = {.hard_gap = 1e-3, .tolerance = 1e-4, .planes = std::span(&rising, 1)};
    EXPECT_EQ(detector.impacts(s.rest, s.rest, up).size(), 3u);
    const std::array<std::array<Index, 2>, 1> apart = {{{0, 7}}};
    EXPECT_TRUE(Detector(s, apart).impacts(s.rest, fallen, options).empty());
}

TEST(Queries, HaveTheSameBitsForAnyNumberOfThreads)
{
    Random random(12);
    const Surface s = sheet_over_sheet(0.02);
    Vec3s y = s.rest;
    for (Vec3& p : y) p += 0.03 * random.on_sphere();
    std::vector<std::vector<ContactPair>> pairs;
    std::vector<std::vector<Impact>> impacts;
    for (int threads : {1, 2, 4}) {
        set_thread_count(threads);
        Detector detector(s);
        pairs.push_back(detector.proximity(s.rest, {.reach = 0.05}));
        impacts.push_back(detector.impacts(s.rest, y, {.hard_gap = 1e-3, .tolerance = 1e-4}));
    }
    set_thread_count(0);
    for (std::size_t run = 1; run < pairs.size(); ++run) {
        ASSERT_EQ(pairs[run].size(), pairs[0].size());
        ASSERT_EQ(impacts[run].size(), impacts[0].size());
        for (std::size_t i = 0; i < pairs[0].size(); ++i) {
            EXPECT_EQ(pairs[run][i].key, pairs[0][i].key);
            EXPECT_EQ(pairs[run][i].distance, pairs[0][i].distance);
            EXPECT_EQ(pairs[run][i].normal, pairs[0][i].normal);
        }
        for (std::size_t i = 0; i < impacts[0].size(); ++i) {
            EXPECT_EQ(impacts[run][i].key, impacts[0][i].key);
            EXPECT_EQ(impacts[run][i].time, impacts[0][i].time);
        }
    }
}

TEST(Queries, GiveTheSameResultsWhenTheyReuseCandidates)
{
    Random random(13);
    const Surface s = sheet_over_sheet(0.02);
    Vec3s y = s.rest, z;
    for (Vec3& p : y) p += 0.03 * random.on_sphere();
    z = y;
    for (Vec3& p : z) p += 0.004 * random.on_sphere();
    Detector fresh(s), reusing(s);
    reusing.set_reuse_margin(0.005);
    const ImpactOptions options = {.hard_gap = 1e-3, .tolerance = 1e-4};
    reusing.impacts(s.rest, y, options);
    EXPECT_FALSE(reusing.stats().reused);
    const auto& a = reusing.impacts(s.rest, z, options);
    EXPECT_TRUE(reusing.stats().reused);
    const auto& b = fresh.impacts(s.rest, z, options);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].key, b[i].key);
        EXPECT_EQ(a[i].time, b[i].time);
    }
    for (Vec3& p : z) p += 0.1 * random.on_sphere();
    reusing.impacts(s.rest, z, options);
    EXPECT_FALSE(reusing.stats().reused) << "moved out of the grown boxes";
}

TEST(Queries, GiveTheSameResultsWhenTheyWereExpected)
{
    Random random(15);
    const Surface s = sheet_over_sheet(0.02);
    const std::size_t n = s.rest.size();
    const std::vector<Real> reach(n, 0.01), separation(n, 6e-4), wide_reach(n, 0.014), wide(n, 0.005);
    const ImpactOptions impact = {.hard_gap = 1e-3, .tolerance = 1e-4};
    ProximityOptions near;
    near.radius = reach;
    Detector fresh(s), told(s);
    told.set_reuse_margin(1e-4);
    Vec3s x = s.rest;
    std::size_t found = 0;
    for (int step = 0; step < 20; ++step) {
        Vec3s guess = x, end;
        const Real motion = step % 5 == 4 ? 0.02 : 0.0005;
        for (Vec3& p : guess) p += motion * random.on_sphere();
        end = guess;
        for (Vec3& p : end) p += 0.1 * motion * random.on_sphere();
        told.expect(x, guess, {wide_reach, wide, reach, separation});
        const std::vector<ContactPair> pairs = fresh.proximity(x, near), told_pairs = told.proximity(x, near);
        EXPECT_TRUE(told.stats().reused) << step;
        ASSERT_EQ(pairs.size(), told_pairs.size()) << step;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            EXPECT_EQ(pairs[i].key, told_pairs[i].key);
            EXPECT_EQ(pairs[i].weights, told_pairs[i].weights);
            EXPECT_EQ(pairs[i].normal, told_pairs[i].normal);
            EXPECT_EQ(pairs[i].distance, told_pairs[i].distance);
        }
        const std::vector<Impact> impacts = fresh.impacts(x, end, impact), told_impacts = told.impacts(x, end, impact);
        EXPECT_TRUE(told.stats().reused) << step;
        ASSERT_EQ(impacts.size(), told_impacts.size()) << step;
        for (std::size_t i = 0; i < impacts.size(); ++i) {
            EXPECT_EQ(impacts[i].key, told_impacts[i].key);
            EXPECT_EQ(impacts[i].time, told_impacts[i].time);
            EXPECT_EQ(impacts[i].weights, told_impacts[i].weights);
            EXPECT_EQ(impacts[i].normal, told_impacts[i].normal);
        }
        found += pairs.size() + impacts.size();
        x = end;
    }
    EXPECT_GT(found, 100u);
}

TEST(Queries, GiveTheSameResultsWhenAFewVerticesEscapeWhatWasExpected)
{
    Random random(17);
    Surface s;
    TriangleMesh grid = make_grid(1, 1, 21, 21);
    add_body(s, grid);
    for (Vec3& p : grid.vertices) p += Vec3(0.031, 0.02, 0.017);
    add_body(s, grid);
    const std::size_t n = s.rest.size();
    const std::vector<Real> reach(n, 0.005), separation(n, 6e-4), wide_reach(n, 0.006), wide(n, 0.001);
    const ImpactOptions impact = {.hard_gap = 1e-3, .tolerance = 1e-4};
    ProximityOptions near;
    near.radius = reach;
    Detector fresh(s), told(s);
    told.set_reuse_margin(1e-4);
    Vec3s x = s.rest;
    int patched = 0;
    std::size_t found = 0;
    for (int step = 0; step < 30; ++step) {
        Vec3s end = x;
        for (Vec3& p : end) p += 1e-4 * random.on_sphere();
        told.expect(x, end, {wide_reach, wide, reach, separation});
        for (int k = 0; k < 10; ++k) end[random.below(count(end))] += 0.04 * random.on_sphere();
        const std::vector<Impact> impacts = fresh.impacts(x, end, impact), told_impacts = told.impacts(x, end, impact);
        patched += told.stats().reused;
        ASSERT_EQ(impacts.size(), told_impacts.size()) << step;
        for (std::size_t i = 0; i < impacts.size(); ++i) {
            EXPECT_EQ(impacts[i].key, told_impacts[i].key);
            EXPECT_EQ(impacts[i].time, told_impacts[i].time);
            EXPECT_EQ(impacts[i].weights, told_impacts[i].weights);
        }
        x = end;
        const std::vector<ContactPair> pairs = fresh.proximity(x, near), told_pairs = told.proximity(x, near);
        ASSERT_EQ(pairs.size(), told_pairs.size()) << step;
        for (std::size_t i = 0; i < pairs.size(); ++i) EXPECT_EQ(pairs[i].key, told_pairs[i].key);
        found += pairs.size() + impacts.size();
    }
    EXPECT_GT(patched, 10) << "else everything was collected anew";
    EXPECT_GT(found, 100u);
}

TEST(Queries, HaveTheSameBitsWhateverTheTreeWentThrough)
{
    Random random(14);
    const Surface s = sheet_over_sheet(0.02);
    Vec3s y = s.rest, wild = s.rest;
    for (Vec3& p : y) p += 0.03 * random.on_sphere();
    for (Vec3& p : wild) p = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
    Detector fresh(s), used(s);
    used.set_reuse_margin(0.01);
    const ImpactOptions options = {.hard_gap = 1e-3, .tolerance = 1e-4};
    used.impacts(wild, wild, options);
    used.proximity(wild, {.reach = 0.01});
    const std::vector<Impact> a = fresh.impacts(s.rest, y, options), b = used.impacts(s.rest, y, options);
    ASSERT_FALSE(a.empty());
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].key, b[i].key);
        EXPECT_EQ(a[i].time, b[i].time);
        EXPECT_EQ(a[i].weights, b[i].weights);
        EXPECT_EQ(a[i].normal, b[i].normal);
    }
}

TEST(Queries, HoldForAnyUnit)
{
    const Surface s = sheet_over_sheet(0.02);
    std::vector<std::size_t> found;
    for (const Real scale : {0x1p-140, 0x1p-40, 1.0, 0x1p40, 0x1p140}) { // the extremes are beyond the range of floats
        Vec3s x = s.rest, y = s.rest;
        for (Index v = 0; v < s.vertex_count(); ++v) {
            x[v] *= scale;
            y[v] = scale * (s.rest[v] - Vec3(0, s.vertex_body[v] == 1 ? 0.05 : 0, 0));
        }
        Detector detector(s);
        found.push_back(detector.proximity(x, {.reach = 0.03 * scale, .skip_close_at_rest = false}).size());
        const auto first = detector.earliest_impact(x, y, {.hard_gap = 1e-3 * scale, .tolerance = 1e-4 * scale});
        ASSERT_TRUE(first);
        EXPECT_NEAR(first->time, 0.38, 0.003) << scale;
    }
    for (std::size_t n : found) EXPECT_EQ(n, found[2]);
}

TEST(Queries, RefusePositionsThatAreNotFinite)
{
    const Surface s = sheet_over_sheet(0.02);
    Vec3s y = s.rest;
    y[5].z() = std::numeric_limits<Real>::quiet_NaN();
    Detector detector(s);
    EXPECT_THROW(detector.proximity(y, {.reach = 0.1}), Error);
    EXPECT_THROW(detector.impacts(s.rest, y, {}), Error);
    y.pop_back();
    EXPECT_THROW(detector.impacts(s.rest, y, {}), Error);
}
