#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Edits (insert, delete, replace, swap of neighbours) that turn a into b.
int edit_distance(std::string_view a, std::string_view b);

/// "; did you mean 'friction'?" for the nearest candidate, or "" when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b or c".
std::string join_or(const std::vector<std::string>& words);

} // namespace pliant
