#include "pliant/show/image.hpp"

#include "pliant/mesh/io.hpp"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <memory>

namespace pliant {

void write_png(const std::filesystem::path& path, const Image& image)
{
    write_file(path, encode_png(image));
}

Image contact_sheet(const std::vector<Image>& tiles, Index columns, Index gap)
{
    Image sheet;
    if (tiles.empty() || columns < 1) return sheet;
    const Index w = tiles.front().width, h = tiles.front().height, rows = (count(tiles) + columns - 1) / columns;
    sheet.width = columns * w + (columns - 1) * gap;
    sheet.height = rows * h + (rows - 1) * gap;
    sheet.rgb.assign(std::size_t(3) * sheet.width * sheet.height, 255);
    for (Index i = 0; i < count(tiles); ++i) {
        const Index left = (i % columns) * (w + gap), top = (i / columns) * (h + gap);
        for (Index y = 0; y < std::min(h, tiles[i].height); ++y)
            std::copy_n(tiles[i].at(0, y), 3 * std::min(w, tiles[i].width), sheet.at(left, top + y));
    }
    return sheet;
}

void draw_label(Image& image, const std::string& text, Index x, Index y, Index size)
{
    FT_Library raw_library = nullptr;
    if (FT_Init_FreeType(&raw_library) != 0) return;
    const std::unique_ptr<FT_LibraryRec_, FT_Error (*)(FT_Library)> library(raw_library, FT_Done_FreeType);
    FT_Face raw_face = nullptr;
    if (FT_New_Face(library.get(), "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 0, &raw_face) != 0) return;
    const std::unique_ptr<FT_FaceRec_, FT_Error (*)(FT_Face)> face(raw_face, FT_Done_Face);
    FT_Set_Pixel_Sizes(face.get(), 0, static_cast<FT_UInt>(size));
    Index pen = x;
    const Index baseline = image.height - y;
    for (const char c : text) {
        if (FT_Load_Char(face.get(), static_cast<unsigned char>(c), FT_LOAD_RENDER) != 0) continue;
        const FT_Bitmap& bitmap = face->glyph->bitmap;
        for (unsigned row = 0; row < bitmap.rows; ++row)
            for (unsigned column = 0; column < bitmap.width; ++column) {
                const Index px = pen + face->glyph->bitmap_left + static_cast<Index>(column);
                const Index py = baseline - face->glyph->bitmap_top + static_cast<Index>(row);
                if (px < 0 || py < 0 || px >= image.width || py >= image.height) continue;
                const Real alpha = 0.85 * bitmap.buffer[row * static_cast<unsigned>(bitmap.pitch) + column] / 255;
                for (int k = 0; k < 3; ++k) {
                    std::uint8_t& value = image.at(px, py)[k];
                    value = static_cast<std::uint8_t>(value + alpha * (40 - value) + 0.5);
                }
            }
        pen += static_cast<Index>(face->glyph->advance.x / 64);
    }
}

} // namespace pliant
