#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/linalg/solve.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cstring>

using namespace pliant;

namespace {

/// A chain-like graph with random long-range pairs and random positive semi-definite couplings plus mass.
BlockMatrix random_system(Index n, std::uint64_t seed, Real stiffness)
{
    Random random(seed);
    std::vector<std::array<Index, 2>> pairs;
    for (Index i = 0; i + 1 < n; ++i) pairs.push_back({i, i + 1});
    for (Index i = 0; i < n; ++i) {
        const Index j = random.below(n);
        if (j != i) pairs.push_back({std::min(i, j), std::max(i, j)});
    }
    BlockMatrix A(make_pattern(n, pairs));
    for (Index i = 0; i < n; ++i) A.block(A.pattern().diagonal[i]) += random.uniform(0.5, 1.5) * Mat3::Identity();
    for (const auto& [i, j] : pairs) {
        const Vec3 d = random.on_sphere();
        const Mat3 K = stiffness * d * d.transpose();
        A.block(A.pattern().diagonal[i]) += K;
        A.block(A.pattern().diagonal[j]) += K;
        A.block(A.pattern().slot(i, j)) -= K;
        A.block(A.pattern().slot(j, i)) -= K;
    }
    return A;
}

Vec3s random_vector(Index n, std::uint64_t seed)
{
    Random random(seed);
    Vec3s x(static_cast<std::size_t>(n));
    for (Vec3& v : x) v = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
    return x;
}

} // namespace

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
