#include "pliant/contact/failsafe.hpp"
#include "pliant/core/random.hpp"

#include <gtest/gtest.h>

using namespace pliant;

TEST(ZoneMotion, RecoversTheMotionOfARigidlySpinningZone)
{
    Random random(1);
    for (int k = 0; k < 100; ++k) {
        const Vec3 V = random.on_sphere(), W = 3 * random.on_sphere();
        std::vector<ZoneMember> members;
        for (int i = 0; i < 12; ++i) {
            ZoneMember m;
            m.mass = random.uniform(0.1, 2);
            m.position = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
            m.velocity = V + W.cross(m.position);
            members.push_back(m);
        }
        const ZoneMotion motion = zone_motion(members);
        EXPECT_LT((motion.angular - W).norm(), 1e-12 * W.norm());
    }
}

TEST(ZoneMotion, KeepsLinearAndAngularMomentumOfAnyZone)
{
    Random random(2);
    std::vector<ZoneMember> members;
    for (int i = 0; i < 9; ++i) {
        ZoneMember m;
        m.mass = random.uniform(0.1, 2);
        m.position = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
        m.velocity = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
        if (i == 0) {
            m.inertia = Vec3(0.1, 0.2, 0.3).asDiagonal();
            m.angular_velocity = {1, 2, 3};
        }
        members.push_back(m);
    }
    const ZoneMotion motion = zone_motion(members);
    Vec3 p = Vec3::Zero(), L = Vec3::Zero(), p1 = p, L1 = L;
    for (const ZoneMember& m : members) {
        p += m.mass * m.velocity;
        L += m.mass * m.position.cross(m.velocity) + m.inertia * m.angular_velocity;
        const Vec3 v = motion.linear + motion.angular.cross(m.position - motion.center);
        p1 += m.mass * v;
        L1 += m.mass * m.position.cross(v) + m.inertia * motion.angular;
    }
    EXPECT_LT((p - p1).norm(), 1e-12 * p.norm());
    EXPECT_LT((L - L1).norm(), 1e-12 * L.norm());
}

TEST(ZoneMotion, AcceptsPointsLinesAndPureTranslation)
{
    ZoneMember a{1, Vec3(0, 0, 0), Vec3(1, 0, 0), Mat3::Zero(), Vec3::Zero()};
    ZoneMember b{2, Vec3(1, 0, 0), Vec3(1, 0, 0), Mat3::Zero(), Vec3::Zero()};
    EXPECT_LT((zone_motion({a}).linear - Vec3(1, 0, 0)).norm(), 1e-15);
    EXPECT_EQ(zone_motion({a}).angular.norm(), 0);
    const ZoneMotion line = zone_motion({a, b});
    EXPECT_TRUE(line.angular.allFinite());
    EXPECT_LT(line.angular.norm(), 1e-12);
}
