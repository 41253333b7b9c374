#include "contact/random_problem.hpp"

#include "pliant/contact/anticipation.hpp"
#include "pliant/contact/ica.hpp"
#include "pliant/contact/local.hpp"
#include "pliant/core/parallel.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

using namespace pliant;

namespace {

ContactSolverOptions tight(FrictionCone cone = FrictionCone::pyramid)
{
    ContactSolverOptions options;
    options.tolerance = 1e-8;
    options.gap_tolerance = 1e-6;
    options.max_iterations = 20'000;
    options.cone = cone;
    return options;
}

struct Solution {
    ContactResult result;
    Vec3s dv;
    Multipliers lambda;
};

Solution solve_ica(const RandomProblem& p, const ContactSolverOptions& options)
{
    Solution s;
    s.dv.assign(p.free_velocity.size(), Vec3::Zero());
    s.lambda.assign(p.problem.rows.size(), Vec3::Zero());
    Ica ica(p.A.pattern());
    s.result = ica.solve(p.system(), options, s.dv, s.lambda);
    return s;
}

Solution solve_as_published(const RandomProblem& p, const ContactSolverOptions& options)
{
    Solution s;
    s.dv.assign(p.free_velocity.size(), Vec3::Zero());
    s.lambda.assign(p.problem.rows.size(), Vec3::Zero());
    Ica ica(p.A.pattern());
    s.result = ica.solve_as_published(p.system(), options, s.dv, s.lambda);
    return s;
}

Solution solve_reference(const RandomProblem& p, const ContactSolverOptions& options)
{
    Solution s;
    s.lambda.assign(p.problem.rows.size(), Vec3::Zero());
    s.result = solve_by_anticipation(p.system(), options, s.dv, s.lambda);
    return s;
}

Real distance(const Vec3s& a, const Vec3s& b)
{
    Real d = 0;
    for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, (a[i] - b[i]).norm());
    return d;
}

} // namespace

TEST(ContactSolvers, AgreeOnRandomFrictionlessProblems)
{
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const RandomProblem p = make_random_problem(seed, 20 + Index(seed), 5 + Index(seed), seed % 2 ? 50 : 2, 0);
        const Solution ica = solve_ica(p, tight()), reference = solve_reference(p, tight());
        ASSERT_TRUE(reference.result.converged) << "seed " << seed;
        EXPECT_TRUE(ica.result.converged) << "seed " << seed;
        EXPECT_LT(distance(ica.dv, reference.dv), 1e-6) << "seed " << seed;
    }
}

TEST(ContactSolvers, FrictionlessAnswerHasTheSmallestEnergyOfAllFeasibleOnes)
{
    // Any convex mix of the answer and a feasible velocity is feasible; the objective may not fall along it.
    const RandomProblem p = make_random_problem(5, 25, 12, 10, 0);
    const Solution ica = solve_ica(p, tight());
    const auto objective = [&](const Vec3s& dv) {
        Vec3s Adv;
        p.A.multiply(dv, Adv);
        return dot(dv, Adv) / 2;
    };
    const Real best = objective(ica.dv);
    Random random(1);
    int feasible = 0;
    for (int k = 0; k < 2000; ++k) {
        Vec3s trial = ica.dv;
        for (Vec3& x : trial) x += 0.05 * random.on_sphere();
        bool ok = true;
        for (const Row& r : p.problem.rows) {
            Vec3s v = trial;
            for (std::size_t i = 0; i < v.size(); ++i) v[i] += p.free_velocity[i];
            ok = ok && r.normal.dot(p.problem.relative_velocity(r, v)) >= r.rhs;
        }
        if (!ok) continue;
        ++feasible;
        EXPECT_GE(objective(trial), best - 1e-9);
    }
    EXPECT_GT(feasible, 0);
}

