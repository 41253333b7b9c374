#pragma once
// YAML text to Value, with limits that keep hostile input (aliases that multiply, endless nesting, junk) cheap.

#include "pliant/scene/value.hpp"

#include <filesystem>

namespace pliant {

inline constexpr std::size_t max_scene_bytes = 16u << 20;  ///< largest scene file
inline constexpr std::size_t max_scene_values = 1'000'000; ///< after aliases are expanded

/// Reads one document; empty text gives an empty map. `name` is what messages call the text.
Value read_yaml(const std::string& text, const std::string& name);
Value read_yaml_file(const std::filesystem::path& path);

/// Text of a file, at most max_scene_bytes. Throws Error when it cannot be read.
std::string read_text_file(const std::filesystem::path& path);

} // namespace pliant
