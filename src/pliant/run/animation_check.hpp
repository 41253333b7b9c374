#pragma once
// What animated obstacles do that may not be meant. None of it stops a run.

#include "pliant/world/world.hpp"

#include <string>

namespace pliant {

/// A sentence for each obstacle whose sequence jumps: the frame, the vertex and the distance.
std::vector<std::string> animation_jumps(const Model& model);

/// A sentence for each obstacle that passes through itself at one of its frames or poses up to a time: the first of
/// them, and where. Exact; takes a moment for long sequences.
std::vector<std::string> animation_crossings(const Model& model, Real end);

} // namespace pliant
