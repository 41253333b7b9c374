#include "pliant/contact/penalty_forces.hpp"
#include "pliant/core/random.hpp"

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include <limits>

using namespace pliant;

namespace {

constexpr Real dt = 0.01;
constexpr Real infinite = std::numeric_limits<Real>::infinity();

struct RandomScene {
    std::vector<PointContact> contacts;
    std::vector<Real> mass;
    Vec3s x, velocity;

    /// Points that are where the weights of their tetrahedra say.
    explicit RandomScene(std::uint64_t seed, Index nodes = 40, Index n = 50)
    {
        Random random(seed);
        for (Index i = 0; i < nodes + n; ++i) {
            mass.push_back(std::exp(random.uniform(-3, 3)));
            x.push_back(random.on_sphere());
            velocity.push_back(random.on_sphere());
        }
        for (Index c = 0; c < n; ++c) {
            const Index first = random.below(nodes - 3);
            Vec4 w(random.uniform(), random.uniform(), random.uniform(), random.uniform());
            w /= w.sum();
            PointContact contact = {
                nodes + c, {first, first + 1, first + 2, first + 3}, w, 0.1 * random.on_sphere(), 0.5, Vec3::Zero()};
            x[contact.point].setZero();
            for (int k = 0; k < 4; ++k) x[contact.point] += w[k] * x[first + k];
            contacts.push_back(contact);
        }
    }
};

} // namespace

TEST(PenaltyForces, KeepLinearAndAngularMomentum)
{
    PenaltyForces solver;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const RandomScene s(seed);
        Vec3s force(s.x.size(), Vec3::Zero());
        solver.add({s.contacts, s.mass, s.velocity, dt, 1, 0.3}, force);
        Vec3 sum = Vec3::Zero(), torque = Vec3::Zero();
        Real size = 0;
        for (std::size_t i = 0; i < s.x.size(); ++i) {
            sum += force[i];
            torque += s.x[i].cross(force[i]);
            size += force[i].norm();
        }
        EXPECT_GT(size, 0);
        EXPECT_LT(sum.norm(), 1e-13 * size);
        EXPECT_LT(torque.norm(), 1e-13 * size);
    }
}

TEST(PenaltyForces, AreStiffUpToHalfOfWhatTheStepAllows)
{
    // Largest eigenvalue of M^-1 K for contacts that all act along one direction: at most 2 / dt^2, of 4 / dt^2.
    PenaltyForces solver;
    Real largest = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RandomScene s(seed, 12, 3 + Index(seed) * 2);
        for (PointContact& c : s.contacts) c.point = 8 + c.point % 4; // points that are corners as well
        Vec3s force(s.x.size(), Vec3::Zero());
        solver.add({s.contacts, s.mass, {}, dt}, force);
        const auto n = Eigen::Index(s.mass.size());
        Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
        for (std::size_t c = 0; c < s.contacts.size(); ++c) {
            Eigen::VectorXd J = Eigen::VectorXd::Zero(n);
            J[s.contacts[c].point] += 1;
            for (int k = 0; k < 4; ++k) J[s.contacts[c].nodes[k]] -= s.contacts[c].weights[k];
            K += solver.stiffness()[c] * J * J.transpose();
        }
        Eigen::VectorXd root(n);
        for (Eigen::Index i = 0; i < n; ++i) root[i] = 1 / std::sqrt(s.mass[std::size_t(i)]);
        const Eigen::MatrixXd A = root.asDiagonal() * K * root.asDiagonal();
        const Real value = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A).eigenvalues().maxCoeff() * dt * dt;
        EXPECT_LE(value, 2 * (1 + 1e-12));
        largest = std::max(largest, value);
    }
    EXPECT_GT(largest, 0.5); // and not much softer than need be
}

TEST(PenaltyForces, StopAPointOnWhatCannotMoveWithinAFewSteps)
{
    // Position Verlet into a fixed wall: k = m / dt^2, so the way back takes a half period of pi steps.
    PenaltyForces solver;
    const std::vector<Real> mass = {3};
    Real x = 0, v = -1;
    int steps = 0;
    for (; x <= 0 && steps < 100; ++steps) {
        Vec3s force = {Vec3::Zero()};
        const PointContact c = {0, {none, none, none, none}, Vec4::Zero(), {0, -x, 0}, 0, Vec3::Zero()};
        if (x < 0) {
            solver.add({std::array{c}, mass, {}, dt}, force);
            EXPECT_NEAR(solver.stiffness()[0], 3 / (dt * dt), 1e-9);
        }
        v += dt / 3 * force[0].y();
        x += dt * v;
    }
    EXPECT_GE(steps, 3);
    EXPECT_LE(steps, 5);
    EXPECT_NEAR(v, 1, 1e-12); // elastic without damping
}

TEST(PenaltyForces, NeverPullAndNeverExceedCoulombsBound)
{
    PenaltyForces solver;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RandomScene s(seed);
        for (Vec3& v : s.velocity) v *= 1e3; // damping alone would pull
        Vec3s force(s.x.size(), Vec3::Zero());
        solver.add({s.contacts, s.mass, s.velocity, dt, 1, 0.3}, force);
        for (std::size_t c = 0; c < s.contacts.size(); ++c) {
            const Vec3 n = s.contacts[c].depth.normalized(), f = solver.local_force()[c];
            EXPECT_GE(f.dot(n), -1e-12 * f.norm());
            EXPECT_LE((f - f.dot(n) * n).norm(), 0.5 * f.dot(n) * (1 + 1e-9) + 1e-12);
        }
    }
}

TEST(PenaltyForces, FrictionStopsASlowPointWithoutTurningItRound)
{
    PenaltyForces solver;
    const std::vector<Real> mass = {3};
    const PointContact c = {0, {none, none, none, none}, Vec4::Zero(), {0, 0.1, 0}, 0.5, Vec3(1, 0, 0)};
    Vec3 v(1.2, 0, 0); // on a belt that moves with 1
    for (int i = 0; i < 40; ++i) {
        Vec3s force = {Vec3::Zero()};
        solver.add({std::array{c}, mass, std::array{v}, dt}, force);
        const Vec3 next = v + dt / 3 * Vec3(force[0].x(), 0, force[0].z());
        EXPECT_GE(next.x(), 1);
        EXPECT_LT(next.x(), v.x());
        v = next;
        if (v.x() < 1 + 1e-9) break;
    }
    EXPECT_NEAR(v.x(), 1, 1e-8);
}

TEST(PenaltyForces, GiveTheReactionToWhatCannotMove)
{
    PenaltyForces solver;
    const PointContact c = {0, {1, 2, 3, 4}, {0.1, 0.2, 0.3, 0.4}, {0, 0.1, 0}, 0, Vec3::Zero()};
    const std::vector<Real> pinned = {2, infinite, infinite, infinite, infinite};
    Vec3s force(5, Vec3::Zero());
    solver.add({std::array{c}, pinned, {}, dt}, force);
    EXPECT_NEAR(solver.stiffness()[0], 2 / (dt * dt), 1e-9);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(force[1 + k].y(), -c.weights[k] * force[0].y(), 1e-9);
    const std::vector<Real> all(5, infinite);
    std::fill(force.begin(), force.end(), Vec3::Zero());
    solver.add({std::array{c}, all, {}, dt}, force);
    for (const Vec3& f : force) EXPECT_EQ(f, Vec3(Vec3::Zero()));
}
