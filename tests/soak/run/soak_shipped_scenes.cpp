// Every shipped scene in full length: certified, and with what it expects.

#include "run/shipped_scenes.hpp"

namespace pliant {
namespace {

class ShippedScene : public testing::TestWithParam<std::string> {};

TEST_P(ShippedScene, KeepsItsPromiseAndMeetsItsExpectationsInFullLength)
{
    expect_all_of_it_in_full_length(GetParam());
}

INSTANTIATE_TEST_SUITE_P(, ShippedScene, testing::ValuesIn(shipped_scenes()),
                         [](const auto& scene) { return test_name(scene.param); });

} // namespace
} // namespace pliant
