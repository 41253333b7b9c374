// Lattices of cells with springs as elastic bodies.

#include "pliant/bodies/lattice.hpp"
#include "pliant/core/random.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/methods/free_motion.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace pliant;

namespace {

std::shared_ptr<const LatticeMesh> lattice(const TriangleMesh& surface, const LatticeOptions& options)
{
    return std::make_shared<LatticeMesh>(make_lattice(surface, options));
}

World world_of(std::shared_ptr<const LatticeMesh> mesh, const LatticeMaterial& material, const Vec3& gravity,
               const BodyOptions& options = {})
{
    WorldBuilder builder;
    builder.set_gravity(gravity);
    builder.add_lattice(std::move(mesh), material, options);
    return builder.build();
}

Vec3s forces_of(const World& world)
{
    Forces forces(world.model);
    Vec3s f;
    forces.evaluate(world.model, world.state, f);
    return f;
}

Real total(const std::vector<Real>& mass)
{
    return std::accumulate(mass.begin(), mass.end(), Real(0));
}

} // namespace

TEST(LatticeBody, HasTheMassOfItsSurfaceOrFilledOfItsVolume)
{
    LatticeMaterial material;
    material.density = 500;
    material.areal_density = 3;
    const auto hollow = lattice(make_box({1, 2, 0.5}, {4, 4, 4}), {9});
    EXPECT_NEAR(total(lattice_mass(*hollow, material)), 3 * 2 * (2 + 1 + 0.5), 1e-9);
    const auto full = lattice(make_box({1, 2, 0.5}), {9, 0, true});
    EXPECT_NEAR(total(lattice_mass(*full, material)), 500 * 1, 1e-9);
    const auto sheet = lattice(make_grid(1, 1, 5, 5), {7});
    const std::vector<Real> mass = lattice_mass(*sheet, material);
    EXPECT_NEAR(total(mass), 3, 1e-12);
    const Real mean = total(mass) / static_cast<Real>(mass.size());
    for (const Real m : mass) EXPECT_GE(m, 0.2499 * mean) << "no node is so light that it dictates the step";
}

TEST(LatticeBody, AffineDeformationLeavesInnerNodesWithoutForce)
{
    const auto mesh = lattice(make_box({1, 1, 1}), {5, 0, true});
    World world = world_of(mesh, {}, Vec3::Zero());
    Random random(3);
    Mat3 F;
    for (int i = 0; i < 9; ++i) F(i) = random.uniform(-0.2, 0.2);
    F += Mat3::Identity();
    for (Vec3& x : world.state.position) x = F * x;
    const Vec3s f = forces_of(world);
    Real largest = 0;
    int inner = 0;
    for (const Vec3& force : f) largest = std::max(largest, force.norm());
    for (Index i = 0; i < count(f); ++i) {
        const auto [a, b, c] = mesh->node_place[i];
        if (std::min({a, b, c}) == 0 || std::max({a, b, c}) == 5) continue;
        ++inner;
        EXPECT_LT(f[i].norm(), 1e-12 * largest);
    }
    EXPECT_EQ(inner, 64);
}

TEST(LatticeBody, PulledBarHasItsYoungsModulusAndAQuarterForPoissonsRatio)
{
    // Small uniaxial stress along x: strain (e, -nu e, -nu e). End faces carry sigma A, the sides nothing.
    const Real young = 2e4, e = 1e-6, nu = 0.25;
    LatticeMaterial material;
    material.young = young;
    const auto mesh = lattice(make_box({2, 1, 1}), {8, 0, true});
    World world = world_of(mesh, material, Vec3::Zero());
    const Vec3 stretch(1 + e, 1 - nu * e, 1 - nu * e);
    for (Vec3& x : world.state.position) x = x.cwiseProduct(stretch);
    const Vec3s f = forces_of(world);
    Real pull = 0;
    for (Index i = 0; i < count(f); ++i) {
        if (mesh->node_place[i][0] == 8) pull -= f[i].x();
        if (mesh->node_place[i][0] > 0 && mesh->node_place[i][0] < 8) {
            EXPECT_LT(f[i].norm(), 1e-4 * young * e * 1);
        }
    }
    EXPECT_NEAR(pull, young * e * 1, 1e-4 * young * e);
}

TEST(LatticeBody, RigidMotionHasNoElasticForce)
{
    World world = world_of(lattice(make_torus(0.5, 0.2, 24, 12), {9}), {}, Vec3::Zero());
    const Quat turn = Random(1).rotation();
    for (Vec3& x : world.state.position) x = turn * x + Vec3(1, 2, 3);
    const SpringBatch& springs = dynamic_cast<const SpringBatch&>(*world.model.batches[0]);
    const Real scale = springs.springs()[0].stiffness * springs.springs()[0].rest_length;
    for (const Vec3& f : forces_of(world)) EXPECT_LT(f.norm(), 1e-12 * scale);
    // and the surface goes along
    Vec3s x;
    surface_positions(world.model, world.state, x);
    for (Index v = 0; v < count(x); ++v)
        EXPECT_LT((x[v] - (turn * world.model.surface.rest[v] + Vec3(1, 2, 3))).norm(), 1e-13);
}

TEST(LatticeBody, KeepsItsMomentaInFreeFlight)
{
    for (const Integrator integrator : {Integrator::symplectic_euler, Integrator::verlet, Integrator::backward_euler}) {
        BodyOptions options;
        options.velocity = {1, 2, 3};
        options.angular_velocity = {3, -2, 4};
        World world = world_of(lattice(make_sphere(0.5, 3), {6}), {}, Vec3::Zero(), options);
        const Vec3 p = linear_momentum(world.model, world.state), L = angular_momentum(world.model, world.state);
        FreeMotionOptions free;
        free.integrator = integrator;
        free.linear_tolerance = 1e-13;
        const auto method = make_method(world, free);
        for (int i = 0; i < 50; ++i) method->step(world, 2e-3);
        EXPECT_LT((linear_momentum(world.model, world.state) - p).norm(), 1e-10 * p.norm());
        // backward Euler in one linearisation damps rotation
        if (integrator != Integrator::backward_euler) {
            EXPECT_LT((angular_momentum(world.model, world.state) - L).norm(), 1e-9 * L.norm());
        }
    }
}

TEST(LatticeBody, ExplicitStepsAtTheStableStepKeepTheEnergyBounded)
{
    LatticeMaterial material;
    material.young = 1e5;
    World world = world_of(lattice(make_sphere(0.5, 3), {6}), material, Vec3::Zero());
    Random random(9);
    for (Vec3& x : world.state.position) x += 0.005 * random.on_sphere();
    const Real start = energy(world.model, world.state).total();
    const Real dt = stable_step(world.model, world.state);
    FreeMotionOptions free;
    free.integrator = Integrator::symplectic_euler;
    const auto method = make_method(world, free);
    for (int i = 0; i < 2000; ++i) method->step(world, dt);
    EXPECT_LT(energy(world.model, world.state).total(), 3 * start);
    EXPECT_TRUE(std::isfinite(energy(world.model, world.state).total()));
}
