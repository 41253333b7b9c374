#pragma once
#include "pliant/core/types.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// 8-bit sRGB picture, rows from the top.
struct Image {
    Index width = 0, height = 0;
    std::vector<std::uint8_t> rgb; ///< shape [height, width, 3]

    std::uint8_t* at(Index x, Index y) { return rgb.data() + 3 * (std::size_t(y) * width + x); }
    const std::uint8_t* at(Index x, Index y) const { return rgb.data() + 3 * (std::size_t(y) * width + x); }
};

/// Written under a temporary name and renamed. Throws Error when the file cannot be written.
void write_png(const std::filesystem::path& path, const Image& image);
std::string encode_png(const Image& image);

/// Equal pictures side by side, row by row, with a light gap between them; missing ones at the end stay empty.
Image contact_sheet(const std::vector<Image>& tiles, Index columns, Index gap = 6);

/// Dark text on the picture, its lower left corner at (x, y) pixels from the lower left; UTF-8. Without the font
/// (fonts-dejavu-core) nothing is drawn.
void draw_label(Image& image, const std::string& text, Index x, Index y, Index size);

} // namespace pliant
