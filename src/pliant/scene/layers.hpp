#pragma once
// A scene file with everything it includes and the command line's overrides, as one document.

#include "pliant/scene/value.hpp"

#include <filesystem>
#include <span>

namespace pliant {

/// Reads a scene file and what it includes; the result has no `include` key.
Value read_layers(const std::filesystem::path& path);
/// The same for text in memory; includes are relative to the current directory.
Value read_layers(const std::string& text, const std::string& name);

/// Applies "a.b.c=value" (value in YAML) to a document that is not yet validated. A number selects an item of a list.
void apply_override(Value& document, const std::string& assignment);

} // namespace pliant