TEST(ContactSolvers, MeetTheNaturalMapOfTheirFrictionModel)
{
    for (FrictionCone cone : {FrictionCone::pyramid, FrictionCone::exact})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const RandomProblem p = make_random_problem(seed, 30, 15, 5, 0.3);
            const Solution ica = solve_ica(p, tight(cone));
            EXPECT_TRUE(ica.result.converged) << "seed " << seed << " cone " << int(cone);
            const ContactResiduals r = contact_residuals(p.system(), ica.dv, ica.lambda, cone);
            EXPECT_LT(r.worst(), 1e-8) << "seed " << seed;
            const Solution direct = solve_reference(p, tight(cone));
            EXPECT_TRUE(direct.result.converged) << "seed " << seed << " cone " << int(cone);
            EXPECT_LT(contact_residuals(p.system(), direct.dv, direct.lambda, cone).worst(), 1e-8) << "seed " << seed;
            for (std::size_t j = 0; j < ica.lambda.size(); ++j) {
                EXPECT_GE(ica.lambda[j][0], 0);
                const Real bound = 0.3 * ica.lambda[j][0] * (1 + 1e-9) + 1e-12;
                const Real tangential = cone == FrictionCone::exact
                                            ? std::hypot(ica.lambda[j][1], ica.lambda[j][2])
                                            : std::max(std::abs(ica.lambda[j][1]), std::abs(ica.lambda[j][2]));
                EXPECT_LE(tangential, bound);
            }
        }
}

TEST(ContactSolvers, DuplicatedRowsLeaveTheVelocitiesUnchanged)
{
    const RandomProblem p = make_random_problem(3, 25, 12, 10, 0);
    RandomProblem twice = p;
    for (const Row& r : p.problem.rows) twice.problem.rows.push_back(r);
    twice.find_parts();
    EXPECT_LT(distance(solve_ica(p, tight()).dv, solve_ica(twice, tight()).dv), 1e-6);
}

TEST(ContactSolvers, PublishedIterationReachesTheSolutionWhereEverySweepGainsMoreThanItsRuleAsksFor)
{
    // Soft bodies with few contacts: no residual changes by less than 5 % before it is rounding.
    for (Real friction : {0.0, 0.3})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const RandomProblem p = make_random_problem(seed, 25, 4, 0.05, friction);
            const Solution published = solve_as_published(p, tight()), reference = solve_reference(p, tight());
            ASSERT_TRUE(reference.result.converged) << "seed " << seed;
            EXPECT_TRUE(published.result.converged) << "seed " << seed;
            EXPECT_LT(distance(published.dv, reference.dv), 1e-6) << "seed " << seed << " friction " << friction;
        }
}

TEST(ContactSolvers, PublishedIterationStopsByItsRuleAndFarFromTheSolutionWhereItIsSlow)
{
    const auto stopped_after = [](const RandomProblem& p, int iterations) {
        ContactSolverOptions options = tight();
        options.max_iterations = iterations;
        return solve_as_published(p, options).result;
    };
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const RandomProblem p = make_random_problem(seed, 60, 12, 1000, 0);
        const Solution published = solve_as_published(p, tight()), reference = solve_reference(p, tight());
        const int n = published.result.iterations;
        ASSERT_TRUE(reference.result.converged) << "seed " << seed;
        ASSERT_TRUE(published.result.converged) << "seed " << seed;
        ASSERT_GE(n, 2) << "a change takes two iterations, seed " << seed;
        EXPECT_LT(n, 1000) << "seed " << seed;
        // The rule holds at the last iteration.
        const ContactResult before = stopped_after(p, n - 1);
        EXPECT_FALSE(before.converged) << "seed " << seed;
        const Real last = published.result.residuals.dynamics;
        EXPECT_LT(std::abs(last - before.residuals.dynamics), 0.05 * before.residuals.dynamics) << "seed " << seed;
        EXPECT_LT(published.result.residuals.gap, 0.5) << "seed " << seed;
        // And it is not the solution's.
        EXPECT_GT(published.result.residuals.worst(), 1e-4) << "seed " << seed;
        EXPECT_GT(distance(published.dv, reference.dv), 1e-3) << "seed " << seed;
    }
}

