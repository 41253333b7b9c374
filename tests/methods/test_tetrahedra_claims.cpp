// What the papers claim of the methods on tetrahedra: the outcome of a collision does not hang on the step, masses may
// differ by a thousand, and contact brings no energy.

#include "methods/contact_fixture.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/methods/direct.hpp"
#include "pliant/methods/penalty.hpp"

namespace pliant {

/// The name of a test's parameter.
inline void PrintTo(const MethodOptions& options, std::ostream* out)
{
    *out << options.method;
}

namespace {

constexpr Real speed = 1; // at which the left cube comes [m/s]

/// A cube flies at another one that rests, heavier by `ratio`; faces meet, a little off the middle.
World head_on(Real ratio)
{
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    builder.set_friction(friction(0.3));
    SolidMaterial material;
    material.young = 1e5;
    material.density = 1000;
    material.damping = 2e-4;
    BodyOptions left = named("left", {-0.105, 0.004, 0.002}), right = named("right", {0.1, 0, 0});
    left.velocity = {speed, 0, 0};
    builder.add_solid(make_tet_box({0.18, 0.18, 0.18}, {3, 3, 3}), material, left);
    material.density *= ratio;
    builder.add_solid(make_tet_box({0.2, 0.2, 0.2}, {3, 3, 3}), material, right);
    return builder.build();
}

Real mass_of(const Model& model, Index body)
{
    Real mass = 0;
    for (Index i = 0; i < model.block_count(); ++i) mass += model.block_body[i] == body ? model.mass[i] : 0;
    return mass;
}

Vec3 velocity_of(const World& world, Index body)
{
    Vec3 momentum = Vec3::Zero();
    for (Index i = 0; i < world.model.block_count(); ++i)
        if (world.model.block_body[i] == body) momentum += world.model.mass[i] * world.state.velocity[i];
    return momentum / mass_of(world.model, body);
}

struct Outcome {
    Vec3 left, right;        ///< velocities at the end [m/s]
    Real most_energy = 0;    ///< of any step, over that of the start
    Real deepest_edges = 0;  ///< at the end of any step
    Real momentum_error = 0; ///< at the end, over that of the start
    bool touched = false, apart = false;
};

Outcome collide(const MethodOptions& options, Real ratio, Real part_of_stable_step)
{
    World world = head_on(ratio);
    const auto method = make_method(world, options);
    const Real dt = part_of_stable_step * stable_step(world.model, world.state), end = 0.15;
    const auto total = [&] { return energy(world.model, world.state).total(); };
    const auto momentum = [&] { return linear_momentum(world.model, world.state); };
    const Real E0 = total();
    const Vec3 p0 = momentum();
    Outcome out;
    while (world.state.time < end) {
        const StepReport report = method->step(world, dt);
        out.touched = out.touched || report.contact_count > 0;
        out.apart = report.contact_count == 0;
        out.most_energy = std::max(out.most_energy, total() / E0);
        out.deepest_edges = std::max(out.deepest_edges, report.own.get<TetContactReport>().penetration_edges);
    }
    out.left = velocity_of(world, 0);
    out.right = velocity_of(world, 1);
    out.momentum_error = (momentum() - p0).norm() / p0.norm();
    return out;
}

class TetClaims : public testing::TestWithParam<MethodOptions> {};
INSTANTIATE_TEST_SUITE_P(, TetClaims, testing::Values(MethodOptions(PenaltyOptions()), MethodOptions(DirectOptions())),
                         [](const auto& p) { return p.param.method; });

} // namespace

TEST_P(TetClaims, ACollisionEndsAlikeOverARangeOfSteps)
{
    const Outcome fine = collide(GetParam(), 1, 0.05);
    for (const Real part : {0.1, 0.25, 0.5, 1.0}) {
        const Outcome o = collide(GetParam(), 1, part);
        EXPECT_TRUE(o.touched && o.apart) << part;
        EXPECT_NEAR(o.left.x(), fine.left.x(), 0.05 * speed) << part;
        EXPECT_NEAR(o.right.x(), fine.right.x(), 0.05 * speed) << part;
        EXPECT_LT(std::hypot(o.left.y(), o.left.z()), 0.1 * speed) << part << ": along the line of flight";
    }
}

TEST_P(TetClaims, MassesMayDifferByAThousand)
{
    for (const Real ratio : {1.0, 10.0, 100.0, 1000.0}) {
        const Outcome o = collide(GetParam(), ratio, 0.5);
        const World world = head_on(ratio);
        const Real m = mass_of(world.model, 0), M = mass_of(world.model, 1);
        // A restitution e leaves the left one with (m - e M) / (m + M) of its speed, and the right one with
        // m (1 + e) / (m + M): from no rebound at all to that of bodies that lose nothing.
        const Real e = (o.right.x() - o.left.x()) / speed;
        EXPECT_TRUE(o.touched && o.apart) << ratio;
        EXPECT_GT(e, 0.3) << ratio;
        EXPECT_LT(e, 1) << ratio;
        EXPECT_NEAR(o.left.x(), speed * (m - e * M) / (m + M), 1e-9) << ratio;
        EXPECT_LT(o.momentum_error, 1e-10) << ratio;
        EXPECT_LT(o.most_energy, 1.001) << ratio;
        EXPECT_LT(o.deepest_edges, 0.1) << ratio;
    }
}

} // namespace pliant
