// What the papers show with solids of tetrahedra, on scenes that take minutes.

#include "run/linking.hpp"
#include "run/shipped_scenes.hpp"

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
    const Scene scene = scene_with("tori-200", {});
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    ASSERT_TRUE(run_scene(scene, world, options).finished);
    const RunReader reader(dir / "run");
    constexpr Index slices = 26, section = 6; // nodes a slice
    std::vector<int> linked;
    for (Index f = 0; f < reader.frame_count(); ++f) {
        const StoredFrame frame = reader.stored_frame(f);
        std::vector<Vec3s> lines;
        for (const RunBody& b : reader.bodies()) {
            if (!b.name.starts_with("link")) continue;
            ASSERT_EQ(b.block_count, slices * section);
            Vec3s& line = lines.emplace_back();
            for (Index s = 0; s < slices; ++s) {
                Vec3 sum = Vec3::Zero();
                for (Index k = 0; k < section; ++k) sum += frame.state.position[b.first_block + s * section + k];
                line.push_back(sum / section);
            }
        }
        ASSERT_EQ(lines.size(), 200u);
        for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
            const int number = static_cast<int>(std::lround(linking_number(lines[i], lines[i + 1])));
            if (f == 0) {
                EXPECT_EQ(std::abs(number), 1) << "links " << i << " and " << i + 1;
                linked.push_back(number);
            }
            EXPECT_EQ(number, linked[i]) << "links " << i << " and " << i + 1 << " in frame " << f;
        }
    }
}

} // namespace pliant
