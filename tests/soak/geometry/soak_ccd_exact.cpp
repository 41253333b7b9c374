#include "geometry/ccd_against_exact.hpp"

using namespace pliant;

TEST(CcdAgainstExactOracleSoak, VertexFaceNeverMissesInFiveMillionQueries)
{
    expect_exact(true, 3, 5'000'000);
}

TEST(CcdAgainstExactOracleSoak, EdgeEdgeNeverMissesInFiveMillionQueries)
{
    expect_exact(false, 4, 5'000'000);
}
