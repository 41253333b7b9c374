#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

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
    parallel_for(
        count(visits), [&](Index i) { ++visits[i]; }, 7);
    for (int v : visits) EXPECT_EQ(v, 1);
}

TEST(Parallel, SeriallyKeepsLoopsOnTheirThreadUntilItEnds)
{
    set_thread_count(4);
    const std::thread::id here = std::this_thread::get_id();
    const auto elsewhere = [&] {
        std::atomic<int> others = 0;
        parallel_for(
            1000, [&](Index) { others += std::this_thread::get_id() != here; }, 1);
        return others.load();
    };
    {
        const Serially outer;
        EXPECT_TRUE(runs_serially());
        EXPECT_EQ(elsewhere(), 0);
        {
            const Serially not_wanted(false), inner;
        }
        EXPECT_EQ(elsewhere(), 0) << "an inner one has ended the outer one";
    }
    EXPECT_FALSE(runs_serially());
    set_thread_count(0);
}

TEST(Parallel, ALoopInsideOfOneThatFailsStillDoesAllOfItsWork)
{
    // TBB cancels the inner loops of the second body when the first one throws; they must not return half done.
    set_thread_count(2);
    std::atomic<bool> inside = false, failing = false;
    std::atomic<int> incomplete = 0;
    const auto wait_for = [](const std::atomic<bool>& flag) { // on a machine with one core the bodies follow each other
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (!flag && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    };
    const auto body = [&](Index i) {
        if (i == 0) {
            wait_for(inside);
            failing = true;
            throw std::runtime_error("one body fails");
        }
        inside = true;
        wait_for(failing);
        for (int repeat = 0; repeat < 2000; ++repeat) { // the exception needs a moment to be seen
            std::atomic<int> done = 0;
            std::vector<int> sorted(1000);
            for (int k = 0; k < 1000; ++k) sorted[k] = (k * 617) % 1000;
            parallel_for(
                64, [&](Index) { ++done; }, 1);
            parallel_both([&] { ++done; }, [&] { ++done; });
            parallel_sort(sorted.begin(), sorted.end(), std::less<int>());
            if (done != 66 || !std::is_sorted(sorted.begin(), sorted.end())) ++incomplete;
        }
    };
    EXPECT_THROW(parallel_for(2, body, 1), std::runtime_error);
    set_thread_count(0);
    EXPECT_EQ(incomplete, 0);
}
