// Elastic solids against strength of materials: static answers are limits of damped or quasi-static solves.

#include "dynamics/model_names.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"
#include "world/spring_worlds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace pliant;

namespace {

constexpr Real young = 1e6, length = 1, width = 0.2;

/// Clamped at x = -length/2. `thickness` is along z, in which the cells are as wide as along y.
World clamped_bar(const std::string& model, Index cells_along, Index cells_across, Real poisson, Real density,
                  Real thickness = width)
{
    const Index cells_z = std::max<Index>(1, Index(std::lround(thickness / width * cells_across)));
    SolidMaterial material;
    material.young = young;
    material.poisson = poisson;
    material.density = density;
    material.model = model;
    const TetMesh mesh = make_tet_box({length, width, thickness}, {cells_along, cells_across, cells_z});
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions options;
    options.name = "bar";
    for (Index i = 0; i < count(mesh.vertices); ++i)
        if (mesh.vertices[i].x() < -length / 2 + 1e-9) options.pinned.push_back(i);
    builder.add_solid(mesh, material, options);
    return builder.build();
}

/// K u = f about the rest shape with the clamped end held: one huge linearised step, in which inertia vanishes.
Vec3s static_displacement(const World& world, const Vec3s& load)
{
    const Real dt = 1e4;
    LinearSystem system(world.model);
    system.assemble(world.model, world.state, dt);
    const DirectSolver direct(system.A());
    EXPECT_TRUE(direct.ok());
    Vec3s b(load.size()), v;
    for (std::size_t i = 0; i < load.size(); ++i)
        b[i] = world.model.is_prescribed(Index(i)) ? Vec3(Vec3::Zero()) : Vec3(dt * load[i]);
    direct.solve(b, v);
    for (Vec3& x : v) x *= dt;
    return v;
}

/// A force spread over the free end by the area that each node holds.
Vec3s end_load(const World& world, const Vec3& force, Real thickness = width)
{
    const Vec3s& x = world.state.position;
    Vec3s load(x.size(), Vec3::Zero());
    for (const Triangle& t : world.model.surface.triangles) {
        const Index block[3] = {world.model.surface.map_block[t[0]], world.model.surface.map_block[t[1]],
                                world.model.surface.map_block[t[2]]};
        bool at_end = true;
        for (Index b : block) at_end = at_end && x[b].x() > length / 2 - 1e-9;
        if (!at_end) continue;
        const Real area = (x[block[1]] - x[block[0]]).cross(x[block[2]] - x[block[0]]).norm() / 2;
        for (Index b : block) load[b] += area / 3 / (width * thickness) * force;
    }
    return load;
}

/// Mean deflection of the free end of the square bar under a unit load. With Poisson ratio 0 nothing couples to the
/// width, so a slice one cell wide, loaded by its share, bends like the whole bar.
Real tip_deflection(const std::string& model, Index across)
{
    const Real thickness = width / across;
    const World world = clamped_bar(model, 5 * across, across, 0, 1, thickness);
    const Vec3s u = static_displacement(world, end_load(world, {0, -thickness / width, 0}, thickness));
    Real sum = 0;
    int n = 0;
    for (std::size_t i = 0; i < u.size(); ++i)
        if (world.state.position[i].x() > length / 2 - 1e-9) sum -= u[i].y(), ++n;
    return sum / n;
}

class ElasticBar : public testing::TestWithParam<std::string> {
protected:
    /// Springs are as isotropic as the mesh is, and these meshes are not.
    bool is_isotropic() const { return GetParam() != "springs"; }
};

INSTANTIATE_TEST_SUITE_P(All, ElasticBar, testing::ValuesIn(model_names()), model_title);

} // namespace

TEST_P(ElasticBar, PatchTestUniformStrainGivesNoForceInside)
{
    World world = clamped_bar(GetParam(), 4, 3, 0.3, 1000);
    Mat3 strain;
    strain << 0.01, 0.003, -0.002, 0.003, -0.004, 0.001, -0.002, 0.001, 0.006;
    const TetMesh mesh = make_tet_box({length, width, width}, {4, 3, 3});
    for (Vec3& x : world.state.position) x += strain * x;
    Vec3s f;
    Forces(world.model).evaluate(world.model, world.state, f);
    Real largest_inside = 0, largest = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
        const Vec3& X = mesh.vertices[i];
        const bool inside = std::abs(X.x()) < length / 2 - 1e-9 && std::abs(X.y()) < width / 2 - 1e-9 &&
                            std::abs(X.z()) < width / 2 - 1e-9;
        largest = std::max(largest, f[i].norm());
        if (inside) largest_inside = std::max(largest_inside, f[i].norm());
    }
    EXPECT_GT(largest, 0);
    EXPECT_LT(largest_inside, 1e-10 * largest);
}

TEST_P(ElasticBar, EndLoadWithoutPoissonEffectStretchesByPLOverEA)
{
    const World world = clamped_bar(GetParam(), 6, 2, 0, 1000);
    const Real P = 3;
    const Vec3s u = static_displacement(world, end_load(world, {P, 0, 0}));
    const Real exact = P * length / (young * width * width);
    for (std::size_t i = 0; i < u.size(); ++i)
        if (world.state.position[i].x() > length / 2 - 1e-9) {
            EXPECT_NEAR(u[i].x(), exact, (is_isotropic() ? 1e-9 : 0.3) * exact);
        }
}

