#pragma once
// The entry `mesh.garment` of a scene, and its drawing.

#include "pliant/mesh/garment.hpp"
#include "pliant/scene/value.hpp"

#include <string>

namespace pliant {

/// What is sewn into a garment beside its seams.
struct GarmentTrim {
    struct Band {
        SideNumber side;
        Real length; ///< over that of the side
    };
    std::vector<SideNumber> hems;
    std::vector<Band> bands;
};

/// Panels, with mirrored ones after those they mirror, and seams. Throws SceneError for an unknown panel or side.
Pattern garment_pattern(const Value& garment);
GarmentTrim garment_trim(const Value& garment, const Pattern& pattern);
/// A side by its name `panel.side`.
SideNumber find_side(const Pattern& pattern, const Value& name);

/// The panels beside each other with the names of their sides, seams in colours with the lengths of both sides and how
/// far they differ, as an SVG file.
std::string draw_panels(const Pattern& pattern);

} // namespace pliant
