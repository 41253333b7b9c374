#include "methods/structures.hpp"

using namespace pliant;

TEST(Structures, ArchOfTwentyFiveStonesFallsOnFrictionOneFifth)
{
    const World start = arch(25, 0.2);
    const World end = simulate(start, accurate(), 0.01, 2);
    EXPECT_LT(top(end), 0.7 * top(start));
}
