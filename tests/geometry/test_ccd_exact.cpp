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

TEST(CubicAgainstExactOracle, NeverMissesAndIsNeverLate)
{
    expect_exact(true, 5, 10'000, CcdKind::cubic);
    expect_exact(false, 6, 10'000, CcdKind::cubic);
}
