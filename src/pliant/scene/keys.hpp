#pragma once
// The table of every key that a scene file may hold. The loader, docs/scene.md and the JSON Schema all come from it:
// a new key is a new row. The options of methods come from the table of methods.

#include "pliant/methods/option.hpp"

#include <span>
#include <string_view>

namespace pliant {

enum class KeyKind {
    map,    ///< fixed keys
    named,  ///< entries under names of the user's choice, each like the row "path.*"
    list,   ///< entries like the row "path[]"
    one_of, ///< a map with exactly one of its keys
    text,
    texts,  ///< one text or a list of texts
    choice, ///< one of `words`
    boolean,
    integer,
    number,
    vector2,
    vector3,
    integer2,
    integer3,
    integers, ///< a list of any length
    pair,     ///< two names
};

struct Key {
    std::string_view path; ///< "time.step"; "*" stands for a name, "[]" for an item of a list
    KeyKind kind = KeyKind::map;
    std::string_view unit = {};     ///< of a plain number; a number with a unit must have the same dimension
    Range range = {};               ///< of numbers
    std::string_view words = {};    ///< a choice's words, or words allowed instead of a number; separated by spaces
    std::string_view fallback = {}; ///< YAML text of the default; "required"; empty: may be left out
    std::string_view only = {};     ///< the key belongs to entries of this `type` only
    std::string_view like = {};     ///< its keys are those of another row
    std::string_view meaning = {};
};

/// Rows of scene/keys_figures.cpp: animated obstacles and garments.
std::span<const Key> figure_keys();

/// All rows: those of scene/keys.cpp and figure_keys(), and the options of methods.
std::span<const Key> scene_keys();

} // namespace pliant
