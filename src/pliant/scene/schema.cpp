#include "pliant/scene/schema.hpp"

#include "pliant/scene/suggest.hpp"
#include "pliant/scene/units.hpp"
#include "pliant/scene/yaml_reader.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

std::vector<std::string> split_path(std::string_view path)
{
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '.') {
            parts.emplace_back();
        } else if (path[i] == '[') {
            parts.emplace_back("[]");
            ++i;
        } else {
            parts.back() += path[i];
        }
    }
    return parts;
}

const SchemaNode* descend(const SchemaNode& root, std::string_view path)
{
    const SchemaNode* node = &root;
    for (const std::string& part : split_path(path))
        node = part == "*" || part == "[]" ? node->item.get() : node->field(part);
    return node;
}

void insert(SchemaNode& root, const Key& key)
{
    const std::vector<std::string> parts = split_path(key.path);
    SchemaNode* node = &root;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        node = const_cast<SchemaNode*>(parts[i] == "*" || parts[i] == "[]" ? node->item.get() : node->field(parts[i]));
    auto leaf = std::make_unique<SchemaNode>();
    leaf->key = &key;
    leaf->name = parts.back();
    if (parts.back() == "*" || parts.back() == "[]")
        node->item = std::move(leaf);
    else
        node->children.push_back(std::move(leaf));
}

void resolve_likes(const SchemaNode& root, SchemaNode& node)
{
    if (node.key && !node.key->like.empty()) node.like = descend(root, node.key->like);
    for (auto& child : node.children) resolve_likes(root, *child);
    if (node.item) resolve_likes(root, *node.item);
}

std::string child_path(const std::string& path, const std::string& name)
{
    return path.empty() ? name : path + "." + name;
}

/// "contact", or "the scene" at the top.
std::string place_name(const std::string& path)
{
    return path.empty() ? "the scene" : path;
}

[[noreturn]] void wrong_type(const Value& value, const std::string& path, const std::string& wanted)
{
    if (value.kind == Value::Kind::null) fail(value.mark, path + " must be " + wanted + ", but is empty");
    fail(value.mark, path + " must be " + wanted + ", but is " + kind_name(value));
}

std::string quantity_name(const Key& key)
{
    const Unit unit = parse_unit(key.unit);
    if (unit.dimension == Dimension{}) return "a number";
    return describe(unit.dimension) + " like '1 " + std::string(key.unit) + "'";
}

bool is_word_of(const Key& key, const Value& value)
{
    const std::vector<std::string> words = split_words(key.words);
    return value.is_scalar() && std::find(words.begin(), words.end(), value.scalar) != words.end();
}

/// "a length like '1 m' or auto".
std::string wanted_number(const Key& key)
{
    std::vector<std::string> words = split_words(key.words);
    words.insert(words.begin(), quantity_name(key));
    return join_or(words);
}

void check_range(const Key& key, const Value& value, Real x, const std::string& path)
{
    if (std::isnan(x)) fail(value.mark, path + " is not a number (NaN)");
    if (std::isinf(x)) fail(value.mark, path + " is infinite");
    const Range& r = key.range;
    const bool low_ok = r.low_open ? x > r.low : x >= r.low;
    const bool high_ok = r.high_open ? x < r.high : x <= r.high;
    if (low_ok && high_ok) return;
    const std::string unit = key.unit.empty() ? "" : " " + std::string(key.unit);
    fail(value.mark, path + " must be " + describe(r) + ", but is " + to_text(x) + unit);
}

void normalise_number(const Key& key, Value& value, const std::string& path)
{
    if (!value.is_scalar()) wrong_type(value, path, wanted_number(key));
    Quantity q;
    try {
        q = parse_quantity(value.scalar);
    } catch (const Error& e) {
        const std::string what = e.what();
        if (what.ends_with("is not a number")) wrong_type(value, path, wanted_number(key));
        fail(value.mark, path + ": " + what);
    }
    Real x = q.value;
    if (q.has_unit) {
        const Unit wanted = parse_unit(key.unit);
        if (q.unit.dimension != wanted.dimension)
            fail(value.mark, path + " must be " + wanted_number(key) + ", but '" + value.scalar + "' is " +
                                 describe(q.unit.dimension));
        x = convert(q.value, q.unit, wanted);
    }
    check_range(key, value, x, path);
    value.scalar = to_text(x);
}

void normalise_integer(const Key& key, Value& value, const std::string& path)
{
    constexpr Real largest = 9007199254740992.0; // 2^53: every whole number up to here is a double
    Real x = 0;
    if (!value.is_scalar() || !parse_number(value.scalar, x)) wrong_type(value, path, "a whole number");
    check_range(key, value, x, path);
    if (x != std::floor(x) || std::abs(x) > largest) wrong_type(value, path, "a whole number");
    value.scalar = std::to_string(static_cast<std::int64_t>(x));
}

