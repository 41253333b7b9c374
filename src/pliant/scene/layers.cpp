#include "pliant/scene/layers.hpp"

#include "pliant/scene/schema.hpp"
#include "pliant/scene/suggest.hpp"
#include "pliant/scene/yaml_reader.hpp"

#include <algorithm>
#include <charconv>

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_includes = 100; ///< files read for one scene; a chain of doublings grows without bound

struct Reader {
    std::vector<std::pair<fs::path, std::string>> open; ///< files being read: canonical path, name for messages
    std::size_t files = 0;

    Value expand(Value root, const fs::path& directory)
    {
        if (!root.is_map()) fail(root.mark, "a scene must be a map of keys, but is " + kind_name(root));
        const Value* include = root.find("include");
        if (!include) return root;
        Value merged = make_map(root.mark);
        if (include->is_list())
            for (const Value& item : include->items) merge(merged, read_included(item, directory));
        else
            merge(merged, read_included(*include, directory));
        root.erase("include");
        merge(merged, root);
        return merged;
    }

    Value read_included(const Value& name, const fs::path& directory)
    {
        if (!name.is_scalar())
            fail(name.mark, "include must be a file name or a list of them, but is " + kind_name(name));
        const fs::path path = directory / name.scalar;
        std::error_code status;
        if (!fs::exists(path, status)) fail(name.mark, "cannot find the included file '" + path.string() + "'");
        const fs::path canonical = fs::weakly_canonical(path, status);
        const auto is_open = [&](const auto& f) { return f.first == canonical; };
        if (std::any_of(open.begin(), open.end(), is_open)) {
            std::string chain;
            for (const auto& f : open) chain += f.second + " -> ";
            fail(name.mark, "include goes in a circle: " + chain + path.string());
        }
        if (++files > max_includes) fail(name.mark, "more than " + std::to_string(max_includes) + " included files");
        return read(path, canonical);
    }

    Value read(const fs::path& path, const fs::path& canonical)
    {
        open.emplace_back(canonical, path.string());
        Value value = expand(read_yaml_file(path), path.parent_path());
        open.pop_back();
        return value;
    }
};

void place_all(Value& value, const Mark& mark)
{
    value.mark = mark;
    for (Value& item : value.items) place_all(item, mark);
    for (Value::Entry& e : value.entries) {
        e.mark = mark;
        place_all(e.value, mark);
    }
}

void set_path(Value& node, const SchemaNode* schema, std::span<const std::string> parts, const Value& value)
{
    if (parts.empty()) {
        merge(node, value, schema);
        return;
    }
    const std::string& part = parts.front();
    const SchemaNode* child = !schema ? nullptr : schema->item ? schema->item.get() : schema->field(part);
    if (node.is_list()) {
        std::size_t index = 0;
        const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), index);
        if (status != std::errc() || end != part.data() + part.size() || index >= node.items.size())
            fail(value.mark, "'" + part + "' is not an item of a list of " + std::to_string(node.items.size()));
        set_path(node.items[index], child, parts.subspan(1), value);
        return;
    }
    if (!node.is_map()) node = make_map(value.mark);
    if (schema && schema->key && schema->key->kind == KeyKind::one_of)
        std::erase_if(node.entries, [&](const Value::Entry& e) { return e.key != part; });
    if (schema && schema->key && schema->key->kind == KeyKind::named && parts.size() > 1 && !node.has(part)) {
        std::vector<std::string> names;
        for (const Value::Entry& e : node.entries) names.push_back(e.key);
        fail(value.mark, "there is no '" + part + "' in " + schema->name + did_you_mean(part, names));
    }
    if (!node.has(part)) {
        Value fresh;
        fresh.mark = value.mark;
        node.set(part, fresh);
    }
    set_path(*node.find(part), child, parts.subspan(1), value);
}

} // namespace

Value read_layers(const fs::path& path)
{
    std::error_code status;
    if (!fs::exists(path, status)) throw Error(path.string() + ": no such scene file");
    Reader reader;
    return reader.read(path, fs::weakly_canonical(path, status));
}

Value read_layers(const std::string& text, const std::string& name)
{
    Reader reader;
    return reader.expand(read_yaml(text, name), fs::path(name).parent_path());
}

void apply_override(Value& document, const std::string& assignment)
{
    const Mark mark = {std::make_shared<const std::string>("--set " + assignment), 0, 0};
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) fail(mark, "expected KEY=VALUE, like contact.friction=0.5");
    std::vector<std::string> parts(1);
    for (const char c : assignment.substr(0, equals)) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    if (std::any_of(parts.begin(), parts.end(), [](const std::string& p) { return p.empty(); }))
        fail(mark, "'" + assignment.substr(0, equals) + "' is not a key path like contact.friction");
    if (parts.front() == "include") fail(mark, "include belongs into a scene file, not on the command line");
    const std::string text = assignment.substr(equals + 1);
    if (text.empty()) fail(mark, "there is no value after '='");
    Value value = read_yaml(text, *mark.file);
    place_all(value, mark);
    set_path(document, &scene_schema(), parts, value);
}

} // namespace pliant
