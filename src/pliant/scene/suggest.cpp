#include "pliant/scene/suggest.hpp"

#include <algorithm>

namespace pliant {

int edit_distance(std::string_view a, std::string_view b)
{
    const std::size_t n = b.size();
    std::vector<int> before(n + 1), last(n + 1), row(n + 1);
    for (std::size_t j = 0; j <= n; ++j) last[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= n; ++j) {
            const int replace = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[n];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates)
{
    constexpr std::size_t longest = 64; // longer words are junk, and the table grows with the product of lengths
    if (word.size() > longest) return "";
    const std::string* best = nullptr;
    int best_distance = 1 + static_cast<int>(std::max<std::size_t>(word.size(), 3)) / 3;
    for (const std::string& c : candidates) {
        if (c.size() > longest) continue;
        const int d = edit_distance(word, c);
        if (d < best_distance) {
            best = &c;
            best_distance = d;
        }
    }
    return best ? "; did you mean '" + *best + "'?" : "";
}

std::string join_or(const std::vector<std::string>& words)
{
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text;
}

} // namespace pliant
