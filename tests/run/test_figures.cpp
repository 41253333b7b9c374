// The figures that ship with Pliant: their size, and room for cloth where limbs meet the trunk.

#include "pliant/geometry/closest.hpp"
#include "pliant/scene/scene.hpp"
#include "run/shipped_scenes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace pliant {
namespace {

const std::string folder = std::string(PLIANT_SOURCE_DIR) + "/scenes/figures/";

constexpr Real gap = 2e-3; ///< that cloth with edges of 2 cm keeps [m]

struct Figure {
    Scene scene;
    World world;
    std::vector<std::string> bone; ///< per vertex: the nearest one
    std::vector<Triangle> triangles;
    std::map<std::string, Vec3> joint; ///< per bone: where it turns
    const VertexMotion& motion() const { return *world.model.obstacles[0].vertices; }
    Vec3s at(Real t) const
    {
        Vec3s x(static_cast<std::size_t>(motion().vertex_count()));
        motion().positions(t, x);
        return x;
    }
};

Figure make_figure(const std::string& figure, const std::string& motion)
{
    Figure f;
    f.scene = parse_scene("include: [" + folder + figure + ".yaml, " + folder + motion + ".yaml]\ntime: {end: 10 s}\n",
                          "figure.yaml");
    f.world = build_world(f.scene);
    const Value& bones = f.scene.document.at("bodies").at("figure").at("skeleton").at("bones");
    for (const Value::Entry& e : bones.entries) f.joint[e.key] = e.value.at("from").vec3();
    for (const Vec3& x : f.world.model.surface.rest) {
        Real best = 1e9;
        f.bone.emplace_back();
        for (const Value::Entry& e : bones.entries) {
            const Vec3 a = e.value.at("from").vec3(), b = e.value.at("to").vec3();
            const Real u = closest_on_segment(x, a, b);
            const Real d = (x - (1 - u) * a - u * b).norm() - e.value.at("radius").real();
            if (d < best) best = d, f.bone.back() = e.key;
        }
    }
    f.triangles = f.world.model.surface.triangles;
    return f;
}

/// The least distance between vertices of some bones, more than `away` from a joint at rest, and triangles of others.
Real room(const Figure& f, const Vec3s& x, const std::set<std::string>& limb, const Vec3& joint, Real away,
          const std::set<std::string>& trunk)
{
    const auto in = [&](Index v, const std::set<std::string>& bones) { return bones.contains(f.bone[v]); };
    std::vector<Index> points;
    for (Index v = 0; v < count(x); ++v)
        if (in(v, limb) && (f.world.model.surface.rest[v] - joint).norm() > away) points.push_back(v);
    EXPECT_GT(points.size(), 100u);
    Real least = 1e9;
    for (const Triangle& t : f.triangles) {
        if (!in(t[0], trunk) || !in(t[1], trunk) || !in(t[2], trunk)) continue;
        const Vec3 middle = (x[t[0]] + x[t[1]] + x[t[2]]) / 3;
        for (const Index v : points)
            if ((x[v] - middle).norm() < 0.1) // farther ones do not count
                least = std::min(least, closest_point_triangle(x[v], x[t[0]], x[t[1]], x[t[2]]).distance);
    }
    return least;
}

TEST(Figures, AreClosedBodiesOfTenThousandTrianglesAndNaturalHeight)
{
    for (const auto& [figure, height] : {std::pair("woman", 1.7), std::pair("man", 1.8)}) {
        const Figure f = make_figure(figure, "a-pose");
        const Body& body = f.world.model.bodies[0];
        EXPECT_TRUE(body.closed) << figure;
        EXPECT_NEAR(body.triangle_count, 10000, 1000) << figure;
        Eigen::AlignedBox<Real, 3> box;
        for (const Vec3& x : f.world.model.surface.rest) box.extend(x);
        EXPECT_NEAR(box.sizes().y(), height, 0.02) << figure;
        EXPECT_NEAR(box.min().y(), 0, 0.01) << figure;
        EXPECT_NEAR(box.center().x(), 0, 0.005) << figure;
    }
}

TEST(Figures, HaveNaturalProportions)
{
    // Parts of the height, after Drillis and Contini 1966: what a skeleton of a living person has, within a tenth or
    // so.
    for (const std::string figure : {"woman", "man"}) {
        const Figure f = make_figure(figure, "a-pose");
        Eigen::AlignedBox<Real, 3> box;
        for (const Vec3& x : f.world.model.surface.rest) box.extend(x);
        const Real height = box.sizes().y();
        const auto between = [&](const char* a, const char* b) {
            return (f.joint.at(a) - f.joint.at(b)).norm() / height;
        };
        EXPECT_NEAR(f.joint.at("left-thigh").y() / height, 0.53, 0.03) << figure << "'s hip";
        EXPECT_NEAR(f.joint.at("left-calf").y() / height, 0.285, 0.02) << figure << "'s knee";
        EXPECT_NEAR(f.joint.at("left-arm").y() / height, 0.818, 0.025) << figure << "'s shoulder";
        EXPECT_NEAR(between("left-arm", "left-forearm"), 0.172, 0.02) << figure << "'s upper arm";
        EXPECT_NEAR(between("left-forearm", "left-hand"), 0.146, 0.02) << figure << "'s forearm";
        Real feet = 0, hands = 0;
        for (Index v = 0; v < count(f.bone); ++v) {
            const Vec3& x = f.world.model.surface.rest[v];
            if (f.bone[v] == "left-hand") hands = std::max(hands, (x - f.joint.at("left-hand")).norm());
            if (f.bone[v] == "left-foot") feet = std::max(feet, x.z() - f.joint.at("left-foot").z());
        }
        EXPECT_NEAR(hands / height, 0.108, 0.015) << figure << "'s hands";
        EXPECT_NEAR(feet / height, 0.115, 0.02) << figure << "'s feet, from the ankle";
    }
}

class FigureMotion : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(FigureMotion, LeavesTwoGapsOfRoomAtArmpitsAndCrotch)
{
    const Figure f = make_figure(std::get<0>(GetParam()), std::get<1>(GetParam()));
    for (Real t = 0; t <= 10; t += 0.2) {
        const Vec3s x = f.at(t);
        for (const std::string side : {"left", "right"})
            EXPECT_GT(room(f, x, {side + "-arm", side + "-forearm", side + "-hand"}, f.joint.at(side + "-arm"), 0.14,
                           {"chest", "spine", "pelvis", "left-thigh", "right-thigh"}),
                      2 * gap)
                << side << " arm at " << t << " s";
        EXPECT_GT(room(f, x, {"left-thigh", "left-calf", "left-foot"}, f.joint.at("left-thigh"), 0.2,
                       {"right-thigh", "right-calf", "right-foot"}),
                  2 * gap)
            << "legs at " << t << " s";
    }
}

INSTANTIATE_TEST_SUITE_P(, FigureMotion,
                         testing::Combine(testing::Values("woman", "man"),
                                          testing::Values("a-pose", "stand", "walk", "kick", "turn", "dance")),
                         [](const auto& p) {
                             return test_name(std::get<0>(p.param) + std::string("_") + std::get<1>(p.param));
                         });

TEST(Figures, AFullTurnTakesLessThanASecond)
{
    for (const auto& [motion, from, to] : {std::tuple("turn", 1.5, 2.4), std::tuple("dance", 3.4, 4.3)}) {
        const Figure f = make_figure("woman", motion);
        // the nose looks to the front, to the back and to the front again
        Index nose = 0;
        for (Index v = 0; v < count(f.bone); ++v)
            if (f.bone[v] == "pelvis" && f.world.model.surface.rest[v].z() > f.world.model.surface.rest[nose].z())
                nose = v;
        Real turned = 0;
        Vec3 before = f.at(from)[nose];
        for (int i = 1; i <= 40; ++i) {
            const Vec3 now = f.at(from + (to - from) * i / 40)[nose];
            turned +=
                std::atan2(before.z() * now.x() - before.x() * now.z(), before.x() * now.x() + before.z() * now.z());
            before = now;
        }
        EXPECT_GT(std::abs(turned), 0.98 * 2 * 3.14159) << motion;
        EXPECT_LT(to - from, 1);
    }
}

} // namespace
} // namespace pliant
