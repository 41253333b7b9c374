#include "pliant/scene/units.hpp"

#include "pliant/core/error.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace pliant {
namespace {

struct NamedUnit {
    std::string_view name;
    Unit unit;
    bool prefixes; ///< takes n, u, m, c, k, M, G in front
};

constexpr Real pi = std::numbers::pi;
constexpr NamedUnit named_units[] = {
    {"m", {1, 0, {0, 1, 0, 0}}, true},
    {"g", {1, -3, {1, 0, 0, 0}}, true},
    {"t", {1, 3, {1, 0, 0, 0}}, false},
    {"s", {1, 0, {0, 0, 1, 0}}, true},
    {"min", {60, 0, {0, 0, 1, 0}}, false},
    {"h", {3600, 0, {0, 0, 1, 0}}, false},
    {"N", {1, 0, {1, 1, -2, 0}}, true},
    {"Pa", {1, 0, {1, -1, -2, 0}}, true},
    {"J", {1, 0, {1, 2, -2, 0}}, true},
    {"W", {1, 0, {1, 2, -3, 0}}, true},
    {"Hz", {1, 0, {0, 0, -1, 0}}, true},
    {"rad", {1, 0, {0, 0, 0, 1}}, false},
    {"deg", {pi / 180, 0, {0, 0, 0, 1}}, false},
    {"rev", {2 * pi, 0, {0, 0, 0, 1}}, false},
    {"rpm", {2 * pi / 60, 0, {0, 0, -1, 1}}, false},
    {"%", {1, -2, {}}, false},
    {"1", {1, 0, {}}, false},
};

struct Prefix {
    std::string_view name;
    int exponent;
};
constexpr Prefix prefixes[] = {{"n", -9}, {"u", -6}, {"\xc2\xb5", -6}, {"m", -3},
                               {"c", -2}, {"k", 3},  {"M", 6},         {"G", 9}};

const NamedUnit* find_unit(std::string_view name)
{
    for (const NamedUnit& u : named_units)
        if (u.name == name) return &u;
    return nullptr;
}

Unit unit_by_name(std::string_view name)
{
    if (const NamedUnit* u = find_unit(name)) return u->unit;
    for (const Prefix& p : prefixes) {
        if (!name.starts_with(p.name)) continue;
        const NamedUnit* u = find_unit(name.substr(p.name.size()));
        if (u && u->prefixes) return {u->unit.factor, p.exponent + u->unit.exponent, u->unit.dimension};
    }
    throw Error("unknown unit '" + std::string(name) + "'");
}

void multiply(Unit& product, const Unit& u, int power)
{
    product.factor *= std::pow(u.factor, power);
    product.exponent += power * u.exponent;
    product.dimension.mass += power * u.dimension.mass;
    product.dimension.length += power * u.dimension.length;
    product.dimension.time += power * u.dimension.time;
    product.dimension.angle += power * u.dimension.angle;
}

bool is_separator(char c)
{
    return c == ' ' || c == '*' || c == '/' || c == '^';
}

void skip_spaces(std::string_view& rest)
{
    while (rest.starts_with(' ')) rest.remove_prefix(1);
}

int parse_power(std::string_view& rest, std::string_view whole)
{
    skip_spaces(rest);
    int power = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), power);
    if (status != std::errc() || std::abs(power) > 9 || power == 0)
        throw Error("bad power in unit '" + std::string(whole) + "'");
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return power;
}

} // namespace

Real convert(Real value, const Unit& from, const Unit& to)
{
    // Ten to a positive power is exact, so one multiplication or division rounds once.
    const int exponent = from.exponent - to.exponent;
    const Real power = std::pow(10.0, std::abs(exponent));
    const Real scaled = from.factor == to.factor ? value : value * (from.factor / to.factor);
    return exponent < 0 ? scaled / power : scaled * power;
}

Unit parse_unit(std::string_view text)
{
    skip_spaces(text);
    const std::string_view whole = text;
    Unit product;
    bool divide = false, expect_name = false;
    while (!text.empty()) {
        if (text.front() == '/' || text.front() == '*') {
            if (expect_name) throw Error("bad unit '" + std::string(whole) + "'");
            divide = text.front() == '/';
            expect_name = true;
            text.remove_prefix(1);
        } else {
            std::size_t n = 0;
            while (n < text.size() && !is_separator(text[n])) ++n;
            if (n == 0) throw Error("bad unit '" + std::string(whole) + "'");
            const Unit unit = unit_by_name(text.substr(0, n));
            text.remove_prefix(n);
            skip_spaces(text);
            int power = 1;
            if (text.starts_with('^')) {
                text.remove_prefix(1);
                power = parse_power(text, whole);
            }
            multiply(product, unit, divide ? -power : power);
            divide = expect_name = false;
        }
        skip_spaces(text);
    }
    if (expect_name) throw Error("bad unit '" + std::string(whole) + "'");
    return product;
}

bool parse_number(std::string_view text, Real& value)
{
    if (text.starts_with('+')) text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    const std::string_view magnitude = negative ? text.substr(1) : text;
    if (magnitude == ".inf" || magnitude == ".Inf" || magnitude == ".INF") {
        value = std::numeric_limits<Real>::infinity() * (negative ? -1 : 1);
        return true;
    }
    if (text == ".nan" || text == ".NaN" || text == ".NAN") {
        value = std::numeric_limits<Real>::quiet_NaN();
        return true;
    }
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || text.empty()) return false;
    if (status == std::errc::result_out_of_range) { // 1e999 or 1e-999
        value = std::strtod(std::string(text).c_str(), nullptr);
        return true;
    }
    return status == std::errc();
}

Quantity parse_quantity(std::string_view text)
{
    const std::string_view whole = text;
    Quantity q;
    if (parse_number(text, q.value)) return q;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), q.value);
    if (status != std::errc()) throw Error("'" + std::string(whole) + "' is not a number");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    q.unit = parse_unit(text);
    q.has_unit = true;
    return q;
}

std::string describe(const Dimension& d)
{
    struct Named {
        Dimension dimension;
        const char* name;
    };
    constexpr Named named[] = {
        {{}, "a plain number"},
        {{0, 1, 0, 0}, "a length"},
        {{1, 0, 0, 0}, "a mass"},
        {{0, 0, 1, 0}, "a time"},
        {{0, 0, 0, 1}, "an angle"},
        {{0, 1, -1, 0}, "a velocity"},
        {{0, 1, -2, 0}, "an acceleration"},
        {{0, 0, -1, 0}, "a rate (1/s)"},
        {{0, 0, -1, 1}, "an angular velocity"},
        {{1, -3, 0, 0}, "a density (kg/m^3)"},
        {{1, -2, 0, 0}, "an areal density (kg/m^2)"},
        {{1, 1, -2, 0}, "a force"},
        {{1, -1, -2, 0}, "a pressure"},
        {{1, 0, -2, 0}, "a spring stiffness (N/m)"},
        {{1, 2, -2, 0}, "an energy or bending stiffness (N m)"},
    };
    for (const Named& n : named)
        if (n.dimension == d) return n.name;
    std::string text;
    const auto append = [&](const char* unit, int power) {
        if (power == 0) return;
        if (!text.empty()) text += ' ';
        text += unit;
        if (power != 1) text += "^" + std::to_string(power);
    };
    append("kg", d.mass);
    append("m", d.length);
    append("s", d.time);
    append("rad", d.angle);
    return "a quantity in " + text;
}

std::string to_text(Real value)
{
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
    char buffer[32];
    const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return std::string(buffer, end);
}

} // namespace pliant
