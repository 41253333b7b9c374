#pragma once
// The scenes that ship with Pliant, run and certified.

#include "pliant/methods/table.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"
#include "run/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pliant {

inline std::vector<std::string> shipped_scenes()
{
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes"))
        if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// A test's name from a scene's.
inline std::string test_name(const std::string& scene)
{
    std::string name = scene;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

inline Scene shipped_scene(const std::string& name)
{
    return load_scene(std::filesystem::path(PLIANT_SOURCE_DIR) / "scenes" / (name + ".yaml"));
}

/// Runs and certifies a scene to its end.
inline void expect_all_of_it_in_full_length(const std::string& name)
{
    const Scene scene = shipped_scene(name);
    World world = build_world(scene);
    const TemporaryDirectory dir;
    RunOptions options;
    options.directory = dir / "run";
    EXPECT_TRUE(run_scene(scene, world, options).finished);
    const Certificate c = certify_run(RunReader(dir / "run"));
    EXPECT_TRUE(c.kept()) << certificate_words(c);
}

} // namespace pliant