void normalise_vector(const Key& key, Value& value, const std::string& path, std::size_t size, bool whole)
{
    const std::string wanted = "a list of " + std::to_string(size) + (whole ? " whole numbers" : " numbers");
    if (!value.is_list())
        wrong_type(value, path, key.words.empty() ? wanted : wanted + " or " + std::string(key.words));
    if (value.items.size() != size)
        fail(value.mark, path + " must be " + wanted + ", but has " + std::to_string(value.items.size()));
    for (std::size_t i = 0; i < size; ++i) {
        const std::string item_path = path + "[" + std::to_string(i) + "]";
        whole ? normalise_integer(key, value.items[i], item_path) : normalise_number(key, value.items[i], item_path);
    }
}

void check_name(const Value::Entry& entry, const std::string& path)
{
    const bool good = !entry.key.empty() && std::all_of(entry.key.begin(), entry.key.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c >= 0x80;
    });
    if (!good) fail(entry.mark, "'" + entry.key + "' in " + path + " is not a name: use letters, digits, '-' and '_'");
}

void normalise(const SchemaNode& node, Value& value, const std::string& path);

/// The fields of a map: all, or those that belong to its `type`.
std::vector<const SchemaNode*> fields_of(const SchemaNode& node, Value& value, const std::string& path,
                                         std::string& type)
{
    const SchemaNode* discriminator = node.field("type");
    if (discriminator) {
        Value* given = value.find("type");
        if (!given) fail(value.mark, "missing key 'type' in " + path);
        normalise(*discriminator, *given, child_path(path, "type"));
        type = given->scalar;
    }
    std::vector<const SchemaNode*> fields;
    for (const auto& f : node.fields())
        if (f->key->only.empty() || f->key->only == type) fields.push_back(f.get());
    return fields;
}

void reject_unknown(const std::vector<const SchemaNode*>& fields, const SchemaNode& node, const Value& value,
                    const std::string& path, const std::string& type)
{
    std::vector<std::string> names;
    for (const SchemaNode* f : fields) names.push_back(f->name);
    for (const Value::Entry& e : value.entries) {
        if (std::find(names.begin(), names.end(), e.key) != names.end()) continue;
        if (node.field(e.key)) fail(e.mark, "key '" + e.key + "' in " + path + " does not belong to type " + type);
        const std::string hint = did_you_mean(e.key, names);
        fail(e.mark, "unknown key '" + e.key + "' in " + place_name(path) +
                         (hint.empty() ? "; known are " + join_or(names) : hint));
    }
}

void normalise_map(const SchemaNode& node, Value& value, const std::string& path)
{
    if (!value.is_map()) wrong_type(value, place_name(path), "a map");
    std::string type;
    const std::vector<const SchemaNode*> fields = fields_of(node, value, path, type);
    reject_unknown(fields, node, value, path, type);
    if (node.key && node.key->kind == KeyKind::one_of && value.entries.size() != 1) {
        std::vector<std::string> names;
        for (const SchemaNode* f : fields) names.push_back(f->name);
        const Mark at = value.entries.size() > 1 ? value.entries[1].mark : value.mark;
        fail(at, path + " takes exactly one of " + join_or(names));
    }
    const bool one_of = node.key && node.key->kind == KeyKind::one_of;
    Value ordered = make_map(value.mark);
    for (const SchemaNode* f : fields) {
        const std::string at = child_path(path, f->name);
        const auto entry = std::find_if(value.entries.begin(), value.entries.end(),
                                        [&](const Value::Entry& e) { return e.key == f->name; });
        if (entry != value.entries.end()) {
            // `sphere:` alone is a sphere with its defaults
            if (one_of && entry->value.kind == Value::Kind::null && f->key->kind == KeyKind::map)
                entry->value = make_map(entry->value.mark);
            normalise(*f, entry->value, at);
            ordered.entries.push_back(std::move(*entry));
        } else if (f->key->fallback == "required") {
            fail(value.mark, "missing key '" + f->name + "' in " + place_name(path));
        } else if (!f->key->fallback.empty()) {
            Value fallback = read_yaml(std::string(f->key->fallback), "default of " + at);
            fallback.mark = value.mark;
            normalise(*f, fallback, at);
            ordered.set(f->name, std::move(fallback));
        }
    }
    value = std::move(ordered);
}

void normalise_list(const SchemaNode& node, Value& value, const std::string& path)
{
    if (value.is_map() && node.item->key->kind == KeyKind::map) { // one entry may stand without its list
        Value single = std::move(value);
        const Mark at = single.mark;
        std::vector<Value> items;
        items.push_back(std::move(single));
        value = make_list(std::move(items), at);
    }
    if (!value.is_list()) wrong_type(value, path, "a list");
    for (std::size_t i = 0; i < value.items.size(); ++i)
        normalise(*node.item, value.items[i], path + "[" + std::to_string(i) + "]");
}

