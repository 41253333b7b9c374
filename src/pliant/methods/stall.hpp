#pragma once
// The last words of a step that finds no way on: which pair, where, how strongly pressed, and what to change.

#include "pliant/world/world.hpp"

#include <string>

namespace pliant {

enum class StallCause {
    scripts_alone, ///< scripts move both sides into each other
    squeeze,       ///< scripted motion leaves a body no room
    budget,        ///< whether there is a way is not known: the step's budget of work is spent
};

struct StalledPair {
    Index body_a = none, body_b = none;
    Index vertex = none;          ///< of body a, in its own numbers
    Vec3 position = Vec3::Zero(); ///< of the vertex [m]
    Real time = 0;                ///< at the start of the sub-step [s]
    Real force = 0;               ///< between the bodies in the step before; 0: none [N]
    Real gap = 0, certified = 0;  ///< that contact keeps and certifies between the bodies [m]
    Real friction = 0;
};

std::string stall_words(const Model& model, StallCause cause, const StalledPair& pair);

} // namespace pliant
