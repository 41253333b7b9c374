#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/linalg/lane_solve.hpp"

#include <gtest/gtest.h>

#include <numeric>

using namespace pliant;

namespace {

/// Square sheets of springs with a little mass: the matrix of a step of cloth. Numbers of nodes may be shuffled.
struct Sheets {
    BlockMatrix A;
    Vec3s rest;
    std::vector<Index> component;
    std::vector<char> held;

    Multigrid multigrid() const
    {
        Multigrid m(A.pattern(), component, held, rest);
        m.update(A, everything(m));
        return m;
    }
    static Multigrid::Region everything(const Multigrid& m)
    {
        std::vector<Index> all(static_cast<std::size_t>(m.components()));
        std::iota(all.begin(), all.end(), 0);
        return m.region(all);
    }
};

Sheets make_sheets(Index side, Index sheets, bool shuffled, Real stiffness = 100)
{
    Random random(7);
    const Index n = side * side * sheets;
    std::vector<Index> number(static_cast<std::size_t>(n));
    std::iota(number.begin(), number.end(), 0);
    if (shuffled)
        for (Index i = n - 1; i > 0; --i) std::swap(number[i], number[random.below(i + 1)]);
    Sheets s;
    s.rest.resize(number.size());
    s.component.resize(number.size());
    s.held.assign(number.size(), 0);
    std::vector<std::array<Index, 2>> pairs;
    for (Index sheet = 0; sheet < sheets; ++sheet)
        for (Index y = 0; y < side; ++y)
            for (Index x = 0; x < side; ++x) {
                const auto node = [&](Index i, Index j) { return number[(sheet * side + j) * side + i]; };
                s.rest[node(x, y)] = Vec3(x, y, 0);
                s.component[node(x, y)] = sheet;
                if (x + 1 < side) pairs.push_back({node(x, y), node(x + 1, y)});
                if (y + 1 < side) pairs.push_back({node(x, y), node(x, y + 1)});
                if (x + 1 < side && y + 1 < side) pairs.push_back({node(x, y), node(x + 1, y + 1)});
            }
    s.A = BlockMatrix(make_pattern(n, pairs));
    for (Index i = 0; i < n; ++i) s.A.block(s.A.pattern().diagonal[i]) += Mat3::Identity();
    for (const auto& [i, j] : pairs) {
        const Vec3 d = (s.rest[j] - s.rest[i] + 0.2 * random.on_sphere()).normalized();
        const Mat3 K = stiffness * (d * d.transpose() + 0.05 * Mat3::Identity());
        s.A.block(s.A.pattern().diagonal[i]) += K;
        s.A.block(s.A.pattern().diagonal[j]) += K;
        s.A.block(s.A.pattern().slot(i, j)) -= K;
        s.A.block(s.A.pattern().slot(j, i)) -= K;
    }
    return s;
}

LaneVectors to_lanes(const Multigrid& m, const Vec3s& v)
{
    LaneVectors lanes = m.make_vectors();
    for (Index i = 0; i < count(v); ++i)
        if (m.order().lane_of_block[i] != none) lanes.put(m.order().lane_of_block[i], v[i].cast<float>());
    return lanes;
}

Vec3s from_lanes(const Multigrid& m, const LaneVectors& lanes, std::size_t n)
{
    Vec3s v(n, Vec3::Zero());
    for (std::size_t i = 0; i < n; ++i)
        if (m.order().lane_of_block[i] != none) v[i] = lanes.get(m.order().lane_of_block[i]).cast<Real>();
    return v;
}

Vec3s random_vectors(std::size_t n, std::uint64_t seed)
{
    Random random(seed);
    Vec3s v(n);
    for (Vec3& x : v) x = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
    return v;
}

Real norm(const Vec3s& v)
{
    return std::sqrt(dot(v, v));
}

} // namespace

TEST(LaneMatrix, MultipliesLikeTheMatrixItCopies)
{
    for (const bool shuffled : {false, true})
        for (const Index side : {1, 3, 10, 21}) {
            const Sheets s = make_sheets(side, 2, shuffled);
            const Multigrid m = s.multigrid();
            const Vec3s x = random_vectors(s.rest.size(), 3);
            Vec3s expected;
            s.A.multiply(x, expected);
            const LaneVectors lanes = to_lanes(m, x);
            LaneVectors y = m.make_vectors();
            for_chunks(Sheets::everything(m).finest(),
                       [&](Index lane) { y.set(lane, m.matrix().product(lane, lanes)); });
            const Vec3s product = from_lanes(m, y, x.size());
            const BlockPattern& pattern = s.A.pattern();
            for (Index i = 0; i < count(x); ++i) {
                Real terms = 0; // what rounding errors are relative to
                for (Index k = pattern.row_begin[i]; k < pattern.row_begin[i + 1]; ++k)
                    terms += s.A.block(k).norm() * x[pattern.column[k]].norm();
                EXPECT_LT((product[i] - expected[i]).norm(), 8 * std::numeric_limits<float>::epsilon() * terms)
                    << "side " << side << " shuffled " << shuffled;
            }
        }
}

