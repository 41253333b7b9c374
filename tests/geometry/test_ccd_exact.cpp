#include "geometry/ccd_against_exact.hpp"

using namespace pliant;

TEST(CcdAgainstExactOracle, VertexFaceNeverMissesAndIsNeverLate)
{
    expect_exact(true, 1, 50'000);
}

TEST(CcdAgainstExactOracle, EdgeEdgeNeverMissesAndIsNeverLate)
{
    expect_exact(false, 2, 50'000);
}
