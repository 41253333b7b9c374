#include "pliant/contact/direct_forces.hpp"
#include "pliant/core/random.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

using namespace pliant;

namespace {

constexpr Real infinite = std::numeric_limits<Real>::infinity();
constexpr Real dt = 0.01;

PointContact on_triangle(Index point, const Triangle& t, const Vec3& w, const Vec3& depth, Real friction = 0)
{
    return {point, {t[0], t[1], t[2], none}, {w[0], w[1], w[2], 0}, depth, friction, Vec3::Zero()};
}

Vec3s forces_of(DirectForces& solver, const DirectForceInput& input)
{
    Vec3s force(input.mass.size(), Vec3::Zero());
    solver.add(input, force);
    return force;
}

/// How far the step moves a node.
Vec3 moved(const Vec3s& force, const std::vector<Real>& mass, Index i)
{
    return dt * dt / mass[i] * force[i];
}

/// What is left of the depth between a point and its triangle after the step, along the depth.
Real gap_after(const PointContact& c, const Vec3s& force, const std::vector<Real>& mass)
{
    Vec3 closed = moved(force, mass, c.point);
    for (int k = 0; k < 3; ++k) closed -= c.weights[k] * moved(force, mass, c.nodes[k]);
    return (closed - c.depth).dot(c.depth) / c.depth.squaredNorm();
}

struct RandomScene {
    std::vector<PointContact> contacts;
    std::vector<Real> mass;
    Vec3s displacement;

    explicit RandomScene(std::uint64_t seed, Index nodes = 60, Index n = 80)
    {
        Random random(seed);
        for (Index i = 0; i < nodes; ++i) {
            mass.push_back(std::exp(random.uniform(-3, 3)));
            displacement.push_back(random.uniform() * random.on_sphere());
        }
        for (Index c = 0; c < n; ++c) {
            const Index first = random.below(nodes / 2 - 2);
            Vec3 w(random.uniform(), random.uniform(), random.uniform());
            contacts.push_back(on_triangle(nodes / 3 + random.below(2 * nodes / 3), {first, first + 1, first + 2},
                                           w / w.sum(), random.uniform() * random.on_sphere(), random.uniform()));
        }
    }
};

} // namespace

TEST(DirectForces, SumToZeroWhateverTheContacts)
{
    DirectForces solver;
    for (BoundaryShares shares : {BoundaryShares::whole, BoundaryShares::smooth})
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const RandomScene s(seed);
            const Vec3s force = forces_of(solver, {s.contacts, s.mass, s.displacement, dt, shares});
            Vec3 sum = Vec3::Zero();
            Real size = 0;
            for (const Vec3& f : force) {
                sum += f;
                size += f.norm();
            }
            EXPECT_GT(size, 0);
            EXPECT_LT(sum.norm(), 1e-12 * size);
        }
}

TEST(DirectForces, ResolveAnIsolatedContactCompletely)
{
    DirectForces solver;
    Random random(1);
    for (BoundaryShares shares : {BoundaryShares::whole, BoundaryShares::smooth})
        for (int i = 0; i < 200; ++i) {
            std::vector<Real> mass;
            for (int k = 0; k < 4; ++k) mass.push_back(std::exp(random.uniform(-7, 7)));
            Vec3 w(random.uniform(), random.uniform(), random.uniform());
            if (i % 5 == 0) w[i % 3] = 0;
            const std::array contact = {on_triangle(0, {1, 2, 3}, w / w.sum(), random.on_sphere())};
            const Vec3s force = forces_of(solver, {contact, mass, {}, dt, shares});
            EXPECT_NEAR(gap_after(contact[0], force, mass), 0, 1e-12);
        }
}

TEST(DirectForces, ShareTheDepthByTheMasses)
{
    DirectForces solver;
    for (Real ratio : {1.0, 3.0, 10.0, 100.0, 1000.0}) {
        // The triangle as a whole weighs `ratio` times the point.
        const std::vector<Real> mass = {2, 2 * ratio / 3, 2 * ratio / 3, 2 * ratio / 3};
        const std::array contact = {on_triangle(0, {1, 2, 3}, Vec3::Constant(1.0 / 3), {0, 0.1, 0})};
        const Vec3s force = forces_of(solver, {contact, mass, {}, dt});
        const Real alpha = ratio / (1 + ratio);
        EXPECT_NEAR(solver.alpha()[0], alpha, 1e-14);
        EXPECT_NEAR(moved(force, mass, 0).y(), 0.1 * alpha, 1e-14);
        for (Index j : {1, 2, 3}) EXPECT_NEAR(moved(force, mass, j).y(), -0.1 * (1 - alpha), 1e-14);
    }
    EXPECT_NEAR(solver.alpha()[0], 0.999, 1e-5);
}

