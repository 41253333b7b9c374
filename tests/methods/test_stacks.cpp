// Layers of cloth that fall on the floor together: cost and convergence must not grow faster than the layers do.

#include "methods/contact_fixture.hpp"

#include <set>

using namespace pliant;

namespace {

/// Grids of n x n vertices above each other, two gaps apart, a step above the floor. Their vertices stand in columns,
/// so that every one of them meets all the features around another at once.
void add_stack(WorldBuilder& builder, int layers, int n)
{
    builder.add_plane({}, named("floor"));
    ClothMaterial cotton;
    cotton.density = 0.2;
    cotton.stretch = 200;
    cotton.shear = 60;
    cotton.bend = 4e-4;
    for (int k = 0; k < layers; ++k) {
        BodyOptions sheet = named("sheet-" + std::to_string(k), {0, 0.005 + 0.002 * k, 0});
        sheet.gap = 1e-3;
        builder.add_cloth(make_grid(0.4, 0.4, n, n), cotton, sheet, GridShape{n, n});
    }
}

World stack(int layers, int n)
{
    WorldBuilder builder;
    add_stack(builder, layers, n);
    return builder.build();
}

} // namespace

TEST(Stack, OfClothsNeedsAFewRowsAVertexAndConverges)
{
    constexpr int layers = 8, n = 15;
    World world = stack(layers, n);
    ImplicitOptions options = implicit_options();
    options.solver.tolerance = 1e-2;
    const auto method = make_method(world, options);
    int at_rest = 0;
    for (int i = 0; i < 12; ++i) {
        const StepReport report = method->step(world, 0.02);
        EXPECT_EQ(implicit_part(report).unconverged, 0) << "step " << i;
        if (i < 4) continue; // layers that cross others in a tentative step have rows for them while it is refined
        // A vertex has a row for what is next to it, above and below, seen from either side: four at most.
        EXPECT_LE(report.contact_count, 4 * layers * n * n) << "step " << i;
        at_rest += report.active_contacts > (layers - 1) * n * n / 2;
    }
    EXPECT_GT(at_rest, 4) << "the layers do not lie on each other";
    // The lowest layer carries all of them: the sum of the floor's forces is their weight.
    const StepReport report = method->step(world, 0.02);
    Real weight = 0, carried = 0;
    for (Index i = 0; i < world.model.block_count(); ++i) weight += 9.81 * world.model.mass[i];
    std::set<Index> on_floor;
    for (const PairForce& pair : report.pair_forces)
        if (pair.body_a == 0 || pair.body_b == 0) {
            carried += std::abs(pair.normal[1]);
            on_floor.insert(pair.body_a == 0 ? pair.body_b : pair.body_a);
        }
    EXPECT_NEAR(carried, weight, 0.05 * weight);
    EXPECT_EQ(on_floor, std::set<Index>{1}) << "rows reach through layers";
}

TEST(Stack, KeepsItsOrder)
{
    constexpr int layers = 6, n = 12;
    World world = stack(layers, n);
    const auto method = make_method(world, implicit_options());
    for (int i = 0; i < 10; ++i) method->step(world, 0.02);
    for (int k = 1; k < layers; ++k)
        for (Index v = 0; v < n * n; ++v)
            ASSERT_GT(world.state.position[k * n * n + v][1], world.state.position[(k - 1) * n * n + v][1])
                << "layer " << k << ", vertex " << v;
}

TEST(Stack, ConvergesUnderASoftBallAndUnderARigidOne)
{
    for (const bool soft : {true, false}) {
        WorldBuilder builder;
        add_stack(builder, 5, 15);
        const BodyOptions ball = named("ball", {0.02, 0.12, 0.01});
        if (soft) {
            SolidMaterial rubber;
            rubber.density = 1000;
            rubber.young = 1e5;
            builder.add_solid(make_tet_sphere(0.1, 3), rubber, ball);
        } else {
            RigidMaterial wood;
            wood.density = 1000;
            builder.add_rigid(make_sphere(0.1, 2), wood, ball);
        }
        World world = builder.build();
        const auto method = make_method(world, implicit_options());
        for (int i = 0; i < 20; ++i) {
            const StepReport report = method->step(world, 0.02);
            EXPECT_EQ(implicit_part(report).unconverged, 0) << (soft ? "soft, step " : "rigid, step ") << i;
            EXPECT_EQ(report.substeps, 1) << (soft ? "soft, step " : "rigid, step ") << i;
        }
    }
}
