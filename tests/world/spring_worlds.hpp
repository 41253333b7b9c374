#pragma once
#include "pliant/bodies/springs.hpp"
#include "pliant/world/world.hpp"

#include <algorithm>
#include <memory>

namespace pliant {

/// Takes the springs of the first batch out of which `keep` says so.
template <class Keep>
void keep_springs(World& world, Keep&& keep)
{
    const auto& batch = dynamic_cast<const SpringBatch&>(*world.model.batches[0]);
    std::vector<Spring> springs = batch.springs();
    std::erase_if(springs, [&](const Spring& s) { return !keep(s); });
    world.model.batches[0] = std::make_shared<SpringBatch>(std::move(springs), batch.damping());
}

} // namespace pliant
