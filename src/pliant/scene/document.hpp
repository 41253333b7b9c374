#pragma once
#include <string>

namespace pliant {

/// docs/scene.md: every key of the table, in sections.
std::string scene_reference();

/// JSON Schema of a scene file, for editors.
std::string scene_json_schema();

} // namespace pliant