void normalise_text(const Value& value, const std::string& path)
{
    if (!value.is_scalar()) wrong_type(value, path, "a text");
}

void normalise_choice(const Key& key, const Value& value, const std::string& path)
{
    const std::vector<std::string> words = split_words(key.words);
    if (!value.is_scalar()) wrong_type(value, path, join_or(words));
    if (!is_word_of(key, value)) {
        const std::string hint = did_you_mean(value.scalar, words);
        fail(value.mark, path + " must be " + join_or(words) + ", but is " + kind_name(value) + hint);
    }
}

void normalise(const SchemaNode& node, Value& value, const std::string& path)
{
    const Key& key = *node.key;
    const bool numeric = key.kind == KeyKind::number || key.kind == KeyKind::vector2 || key.kind == KeyKind::vector3;
    if (numeric && is_word_of(key, value)) return;
    switch (key.kind) {
    case KeyKind::map:
    case KeyKind::one_of:
        normalise_map(node, value, path);
        break;
    case KeyKind::named:
        if (!value.is_map()) wrong_type(value, path, "a map of names");
        for (Value::Entry& e : value.entries) {
            check_name(e, path);
            normalise(*node.item, e.value, child_path(path, e.key));
        }
        break;
    case KeyKind::list:
        normalise_list(node, value, path);
        break;
    case KeyKind::text:
        normalise_text(value, path);
        break;
    case KeyKind::texts:
        if (!value.is_list()) {
            std::vector<Value> items{value};
            value = make_list(std::move(items), value.mark);
        }
        for (const Value& item : value.items) normalise_text(item, path);
        break;
    case KeyKind::choice:
        normalise_choice(key, value, path);
        break;
    case KeyKind::boolean:
        if (!value.is_scalar() || (value.scalar != "true" && value.scalar != "false"))
            wrong_type(value, path, "true or false");
        break;
    case KeyKind::integer:
        normalise_integer(key, value, path);
        break;
    case KeyKind::number:
        normalise_number(key, value, path);
        break;
    case KeyKind::vector2:
        normalise_vector(key, value, path, 2, false);
        break;
    case KeyKind::vector3:
        normalise_vector(key, value, path, 3, false);
        break;
    case KeyKind::integer2:
        normalise_vector(key, value, path, 2, true);
        break;
    case KeyKind::integer3:
        normalise_vector(key, value, path, 3, true);
        break;
    case KeyKind::integers:
        if (!value.is_list()) wrong_type(value, path, "a list of whole numbers");
        for (std::size_t i = 0; i < value.items.size(); ++i)
            normalise_integer(key, value.items[i], path + "[" + std::to_string(i) + "]");
        break;
    case KeyKind::pair:
        if (!value.is_list() || value.items.size() != 2) wrong_type(value, path, "a list of two names");
        for (const Value& item : value.items) normalise_text(item, path);
        break;
    }
}

} // namespace

const SchemaNode* SchemaNode::field(std::string_view name_) const
{
    for (const auto& child : fields())
        if (child->name == name_) return child.get();
    return nullptr;
}

const SchemaNode& scene_schema()
{
    static const SchemaNode* root = [] {
        auto* tree = new SchemaNode;
        for (const Key& key : scene_keys()) insert(*tree, key);
        resolve_likes(*tree, *tree);
        return tree;
    }();
    return *root;
}

void validate(Value& document)
{
    normalise_map(scene_schema(), document, "");
}

void merge(Value& base, const Value& over, const SchemaNode* node)
{
    if (!base.is_map() || !over.is_map()) {
        base = over;
        return;
    }
    if (node && node->key && node->key->kind == KeyKind::one_of && !over.entries.empty())
        std::erase_if(base.entries, [&](const Value::Entry& e) { return !over.has(e.key); });
    for (const Value::Entry& e : over.entries) {
        const SchemaNode* child = !node ? nullptr : node->item ? node->item.get() : node->field(e.key);
        if (Value* old = base.find(e.key))
            merge(*old, e.value, child);
        else
            base.entries.push_back(e);
    }
}

std::string describe(const Range& r)
{
    const bool low = std::isfinite(r.low), high = std::isfinite(r.high);
    std::string text;
    if (low) text += (r.low_open ? "greater than " : "at least ") + to_text(r.low);
    if (low && high) text += " and ";
    if (high) text += (r.high_open ? "less than " : "at most ") + to_text(r.high);
    return text;
}

std::vector<std::string> split_words(std::string_view words)
{
    std::vector<std::string> list;
    while (!words.empty()) {
        const std::size_t n = std::min(words.find(' '), words.size());
        if (n > 0) list.emplace_back(words.substr(0, n));
        words.remove_prefix(std::min(n + 1, words.size()));
    }
    return list;
}

} // namespace pliant
