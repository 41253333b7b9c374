#pragma once
// An option of a method as a scene file sees it.

#include "pliant/core/types.hpp"

#include <any>
#include <limits>
#include <string_view>

namespace pliant {

/// Allowed interval of a number, in the unit of its key; each component of a vector.
struct Range {
    Real low = -std::numeric_limits<Real>::infinity(), high = std::numeric_limits<Real>::infinity();
    bool low_open = false, high_open = false; ///< the bound itself is not allowed
};
constexpr Range above(Real low)
{
    return {low, std::numeric_limits<Real>::infinity(), true, false};
}
constexpr Range at_least(Real low)
{
    return {low, std::numeric_limits<Real>::infinity(), false, false};
}
constexpr Range between(Real low, Real high)
{
    return {low, high, false, false};
}

enum class OptionKind { number, integer, choice, boolean };

/// A value that a scene gave, in the option's unit and range.
struct OptionValue {
    Real number = 0;       ///< of a number or an integer
    std::string_view word; ///< of a choice; "true" or "false" of a boolean
};

/// What a scene that chose another method may say about an option.
enum class Elsewhere {
    ignored, ///< anything: the value has no effect
    refused, ///< nothing but the default, because a reader would believe that it has an effect; of choices only
};

struct MethodOption {
    std::string_view path; ///< of the scene's key, like "contact.tolerance"
    OptionKind kind = OptionKind::number;
    std::string_view unit = {};     ///< of a plain number
    Range range = {};               ///< of numbers
    std::string_view words = {};    ///< of a choice, separated by spaces
    std::string_view fallback = {}; ///< the default as a scene would write it; the same as the struct's own
    std::string_view meaning = {};
    Elsewhere elsewhere = Elsewhere::ignored;
    /// Puts the value into the method's struct of options.
    void (*set)(std::any& options, const OptionValue& value) = nullptr;
};

/// MethodOption::set from a lambda without captures that takes the struct itself.
template <class Options, class Set>
constexpr auto setter(Set)
{
    return +[](std::any& options, const OptionValue& value) { Set()(std::any_cast<Options&>(options), value); };
}

} // namespace pliant
