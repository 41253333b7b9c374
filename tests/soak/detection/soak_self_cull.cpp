// A million patches, bent and moved in ways that are hard on the cull of self-collision.

#include "detection/patches.hpp"

#include <gtest/gtest.h>

using namespace pliant;

TEST(SelfCullSoak, IsNeverWrongInAMillionPatches)
{
    CullCount c;
    for (int part = 0; part < 100; ++part)
        c.add(look_for_wrong_culls(1'000'000 + 10'000 * static_cast<std::uint64_t>(part), 10'000, 1));
    EXPECT_EQ(c.patches, 1'000'000);
    EXPECT_EQ(c.wrong, 0) << "tightest " << c.tightest;
    EXPECT_GT(c.culling, c.patches / 20);
    EXPECT_LT(c.tightest, 1.01) << "else the patches are not hard";
    std::printf("%lld patches culled something, %lld culled pairs near what is proved, tightest %.4f of it\n",
                static_cast<long long>(c.culling), static_cast<long long>(c.near), c.tightest);
}
