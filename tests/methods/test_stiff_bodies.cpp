// Bodies so stiff that relaxation alone stalls within the iterations it is given.

#include "methods/contact_fixture.hpp"

using namespace pliant;

namespace {

/// Two stiff blocks, one on the other, dropped onto the floor.
World stiff_pile(Real young)
{
    WorldBuilder builder;
    builder.set_friction(friction(0.3));
    builder.add_plane({}, named("floor"));
    SolidMaterial material;
    material.young = young;
    for (int k = 0; k < 2; ++k)
        builder.add_solid(make_tet_box({0.2, 0.1, 0.2}, {4, 2, 4}), material,
                          named("block " + std::to_string(k), {0.03 * k, 0.06 + 0.115 * k, 0}));
    return builder.build();
}

TEST(StiffBodies, MeetTheToleranceThoughRelaxationStalls)
{
    World world = stiff_pile(1e9);
    ImplicitOptions options = implicit_options();
    options.solver.max_iterations = 30;
    options.solver.tolerance = 1e-3;
    const auto method = make_method(world, options);
    Real worst = 0;
    for (int i = 0; i < 60; ++i) {
        const StepReport report = method->step(world, 0.01);
        const ImplicitReport& own = implicit_part(report);
        worst = std::max({worst, own.residual_dynamics, own.residual_complementarity});
    }
    EXPECT_LE(worst, 1e-3);
    // At rest the floor carries both.
    const StepReport report = method->step(world, 0.01);
    const Real weight = 9.81 * moving_mass(world.model);
    EXPECT_NEAR(contact_force(report, 0).norm(), weight, 0.02 * weight);
}

TEST(StiffBodies, TakeNoMoreRoundsOfRelaxationThanSoftOnesByOrders)
{
    // Rigid motions are anticipated exactly: a hundredfold stiffness may not cost anything like ten times the rounds
    // that sqrt(h^2 k / m) would.
    std::vector<int> iterations;
    for (Real young : {1e5, 1e7}) {
        World world = stiff_pile(young);
        ImplicitOptions options = implicit_options();
        options.solver.max_iterations = 400;
        options.solver.tolerance = 1e-3;
        const auto method = make_method(world, options);
        int sum = 0;
        for (int i = 0; i < 40; ++i) sum += implicit_part(method->step(world, 0.01)).contact_iterations;
        iterations.push_back(sum);
    }
    EXPECT_LT(iterations[1], 5 * iterations[0]);
}

} // namespace
