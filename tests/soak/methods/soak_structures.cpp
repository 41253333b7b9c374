#include "methods/structures.hpp"

using namespace pliant;

namespace {

MethodOptions accurate()
{
    MethodOptions options = implicit_options();
    options.solver.tolerance = 1e-5;
    options.solver.max_iterations = 1000;
    return options;
}

} // namespace

TEST(Structures, ArchOfTwentyFiveStonesFallsOnFrictionOneFifth)
{
    const World start = arch(25, 0.2);
    const World end = simulate(start, accurate(), 0.01, 2);
    EXPECT_LT(top(end), 0.7 * top(start));
}
