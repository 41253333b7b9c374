// What the papers show with solids of tetrahedra, on scenes that take minutes.

#include "run/chain.hpp"

namespace pliant {
namespace {

Scene scene_with(const std::string& name, const std::vector<std::string>& overrides)
{
    return load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes" / (name + ".yaml"), overrides);
}

/// Pairs of spheres whose centres are closer than a radius all through the last second.
int stuck_pairs(const std::string& depth)
{
    const Scene scene = scene_with("spheres-120", {"contact.depth=" + depth});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    std::vector<Index> centres; // the node in the middle, the first of each mesh
    for (const Body& b : world.model.bodies)
        if (b.tet_count > 0) {
            Index nearest = b.first_block;
            for (Index i = b.first_block; i < b.first_block + b.block_count; ++i)
                if (world.model.rest[i].norm() < world.model.rest[nearest].norm()) nearest = i;
            centres.push_back(nearest);
        }
    const std::size_t n = centres.size();
    std::vector<char> together(n * n, 1);
    for (std::int64_t i = 0; i < scene.step_count(); ++i) {
        method->step(world, scene.step);
        if (world.state.time < scene.end - 1) continue;
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b)
                if ((world.state.position[centres[a]] - world.state.position[centres[b]]).norm() >= 0.1)
                    together[a * n + b] = 0;
    }
    int pairs = 0;
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < a; ++b) pairs += together[a * n + b];
    return pairs;
}

Real keystone_height(const std::string& friction)
{
    const Scene scene = scene_with("elastic-arch", {"contact.friction=" + friction});
    World world = build_world(scene);
    const auto method = make_method(world, scene.method);
    for (std::int64_t i = 0; i < scene.step_count(); ++i) method->step(world, scene.step);
    Real lowest = 1;
    for (const Body& b : world.model.bodies)
        if (b.name == "stone-5")
            for (Index i = b.first_block; i < b.first_block + b.block_count; ++i)
                lowest = std::min(lowest, world.state.position[i].y());
    return lowest;
}

} // namespace

TEST(Spheres120, NoneStickTogetherWithConsistentDepthsAndSomeWithTheClosestFeature)
{
    EXPECT_EQ(stuck_pairs("consistent"), 0);
    EXPECT_GT(stuck_pairs("closest-feature"), 0);
}

TEST(ElasticArch, StandsAfterBallsFellOnItAndFallsWithLittleFriction)
{
    EXPECT_GT(keystone_height("0.95"), 0.1);
    EXPECT_LT(keystone_height("0.2"), 0.05);
}

TEST(Tori200, TheChainIsStillAChainInEveryFrame)
{
    expect_a_chain_in_every_frame(scene_with("tori-200", {}), 200);
}

} // namespace pliant
