#pragma once
// Text as closed bodies: font outlines, triangulated and extruded.

#include "pliant/mesh/mesh.hpp"

#include <string>
#include <vector>

namespace pliant {

struct LetterOptions {
    Real height = 1;      ///< of a capital letter [m]
    Real depth = 0.25;    ///< of the extrusion, along z [m]
    Real edge_length = 0; ///< wanted length of the triangles' edges [m]; 0: a twelfth of the height
    Real spacing = 0;     ///< added between letters [m]
    std::string font = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"; ///< any font that FreeType reads
};

/// One closed mesh for each letter that leaves ink, in reading order along x, y up, in its place within the text; the
/// text as a whole is centred at the origin. `text` is UTF-8.
std::vector<TriangleMesh> make_letters(const std::string& text, const LetterOptions& options = {});

/// The same as a single mesh.
TriangleMesh make_text(const std::string& text, const LetterOptions& options = {});

} // namespace pliant