TEST(DirectForces, MoveAPointAllTheWayAgainstWhatCannotMove)
{
    DirectForces solver;
    const PointContact fixed = {0, {none, none, none, none}, Vec4::Zero(), {0, 0.1, 0}, 0, Vec3::Zero()};
    const std::vector<Real> free = {2, 1, 1, 1};
    EXPECT_NEAR(moved(forces_of(solver, {std::array{fixed}, free, {}, dt}), free, 0).y(), 0.1, 1e-14);
    EXPECT_EQ(solver.alpha()[0], 1);

    const std::array contact = {on_triangle(0, {1, 2, 3}, {0.2, 0.3, 0.5}, {0, 0.1, 0})};
    for (const std::vector<Real>& mass :
         {std::vector<Real>{2, infinite, infinite, infinite}, {2, infinite, 1, 1}, {2, 1, infinite, infinite}}) {
        const Vec3s force = forces_of(solver, {contact, mass, {}, dt});
        EXPECT_EQ(solver.alpha()[0], 1);
        EXPECT_NEAR(moved(force, mass, 0).y(), 0.1, 1e-14);
        Vec3 sum = Vec3::Zero();
        for (int j = 0; j < 4; ++j) {
            sum += force[j];
            if (j > 0 && std::isfinite(mass[j])) {
                EXPECT_EQ(force[j], Vec3(Vec3::Zero()));
            }
        }
        EXPECT_LT(sum.norm(), 1e-12 * force[0].norm()); // the pinned corners bear the reaction
    }
}

TEST(DirectForces, MoveTheTriangleAllTheWayAgainstAPointThatCannotMove)
{
    DirectForces solver;
    const std::array contact = {on_triangle(0, {1, 2, 3}, {0.2, 0.3, 0.5}, {0, 0.1, 0})};
    const std::vector<Real> mass = {infinite, 1, 2, 3};
    const Vec3s force = forces_of(solver, {contact, mass, {}, dt});
    EXPECT_EQ(solver.alpha()[0], 0);
    for (Index j : {1, 2, 3}) EXPECT_NEAR(moved(force, mass, j).y(), -0.1, 1e-14);
    EXPECT_NEAR(force[0].y(), 0.1 * 6 / (dt * dt), 1e-9);

    const std::vector<Real> both = {infinite, infinite, 2, 3};
    for (const Vec3& f : forces_of(solver, {contact, both, {}, dt})) EXPECT_EQ(f, Vec3(Vec3::Zero()));
}

TEST(DirectForces, AreThoseOfEquation4WhereTheDepthsOfBothSidesAgree)
{
    // Two surfaces, every node of one against a node of the other: equation 3 holds, and with it the printed form.
    DirectForces solver;
    const Vec3 d(0, 0.1, 0);
    const std::vector<Real> mass = {1, 1, 1, 5, 5, 5};
    std::vector<PointContact> contacts;
    for (Index i = 0; i < 3; ++i) {
        const Vec3 w = Vec3::Unit(i);
        contacts.push_back(on_triangle(i, {3, 4, 5}, w, d));
        contacts.push_back(on_triangle(3 + i, {0, 1, 2}, w, -d));
    }
    const Vec3s force = forces_of(solver, {contacts, mass, {}, dt});
    for (Index i = 0; i < 3; ++i) {
        const Real alpha = 5.0 / 6; // c = 1/2 on both sides [eq. 5]
        EXPECT_NEAR(force[i].y(), alpha * 0.1 / (dt * dt), 1e-9);
        EXPECT_NEAR(force[3 + i].y(), -5 * (1 - alpha) * 0.1 / (dt * dt), 1e-9);
    }
    for (const PointContact& c : contacts) EXPECT_NEAR(gap_after(c, force, mass), 0, 1e-12);
}

