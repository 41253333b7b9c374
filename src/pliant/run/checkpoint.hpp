#pragma once
// The whole state on disk: resuming from it gives the same bits as never having stopped.

#include "pliant/world/world.hpp"

#include <filesystem>

namespace pliant {

/// What a checkpoint belongs to; one that belongs to something else is not loaded.
struct CheckpointOwner {
    std::uint64_t scene = 0; ///< identifies what is simulated
    std::string method;      ///< a name of the table of methods: whose memory the state holds
};

void save_checkpoint(const State& state, const CheckpointOwner& owner, const std::filesystem::path& path);

/// Replaces the state. Throws Error when the file is missing, damaged, of another version, scene or method, or does not
/// fit the world.
void load_checkpoint(World& world, const CheckpointOwner& owner, const std::filesystem::path& path);

} // namespace pliant
