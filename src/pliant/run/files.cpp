#include "pliant/run/files.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Numbers of the frame files in a run directory, sorted.
std::vector<Index> frame_numbers(const fs::path& directory)
{
    std::vector<Index> numbers;
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(directory / run_file::frames, status)) {
        const std::string name = entry.path().filename().string();
        Index number = 0;
        const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (bad == std::errc() && std::string(end) == ".frame") numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

void remove_temporary_files_in(const fs::path& directory)
{
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(directory, status))
        if (entry.path().extension() == ".tmp") fs::remove(entry.path(), status);
}

} // namespace

fs::path run_file::frame(const fs::path& directory, Index number)
{
    char name[32];
    std::snprintf(name, sizeof name, "%06d.frame", number);
    return directory / frames / name;
}

Index count_frames(const fs::path& directory)
{
    const std::vector<Index> numbers = frame_numbers(directory);
    Index n = 0;
    while (n < count(numbers) && numbers[n] == n) ++n;
    return n;
}

void remove_frames(const fs::path& directory, Index from)
{
    std::error_code status;
    for (Index number : frame_numbers(directory))
        if (number >= from) fs::remove(run_file::frame(directory, number), status);
}

void remove_temporary_files(const fs::path& directory)
{
    remove_temporary_files_in(directory);
    remove_temporary_files_in(directory / run_file::frames);
}

} // namespace pliant
