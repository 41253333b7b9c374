#pragma once
// A chain of tori in the stored frames of a run: are neighbours linked, and do they stay so?

#include "run/linking.hpp"
#include "run/shipped_scenes.hpp"

namespace pliant {

/// Centre lines of the bodies "link...", in the order of the run, from the means of the slices of their meshes.
inline std::vector<Vec3s> centre_lines(const RunReader& run, const StoredFrame& frame)
{
    constexpr Index slices = 26, section = 6; // nodes a slice
    std::vector<Vec3s> lines;
    for (const RunBody& b : run.bodies()) {
        if (!b.name.starts_with("link")) continue;
        EXPECT_EQ(b.block_count, slices * section);
        Vec3s& line = lines.emplace_back();
        for (Index s = 0; s < slices; ++s) {
            Vec3 sum = Vec3::Zero();
            for (Index k = 0; k < section; ++k) sum += frame.state.position[b.first_block + s * section + k];
            line.push_back(sum / section);
        }
    }
    return lines;
}

/// Runs the scene; the linking number of each pair of neighbours is 1 or -1, and the same in every frame.
inline void expect_a_chain_in_every_frame(const Scene& scene, std::size_t links)
{
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    ASSERT_TRUE(run_scene(scene, world, options).finished);
    const RunReader run(dir / "run");
    std::vector<int> linked;
    for (Index f = 0; f < run.frame_count(); ++f) {
        const std::vector<Vec3s> lines = centre_lines(run, run.stored_frame(f));
        ASSERT_EQ(lines.size(), links);
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
