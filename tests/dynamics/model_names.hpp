#pragma once
// Tests that hold for every row of the table of elastic models.

#include "pliant/bodies/solid_models.hpp"

#include <gtest/gtest.h>

namespace pliant {

inline std::vector<std::string> model_names()
{
    std::vector<std::string> names;
    for (const SolidModel& m : solid_models()) names.emplace_back(m.name);
    return names;
}

/// The name as a test's name may have it.
inline std::string model_title(const testing::TestParamInfo<std::string>& test)
{
    std::string name;
    for (const char c : test.param)
        if (c != '-') name += c;
    return name;
}

} // namespace pliant
