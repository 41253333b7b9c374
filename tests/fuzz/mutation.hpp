#pragma once
// Inputs near good ones: bytes, numbers and pieces changed at random.

#include "pliant/core/random.hpp"

#include <string>
#include <vector>

namespace pliant {

class Mutator {
public:
    Mutator(std::uint64_t seed, std::vector<std::string> good) : random_(seed), good_(std::move(good)) {}

    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_.uniform(0, Real(n))) % n; }
    const std::vector<std::string>& good() const { return good_; }

    std::string next()
    {
        std::string text = good_[below(good_.size())];
        for (std::size_t n = 1 + below(4); n > 0; --n) change(text);
        return text;
    }
    void change(std::string& text)
    {
        const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
        switch (below(7)) {
        case 0:
            if (at < text.size()) text[at] = static_cast<char>(below(256));
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(at, text.substr(below(text.size() + 1), length));
            break;
        case 3:
            replace_number(text);
            break;
        case 4:
            text.insert(at, words[below(std::size(words))]);
            break;
        case 5: { // the end of another good input
            const std::string& other = good_[below(good_.size())];
            text = text.substr(0, at) + other.substr(below(other.size() + 1));
            break;
        }
        case 6:
            text.resize(at);
            break;
        }
        if (text.size() > most_bytes) text.resize(most_bytes);
    }

private:
    static constexpr std::size_t most_bytes = 200'000;
    static constexpr const char* numbers[] = {
        "0",     "-1",      "1",   "2",    "-2147483648", "2147483647", "4294967296", "9223372036854775808",
        "1e308", "1e-9",    "nan", "-inf", "1e99",        "0x10",       "1_000",      "3.",
        "-0",    "99999999"};
    static constexpr const char* words[] = {
        "[",    "]",      "{",       "}",      ":",    ",",         "\n",        "- ",           "*a",
        "&a ",  "<<: *a", "\"",      "'",      "#",    "\\",        "null",      "true",         "\t",
        "\xff", "\x00",   "include", "..",     "/",    "%",         " mm",       "deg",          "[[[[[",
        "{a: ", "~",      "|\n",     "!!int ", "\r\n", "f 1 2 3\n", "v 1 2 3\n", "end_header\n", "$Nodes\n"};

    /// One of the numbers in the text becomes one that programs stumble over.
    void replace_number(std::string& text)
    {
        const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
        std::size_t begin = below(text.size() + 1);
        while (begin < text.size() && !is_digit(text[begin])) ++begin;
        std::size_t end = begin;
        while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
        text.replace(begin, end - begin, numbers[below(std::size(numbers))]);
    }

    Random random_;
    std::vector<std::string> good_;
};

} // namespace pliant
