#include "pliant/bodies/rigid.hpp"
#include "pliant/mesh/generators.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

using namespace pliant;

TEST(Rigid, MassCentreAndInertiaOfABoxAreExact)
{
    TriangleMesh box = make_box({1, 2, 3}, {2, 1, 1});
    const Vec3 shift(5, -4, 3);
    for (Vec3& x : box.vertices) x += shift;
    const Rigid rigid = make_rigid(box, {500});
    EXPECT_NEAR(rigid.mass, 3000, 1e-9);
    EXPECT_LT((rigid.rest_center - shift).norm(), 1e-12);
    const Mat3 exact = Vec3(4 + 9, 1 + 9, 1 + 4).asDiagonal() * (3000.0 / 12) * Mat3::Identity();
    EXPECT_LT((rigid.inertia - exact).norm(), 1e-9);
}

TEST(Rigid, InertiaOfASphereApproachesTwoFifthsMRSquared)
{
    const Rigid rigid = make_rigid(make_sphere(0.7, 5), {1000});
    const Real exact = 0.4 * rigid.mass * 0.49;
    EXPECT_LT((rigid.inertia - exact * Mat3::Identity()).norm(), 3e-3 * exact);
}

TEST(Rigid, FreeRotationKeepsMomentumAndEnergyOfOneStepToRounding)
{
    const Rigid rigid = make_rigid(make_box({1, 2, 3}), {1});
    const Quat q0 = Quat(0.3, -0.2, 0.8, 0.4).normalized();
    const Vec3 w0(3, -5, 2);
    const Real dt = 0.05;
    const Vec3 L0 = world_inertia(rigid, q0) * w0, w = free_rotation(rigid, q0, w0, dt);
    const Quat q1 = rotate_by(q0, w, dt);
    const Vec3 w1 = world_inertia(rigid, q1).inverse() * L0;
    EXPECT_NEAR(w1.dot(L0), w0.dot(L0), 1e-12 * w0.dot(L0)); // twice the energy
    EXPECT_NEAR(q1.norm(), 1, 1e-15);
}
