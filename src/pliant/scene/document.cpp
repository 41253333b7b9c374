#include "pliant/scene/document.hpp"

#include "pliant/scene/schema.hpp"
#include "pliant/scene/units.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace pliant {
namespace {

using Json = nlohmann::ordered_json;

std::string type_name(const Key& key)
{
    std::string name;
    switch (key.kind) {
    case KeyKind::map:
        name = "map";
        break;
    case KeyKind::named:
        name = "map of names";
        break;
    case KeyKind::list:
        name = "list";
        break;
    case KeyKind::one_of:
        name = "map with one key";
        break;
    case KeyKind::text:
        name = "text";
        break;
    case KeyKind::texts:
        name = "text or list";
        break;
    case KeyKind::boolean:
        name = "true or false";
        break;
    case KeyKind::integer:
        name = "whole number";
        break;
    case KeyKind::number:
        name = "number";
        break;
    case KeyKind::vector2:
        name = "2 numbers";
        break;
    case KeyKind::vector3:
        name = "3 numbers";
        break;
    case KeyKind::integer2:
        name = "2 whole numbers";
        break;
    case KeyKind::integer3:
        name = "3 whole numbers";
        break;
    case KeyKind::integers:
        name = "list of whole numbers";
        break;
    case KeyKind::pair:
        name = "2 names";
        break;
    case KeyKind::choice:
        break;
    }
    for (const std::string& word : split_words(key.words)) name += (name.empty() ? "`" : " or `") + word + "`";
    return name;
}

std::string default_name(const Key& key)
{
    if (key.fallback == "required") return "required";
    if (key.fallback.empty() || key.fallback == "{}") return "";
    return "`" + std::string(key.fallback) + "`";
}

/// A section: heading, meaning and the table of the keys of one map.
void write_section(const SchemaNode& node, const std::string& only, std::string& out)
{
    out += "| key | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n";
    for (const auto& f : node.children) {
        const Key& key = *f->key;
        if (!only.empty() ? key.only != only : !key.only.empty()) continue;
        std::string meaning(key.meaning);
        if (!key.like.empty()) meaning += " Keys as in `" + std::string(key.like) + "`.";
        out += "| `" + f->name + "` | " + type_name(key) + " | " + std::string(key.unit) + " | " + describe(key.range) +
               " | " + default_name(key) + " | " + meaning + " |\n";
    }
    out += "\n";
}

void write_sections(const SchemaNode& node, std::string& out)
{
    for (const auto& f : node.children) {
        const SchemaNode* map = f.get();
        while (map->item) map = map->item.get();
        if (map->children.empty()) continue;
        const std::string path(map->key->path);
        out += "## `" + path + "`\n\n" + std::string(f->key->meaning) + "\n\n";
        write_section(*map, "", out);
        if (const SchemaNode* type = map->field("type"))
            for (const std::string& only : split_words(type->key->words)) {
                out += "### `" + path + "` with `type: " + only + "`\n\n";
                write_section(*map, only, out);
            }
        write_sections(*map, out);
    }
}

Json number_schema(const Key& key, bool whole)
{
    Json number = {{"type", whole ? "integer" : "number"}};
    if (std::isfinite(key.range.low)) number[key.range.low_open ? "exclusiveMinimum" : "minimum"] = key.range.low;
    if (std::isfinite(key.range.high)) number[key.range.high_open ? "exclusiveMaximum" : "maximum"] = key.range.high;
    if (whole) return number;
    // A quantity with a unit is a text for an editor; the loader checks it.
    return {{"anyOf", {number, {{"type", "string"}, {"pattern", "^[-+.0-9]"}}}}};
}

Json list_schema(const Json& item, int size)
{
    Json list = {{"type", "array"}, {"items", item}};
    if (size > 0) list["minItems"] = list["maxItems"] = size;
    return list;
}

Json schema_of(const SchemaNode& node);

Json map_schema(const SchemaNode& node, const std::string& only)
{
    Json properties = Json::object(), required = Json::array();
    for (const auto& f : node.fields()) {
        const Key& key = *f->key;
        if (!key.only.empty() && key.only != only) continue;
        properties[f->name] = schema_of(*f);
        if (f->name == "type" && !only.empty()) properties["type"] = {{"const", only}};
        if (key.fallback == "required") required.push_back(f->name);
    }
    Json map = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) map["required"] = required;
    return map;
}

