#include "run/torture.hpp"

using namespace pliant;

TEST(Torture, NothingPassesThroughAnythingInAFewCruelScenes)
{
    for (std::uint64_t seed = 0; seed < 8; ++seed) expect_no_crossing(seed, 40, 0.005);
}
