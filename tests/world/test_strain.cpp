// Stress and elongation of states with a closed form.
#include "pliant/core/random.hpp"
#include "pliant/mesh/embed.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"
#include "pliant/world/strain.hpp"

#include <gtest/gtest.h>

using namespace pliant;

namespace {

constexpr Real young = 2e5, poisson = 0.4;

/// Moves every particle of the world's only body by x -> F x + shift.
void deform(World& world, const Mat3& F, const Vec3& shift = Vec3::Zero())
{
    for (Vec3& x : world.state.position) x = F * x + shift;
}

World solid_bar()
{
    WorldBuilder builder;
    SolidMaterial material;
    material.young = young;
    material.poisson = poisson;
    builder.add_solid(make_tet_bar(1, 0.3, 0.2, {8, 3, 2}), material, {});
    return builder.build();
}

World embedded_ball()
{
    WorldBuilder builder;
    SolidMaterial material;
    material.young = young;
    material.poisson = poisson;
    builder.add_solid(embed(make_sphere(0.5, 2), {6, 0}), material, {});
    return builder.build();
}

World square_cloth()
{
    WorldBuilder builder;
    ClothMaterial material;
    material.stretch = 300;
    material.shear = 50;
    builder.add_cloth(make_grid(1, 1, 11, 11), material, {}, GridShape{11, 11});
    return builder.build();
}

} // namespace

TEST(Stress, OfABarThatIsPulledIsYoungsModulusTimesStrain)
{
    const Real strain = 0.01;
    const Mat3 turn = Random(5).rotation().toRotationMatrix();
    const Mat3 pull = Vec3(1 + strain, 1 - poisson * strain, 1 - poisson * strain).asDiagonal();
    for (World world : {solid_bar(), embedded_ball()}) {
        deform(world, turn * pull, Vec3(3, -2, 1));
        std::vector<Real> stress;
        surface_stress(world.model, world.state, stress);
        ASSERT_EQ(count(stress), world.model.surface.vertex_count());
        for (const Real s : stress) EXPECT_NEAR(s, young * strain, 1e-9 * young);
        EXPECT_NEAR(max_elongation(world.model, world.state), strain, 1e-9);
    }
}

TEST(Stress, OfARotatedBodyIsZero)
{
    for (World world : {solid_bar(), embedded_ball(), square_cloth()}) {
        deform(world, Random(8).rotation().toRotationMatrix(), Vec3(1, 2, 3));
        std::vector<Real> stress;
        surface_stress(world.model, world.state, stress);
        for (const Real s : stress) EXPECT_NEAR(s, 0, 1e-9 * young);
        EXPECT_NEAR(max_elongation(world.model, world.state), 0, 1e-9);
    }
}

TEST(Stress, OfAnEvenCompressionHasNoDeviator)
{
    World world = solid_bar();
    deform(world, 0.98 * Mat3::Identity());
    std::vector<Real> stress;
    surface_stress(world.model, world.state, stress);
    for (const Real s : stress) EXPECT_NEAR(s, 0, 1e-9 * young);
    EXPECT_EQ(max_elongation(world.model, world.state), 0) << "it is shorter everywhere";
}

TEST(Stress, OfClothIsTheTensionOfItsMostStretchedSpring)
{
    World world = square_cloth();
    deform(world, Vec3(1.05, 1, 1).asDiagonal());
    std::vector<Real> tension;
    surface_stress(world.model, world.state, tension);
    for (const Real t : tension) EXPECT_NEAR(t, 300 * 0.05 * 0.1, 1e-9) << "springs along x, 0.1 m long";
    EXPECT_NEAR(max_elongation(world.model, world.state), 0.05, 1e-9);
}

TEST(StrainLimits, AreNoneBetweenParticlesThatAreBothPinned)
{
    WorldBuilder builder;
    ClothMaterial material;
    material.max_strain = 0.1;
    BodyOptions options;
    for (Index i = 0; i < 11; ++i) options.pinned.push_back(i);
    builder.add_cloth(make_grid(1, 1, 11, 11), material, options, GridShape{11, 11});
    World world = builder.build();
    const Model& model = world.model;
    Index with_a_pin = 0;
    for (const LengthLimit& l : model.length_limits) {
        EXPECT_FALSE(model.is_prescribed(l.a) && model.is_prescribed(l.b));
        with_a_pin += model.is_prescribed(l.a) || model.is_prescribed(l.b);
    }
    EXPECT_GE(with_a_pin, 11) << "to the next row there are";
    EXPECT_EQ(count(model.length_limits), model.bodies[0].limit_count);
    // A script may pull pins apart: nothing of the cloth could shorten what is between them. Pairs of them by 30 %,
    // which makes diagonals 8 % longer.
    for (const Pin& pin : model.pins) world.state.position[pin.block].x() += pin.block % 2 == 0 ? -0.015 : 0.015;
    EXPECT_NEAR(max_elongation(model, world.state), 0.3, 1e-9);
    EXPECT_EQ(strain_excess(model, world.state.position).amount, 0);
}