Json schema_of(const SchemaNode& node)
{
    const Key& key = *node.key;
    Json schema;
    switch (key.kind) {
    case KeyKind::map:
        if (const SchemaNode* type = node.field("type")) {
            Json variants = Json::array();
            for (const std::string& only : split_words(type->key->words)) variants.push_back(map_schema(node, only));
            schema = {{"oneOf", variants}};
        } else {
            schema = map_schema(node, "");
        }
        break;
    case KeyKind::one_of:
        schema = map_schema(node, "");
        schema["minProperties"] = schema["maxProperties"] = 1;
        break;
    case KeyKind::named:
        schema = {{"type", "object"}, {"additionalProperties", schema_of(*node.item)}};
        break;
    case KeyKind::list:
        schema = list_schema(schema_of(*node.item), 0);
        if (node.item->key->kind == KeyKind::map) schema = {{"anyOf", {schema_of(*node.item), schema}}};
        break;
    case KeyKind::text:
        schema = {{"type", "string"}};
        break;
    case KeyKind::texts:
        schema = {{"anyOf", {{{"type", "string"}}, list_schema({{"type", "string"}}, 0)}}};
        break;
    case KeyKind::choice:
        schema = {{"enum", split_words(key.words)}};
        break;
    case KeyKind::boolean:
        schema = {{"type", "boolean"}};
        break;
    case KeyKind::integer:
        schema = number_schema(key, true);
        break;
    case KeyKind::number:
        schema = number_schema(key, false);
        break;
    case KeyKind::vector2:
        schema = list_schema(number_schema(key, false), 2);
        break;
    case KeyKind::vector3:
        schema = list_schema(number_schema(key, false), 3);
        break;
    case KeyKind::integer2:
        schema = list_schema(number_schema(key, true), 2);
        break;
    case KeyKind::integer3:
        schema = list_schema(number_schema(key, true), 3);
        break;
    case KeyKind::integers:
        schema = list_schema(number_schema(key, true), 0);
        break;
    case KeyKind::pair:
        schema = list_schema({{"type", "string"}}, 2);
        break;
    }
    if (key.kind != KeyKind::choice && !key.words.empty())
        schema = {{"anyOf", {{{"enum", split_words(key.words)}}, schema}}};
    schema["description"] = key.meaning;
    return schema;
}

} // namespace

std::string scene_reference()
{
    std::string out =
        "# Scene files\n\n"
        "A scene is a YAML file. This page lists every key; `pliant docs scene` prints it from the table that the "
        "loader itself uses. [scene.schema.json](scene.schema.json) tells editors the same.\n\n"
        "Numbers are in the unit of the table, or carry their own: `4 ms`, `20 kN/m^2`, `2 g/cm^3`, `30 deg`, `90 "
        "rpm`, "
        "`10 %`. A unit of another dimension is an error. Names of units: m, g, t, s, min, h, N, Pa, J, W, Hz, rad, "
        "deg, "
        "rev, rpm, %; prefixes n, u, m, c, k, M, G; joined by `*`, `/`, a space and `^`. A range holds for each "
        "component of a list.\n\n"
        "`--set contact.friction=0.5` on the command line overrides a key; the value is YAML, and a number in the path "
        "selects an item of a list (`friction.0.value=1`).\n\n"
        "## The scene\n\n";
    write_section(scene_schema(), "", out);
    write_sections(scene_schema(), out);
    out.pop_back();
    return out;
}

std::string scene_json_schema()
{
    Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Pliant scene"}};
    schema.update(map_schema(scene_schema(), ""));
    return schema.dump(1) + "\n";
}

} // namespace pliant
