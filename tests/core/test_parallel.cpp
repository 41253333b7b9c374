#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"

#include <gtest/gtest.h>

using namespace pliant;

TEST(Parallel, SumHasTheSameBitsForAnyThreadCount)
{
    Random random(1);
    std::vector<Real> x(100'000);
    for (Real& v : x) v = random.uniform(-1, 1) * 1e8;
    std::vector<Real> sums;
    for (int threads : {1, 2, 4}) {
        set_thread_count(threads);
        sums.push_back(parallel_sum(count(x), 0.0, [&](Index i) { return x[i]; }));
    }
    set_thread_count(0);
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_EQ(sums[0], sums[2]);
}

TEST(Parallel, ForVisitsEveryIndexOnce)
{
    std::vector<int> visits(10'001, 0);
    parallel_for(count(visits), [&](Index i) { ++visits[i]; }, 7);
    for (int v : visits) EXPECT_EQ(v, 1);
}
