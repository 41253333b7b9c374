#include "pliant/core/random.hpp"
#include "pliant/geometry/box.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace pliant;

TEST(Box, RoundsOutwardToTheNearestFloats)
{
    Random random(1);
    for (int i = 0; i < 100'000; ++i) {
        const double x = std::ldexp(random.uniform(-1, 1), random.below(80) - 40);
        const float lo = round_down(x), hi = round_up(x);
        EXPECT_LE(static_cast<double>(lo), x);
        EXPECT_GE(static_cast<double>(hi), x);
        EXPECT_LE(hi, std::nextafter(lo, std::numeric_limits<float>::infinity()));
    }
    EXPECT_EQ(round_down(0.5), 0.5f);
    EXPECT_EQ(round_up(0.5), 0.5f);
    EXPECT_EQ(round_down(1e300), std::numeric_limits<float>::max());
    EXPECT_EQ(round_up(1e300), std::numeric_limits<float>::infinity());
    EXPECT_LT(round_down(-1e-300), 0);
    EXPECT_GT(round_up(1e-300), 0);
}

TEST(Box, HoldsTheBallsThatWereAdded)
{
    Box b;
    EXPECT_TRUE(b.empty());
    b.add(Vec3(1, 2, 3), 0.1);
    b.add(Vec3(-1, 2, 5), 0.2);
    EXPECT_FALSE(b.empty());
    EXPECT_LE(b.lo(0), -1.2);
    EXPECT_GE(b.hi(0), 1.1);
    EXPECT_LE(b.lo(2), 2.9);
    EXPECT_GE(b.hi(2), 5.2);
}

TEST(Box, HoldsABallWhoseRadiusIsLostInTheRounding)
{
    Box b;
    b.add(Vec3(1, -1, 0x1p40), 1e-30);
    EXPECT_LT(b.lo(0), 1);
    EXPECT_GT(b.hi(1), -1);
    EXPECT_GT(b.hi(2), 0x1p40);
}

TEST(Box, OverlapsWhenItTouches)
{
    Box a, b, c;
    a.add(Vec3(0, 0, 0));
    a.add(Vec3(1, 1, 1));
    b.add(Vec3(1, 1, 1));
    b.add(Vec3(2, 2, 2));
    c.add(Vec3(1.5, 0, 0));
    EXPECT_TRUE(overlap(a, b));
    EXPECT_FALSE(overlap(a, c));
    EXPECT_FALSE(overlap(a, Box{})) << "an empty box overlaps nothing";
}

TEST(Box, BetweenTwoCornersIsWhatAnEmptyBoxGrowsTo)
{
    Random random(3);
    const auto number = [&] { return std::ldexp(random.uniform(-1, 1), random.below(200) - 100); };
    for (int i = 0; i < 10'000; ++i) {
        const Vec3 p(number(), number(), i % 7 == 0 ? 0 : number()), q(number(), number(), number());
        Box grown;
        grown.add(p);
        grown.add(q);
        const Box between = Box::between(p.cwiseMin(q), p.cwiseMax(q));
        for (int k = 0; k < 6; ++k)
            EXPECT_EQ(between.bound[k], grown.bound[k]) << p.transpose() << " " << q.transpose();
    }
}

TEST(Box, OfABallIsWhatAnEmptyBoxGrowsTo)
{
    Random random(2);
    const auto number = [&] { return std::ldexp(random.uniform(-1, 1), random.below(200) - 100); };
    for (int i = 0; i < 100'000; ++i) {
        Vec3 x(number(), number(), number());
        if (i % 7 == 0) x[i % 3] = 0;
        if (i % 11 == 0) x[i % 3] = static_cast<float>(x[i % 3]); // nothing to round
        const Real radius = i % 5 == 0 ? 0 : std::abs(number());
        Box grown;
        grown.add(x, radius);
        const Box ball = Box::of_ball(x, radius);
        for (int k = 0; k < 6; ++k) EXPECT_EQ(ball.bound[k], grown.bound[k]) << x.transpose() << " radius " << radius;
    }
}
