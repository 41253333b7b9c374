#include "pliant/scene/value.hpp"

#include "pliant/scene/units.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace pliant {

std::string to_string(const Mark& mark)
{
    const std::string file = mark.file ? *mark.file : "scene";
    if (mark.line == 0) return file;
    return file + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

void fail(const Mark& mark, const std::string& message)
{
    throw SceneError(to_string(mark) + ": " + message);
}

const Value* Value::find(std::string_view key) const
{
    for (const Entry& e : entries)
        if (e.key == key) return &e.value;
    return nullptr;
}

Value* Value::find(std::string_view key)
{
    return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value& Value::at(std::string_view key) const
{
    if (const Value* v = find(key)) return *v;
    fail(mark, "missing key '" + std::string(key) + "'");
}

void Value::set(std::string_view key, Value value)
{
    if (Value* old = find(key)) {
        *old = std::move(value);
        return;
    }
    const Mark at = value.mark;
    entries.push_back({std::string(key), at, std::move(value)});
}

void Value::erase(std::string_view key)
{
    std::erase_if(entries, [&](const Entry& e) { return e.key == key; });
}

Real Value::real() const
{
    Real x = 0;
    if (!is_scalar() || !parse_number(scalar, x)) fail(mark, "expected a number");
    return x;
}

std::int64_t Value::integer() const
{
    std::int64_t n = 0;
    const auto [end, status] = std::from_chars(scalar.data(), scalar.data() + scalar.size(), n);
    if (!is_scalar() || status != std::errc() || end != scalar.data() + scalar.size())
        fail(mark, "expected a whole number");
    return n;
}

Vec2 Value::vec2() const
{
    if (items.size() != 2) fail(mark, "expected two numbers");
    return {items[0].real(), items[1].real()};
}

Vec3 Value::vec3() const
{
    if (items.size() != 3) fail(mark, "expected three numbers");
    return {items[0].real(), items[1].real(), items[2].real()};
}

Value make_scalar(std::string text, const Mark& mark)
{
    Value v;
    v.kind = Value::Kind::scalar;
    v.mark = mark;
    v.scalar = std::move(text);
    return v;
}

Value make_list(std::vector<Value> items, const Mark& mark)
{
    Value v;
    v.kind = Value::Kind::list;
    v.mark = mark;
    v.items = std::move(items);
    return v;
}

Value make_map(const Mark& mark)
{
    Value v;
    v.kind = Value::Kind::map;
    v.mark = mark;
    return v;
}

std::string kind_name(const Value& value)
{
    switch (value.kind) {
    case Value::Kind::null:
        return "nothing";
    case Value::Kind::list:
        return "a list";
    case Value::Kind::map:
        return "a map";
    case Value::Kind::scalar:
        break;
    }
    constexpr std::size_t longest = 40;
    if (value.scalar.size() > longest) return "'" + value.scalar.substr(0, longest) + "...'";
    return "'" + value.scalar + "'";
}

namespace {

std::string scalar_text(const std::string& text)
{
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '/';
    });
    const bool reserved = text == "-" || text == "null" || text == "true" || text == "false";
    if (plain && (!reserved || text == "true" || text == "false")) return text;
    std::string quoted = "\"";
    for (const unsigned char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (c < 0x20) {
            constexpr char hex[] = "0123456789abcdef";
            quoted += "\\x";
            quoted += hex[c >> 4];
            quoted += hex[c & 15];
        } else {
            quoted += static_cast<char>(c);
        }
    }
    return quoted + '"';
}

void write_flow(const Value& value, std::string& out)
{
    switch (value.kind) {
    case Value::Kind::null:
        out += "null";
        break;
    case Value::Kind::scalar:
        out += scalar_text(value.scalar);
        break;
    case Value::Kind::list:
        out += '[';
        for (std::size_t i = 0; i < value.items.size(); ++i) {
            if (i > 0) out += ", ";
            write_flow(value.items[i], out);
        }
        out += ']';
        break;
    case Value::Kind::map:
        out += '{';
        for (std::size_t i = 0; i < value.entries.size(); ++i) {
            if (i > 0) out += ", ";
            out += scalar_text(value.entries[i].key) + ": ";
            write_flow(value.entries[i].value, out);
        }
        out += '}';
        break;
    }
}

bool is_small(const Value& value)
{
    if (value.is_list())
        return std::none_of(value.items.begin(), value.items.end(), [](const Value& v) { return !is_small(v); });
    return !value.is_map() || value.entries.empty();
}

void write_block(const Value& value, int indent, std::string& out)
{
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    if (value.is_map() && !value.entries.empty()) {
        for (const Value::Entry& e : value.entries) {
            out += margin + scalar_text(e.key) + ":";
            if (is_small(e.value)) {
                out += ' ';
                write_flow(e.value, out);
                out += '\n';
            } else {
                out += '\n';
                write_block(e.value, indent + 2, out);
            }
        }
    } else if (value.is_list() && !is_small(value)) {
        for (const Value& item : value.items) {
            out += margin + "- ";
            write_flow(item, out);
            out += '\n';
        }
    } else {
        out += margin;
        write_flow(value, out);
        out += '\n';
    }
}

} // namespace

std::string to_yaml(const Value& value)
{
    std::string out;
    write_block(value, 0, out);
    return out;
}

} // namespace pliant
