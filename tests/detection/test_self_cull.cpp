#include "detection/patches.hpp"
#include "pliant/detection/detector.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

/// Pairs that are left to look at.
std::size_t pairs_left(const Surface& s, const Vec3s& x, Real radius, Culling culling)
{
    Detector detector(s);
    detector.set_culling(culling);
    const Candidates c = detector.candidates(x, x, radius);
    return c.vertex_face.size() + c.edge_edge.size();
}

Surface of_mesh(const TriangleMesh& mesh)
{
    Surface s;
    add_body(s, mesh);
    return s;
}

/// A spiral staircase of two turns with flat steps, 0.2 from turn to turn; its pattern is a strip.
struct Staircase {
    Surface surface = of_mesh(make_grid(24, 1, 97, 5));
    Vec3s x;

    Staircase()
    {
        for (const Vec3& p : surface.rest) {
            const Real angle = (p.x() + 12) * 4 * std::numbers::pi / 24, radius = 1.5 + p.z();
            x.emplace_back(radius * std::cos(angle), 0.2 * angle / (2 * std::numbers::pi), radius * std::sin(angle));
        }
    }
};

} // namespace

TEST(SelfCull, LeavesNoPairsOfClothThatIsFlat)
{
    TriangleMesh panels = make_grid(1, 1, 20, 30), other = make_grid(1, 0.5, 25, 12);
    for (Triangle& t : other.triangles) panels.triangles.push_back({t[0] + 600, t[1] + 600, t[2] + 600});
    for (const Vec3& x : other.vertices) panels.vertices.push_back(x + Vec3(1.2, 0, 0));
    const std::pair<const char*, TriangleMesh> meshes[] = {{"grid", make_grid(1, 1, 40, 40)},
                                                           {"diagonals", make_grid(1, 1, 31, 23, Diagonals::uniform)},
                                                           {"disc", make_disc(0.5, 90)},
                                                           {"two panels", panels}};
    for (const auto& [name, mesh] : meshes) {
        const Surface s = of_mesh(mesh);
        const Real radius = 0.1 * median_edge_length(mesh.vertices, s.edges);
        EXPECT_GT(pairs_left(s, s.rest, radius, Culling::off), 1000u) << name;
        EXPECT_EQ(pairs_left(s, s.rest, radius, Culling::sound), 0u) << name;
        Vec3s turned;
        const Eigen::AngleAxisd turn(1, Vec3(1, 2, 3).normalized());
        for (const Vec3& x : s.rest) turned.push_back(turn * x + Vec3(5, 0, 0));
        EXPECT_EQ(pairs_left(s, turned, radius, Culling::sound), 0u) << name << ", turned";
    }
}

// The rims of a cone are curved inward in its texture, and the patches next to them have no window.
TEST(SelfCull, LeavesFewPairsOfTubesAsTheyWereMade)
{
    for (const TriangleMesh& mesh : {make_cone(0.2, 0.2, 0.6, 120, 60), make_cone(0.3, 0.15, 0.5, 140, 80)}) {
        const Surface s = of_mesh(mesh);
        const Real radius = 0.05 * median_edge_length(mesh.vertices, s.edges);
        const std::size_t left = pairs_left(s, s.rest, radius, Culling::sound);
        EXPECT_LT(left, pairs_left(s, s.rest, radius, Culling::off) / 8);
    }
}

TEST(SelfCull, FindsAllPairsOfFoldedCloth)
{
    const TriangleMesh grid = make_grid(1, 1, 40, 40);
    const Surface s = of_mesh(grid);
    for (const Index layers : {1, 2, 5}) {
        const Vec3s x = folded(grid, layers, 0.003, 7);
        std::vector<std::vector<PairKey>> found;
        for (const Culling culling : {Culling::off, Culling::sound}) {
            Detector detector(s);
            detector.set_culling(culling);
            auto& keys = found.emplace_back();
            for (const ContactPair& p : detector.proximity(x, {.reach = 0.004, .skip_close_at_rest = false}))
                keys.push_back(p.key);
            if (culling == Culling::sound && layers < 5) {
                EXPECT_GT(detector.stats().culled, 0) << layers;
            }
        }
        EXPECT_EQ(found[0], found[1]);
    }
}

// 0.2 from turn to turn, and a reach of 0.25. The normals are within 12 degrees of the vertical.
TEST(SelfCull, OfConesOverlooksAStaircaseThatMeetsItself)
{
    const Staircase stairs;
    const auto near = [&](Culling culling) {
        Detector detector(stairs.surface);
        detector.set_culling(culling);
        Index pairs = 0;
        for (const ContactPair& p : detector.proximity(stairs.x, {.reach = 0.25, .skip_close_at_rest = false})) {
            if (p.key.kind != PairKind::vertex_face) continue;
            const Vec3 &a = stairs.surface.rest[p.vertices[0]], &b = stairs.surface.rest[p.vertices[3]];
            pairs += std::abs(a.x() - b.x()) > 6;
        }
        return pairs;
    };
    EXPECT_GT(near(Culling::off), 100) << "the turns are above each other";
    EXPECT_EQ(near(Culling::sound), near(Culling::off));
    EXPECT_EQ(near(Culling::cones), 0);
    EXPECT_EQ(near(Culling::cones_paper), 0);
}

TEST(SelfCull, IsNeverWrong)
{
    const CullCount c = look_for_wrong_culls(0, 4000, 1);
    EXPECT_EQ(c.wrong, 0) << "tightest " << c.tightest;
    EXPECT_GT(c.culling, c.patches / 20) << "else the test says nothing";
    EXPECT_GT(c.near, 1000);
    EXPECT_LT(c.tightest, 1.05);
}

TEST(SelfCull, WouldBeWrongWithAThresholdFivePercentLower)
{
    EXPECT_GT(look_for_wrong_culls(0, 4000, 0.95).wrong, 0) << "the test above has power";
}