TEST(Multigrid, CycleIsSymmetricAndPositive)
{
    const Sheets s = make_sheets(33, 2, true);
    Multigrid m = s.multigrid();
    const Multigrid::Region all = Sheets::everything(m);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Vec3s a = random_vectors(s.rest.size(), seed), b = random_vectors(s.rest.size(), seed + 100);
        const Vec3s Ma = from_lanes(m, m.cycle(all, to_lanes(m, a)), a.size());
        const Vec3s Mb = from_lanes(m, m.cycle(all, to_lanes(m, b)), a.size());
        EXPECT_GT(dot(a, Ma), 0);
        EXPECT_NEAR(dot(a, Mb), dot(b, Ma), 1e-4 * norm(a) * norm(Mb));
    }
}

TEST(Multigrid, IterationsHardlyGrowWithTheNumberOfNodes)
{
    // Plain conjugate gradients need twice as many for twice as many edges across.
    std::vector<int> iterations;
    for (const Index side : {75, 150, 300}) { // beyond the size up to which the solver does without the cycle
        const Sheets s = make_sheets(side, 1, false, 1e4);
        Multigrid m = s.multigrid();
        LaneSolver solver(m);
        const Vec3s b = random_vectors(s.rest.size(), 5);
        LaneVectors r = to_lanes(m, b), x = m.make_vectors();
        Real scale_sq = 0;
        for (std::size_t i = 0; i < b.size(); ++i)
            scale_sq += b[i].dot(Mat3(s.A.block(s.A.pattern().diagonal[i])).inverse() * b[i]);
        const CgResult result = solver.solve(Sheets::everything(m), 1e-4 * std::sqrt(scale_sq), 1000, r, x);
        EXPECT_TRUE(result.converged);
        iterations.push_back(result.iterations);
        Vec3s Ax;
        const Vec3s solution = from_lanes(m, x, b.size());
        s.A.multiply(solution, Ax);
        for (std::size_t i = 0; i < b.size(); ++i) Ax[i] -= b[i];
        EXPECT_LT(norm(Ax), 1e-3 * norm(b)) << "side " << side;
    }
    EXPECT_LT(iterations[1], 1.6 * iterations[0] + 2);
    EXPECT_LT(iterations[2], 1.6 * iterations[1] + 2);
}

TEST(Multigrid, HeldBlocksStayWhereTheyAre)
{
    Sheets s = make_sheets(30, 1, false);
    for (const Index i : {0, 17, 450}) s.held[i] = 1;
    Multigrid m = s.multigrid();
    Multigrid::Region all = Sheets::everything(m);
    for (const float added : {0.0f, 100.0f}) { // contact may add to their diagonal: in one direction, here
        for (const Index i : {0, 17, 450}) m.added().element(m.order().lane_of_block[i], 3) = added;
        m.use_added(all);
        const Vec3s answer = from_lanes(m, m.cycle(all, to_lanes(m, random_vectors(s.rest.size(), 2))), s.rest.size());
        for (Index i = 0; i < count(answer); ++i) EXPECT_EQ(answer[i].norm() == 0, s.held[i] != 0) << i;
    }
}

TEST(Multigrid, WhatIsAddedToTheDiagonalHoldsOnAllLevels)
{
    // A sheet whose left half is held by large stiffness hardly answers there, and as before elsewhere.
    const Sheets s = make_sheets(40, 1, false);
    Multigrid m = s.multigrid();
    Multigrid::Region all = Sheets::everything(m);
    const Vec3s push(s.rest.size(), Vec3(0, 0, 1));
    const Vec3s before = from_lanes(m, m.cycle(all, to_lanes(m, push)), push.size());
    const auto held = [&](Index i) { return s.rest[i].x() < 20; };
    for (Index i = 0; i < count(push); ++i)
        if (held(i))
            for (const int e : {0, 3, 5}) m.added().element(m.order().lane_of_block[i], e) = 1e6f;
    m.use_added(all);
    const Vec3s after = from_lanes(m, m.cycle(all, to_lanes(m, push)), push.size());
    for (Index i = 0; i < count(push); ++i)
        if (held(i)) {
            EXPECT_LT(after[i].norm(), 1e-2 * before[i].norm()) << i;
        } else if (s.rest[i].x() > 30) {
            EXPECT_GT(after[i].norm(), 0.1 * before[i].norm()) << i;
        }
}

