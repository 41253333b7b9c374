#include "linalg/random_system.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/linalg/solve.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cstring>

using namespace pliant;

TEST(Linalg, ProductEqualsTheDenseProduct)
{
    const Index n = 40;
    const BlockMatrix A = random_system(n, 1, 10);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(3 * n, 3 * n);
    for (Index i = 0; i < n; ++i)
        for (Index s = A.pattern().row_begin[i]; s < A.pattern().row_begin[i + 1]; ++s)
            dense.block<3, 3>(3 * i, 3 * A.pattern().column[s]) = A.block(s);
    const Vec3s x = random_vector(n, 2);
    Vec3s y;
    A.multiply(x, y);
    const Eigen::VectorXd expected = dense * Eigen::Map<const Eigen::VectorXd>(x[0].data(), 3 * n);
    EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(y[0].data(), 3 * n) - expected).norm(), 1e-12 * expected.norm());
}

TEST(Linalg, ConjugateGradientsAgreeWithTheDirectReference)
{
    const BlockMatrix A = random_system(300, 3, 1e4);
    const Vec3s b = random_vector(300, 4);
    std::vector<Mat3> inverse;
    invert_diagonal(A, inverse);
    Vec3s x(300, Vec3::Zero()), reference;
    const CgResult result = conjugate_gradients(A, inverse, b, x, {1e-12, 5000, 0});
    EXPECT_TRUE(result.converged);
    const DirectSolver direct(A);
    ASSERT_TRUE(direct.ok());
    direct.solve(b, reference);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LT((x[i] - reference[i]).norm(), 1e-8);
}

TEST(Linalg, ResidualDoesNotDependOnTheUnitsOfTheProblem)
{
    std::vector<int> iterations;
    for (Real unit : {0x1p-30, 1.0, 0x1p30}) /* powers of two: no rounding */ {
        BlockMatrix A = random_system(200, 5, 1e3);
        for (Index s = 0; s < A.pattern().slots(); ++s) A.block(s) *= unit;
        std::vector<Mat3> inverse;
        invert_diagonal(A, inverse);
        Vec3s x(200, Vec3::Zero());
        iterations.push_back(conjugate_gradients(A, inverse, random_vector(200, 6), x, {1e-6, 5000, 0}).iterations);
    }
    EXPECT_EQ(iterations[0], iterations[1]);
    EXPECT_EQ(iterations[1], iterations[2]);
}

TEST(Linalg, SolutionHasTheSameBitsForAnyThreadCount)
{
    const BlockMatrix A = random_system(20'000, 7, 100);
    const Vec3s b = random_vector(20'000, 8);
    std::vector<Mat3> inverse;
    invert_diagonal(A, inverse);
    std::vector<Vec3s> solutions;
    for (int threads : {1, 2, 4}) {
        set_thread_count(threads);
        Vec3s x(b.size(), Vec3::Zero());
        conjugate_gradients(A, inverse, b, x, {1e-8, 1000, 0});
        solutions.push_back(x);
    }
    set_thread_count(0);
    for (int k : {1, 2}) EXPECT_EQ(std::memcmp(solutions[0].data(), solutions[k].data(), b.size() * sizeof(Vec3)), 0);
}
