#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/linalg/graph.hpp"
#include "pliant/linalg/solve.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace pliant {
namespace {

/// Chains of the given lengths, one after the other.
BlockMatrix chains(const std::vector<Index>& lengths)
{
    std::vector<std::array<Index, 2>> pairs;
    Index n = 0;
    for (Index length : lengths) {
        for (Index i = 0; i + 1 < length; ++i) pairs.push_back({n + i, n + i + 1});
        n += length;
    }
    BlockMatrix A(make_pattern(n, pairs));
    for (Index i = 0; i < n; ++i) A.block(A.pattern().diagonal[i]) += Mat3::Identity();
    Random random(3);
    for (const auto& [i, j] : pairs) {
        const Vec3 d = random.on_sphere();
        const Mat3 K = 2 * d * d.transpose() + 0.1 * Mat3::Identity();
        A.block(A.pattern().diagonal[i]) += K;
        A.block(A.pattern().diagonal[j]) += K;
        A.block(A.pattern().slot(i, j)) -= K;
        A.block(A.pattern().slot(j, i)) -= K;
    }
    return A;
}

const std::vector<Index> lengths = {1, 40, 300, 7, 5000, 1, 90};

TEST(Graph, ColorsNeverJoinCoupledChunks)
{
    const BlockMatrix A = chains(lengths);
    const ChunkColoring coloring = color_chunks(A.pattern(), 16);
    std::vector<Index> color(coloring.order.size());
    for (std::size_t c = 0; c + 1 < coloring.color_begin.size(); ++c)
        for (Index k = coloring.color_begin[c]; k < coloring.color_begin[c + 1]; ++k)
            color[coloring.order[k]] = Index(c);
    for (Index i = 0; i < A.rows(); ++i)
        for (Index s = A.pattern().row_begin[i]; s < A.pattern().row_begin[i + 1]; ++s) {
            const Index a = i / 16, b = A.pattern().column[s] / 16;
            if (a != b) {
                EXPECT_NE(color[a], color[b]);
            }
        }
}

TEST(Graph, ConnectedPartsAreTheChains)
{
    const std::vector<Index> part = connected_parts(chains(lengths).pattern());
    Index first = 0;
    for (Index length : lengths) {
        for (Index i = 0; i < length; ++i) EXPECT_EQ(part[first + i], first);
        first += length;
    }
}

TEST(Graph, SweepsVisitTheWantedPartsOnceAndLeaveTheOthersAlone)
{
    const BlockMatrix A = chains(lengths);
    const std::vector<Index> part = connected_parts(A.pattern());
    std::vector<char> wanted(part.size(), 1);
    wanted[part[50]] = 0; // the chain of 300
    const std::vector<Index> rows = make_sweep_order(color_chunks(A.pattern()), part, wanted).rows;
    const std::set<Index> visited(rows.begin(), rows.end());
    EXPECT_EQ(visited.size(), rows.size());
    for (Index i = 0; i < A.rows(); ++i) EXPECT_EQ(visited.count(i) == 1, part[i] != part[50]);
}

TEST(Graph, SweepsConvergeToTheDirectSolutionWithTheSameBitsForAnyThreadCount)
{
    const BlockMatrix A = chains(lengths);
    const std::vector<Index> part = connected_parts(A.pattern());
    const SweepOrder order = make_sweep_order(color_chunks(A.pattern()), part, std::vector<char>(part.size(), 1));
    std::vector<Mat3> inverse;
    invert_diagonal(A, inverse);
    Random random(4);
    Vec3s b, reference;
    for (Index i = 0; i < A.rows(); ++i) b.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
    std::vector<Vec3s> solutions;
    for (int threads : {1, 2, 4}) {
        set_thread_count(threads);
        Vec3s x(b.size(), Vec3::Zero());
        for (int k = 0; k < 400; ++k) gauss_seidel_sweep(A, inverse, order, k % 2 == 1, b, x);
        solutions.push_back(x);
    }
    set_thread_count(0);
    DirectSolver(A).solve(b, reference);
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_LT((solutions[0][i] - reference[i]).norm(), 1e-8);
    for (int k : {1, 2}) EXPECT_EQ(std::memcmp(solutions[0].data(), solutions[k].data(), b.size() * sizeof(Vec3)), 0);
}

} // namespace
} // namespace pliant
