#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/linalg/solve.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace pliant {
namespace {

/// Chains of particles joined by stiff springs in three directions, each chain a part that nothing holds.
struct StiffBodies {
    BlockMatrix A;
    Vec3s x, b;
    std::vector<Mat3> inverse;
    CoarseSpace coarse;

    StiffBodies(Index bodies, Index size, Real stiffness)
    {
        Random random(11);
        std::vector<std::array<Index, 2>> pairs;
        std::vector<CoarseSpace::Part> parts;
        for (Index k = 0; k < bodies; ++k) {
            parts.push_back({k * size, size});
            for (Index i = 0; i < size; ++i)
                for (Index j = i + 1; j < std::min(size, i + 4); ++j) pairs.push_back({k * size + i, k * size + j});
        }
        const Index n = bodies * size;
        for (Index i = 0; i < n; ++i) {
            x.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
            b.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
        }
        A = BlockMatrix(make_pattern(n, pairs));
        for (Index i = 0; i < n; ++i) A.block(A.pattern().diagonal[i]) += Mat3::Identity();
        for (const auto& [i, j] : pairs) { // springs: rigid motions cost nothing
            const Vec3 d = (x[j] - x[i]).normalized();
            const Mat3 K = stiffness * d * d.transpose();
            A.block(A.pattern().diagonal[i]) += K;
            A.block(A.pattern().diagonal[j]) += K;
            A.block(A.pattern().slot(i, j)) -= K;
            A.block(A.pattern().slot(j, i)) -= K;
        }
        invert_diagonal(A, inverse);
        coarse = CoarseSpace(A.pattern(), parts, x);
        coarse.update(A);
    }
};

/// The correction of the load A v: v itself if the coarse space holds v.
Vec3s answer_to_load_of(const StiffBodies& bodies, const Vec3s& v)
{
    Vec3s load(v.size()), answer(v.size(), Vec3::Zero());
    bodies.A.multiply(v, load);
    bodies.coarse.add_correction(load, answer);
    return answer;
}

TEST(CoarseSpace, AnswersALoadThatMovesABodyRigidlyExactly)
{
    const StiffBodies bodies(3, 20, 1e4);
    Vec3s v;
    for (const Vec3& p : bodies.x) v.push_back(Vec3(1, 2, -1) + Vec3(0.3, -0.2, 0.5).cross(p));
    const Vec3s answer = answer_to_load_of(bodies, v);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_LT((answer[i] - v[i]).norm(), 1e-5) << "single precision";
}

TEST(CoarseSpace, AnswersALoadThatStretchesAndShearsABodyExactly)
{
    const StiffBodies bodies(3, 20, 100);
    Mat3 G;
    G << 0.5, 0.2, 0, -0.1, 1, 0.3, 0, 0.4, -0.7;
    Vec3s v;
    for (const Vec3& p : bodies.x) v.emplace_back(G * p);
    const Vec3s answer = answer_to_load_of(bodies, v);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_LT((answer[i] - v[i]).norm(), 1e-4) << "single precision";
}

TEST(CoarseSpace, KeepsToMotionsThatItsBlocksTellApart)
{
    // Two clusters and one block far away, which alone would move all corners of its cell.
    std::vector<std::array<Index, 2>> pairs;
    for (Index i = 0; i < 20; ++i)
        for (Index j = i + 1; j < 20; ++j) pairs.push_back({i, j});
    Random random(5);
    Vec3s x, b;
    for (Index i = 0; i < 20; ++i) {
        const Vec3 at = i == 19 ? Vec3(10, 10, 10) : i < 10 ? Vec3(0, 0, 0) : Vec3(10, 0, 0);
        x.push_back(at + random.in_box(Vec3::Constant(-0.1), Vec3::Constant(0.1)));
        b.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
    }
    BlockMatrix A(make_pattern(20, pairs));
    for (Index i = 0; i < 20; ++i) A.block(A.pattern().diagonal[i]) += 20 * Mat3::Identity();
    for (const auto& [i, j] : pairs) {
        A.block(A.pattern().slot(i, j)) -= Mat3::Identity();
        A.block(A.pattern().slot(j, i)) -= Mat3::Identity();
    }
    CoarseSpace coarse(A.pattern(), {{0, 20}}, x);
    coarse.update(A);
    std::vector<Mat3> inverse;
    invert_diagonal(A, inverse);
    Vec3s answer(20, Vec3::Zero()), Ax(20);
    const CgResult result = conjugate_gradients(A, inverse, b, answer, {1e-10, 200, 0, &coarse});
    EXPECT_TRUE(result.converged);
    A.multiply(answer, Ax);
    for (Index i = 0; i < 20; ++i) EXPECT_LT((Ax[i] - b[i]).norm(), 1e-7);
}

TEST(CoarseSpace, LeavesTheSolutionOfConjugateGradientsAsItIsAndSparesIterations)
{
    const StiffBodies bodies(10, 30, 1e4);
    Vec3s plain(bodies.b.size(), Vec3::Zero()), with = plain;
    CgOptions options{1e-10, 10000, 0};
    const CgResult without = conjugate_gradients(bodies.A, bodies.inverse, bodies.b, plain, options);
    options.coarse = &bodies.coarse;
    const CgResult result = conjugate_gradients(bodies.A, bodies.inverse, bodies.b, with, options);
    EXPECT_TRUE(without.converged);
    EXPECT_TRUE(result.converged);
    EXPECT_LT(result.iterations, without.iterations);
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_LT((plain[i] - with[i]).norm(), 1e-7);
}

TEST(CoarseSpace, CorrectionHasTheSameBitsForAnyThreadCount)
{
    std::vector<Vec3s> answers;
    for (int threads : {1, 2, 4}) {
        set_thread_count(threads);
        const StiffBodies bodies(40, 25, 1e3);
        answers.emplace_back(bodies.b.size(), Vec3::Zero());
        bodies.coarse.add_correction(bodies.b, answers.back());
    }
    set_thread_count(0);
    for (int k : {1, 2})
        EXPECT_EQ(std::memcmp(answers[0].data(), answers[k].data(), answers[0].size() * sizeof(Vec3)), 0);
}

} // namespace
} // namespace pliant
