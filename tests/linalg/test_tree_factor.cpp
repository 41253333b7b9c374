#include "linalg/random_system.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/linalg/graph.hpp"
#include "pliant/linalg/solve.hpp"
#include "pliant/linalg/tree_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <numeric>

using namespace pliant;

namespace {

Eigen::MatrixXd dense(const BlockMatrix& A)
{
    Eigen::MatrixXd D = Eigen::MatrixXd::Zero(3 * A.rows(), 3 * A.rows());
    for (Index i = 0; i < A.rows(); ++i)
        for (Index s = A.pattern().row_begin[i]; s < A.pattern().row_begin[i + 1]; ++s)
            D.block<3, 3>(3 * i, 3 * A.pattern().column[s]) = A.block(s);
    return D;
}

std::vector<Index> all_blocks(Index n)
{
    std::vector<Index> blocks(static_cast<std::size_t>(n));
    std::iota(blocks.begin(), blocks.end(), 0);
    return blocks;
}

/// Coupled with all neighbours in a grid of nx x ny x nz.
struct Grid {
    BlockPattern pattern;
    Vec3s rest;
};

Grid grid(Index nx, Index ny, Index nz)
{
    Grid g;
    std::vector<std::array<Index, 2>> pairs;
    const auto at = [&](Index x, Index y, Index z) { return (z * ny + y) * nx + x; };
    for (Index z = 0; z < nz; ++z)
        for (Index y = 0; y < ny; ++y)
            for (Index x = 0; x < nx; ++x) {
                g.rest.push_back({Real(x), Real(y), Real(z)});
                for (int k = 1; k < 8; ++k) {
                    const Index a = x + (k & 1), b = y + (k >> 1 & 1), c = z + (k >> 2);
                    if (a < nx && b < ny && c < nz) pairs.push_back({at(x, y, z), at(a, b, c)});
                }
            }
    g.pattern = make_pattern(nx * ny * nz, pairs);
    return g;
}

std::vector<ColumnEntry> random_columns(Index rows, Index n, std::uint64_t seed)
{
    Random random(seed);
    std::vector<ColumnEntry> entries;
    for (Index j = 0; j < rows; ++j)
        for (int k = 0; k < 4; ++k) {
            ColumnEntry e{random.below(n), 3 * j, 3, Mat3::Zero()};
            for (int c = 0; c < 3; ++c) e.value.col(c) = random.on_sphere();
            entries.push_back(e);
        }
    return entries;
}

Eigen::MatrixXd dense(const std::vector<ColumnEntry>& entries, Index n, Index columns)
{
    Eigen::MatrixXd Jt = Eigen::MatrixXd::Zero(3 * n, columns);
    for (const ColumnEntry& e : entries)
        for (Index c = 0; c < e.columns; ++c) Jt.col(e.first_column + c).segment<3>(3 * e.block) += e.value.col(c);
    return Jt;
}

} // namespace

TEST(TreeFactor, SolvesWhatTheDenseFactorSolves)
{
    for (const Index n : {1, 5, 17, 300}) {
        const BlockMatrix A = random_system(n, 3, 100);
        TreeFactor factor(A.pattern(), all_blocks(n), random_vector(n, 4));
        ASSERT_TRUE(factor.factorise(A));
        const Vec3s b = random_vector(n, 5);
        Vec3s x(b.size());
        factor.solve(b, x);
        const Eigen::VectorXd expected = dense(A).llt().solve(Eigen::Map<const Eigen::VectorXd>(b[0].data(), 3 * n));
        EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(x[0].data(), 3 * n) - expected).norm(), 1e-12 * expected.norm());
    }
}

TEST(TreeFactor, GivesTheResponsesOfADenseInverse)
{
    const Index n = 200, rows = 70, columns = 3 * rows;
    const BlockMatrix A = random_system(n, 6, 50);
    TreeFactor factor(A.pattern(), all_blocks(n), random_vector(n, 7));
    ASSERT_TRUE(factor.factorise(A));
    const std::vector<ColumnEntry> entries = random_columns(rows, n, 8);
    const Eigen::MatrixXd Jt = dense(entries, n, columns), expected = Jt.transpose() * dense(A).llt().solve(Jt);
    EXPECT_LT((factor.responses(entries, columns) - expected).norm(), 1e-12 * expected.norm());
}

TEST(TreeFactor, HasTheSameBitsOnAnyNumberOfThreads)
{
    const Index n = 500, columns = 300;
    const BlockMatrix A = random_system(n, 9, 50);
    const std::vector<ColumnEntry> entries = random_columns(columns / 3, n, 10);
    std::vector<Eigen::MatrixXd> B;
    for (const int threads : {1, 2, 5}) {
        set_thread_count(threads);
        TreeFactor factor(A.pattern(), all_blocks(n), random_vector(n, 11));
        ASSERT_TRUE(factor.factorise(A));
        B.push_back(factor.responses(entries, columns));
    }
    set_thread_count(0);
    EXPECT_EQ(B[0], B[1]);
    EXPECT_EQ(B[0], B[2]);
}

TEST(TreeFactor, SaysWhenAMatrixIsNotPositiveDefinite)
{
    BlockMatrix A = random_system(60, 12, 10);
    A.block(A.pattern().diagonal[31]) -= 100 * Mat3::Identity();
    TreeFactor factor(A.pattern(), all_blocks(60), random_vector(60, 13));
    EXPECT_FALSE(factor.factorise(A));
}

TEST(TreeFactor, OfASheetCostsTheBlocksToThreeHalves)
{
    // Cuts of a sheet of n blocks are sqrt(n) long: flops grow like n^1.5, a bulky body's like n^2 [George 1973].
    const auto flops = [](Index x, Index y, Index z) {
        const Grid g = grid(x, y, z);
        return TreeFactor(g.pattern, all_blocks(g.pattern.rows()), g.rest).factor_flops();
    };
    EXPECT_NEAR(std::log(flops(80, 80, 2) / flops(40, 40, 2)) / std::log(4), 1.5, 0.25);
    EXPECT_GT(flops(16, 16, 16), 3 * flops(45, 45, 2)); // as many blocks
}

TEST(TreeFactor, OfAPartLeavesTheOthersAlone)
{
    std::vector<std::array<Index, 2>> pairs;
    for (Index i = 0; i + 2 < 50; ++i) pairs.push_back({i, i + 2}); // even and odd blocks
    BlockMatrix A(make_pattern(50, pairs));
    for (Index i = 0; i < 50; ++i) A.block(A.pattern().diagonal[i]) = (3 + i) * Mat3::Identity();
    for (const auto& [i, j] : pairs)
        A.block(A.pattern().slot(i, j)) = A.block(A.pattern().slot(j, i)) = -Mat3::Identity();
    std::vector<Index> part;
    for (Index i = 0; i < 50; ++i) part.push_back(i % 2);
    const PartFactors factors(A.pattern(), part, 2, random_vector(50, 14));
    const Vec3s b = random_vector(50, 15);
    Vec3s x(50, Vec3::Constant(7)), expected(50);
    DirectSolver(A).solve(b, expected);
    const TreeFactor* odd = factors.factor(A, 1);
    ASSERT_NE(odd, nullptr);
    odd->solve(b, x);
    for (Index i = 0; i < 50; ++i) EXPECT_LT((x[i] - (i % 2 ? expected[i] : Vec3::Constant(7))).norm(), 1e-12);
}