TEST(DirectForces, ShareAPointThatIsInTwoBodies)
{
    // Between two walls that cannot move, the same depth from both sides: no net force. In a corner: half of each.
    DirectForces solver;
    const PointContact left = {0, {none, none, none, none}, Vec4::Zero(), {0.1, 0, 0}, 0, Vec3::Zero()};
    PointContact right = left;
    right.depth = {-0.1, 0, 0};
    const std::vector<Real> mass = {2};
    EXPECT_LT(forces_of(solver, {std::array{left, right}, mass, {}, dt})[0].norm(), 1e-12);
    right.depth = {0, 0.2, 0};
    const Vec3 corner = moved(forces_of(solver, {std::array{left, right}, mass, {}, dt}), mass, 0);
    EXPECT_LT((corner - Vec3(0.05, 0.1, 0)).norm(), 1e-14);
}

TEST(DirectForces, SmoothSharesDoNotJumpWhenAWeightVanishes)
{
    DirectForces solver;
    const std::vector<Real> mass = {1, 1, 1, 1};
    const auto corner_force = [&](Real w, BoundaryShares shares) {
        const std::array contact = {on_triangle(0, {1, 2, 3}, {w, (1 - w) / 2, (1 - w) / 2}, {0, 0.1, 0})};
        return forces_of(solver, {contact, mass, {}, dt, shares})[1].norm() * dt * dt;
    };
    EXPECT_EQ(corner_force(0, BoundaryShares::whole), 0);
    EXPECT_GT(corner_force(1e-9, BoundaryShares::whole), 0.02);
    EXPECT_EQ(corner_force(0, BoundaryShares::smooth), 0);
    EXPECT_LT(corner_force(1e-9, BoundaryShares::smooth), 1e-9);
}

TEST(DirectForces, SmoothSharesDoNotJumpWhenAContactBegins)
{
    // Beside a contact of point 0 with a triangle, another one begins: of a corner, of another point with the same
    // triangle, of the same point in another body.
    const PointContact old = on_triangle(0, {1, 2, 3}, {0.2, 0.3, 0.5}, {0, 0.1, 0});
    const Triangle others = {4, 5, 6};
    const Vec3 w(0.4, 0.4, 0.2);
    const auto change = [&](Index point, const Triangle& t, Real depth, BoundaryShares shares) {
        DirectForces solver;
        const std::vector<Real> mass(8, 1);
        const std::array alone = {old};
        const std::array both = {old, on_triangle(point, t, w, {0, 0, depth})};
        const Vec3s before = forces_of(solver, {alone, mass, {}, dt, shares}),
                    after = forces_of(solver, {both, mass, {}, dt, shares});
        Real most = 0;
        for (std::size_t i = 0; i < mass.size(); ++i) most = std::max(most, (after[i] - before[i]).norm());
        return most / before[0].norm();
    };
    for (const auto& [point, t] : {std::pair(1, others), std::pair(7, Triangle{1, 2, 3}), std::pair(0, others)}) {
        EXPECT_GT(change(point, t, 1e-9, BoundaryShares::whole), 0.05) << point;
        EXPECT_LT(change(point, t, 1e-9, BoundaryShares::smooth), 1e-7) << point;
        EXPECT_GT(change(point, t, 0.1, BoundaryShares::smooth), 0.05) << point << ": they share, deep down";
    }
}

TEST(DirectForces, SmoothSharesUndoNoMoreThanTheDeepestOfContactsThatPointTheSameWay)
{
    // A point in several bodies that cannot move.
    DirectForces solver;
    Random random(5);
    for (int n = 2; n < 6; ++n) {
        std::vector<PointContact> contacts;
        Real deepest = 0;
        for (int i = 0; i < n; ++i) {
            const Real depth = random.uniform();
            deepest = std::max(deepest, depth);
            contacts.push_back({.point = 0, .depth = {0, depth, 0}});
        }
        const std::vector<Real> mass = {2};
        const Real undone = moved(forces_of(solver, {contacts, mass, {}, dt, BoundaryShares::smooth}), mass, 0).y();
        EXPECT_LE(undone, deepest * (1 + 1e-12));
        EXPECT_GT(undone, deepest / 2);
    }
}

