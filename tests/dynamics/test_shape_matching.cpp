// Lattice shape matching: fast sums are sums, goals follow rigid motion, momenta are kept.

#include "pliant/core/parallel.hpp"
#include "pliant/core/random.hpp"
#include "pliant/dynamics/shape_matching.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/builder.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

using namespace pliant;

namespace {

struct Case {
    LatticeMesh mesh;
    std::vector<Real> mass;
    Vec3s x, v;
};

Case make_case(std::uint64_t seed, Real disturbance)
{
    Case c;
    c.mesh = make_lattice(make_torus(0.5, 0.15, 24, 12), {9});
    Random random(seed);
    const Quat turn = random.rotation();
    for (const Vec3& X : c.mesh.nodes) {
        c.mass.push_back(random.uniform(0.5, 2));
        c.x.push_back(turn * X + Vec3(10, 20, -5) + disturbance * random.on_sphere());
        c.v.push_back(random.on_sphere());
    }
    return c;
}

/// Nodes of a region, one by one.
std::vector<Index> region(const LatticeMesh& mesh, Index middle, Index width)
{
    std::vector<Index> nodes;
    for (Index i = 0; i < count(mesh.nodes); ++i) {
        Index far = 0;
        for (int k = 0; k < 3; ++k) far = std::max(far, std::abs(mesh.node_place[i][k] - mesh.node_place[middle][k]));
        if (far <= width) nodes.push_back(i);
    }
    return nodes;
}

Vec3s goals_by_hand(const Case& c, Index width)
{
    const Index n = count(c.mesh.nodes);
    std::vector<std::vector<Index>> regions;
    for (Index r = 0; r < n; ++r) regions.push_back(region(c.mesh, r, width));
    Vec3s goal(static_cast<std::size_t>(n), Vec3::Zero());
    for (Index r = 0; r < n; ++r) {
        Real M = 0;
        Vec3 centre = Vec3::Zero(), rest = Vec3::Zero();
        for (const Index i : regions[r]) {
            const Real m = c.mass[i] / static_cast<Real>(regions[i].size());
            M += m;
            centre += m * c.x[i];
            rest += m * c.mesh.nodes[i];
        }
        centre /= M;
        rest /= M;
        Mat3 A = Mat3::Zero();
        for (const Index i : regions[r])
            A += c.mass[i] / static_cast<Real>(regions[i].size()) * (c.x[i] - centre) *
                 (c.mesh.nodes[i] - rest).transpose();
        const Eigen::JacobiSVD<Mat3> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
        Mat3 U = svd.matrixU();
        if ((U * svd.matrixV().transpose()).determinant() < 0) U.col(2) = -U.col(2);
        const Mat3 R = U * svd.matrixV().transpose();
        for (const Index i : regions[r])
            goal[i] += (R * (c.mesh.nodes[i] - rest) + centre) / static_cast<Real>(regions[i].size());
    }
    return goal;
}

} // namespace

TEST(ShapeMatching, WindowSumsAreTheSumsOverTheWindows)
{
    const std::array<Index, 3> places = {5, 4, 3};
    Random random(1);
    for (const Index width : {1, 2, 7}) {
        std::vector<Real> values(4 * 60);
        for (Real& v : values) v = random.uniform(-1, 1);
        std::vector<Real> sums = values;
        window_sums(places, width, 4, sums);
        for (Index z = 0; z < 3; ++z)
            for (Index y = 0; y < 4; ++y)
                for (Index x = 0; x < 5; ++x)
                    for (Index n = 0; n < 4; ++n) {
                        Real sum = 0;
                        for (Index k = std::max<Index>(0, z - width); k <= std::min<Index>(2, z + width); ++k)
                            for (Index j = std::max<Index>(0, y - width); j <= std::min<Index>(3, y + width); ++j)
                                for (Index i = std::max<Index>(0, x - width); i <= std::min<Index>(4, x + width); ++i)
                                    sum += values[4 * ((k * 4 + j) * 5 + i) + n];
                        EXPECT_NEAR(sums[4 * ((z * 4 + y) * 5 + x) + n], sum, 1e-13);
                    }
    }
}

TEST(ShapeMatching, GoalsAreThoseOfTheRegionsOneByOne)
{
    for (const Index width : {1, 2, 4}) {
        const Case c = make_case(3, 0.03);
        Vec3s goal;
        RegionPlan(c.mesh, c.mass, width).goals(c.x, goal);
        const Vec3s expected = goals_by_hand(c, width);
        for (std::size_t i = 0; i < goal.size(); ++i) EXPECT_LT((goal[i] - expected[i]).norm(), 1e-10);
    }
}

TEST(ShapeMatching, GoalOfARigidMotionIsThePlaceItself)
{
    const Case c = make_case(5, 0);
    Vec3s goal;
    RegionPlan(c.mesh, c.mass, 2).goals(c.x, goal);
    for (std::size_t i = 0; i < goal.size(); ++i) EXPECT_LT((goal[i] - c.x[i]).norm(), 1e-13 * 30);
}

