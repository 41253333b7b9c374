#pragma once
#include "pliant/mesh/garment.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

/// A garment in the world.
struct PlacedGarment {
    Index body = none;
    std::shared_ptr<const Garment> garment;
    std::vector<std::string> panels; ///< their names
};

/// Throws Error with the names of panels that start in each other, in another body, or inside of a closed one.
void require_free_panels(const World& world, const std::vector<PlacedGarment>& garments);

} // namespace pliant