TEST(DirectForces, FrictionSticksBelowCoulombsBoundAndSlidesAboveIt)
{
    DirectForces solver;
    const Vec3 depth(0, 0.1, 0);
    for (Real slide : {0.01, 0.04, 0.06, 1.0}) {
        const Real mu = 0.5, bound = mu * 0.1;
        // On a triangle that moves too.
        const std::vector<Real> mass = {1, 2, 3, 4};
        const std::array contact = {on_triangle(0, {1, 2, 3}, {0.2, 0.3, 0.5}, depth, mu)};
        const Vec3s displacement = {Vec3(0.2 + slide, -0.3, 0.7), Vec3(0.2, 0, 0.7), Vec3(0.2, 0, 0.7),
                                    Vec3(0.2, 0, 0.7)};
        const Vec3s force = forces_of(solver, {contact, mass, displacement, dt});
        Vec3 relative = displacement[0] + moved(force, mass, 0);
        for (int k = 0; k < 3; ++k)
            relative -= contact[0].weights[k] * (displacement[1 + k] + moved(force, mass, 1 + k));
        EXPECT_NEAR(relative.x(), std::max(slide - bound, 0.0), 1e-12);
        EXPECT_NEAR(relative.z(), 0, 1e-12);
        const Vec3 f = solver.local_force()[0];
        EXPECT_LE(std::hypot(f.x(), f.z()), mu * f.y() * (1 + 1e-12));
        // On a belt: what counts is the motion relative to it.
        const PointContact belt = {0, {none, none, none, none}, Vec4::Zero(), depth, mu, Vec3(0.2, 0, 0.7)};
        const Vec3s on_belt = forces_of(solver, {std::array{belt}, mass, displacement, dt});
        EXPECT_NEAR(slide + moved(on_belt, mass, 0).x(), std::max(slide - bound, 0.0), 1e-12);
    }
}

TEST(DirectForces, LetAPointThatIsFoundDeepInsideLeaveNoFasterThanItsFirstPush)
{
    DirectForces solver;
    constexpr Real recovery = 0.1, found = 0.02;
    Real depth = found, speed = 0;
    for (int step = 0; step < 200 && depth > 0; ++step) {
        const Real predicted = depth - dt * speed;
        if (!(predicted > 0)) break;
        const PointContact contact = {0, {none, none, none, none}, Vec4::Zero(), {0, predicted, 0}, 0, Vec3::Zero()};
        const std::vector<Real> mass = {1};
        const Vec3s displacement = {Vec3(0, dt * speed, 0)};
        const Vec3s force =
            forces_of(solver, {std::array{contact}, mass, displacement, dt, BoundaryShares::whole, {}, recovery});
        speed += dt * force[0].y();
        depth -= dt * speed;
    }
    EXPECT_GT(speed, 0);
    EXPECT_LT(speed, recovery * found / dt * (1 + 1e-12));
}

TEST(DirectForces, UndoWhatTheStepBroughtAndTheGivenPartOfWhatWasThereBefore)
{
    DirectForces solver;
    const std::vector<Real> mass = {1, 2, 3, 4};
    const std::array contact = {on_triangle(0, {1, 2, 3}, {0.2, 0.3, 0.5}, {0, 0.1, 0})};
    const auto undone = [&](Real approach, Real recovery) {
        const Vec3s displacement = {Vec3(0.3, -approach, 0), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
        const Vec3s force = forces_of(solver, {contact, mass, displacement, dt, BoundaryShares::whole, {}, recovery});
        return 0.1 * (1 + gap_after(contact[0], force, mass));
    };
    for (const Real recovery : {0.0, 0.1, 1.0}) {
        EXPECT_NEAR(undone(0.03, recovery), 0.03 + recovery * 0.07, 1e-13);
        for (const Real leaving : {0.005, 0.03}) // what was there before is 0.1 and that
            EXPECT_NEAR(undone(-leaving, recovery), std::max(recovery * (0.1 + leaving) - leaving, 0.0), 1e-13);
        EXPECT_NEAR(undone(0.2, recovery), 0.1, 1e-13) << "it came from outside";
    }
}

TEST(DirectForces, ForgetTheContactsOfTheLastCall)
{
    DirectForces used, fresh;
    const RandomScene first(1), second(2);
    forces_of(used, {first.contacts, first.mass, first.displacement, dt});
    EXPECT_EQ(forces_of(used, {second.contacts, second.mass, second.displacement, dt}),
              forces_of(fresh, {second.contacts, second.mass, second.displacement, dt}));
}
