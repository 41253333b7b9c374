#pragma once
// The whole state on disk: resuming from it gives the same bits as never having stopped.

#include "pliant/world/world.hpp"

#include <filesystem>

namespace pliant {

/// `scene` identifies what is simulated; a checkpoint of another scene is not loaded.
void save_checkpoint(const State& state, std::uint64_t scene, const std::filesystem::path& path);

/// Replaces the state. Throws Error when the file is missing, damaged, of another scene, or does not fit the world.
void load_checkpoint(World& world, std::uint64_t scene, const std::filesystem::path& path);

} // namespace pliant
