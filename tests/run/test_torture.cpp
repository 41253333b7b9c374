#include "run/torture.hpp"

using namespace pliant;

TEST(Torture, NothingPassesThroughAnythingInAFewCruelScenes)
{
    for (std::uint64_t seed = 0; seed < 8; ++seed) expect_no_crossing(seed, 40, 0.005);
}

TEST(Torture, ImpactZonesLetNothingThroughInAFewCruelScenes)
{
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const int steps = seed % 4 == 1 ? 32 : 40; // layers between walls that close: ever more sub-steps
        expect_no_crossing(seed, steps, 0.005, {.method = "impact-zones"});
    }
}
