#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include "pliant/show/image.hpp"

#include "pliant/core/error.hpp"

#include <stb_image_write.h>

namespace pliant {

std::string encode_png(const Image& image)
{
    std::string bytes;
    const auto append = [](void* context, void* data, int size) {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
    };
    if (!stbi_write_png_to_func(append, &bytes, image.width, image.height, 3, image.rgb.data(), 3 * image.width))
        throw Error("the picture could not be encoded as PNG.");
    return bytes;
}

} // namespace pliant
