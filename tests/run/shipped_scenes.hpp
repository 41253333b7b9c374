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

} // namespace pliant