TEST(Multigrid, CouplingsActLikeTheSameStiffnessInTheMatrix)
{
    // Stiff limits of length on some edges, one of them twice and some to held blocks: as springs in the matrix or as
    // couplings beside it the cycle is the same, on all levels.
    for (const bool shuffled : {false, true}) {
        Sheets s = make_sheets(40, 2, shuffled);
        for (const Index i : {0, 17, 450}) s.held[i] = 1;
        Multigrid m = s.multigrid();
        Multigrid::Region all = Sheets::everything(m);
        Sheets with = s;
        Random random(11);
        std::vector<Multigrid::Coupling> couplings;
        const BlockPattern& pattern = s.A.pattern();
        for (Index i = 0; i < pattern.rows(); ++i)
            for (Index k = pattern.row_begin[i]; k < pattern.row_begin[i + 1]; ++k) {
                const Index j = pattern.column[k];
                if (j <= i || (random.below(3) > 0 && !s.held[i] && !s.held[j])) continue;
                const Vec3 d = random.on_sphere();
                const Mat3 K = 1e4 * d * d.transpose();
                for (int times = random.below(20) == 0 ? 2 : 1; times > 0; --times) {
                    couplings.push_back({m.order().lane_of_block[i], m.order().lane_of_block[j], {}});
                    const Real six[6] = {K(0, 0), K(0, 1), K(0, 2), K(1, 1), K(1, 2), K(2, 2)};
                    std::copy(six, six + 6, couplings.back().K.begin());
                    with.A.block(pattern.diagonal[i]) += K;
                    with.A.block(pattern.diagonal[j]) += K;
                    with.A.block(pattern.slot(i, j)) -= K;
                    with.A.block(pattern.slot(j, i)) -= K;
                }
            }
        ASSERT_GT(couplings.size(), 1000u);
        const Vec3s b = random_vectors(s.rest.size(), 13);
        const Vec3s without = from_lanes(m, m.cycle(all, to_lanes(m, b)), b.size());
        m.use_added(all, couplings);
        const Vec3s beside = from_lanes(m, m.cycle(all, to_lanes(m, b)), b.size());
        Multigrid other = with.multigrid();
        const Vec3s inside = from_lanes(other, other.cycle(Sheets::everything(other), to_lanes(other, b)), b.size());
        Vec3s difference = beside, change = beside;
        for (std::size_t i = 0; i < b.size(); ++i) {
            difference[i] -= inside[i];
            change[i] -= without[i];
        }
        EXPECT_LT(norm(difference), 1e-4 * norm(inside));
        EXPECT_GT(norm(change), 0.1 * norm(inside));
        m.added() = LaneBlocks(m.order().lanes()); // those that lead to held blocks are there
        m.use_added(all);
        EXPECT_EQ(from_lanes(m, m.cycle(all, to_lanes(m, b)), b.size()), without);
    }
}

TEST(LaneMatrix, ReadsNothingOfOtherComponents)
{
    // Another thread may be in the middle of writing there, and a component that diverges must not spoil the others.
    const Real infinity = std::numeric_limits<Real>::infinity();
    for (const bool shuffled : {false, true})
        for (const Index side : {3, 10, 21}) {
            const Sheets s = make_sheets(side, 3, shuffled);
            const Multigrid m = s.multigrid();
            Vec3s x = random_vectors(s.rest.size(), 3);
            for (std::size_t i = 0; i < x.size(); ++i)
                if (s.component[i] != 1) x[i].setConstant(infinity);
            const LaneVectors lanes = to_lanes(m, x);
            const Index second = 1;
            const Multigrid::Region region = m.region({&second, 1});
            for (const Index chunk : region.finest()) {
                const Float8x3 y = m.matrix().product(Float8::width * chunk, lanes);
                EXPECT_TRUE(std::isfinite(dot(y, y).sum())) << "side " << side << " shuffled " << shuffled;
            }
        }
}

TEST(Multigrid, ComponentsDoNotFeelEachOther)
{
    const Sheets s = make_sheets(30, 2, true);
    Multigrid m = s.multigrid();
    const Index first = 0;
    const Vec3s b = random_vectors(s.rest.size(), 9);
    const Vec3s together = from_lanes(m, m.cycle(Sheets::everything(m), to_lanes(m, b)), b.size());
    const Vec3s alone = from_lanes(m, m.cycle(m.region({&first, 1}), to_lanes(m, b)), b.size());
    for (Index i = 0; i < count(b); ++i)
        if (s.component[i] == 0) {
            EXPECT_EQ(together[i], alone[i]);
        }
}

TEST(Multigrid, HasTheSameBitsForAnyThreadCount)
{
    const Sheets s = make_sheets(120, 1, false);
    const Vec3s b = random_vectors(s.rest.size(), 4);
    std::vector<Vec3s> answers;
    for (const int threads : {1, 2, 5}) {
        set_thread_count(threads);
        Multigrid m = s.multigrid();
        LaneSolver solver(m);
        LaneVectors r = to_lanes(m, b), x = m.make_vectors();
        solver.solve(Sheets::everything(m), 1e-3, 50, r, x);
        answers.push_back(from_lanes(m, x, b.size()));
    }
    set_thread_count(0);
    EXPECT_EQ(answers[0], answers[1]);
    EXPECT_EQ(answers[0], answers[2]);
}
