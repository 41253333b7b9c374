// Garments from flat panels: counts and lengths along sides, placement, and what is refused.

#include "pliant/core/error.hpp"
#include "pliant/mesh/garment.hpp"
#include "pliant/mesh/topology.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace pliant {
namespace {

Panel rectangle(const std::string& name, Real width, Real height)
{
    Panel panel;
    panel.name = name;
    panel.outline = {{"bottom", {width, 0}}, {"right", {width, height}}, {"top", {0, height}}, {"left", {0, 0}}};
    return panel;
}

Real area_of(const TriangleMesh& mesh)
{
    Real area = 0;
    for (const Triangle& t : mesh.triangles)
        area += (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]).z() / 2;
    return area;
}

std::string message_of(const Pattern& pattern)
{
    try {
        make_garment(pattern);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

TEST(Garment, PanelsAreFilledWithTrianglesOfTheWantedSizeAndKeepTheirArea)
{
    Pattern pattern{{rectangle("front", 0.5, 0.7)}, {}, 0.03};
    pattern.panels[0].outline[2].curve = {{{0.35, 0.5}, {0.15, 0.5}}}; // a neckline
    const Garment garment = make_garment(pattern);
    // under a Bezier curve with heights h0 h1 h2 h3 over equally spaced abscissas 0.5 0.35 0.15 0: by Gauss on a cubic
    Real cut = 0;
    const auto bezier = [](Real u, Real a, Real b, Real c, Real d) {
        const Real v = 1 - u;
        return v * v * v * a + 3 * v * v * u * b + 3 * v * u * u * c + u * u * u * d;
    };
    for (int i = 0; i < 10000; ++i) {
        const Real x0 = bezier(i / 1e4, 0.5, 0.35, 0.15, 0), x1 = bezier((i + 1) / 1e4, 0.5, 0.35, 0.15, 0);
        cut += (x0 - x1) * (0.7 - bezier((i + 0.5) / 1e4, 0.7, 0.5, 0.5, 0.7));
    }
    EXPECT_NEAR(area_of(garment.flat), 0.35 - cut, 1e-3);
    const Real edge = median_edge_length(garment.flat.vertices, edges_of(garment.flat.triangles));
    EXPECT_NEAR(edge, 0.03, 0.006);
    for (const Triangle& t : garment.flat.triangles) {
        const Vec3 a = garment.flat.vertices[t[0]], b = garment.flat.vertices[t[1]], c = garment.flat.vertices[t[2]];
        EXPECT_GT((b - a).cross(c - a).z(), 1e-6) << "all face the same way";
    }
}

TEST(Garment, ASplineGoesThroughItsPointsAndNearACircleThatTheyLieOn)
{
    Panel disc;
    disc.name = "disc";
    const auto on_circle = [](Real degrees) {
        const Real a = degrees * std::numbers::pi / 180;
        return Vec2(0.2 * std::cos(a), 0.2 * std::sin(a));
    };
    disc.outline = {{"upper", on_circle(180)}, {"lower", on_circle(360)}};
    for (const Real degrees : {20.0, 50.0, 70.0, 100.0, 130.0, 165.0}) {
        disc.outline[0].through.push_back(on_circle(degrees));
        disc.outline[1].through.push_back(on_circle(180 + degrees));
    }
    const Garment garment = make_garment({{disc}, {}, 0.004});
    EXPECT_NEAR(area_of(garment.flat), std::numbers::pi * 0.04, 0.01 * std::numbers::pi * 0.04)
        << "straighter at its ends";
    const auto at = [&](Index v) { // panels are laid out beside each other
        const Vec3& first = garment.flat.vertices[garment.sides[0][0].front()];
        return Vec2((garment.flat.vertices[v] - first).head<2>() + on_circle(0));
    };
    for (const auto& side : garment.sides[0])
        for (const Index v : side) EXPECT_NEAR(at(v).norm(), 0.2, 0.003);
    for (const Vec2& point : disc.outline[0].through) {
        Real nearest = 1;
        for (const Index v : garment.sides[0][0]) nearest = std::min(nearest, (at(v) - point).norm());
        EXPECT_LT(nearest, 0.0021) << "half an edge";
    }
    // Through points on a line, however they are spaced, it is the line.
    Pattern straight{{rectangle("front", 0.5, 0.7)}, {}, 0.03};
    straight.panels[0].outline[1].through = {{0.5, 0.02}, {0.5, 0.3}, {0.5, 0.69}};
    const Garment front = make_garment(straight);
    for (const Index v : front.sides[0][1])
        EXPECT_NEAR(front.flat.vertices[v].x(), front.flat.vertices[front.sides[0][1][0]].x(), 1e-12);
    EXPECT_NEAR(area_of(front.flat), 0.35, 1e-9);
}

TEST(Garment, SidesThatAreSewnHaveAsManyEdgesEachAtEqualDistances)
{
    Pattern pattern{
        {rectangle("front", 0.5, 0.7), rectangle("back", 0.5, 0.6), rectangle("gusset", 0.2, 0.65)}, {}, 0.03};
    pattern.seams = {{"a", {0, 1}, {1, 3}}, {"b", {1, 1}, {2, 3}}};
    const Garment garment = make_garment(pattern);
    const std::size_t n = garment.sides[0][1].size();
    EXPECT_EQ(n, 24u) << "70 cm in edges of 3 cm";
    EXPECT_EQ(garment.sides[1][3].size(), n);
    EXPECT_EQ(garment.seams[0].pairs.size(), n);
    const auto& x = garment.flat.vertices;
    for (std::size_t i = 0; i + 1 < n; ++i)
        EXPECT_NEAR((x[garment.sides[1][3][i + 1]] - x[garment.sides[1][3][i]]).norm(), 0.6 / 23, 1e-9);
    EXPECT_NEAR(garment.seams[0].length_a, 0.7, 1e-9);
    EXPECT_NEAR(garment.seams[0].length_b, 0.6, 1e-9);
}

TEST(Garment, PartnersAreJoinedTheWayThatBringsThemNearer)
{
    Pattern pattern{{rectangle("front", 0.5, 0.7), rectangle("back", 0.5, 0.7)}, {{"side", {0, 1}, {1, 1}}}, 0.05};
    pattern.panels[1].place.pose = {{0.5, 0, -0.2}, Quat(Eigen::AngleAxis<Real>(std::numbers::pi, Vec3::UnitY()))};
    const Garment garment = make_garment(pattern);
    for (const auto& [a, b] : garment.seams[0].pairs) EXPECT_NEAR(garment.start[a].y(), garment.start[b].y(), 1e-9);
}

TEST(Garment, ABentPanelLiesOnItsCylinder)
{
    Pattern pattern{{rectangle("skirt", 1, 0.3)}, {}, 0.05};
    pattern.panels[0].place = {0.25, {{1, 2, 3}, Quat::Identity()}, false};
    const Garment garment = make_garment(pattern);
    for (std::size_t v = 0; v < garment.start.size(); ++v) {
        const Vec3 x = garment.start[v] - Vec3(1, 2, 3 - 0.25);
        EXPECT_NEAR(std::hypot(x.x(), x.z()), 0.25, 1e-12);
        EXPECT_NEAR(x.y(), garment.flat.vertices[v].y(), 1e-12);
    }
    EXPECT_NEAR(
        (garment.start[garment.sides[0][0].back()] - Vec3(1 + 0.25 * std::sin(4), 2, 3 + 0.25 * (std::cos(4) - 1)))
            .norm(),
        0, 1e-12);
}

TEST(Garment, AnOutlineEitherWayRoundIsTheSamePanel)
{
    Pattern one{{rectangle("front", 0.5, 0.7)}, {}, 0.04}, other = one;
    other.panels[0].outline = {{"right", {0.5, 0}}, {"bottom", {0, 0}}, {"left", {0, 0.7}}, {"top", {0.5, 0.7}}};
    EXPECT_NEAR(area_of(make_garment(one).flat), area_of(make_garment(other).flat), 1e-12);
}

TEST(Garment, ADartIsASeamBetweenTwoSidesOfOnePanelThatShareAPoint)
{
    Pattern pattern{{rectangle("front", 0.5, 0.7)}, {}, 0.03};
    pattern.panels[0].outline = {{"a", {0.2, 0}}, {"dart-left", {0.25, 0.2}}, {"dart-right", {0.3, 0}},
                                 {"b", {0.5, 0}}, {"right", {0.5, 0.7}},      {"top", {0, 0.7}},
                                 {"left", {0, 0}}};
    pattern.seams = {{"dart", {0, 1}, {0, 2}}};
    const Garment garment = make_garment(pattern);
    const auto& pairs = garment.seams[0].pairs;
    EXPECT_TRUE(pairs.front()[0] == pairs.front()[1] || pairs.back()[0] == pairs.back()[1]) << "the tip";
    std::set<Index> met;
    for (const auto& [a, b] : pairs) {
        met.insert(a);
        met.insert(b);
    }
    EXPECT_EQ(met.size(), 2 * pairs.size() - 1);
}

TEST(Garment, AnOutlineThatCrossesItselfIsRefusedWithItsSides)
{
    Pattern pattern{{rectangle("bow", 0.5, 0.7)}, {}, 0.03};
    std::swap(pattern.panels[0].outline[1].to, pattern.panels[0].outline[2].to);
    const std::string message = message_of(pattern);
    EXPECT_NE(message.find("'bow'"), std::string::npos) << message;
    EXPECT_NE(message.find("crosses itself"), std::string::npos) << message;
    EXPECT_NE(message.find("'right'"), std::string::npos) << message;
    EXPECT_NE(message.find("'left'"), std::string::npos) << message;
}

TEST(Garment, ASeamOfSidesThatDifferByMoreThanAFifthIsRefusedWithItsLengths)
{
    Pattern pattern{{rectangle("front", 0.5, 0.7), rectangle("back", 0.5, 0.5)}, {{"side", {0, 1}, {1, 3}}}, 0.03};
    const std::string message = message_of(pattern);
    for (const char* word : {"'front.right'", "'back.left'", "70 cm", "50 cm", "20 %"})
        EXPECT_NE(message.find(word), std::string::npos) << message;
    pattern.panels[1] = rectangle("back", 0.5, 0.57);
    EXPECT_EQ(message_of(pattern), "");
}

} // namespace
} // namespace pliant
