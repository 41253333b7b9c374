#include "run/torture.hpp"

#include <cstdio>

using namespace pliant;

TEST(Torture, NothingPassesThroughAnythingInTwoHundredCruelScenes)
{
    constexpr std::uint64_t scenes = 200;
    for (std::uint64_t seed = 0; seed < scenes; ++seed) {
        expect_no_crossing(seed, 100, 0.005);
        if (HasFatalFailure()) return;
        if ((seed + 1) % 10 == 0) {
            std::printf("%d of %d scenes\n", static_cast<int>(seed + 1), static_cast<int>(scenes));
            std::fflush(stdout);
        }
    }
}
