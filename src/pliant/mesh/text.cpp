#include "pliant/mesh/text.hpp"

#include "pliant/core/error.hpp"

#include <cmath>

namespace pliant {
namespace {

bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

std::string_view without_plus(std::string_view word)
{
    return word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
}

} // namespace

bool TextReader::next_line()
{
    if (rest_.empty()) {
        line_ = {};
        return false;
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_number_;
    return true;
}

std::string_view TextReader::word()
{
    std::size_t begin = 0;
    while (begin < line_.size() && is_space(line_[begin])) ++begin;
    std::size_t end = begin;
    while (end < line_.size() && !is_space(line_[end])) ++end;
    const std::string_view result = line_.substr(begin, end - begin);
    line_.remove_prefix(end);
    return result;
}

std::string_view TextReader::need_word(const char* what)
{
    for (;;) {
        if (const std::string_view w = word(); !w.empty()) return w;
        if (!next_line()) fail(std::string("the file ends where ") + what + " should stand");
    }
}

Real TextReader::to_real(std::string_view word, const char* what) const
{
    const std::string_view digits = without_plus(word);
    Real value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code == std::errc::result_out_of_range)
        fail(std::string(what) + " " + quoted(word) + " is out of the range of a double");
    if (code != std::errc() || end != digits.data() + digits.size())
        fail(std::string("expected ") + what + ", found " + quoted(word));
    if (!std::isfinite(value)) fail(std::string(what) + " must be a finite number, not " + quoted(word));
    return value;
}

std::int64_t TextReader::to_integer(std::string_view word, const char* what) const
{
    const std::string_view digits = without_plus(word);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc() || end != digits.data() + digits.size())
        fail(std::string("expected ") + what + ", found " + quoted(word));
    return value;
}

void TextReader::fail_at(Index line, const std::string& message) const
{
    throw Error(name_ + ":" + std::to_string(line) + ": " + message + ".");
}

std::string TextReader::quoted(std::string_view word)
{
    std::string text = "'";
    for (const char c : word.substr(0, 32)) text += c >= 0x20 && c < 0x7f ? c : '?';
    if (word.size() > 32) text += "...";
    return text + "'";
}

} // namespace pliant
