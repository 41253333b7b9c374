#pragma once

namespace pliant {

/// How self-collision is left out where cloth is flat.
enum class Culling {
    sound,       ///< never a wrong cull
    cones,       ///< cones of normals below a right angle: misses contacts
    cones_paper, ///< cones as printed, twice as wide: misses contacts
    off,
};

} // namespace pliant
