// The order of the modules, as CONTRIBUTING.md lists them, against what the sources include.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const fs::path root = PLIANT_SOURCE_DIR;
const fs::path sources = root / "src" / "pliant";

Lines lines_of(const fs::path& path)
{
    std::ifstream stream(path);
    Lines lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Modules from top to bottom: the first column of the table under "Layout".
Lines listed_modules()
{
    const std::regex row(R"(\| `([a-z_]+)` \|.*)");
    Lines modules;
    bool layout = false;
    for (const std::string& line : lines_of(root / "CONTRIBUTING.md")) {
        std::smatch match;
        if (line.starts_with("## ")) layout = line == "## Layout";
        if (layout && std::regex_match(line, match, row)) modules.push_back(match[1]);
    }
    return modules;
}

std::vector<fs::path> source_files()
{
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(sources))
        if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

struct Length {
    std::size_t lines = 0;
    std::string what;
};

/// A function's braces stand alone on their lines, one under the other: our format gives them to nothing else.
void add_functions(const fs::path& file, std::vector<Length>& out)
{
    const Lines lines = lines_of(file);
    for (std::size_t open = 1; open < lines.size(); ++open) {
        const std::size_t indent = lines[open].find('{');
        if (indent == std::string::npos || lines[open].find_first_not_of(' ') != indent ||
            lines[open].size() != indent + 1)
            continue;
        const std::string closed = std::string(indent, ' ') + "}";
        const auto close = std::find(lines.begin() + static_cast<std::ptrdiff_t>(open), lines.end(), closed);
        std::size_t head = open - 1; // the line that begins at the brace's own indentation
        while (head > 0 && lines[head].find_first_not_of(' ') != indent) --head;
        out.push_back({static_cast<std::size_t>(close - lines.begin()) - open - 1,
                       fs::relative(file, sources).string() + ": " + lines[head].substr(indent)});
    }
}

void print_longest(const char* title, std::vector<Length> items)
{
    constexpr std::size_t shown = 8;
    std::stable_sort(items.begin(), items.end(), [](const Length& a, const Length& b) { return a.lines > b.lines; });
    items.resize(std::min(items.size(), shown));
    std::cout << title << "\n";
    for (const Length& item : items) std::cout << "  " << item.lines << "  " << item.what << "\n";
}

} // namespace

TEST(Layers, EveryModuleIsListed)
{
    Lines folders;
    for (const auto& entry : fs::directory_iterator(sources))
        if (entry.is_directory()) folders.push_back(entry.path().filename().string());
    Lines listed = listed_modules();
    std::sort(folders.begin(), folders.end());
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(listed, folders) << "CONTRIBUTING.md, Layout, does not list the folders of src/pliant";
}

TEST(Layers, AModuleIncludesOnlyModulesAboveIt)
{
    const Lines modules = listed_modules();
    const auto rank = [&](const std::string& module) {
        return std::find(modules.begin(), modules.end(), module) - modules.begin();
    };
    const std::regex include(R"(\s*#\s*include\s*["<]pliant/([^/">]+)/([^">]+)[">].*)");
    std::size_t includes = 0;
    for (const fs::path& file : source_files()) {
        const std::string own = fs::relative(file, sources).begin()->string();
        for (const std::string& line : lines_of(file)) {
            std::smatch match;
            if (!std::regex_match(line, match, include)) continue;
            ++includes;
            EXPECT_LE(rank(match[1]), rank(own))
                << fs::relative(file, root).string() << " includes pliant/" << match[1] << "/" << match[2] << ", but "
                << match[1] << " stands below " << own << " in CONTRIBUTING.md";
        }
    }
    EXPECT_GT(includes, 100u) << "the sources were not found";
}

TEST(Layers, SizesOfFilesAndFunctionsAreReported)
{
    std::vector<Length> files, functions;
    for (const fs::path& file : source_files()) {
        files.push_back({lines_of(file).size(), fs::relative(file, sources).string()});
        add_functions(file, functions);
    }
    print_longest("lines of the longest files:", files);
    print_longest("lines of the longest functions:", functions);
    EXPECT_GT(functions.size(), files.size()) << "the functions were not found";
}
