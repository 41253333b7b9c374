#include "run/torture.hpp"

using namespace pliant;

TEST(Torture, NothingPassesThroughAnythingInTwoHundredCruelScenes)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) expect_no_crossing(seed, 100, 0.005);
}
