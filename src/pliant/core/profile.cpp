#include "pliant/core/profile.hpp"

namespace pliant {

void Profile::add(const char* stage, Real seconds)
{
    for (auto& [name, total] : stages_) {
        if (name == stage) {
            total += seconds;
            return;
        }
    }
    stages_.emplace_back(stage, seconds);
}

Real Profile::seconds(const std::string& stage) const
{
    for (const auto& [name, total] : stages_)
        if (name == stage) return total;
    return 0;
}

} // namespace pliant