TEST(ShapeMatching, VelocitiesOfRegionsFollowARigidMotionAndKeepMomenta)
{
    Case c = make_case(7, 0.02);
    const RegionPlan plan(c.mesh, c.mass, 1);
    Vec3s u;
    plan.rigid_velocities(c.x, c.v, u);
    Vec3 p = Vec3::Zero(), L = Vec3::Zero();
    for (std::size_t i = 0; i < u.size(); ++i) {
        p += c.mass[i] * (u[i] - c.v[i]);
        L += c.mass[i] * c.x[i].cross(u[i] - c.v[i]);
    }
    EXPECT_LT(p.norm(), 1e-11);
    EXPECT_LT(L.norm(), 1e-9);
    for (std::size_t i = 0; i < c.v.size(); ++i) c.v[i] = Vec3(1, 2, 3) + Vec3(-1, 2, 0.5).cross(c.x[i]);
    plan.rigid_velocities(c.x, c.v, u);
    for (std::size_t i = 0; i < u.size(); ++i) EXPECT_LT((u[i] - c.v[i]).norm(), 1e-10);
}

TEST(ShapeMatching, KeepsMomentaAndIsStableHoweverItIsDisturbed)
{
    WorldBuilder builder;
    LatticeMaterial material;
    material.model = LatticeModel::shape_matching;
    material.region_damping = 1;
    BodyOptions options;
    options.velocity = {1, 0, 0};
    options.angular_velocity = {0, 2, 1};
    builder.add_lattice(std::make_shared<LatticeMesh>(make_lattice(make_sphere(0.5, 3), {5})), material, options);
    World world = builder.build();
    Random random(2);
    for (Vec3& x : world.state.position) x += 0.2 * random.on_sphere(); // some cells are inside out
    const Vec3 p = linear_momentum(world.model, world.state), L = angular_momentum(world.model, world.state);
    const ShapeMatching matching(world.model);
    const Real dt = 0.01;
    for (int step = 0; step < 300; ++step) {
        matching.correct(world.state.position, dt, world.state.velocity);
        for (Index i = 0; i < world.model.block_count(); ++i) world.state.position[i] += dt * world.state.velocity[i];
    }
    EXPECT_LT((linear_momentum(world.model, world.state) - p).norm(), 1e-10 * p.norm());
    EXPECT_LT((angular_momentum(world.model, world.state) - L).norm(), 1e-9 * L.norm());
    // back in shape: distances are those of the rest shape, but for what rotation stretches
    for (const Index far : {count(world.state.position) - 1, Index(7)}) {
        const Real now = (world.state.position[far] - world.state.position[0]).norm();
        EXPECT_NEAR(now, (world.model.rest[far] - world.model.rest[0]).norm(), 0.03);
    }
}

TEST(ShapeMatching, CopiesThatAreWorkedOnTogetherDoNotFeelEachOther)
{
    LatticeMaterial material;
    material.model = LatticeModel::shape_matching;
    material.region_damping = 20;
    const auto mesh = std::make_shared<LatticeMesh>(make_lattice(make_sphere(0.5, 2), {3}));
    const auto world_of = [&](int copies) {
        WorldBuilder builder;
        for (int i = 0; i < copies; ++i) {
            BodyOptions options;
            options.name = std::to_string(i);
            builder.add_lattice(mesh, material, options);
        }
        return builder.build();
    };
    World all = world_of(6), alone = world_of(1);
    Random random(5);
    Vec3s path;
    for (Vec3& x : all.state.position) {
        x += 0.3 * random.on_sphere(); // some regions are inside out
        path.push_back(random.on_sphere());
    }
    const Vec3s start = path;
    ShapeMatching(all.model).correct(all.state.position, 0.01, path);
    const std::size_t n = alone.state.position.size();
    for (std::size_t b = 0; b < 6; ++b) {
        const auto part = [&](const Vec3s& v) { return Vec3s(v.begin() + b * n, v.begin() + (b + 1) * n); };
        Vec3s own = part(start);
        ShapeMatching(alone.model).correct(part(all.state.position), 0.01, own);
        EXPECT_EQ(own, part(path)) << "copy " << b;
    }
}

TEST(ShapeMatching, IsTheSameForAnyNumberOfThreads)
{
    const auto run = [](int threads) {
        set_thread_count(threads);
        WorldBuilder builder;
        LatticeMaterial material;
        material.model = LatticeModel::shape_matching;
        const auto mesh = std::make_shared<LatticeMesh>(make_lattice(make_sphere(0.5, 2), {3}));
        for (int i = 0; i < 40; ++i) {
            BodyOptions options;
            options.place.translation.x() = i;
            builder.add_lattice(mesh, material, options);
        }
        World world = builder.build();
        Random random(2);
        for (Vec3& x : world.state.position) x += 0.05 * random.on_sphere();
        Vec3s path(world.state.position.size(), Vec3::Zero());
        ShapeMatching(world.model).correct(world.state.position, 0.01, path);
        set_thread_count(0);
        return path;
    };
    EXPECT_EQ(run(1), run(4));
}
