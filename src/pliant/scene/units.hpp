#pragma once
// Quantities with units: "4 ms", "20 kN/m^2", "30 deg". Everything is converted to SI; dimensions are checked.

#include "pliant/core/types.hpp"

#include <string>
#include <string_view>

namespace pliant {

/// Exponents of kilogram, metre, second and radian. Angles count as a dimension, so that a length is not an angle.
struct Dimension {
    int mass = 0, length = 0, time = 0, angle = 0;
    friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// A unit: factor * 10^exponent in SI, and its dimension. Powers of ten stay apart, so that "1 g/cm^3" is 1000 exactly.
struct Unit {
    Real factor = 1;
    int exponent = 0;
    Dimension dimension;
};

/// A number in one unit, converted to another of the same dimension.
Real convert(Real value, const Unit& from, const Unit& to = {});

/// Parses "kN/m^2", "g/cm^3", "N m", "rad/s"; empty text is the dimensionless unit. Throws Error on unknown names.
Unit parse_unit(std::string_view text);

struct Quantity {
    Real value = 0;        ///< as written
    bool has_unit = false; ///< false for a plain number
    Unit unit;
};

/// Parses a number followed by an optional unit. Throws Error with a sentence that does not name the place.
Quantity parse_quantity(std::string_view text);

/// True and the value when the whole text is one number (also inf and nan, as YAML writes them: .inf, .nan).
bool parse_number(std::string_view text, Real& value);

/// "a length", "a time", ...; for a dimension without a name its SI unit, "a quantity in kg/s^2".
std::string describe(const Dimension& dimension);

/// The shortest decimal text that reads back as the same number.
std::string to_text(Real value);

} // namespace pliant