TEST(ContactSolvers, TakeRowsOfAnyNumberOfBlocks)
{
    // Two edges of surfaces in trilinear lattices: four vertices of eight blocks each, here all free of each other, so
    // that the rows meet in 32 places.
    const Index n = 80;
    Random random(12);
    RandomProblem p;
    p.A = BlockMatrix(make_pattern(n, std::vector<std::array<Index, 2>>{}));
    for (Index i = 0; i < n; ++i) {
        p.A.block(p.A.pattern().diagonal[i]) += random.uniform(0.5, 2) * Mat3::Identity();
        p.free_velocity.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
    }
    invert_diagonal(p.A, p.diagonal_inverse);
    for (Index c = 0; c < 6; ++c) {
        Row row;
        row.normal = random.on_sphere();
        row.tangent1 = row.normal.cross(random.on_sphere()).normalized();
        row.tangent2 = row.normal.cross(row.tangent1);
        row.friction = 0.3;
        row.room = 0.01;
        row.entry_begin = count(p.problem.entries);
        for (Index k = 0; k < 32; ++k)
            p.problem.entries.push_back({2 * k + c, (k < 16 ? 1 : -1) * random.uniform(0, 0.2)});
        row.entry_end = count(p.problem.entries);
        p.problem.rows.push_back(row);
    }
    p.find_parts();
    const Solution ica = solve_ica(p, tight()), reference = solve_reference(p, tight());
    EXPECT_TRUE(ica.result.converged);
    ASSERT_TRUE(reference.result.converged);
    EXPECT_GT(distance(ica.dv, Vec3s(ica.dv.size(), Vec3::Zero())), 1e-3);
    EXPECT_LT(distance(ica.dv, reference.dv), 1e-6);
}

TEST(ContactSolvers, HaveTheSameBitsForAnyThreadCountOnOneLargeBody)
{
    // Rows enough on parts of the body that have nothing in common for the sweep over them to run in parallel.
    const RandomProblem p = make_random_problem(9, 20'000, 9000, 5, 0.3);
    ContactSolverOptions options;
    options.tolerance = 1e-3;
    std::vector<Solution> solutions;
    for (int threads : {1, 2, 7}) {
        set_thread_count(threads);
        solutions.push_back(solve_ica(p, options));
    }
    set_thread_count(0);
    EXPECT_GT(solutions[0].result.iterations, 3);
    for (const Solution& s : solutions) {
        EXPECT_EQ(s.dv, solutions[0].dv);
        EXPECT_EQ(s.lambda, solutions[0].lambda);
    }
}

TEST(ContactSolvers, ProblemWithoutRowsChangesNothing)
{
    const RandomProblem p = make_random_problem(3, 25, 0, 10, 0);
    const Solution s = solve_ica(p, tight());
    EXPECT_TRUE(s.result.converged);
    for (const Vec3& x : s.dv) EXPECT_EQ(x.norm(), 0);
}

TEST(LocalContact, DiscSolvesStickingSlidingAndSeparation)
{
    Random random(4);
    int sliding = 0;
    for (int k = 0; k < 2000; ++k) {
        Mat3 G = Mat3::NullaryExpr([&] { return random.uniform(-1, 1); });
        const Mat3 W = G * G.transpose() + 0.5 * Mat3::Identity();
        const Vec3 b = random.in_box(Vec3::Constant(-1), Vec3::Constant(1));
        const Real mu = random.uniform(0, 0.8);
        const Vec3 l = solve_local_disc(W, b, mu, Vec3::Zero());
        Vec3 u = W * l + b;
        EXPECT_LE(std::hypot(l[1], l[2]), mu * l[0] + 1e-9);
        if (std::hypot(l[1], l[2]) > 0.999 * mu * l[0] && l[0] > 0 && mu > 0) ++sliding;
        u[0] += mu * std::hypot(u[1], u[2]);
        EXPECT_LT((l - project_to_cone(l - u, mu, FrictionCone::exact)).norm(), 1e-7) << k;
    }
    EXPECT_GT(sliding, 100);
}