TEST_P(ElasticBar, TipDeflectionConvergesAtSecondOrderToBeamTheoryWithShear)
{
    const Real coarse = tip_deflection(GetParam(), 8), medium = tip_deflection(GetParam(), 16),
               fine = tip_deflection(GetParam(), 32);
    const Real inertia = std::pow(width, 4) / 12, area = width * width, shear_modulus = young / 2;
    const Real exact = std::pow(length, 3) / (3 * young * inertia) + length / (5.0 / 6 * shear_modulus * area);
    EXPECT_LT(coarse, medium); // linear tetrahedra are too stiff
    EXPECT_LT(medium, fine);
    const Real ratio = (medium - coarse) / (fine - medium);
    EXPECT_GT(ratio, 3);
    EXPECT_LT(ratio, 5);
    const Real extrapolated = fine + (fine - medium) / 3;
    EXPECT_NEAR(extrapolated / exact, 1, is_isotropic() ? 0.02 : 0.4);
}

namespace {

/// Lowest natural frequency [rad/s] by inverse iteration on K u = omega^2 M u.
Real first_frequency(const std::string& model, Index across)
{
    const Real density = 100;
    const World world = clamped_bar(model, 5 * across, across, 0, density);
    const std::vector<Real>& mass = world.model.mass;
    const Real dt = 1e6;
    LinearSystem system(world.model);
    system.assemble(world.model, world.state, dt);
    const DirectSolver direct(system.A());
    Vec3s u(mass.size(), Vec3(0, 1, 0)), next;
    Real omega_sq = 0;
    for (int i = 0; i < 30; ++i) {
        Vec3s b(mass.size());
        for (std::size_t k = 0; k < mass.size(); ++k)
            b[k] = world.model.is_prescribed(Index(k)) ? Vec3(Vec3::Zero()) : Vec3(mass[k] * u[k]);
        direct.solve(b, next); // (M + dt^2 K) next = M u
        Real uu = 0, un = 0;
        for (std::size_t k = 0; k < mass.size(); ++k) {
            uu += mass[k] * next[k].squaredNorm();
            un += mass[k] * next[k].dot(u[k]);
        }
        omega_sq = (un / uu - 1) / (dt * dt);
        const Real scale = 1 / std::sqrt(uu);
        for (std::size_t k = 0; k < mass.size(); ++k) u[k] = scale * next[k];
    }
    return std::sqrt(omega_sq);
}

} // namespace

TEST_P(ElasticBar, FirstNaturalFrequencyConvergesAtSecondOrderToBeamTheory)
{
    const Real f2 = first_frequency(GetParam(), 2), f4 = first_frequency(GetParam(), 4),
               f8 = first_frequency(GetParam(), 8);
    const Real ratio = (f2 - f4) / (f4 - f8);
    EXPECT_GT(ratio, 2.8);
    EXPECT_LT(ratio, 5);
    const Real density = 100, inertia = std::pow(width, 4) / 12, area = width * width;
    const Real euler = std::pow(1.8751040687, 2) * std::sqrt(young * inertia / (density * area * std::pow(length, 4)));
    // Shear makes the deflection larger by 3 E I / (kappa G A L^2), the frequency lower by about half of that.
    const Real shear = 3 * young * inertia / (5.0 / 6 * young / 2 * area * length * length);
    const Real exact = euler / std::sqrt(1 + shear);
    EXPECT_NEAR((f8 - (f4 - f8) / 3) / exact, 1, is_isotropic() ? 0.02 : 0.2);
}

TEST(Damping, RayleighDampingDecaysAModeAtItsRate)
{
    // A free corner on one spring: decay of the envelope exp(-zeta omega t), zeta = alpha / (2 omega) + beta omega / 2.
    ClothMaterial material;
    material.stretch = 50;
    material.shear = material.bend = 0;
    material.damping = 2e-3;
    material.drag = 0.5;
    WorldBuilder builder;
    builder.set_gravity(Vec3::Zero());
    BodyOptions options;
    options.name = "spring";
    options.pinned = {0, 2};
    builder.add_cloth(make_grid(1, 1, 2, 2, Diagonals::uniform), material, options, GridShape{2, 2});
    World world = builder.build();
    keep_springs(world, [](const Spring& s) { return s.a % 2 == 0 || s.b % 2 == 0; });
    const Real omega = std::sqrt(50 / world.model.mass[1]), duration = 3;
    world.state.position[1].x() += 0.01;
    const Real E0 = energy(world.model, world.state).total();
    const int steps = 20'000;
    ExplicitStepper verlet(world.model, Integrator::verlet);
    for (int i = 0; i < steps; ++i) verlet.substep(world.model, world.state, duration / steps);
    const Real zeta = material.drag / (2 * omega) + material.damping * omega / 2;
    const Real decay = std::log(E0 / energy(world.model, world.state).total()) / (2 * duration);
    EXPECT_NEAR(decay / (zeta * omega), 1, 0.02);
}
