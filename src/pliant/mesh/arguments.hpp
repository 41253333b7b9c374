#pragma once
// Checks that the generators share. They are for the user who typed the number: one sentence, naming shape and number.

#include "pliant/core/error.hpp"
#include "pliant/core/types.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace pliant {

inline void require_positive(const char* shape, const char* name, Real value)
{
    if (!(std::isfinite(value) && value > 0))
        throw Error(std::string(shape) + ": " + name + " must be a positive length, not " + std::to_string(value) +
                    ".");
}

inline void require_at_least(const char* shape, const char* name, Index value, Index least)
{
    if (value < least)
        throw Error(std::string(shape) + ": " + name + " must be at least " + std::to_string(least) + ", not " +
                    std::to_string(value) + ".");
}

/// `elements`: an estimate as a floating-point number, because the product itself may overflow.
inline void require_countable(const char* shape, Real elements)
{
    if (elements > Real(std::numeric_limits<Index>::max()) / 8)
        throw Error(std::string(shape) + ": a mesh of about " + std::to_string(elements) +
                    " elements is too large; ask for fewer.");
}

} // namespace pliant
