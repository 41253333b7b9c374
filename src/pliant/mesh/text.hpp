#pragma once
// Words and numbers of a text file with the line they stand on, and numbers back to text.

#include "pliant/core/types.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace pliant {

/// Reads words; '#' has no meaning here. A word never spans lines.
class TextReader {
public:
    TextReader(std::string_view text, std::string name, Index first_line = 0)
        : rest_(text), name_(std::move(name)), line_number_(first_line)
    {}

    /// Moves to the next line; false at the end of the text.
    bool next_line();
    /// Next word of the current line; empty at its end.
    std::string_view word();
    /// Next word of this or a later line; fails with "expected <what>" at the end of the text.
    std::string_view need_word(const char* what);
    /// Numbers across lines, as need_word(); a real must be finite.
    Real need_real(const char* what) { return to_real(need_word(what), what); }
    std::int64_t need_integer(const char* what) { return to_integer(need_word(what), what); }

    Real to_real(std::string_view word, const char* what) const;
    std::int64_t to_integer(std::string_view word, const char* what) const;

    /// What is left of the current line, and of the text after it.
    std::string_view rest_of_line() const { return line_; }
    std::string_view rest() const { return rest_; }
    std::size_t bytes_left() const { return line_.size() + rest_.size(); }
    Index line_number() const { return line_number_; }

    /// Throws Error "<name>:<line>: <message>".
    [[noreturn]] void fail(const std::string& message) const { fail_at(line_number_, message); }
    [[noreturn]] void fail_at(Index line, const std::string& message) const;
    /// A word for a message: shortened, with unprintable characters replaced.
    static std::string quoted(std::string_view word);

private:
    std::string_view rest_, line_;
    std::string name_;
    Index line_number_ = 0;
};

/// Shortest text that reads back as the same number.
template <class Number>
void append_number(std::string& out, Number value)
{
    char buffer[40];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    out.append(buffer, result.ptr);
}

inline void append_point(std::string& out, const Vec3& x)
{
    append_number(out, x.x());
    out += ' ';
    append_number(out, x.y());
    out += ' ';
    append_number(out, x.z());
}

} // namespace pliant
