#pragma once
// The table of keys as a tree, and the validation that follows it.

#include "pliant/scene/keys.hpp"
#include "pliant/scene/value.hpp"

#include <memory>

namespace pliant {

struct SchemaNode {
    const Key* key = nullptr; ///< null at the root
    std::string name;         ///< last part of the path
    std::vector<std::unique_ptr<SchemaNode>> children;
    std::unique_ptr<SchemaNode> item; ///< of `named` and `list`
    const SchemaNode* like = nullptr; ///< whose children to use

    const std::vector<std::unique_ptr<SchemaNode>>& fields() const { return like ? like->children : children; }
    const SchemaNode* field(std::string_view name_) const; ///< first of that name
};

/// The tree of scene_keys(), built once.
const SchemaNode& scene_schema();

/// Checks a document against the table and brings it to its resolved form: defaults filled in, keys of each map in the
/// order of the table, numbers in the key's unit as plain numbers. Throws Error with the place of the first fault.
void validate(Value& document);

/// Lays `over` onto `base`: maps key by key, everything else replaced; a new choice in a one-of map drops the old one.
void merge(Value& base, const Value& over, const SchemaNode* node = &scene_schema());

/// "greater than 0", "at least 0 and less than 0.5"; empty for no limit.
std::string describe(const Range& range);

std::vector<std::string> split_words(std::string_view words);

} // namespace pliant
