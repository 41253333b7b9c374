#pragma once
// A parsed YAML value that remembers where it was written, so that every later complaint can name the place.

#include "pliant/core/error.hpp"
#include "pliant/core/types.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// A place in a scene file, or on the command line (line 0).
struct Mark {
    std::shared_ptr<const std::string> file;
    int line = 0, column = 0; ///< from 1
};
/// "scene.yaml:12:7", or the file alone when there is no line.
std::string to_string(const Mark& mark);

/// An Error whose text starts with its place in a scene file.
class SceneError : public Error {
public:
    using Error::Error;
};
[[noreturn]] void fail(const Mark& mark, const std::string& message);

struct Value {
    enum class Kind { null, scalar, list, map };
    struct Entry;

    Kind kind = Kind::null;
    Mark mark;
    std::string scalar;         ///< text of a scalar
    std::vector<Value> items;   ///< of a list
    std::vector<Entry> entries; ///< of a map, in the order written; keys are unique

    bool is_map() const { return kind == Kind::map; }
    bool is_list() const { return kind == Kind::list; }
    bool is_scalar() const { return kind == Kind::scalar; }

    const Value* find(std::string_view key) const; ///< null when the map has no such key
    Value* find(std::string_view key);
    const Value& at(std::string_view key) const; ///< of a validated map: the key is there
    bool has(std::string_view key) const { return find(key) != nullptr; }
    void set(std::string_view key, Value value); ///< replaces or appends
    void erase(std::string_view key);

    // Typed access to validated values (numbers are SI, in their shortest exact text).
    Real real() const;
    std::int64_t integer() const;
    bool boolean() const { return scalar == "true"; }
    Vec2 vec2() const;
    Vec3 vec3() const;
};

struct Value::Entry {
    std::string key;
    Mark mark;
    Value value;
};

Value make_scalar(std::string text, const Mark& mark);
Value make_list(std::vector<Value> items, const Mark& mark);
Value make_map(const Mark& mark);

/// "a number", "a list", "a map", "nothing": what stands there, for messages.
std::string kind_name(const Value& value);

/// Block-style YAML whose reading gives the same value.
std::string to_yaml(const Value& value);

} // namespace pliant
