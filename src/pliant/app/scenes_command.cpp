#include "pliant/app/commands.hpp"
#include "pliant/core/error.hpp"
#include "pliant/scene/document.hpp"
#include "pliant/scene/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// Beside the build directory, or where `cmake --install` has put them.
fs::path scenes_directory()
{
    std::error_code status;
    const fs::path program = fs::read_symlink("/proc/self/exe", status);
    for (const char* place : {"../scenes", "../share/pliant/scenes"}) {
        const fs::path directory = (program.parent_path() / place).lexically_normal();
        if (fs::is_directory(directory, status)) return directory;
    }
    throw Error("cannot find the scenes that come with pliant beside " + program.string());
}

void list_scenes()
{
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(scenes_directory()))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::error_code status;
    for (const fs::path& file : files) {
        const Scene scene = load_scene(file);
        fmt::print("{}\n    {}\n", fs::proximate(file, status).string(), scene.title);
        const std::string line = scene.about.substr(0, scene.about.find('\n'));
        if (!line.empty()) fmt::print("    {}\n", line);
    }
}

} // namespace

void add_scenes_command(CLI::App& app)
{
    app.add_subcommand("scenes", "List the scenes that come with pliant")->callback(list_scenes);
}

void add_docs_command(CLI::App& app)
{
    CLI::App* command = app.add_subcommand("docs", "Print reference pages made from the program's own tables");
    command->group(""); // for `make docs`, not for the list of commands
    command->require_subcommand(1);
    command->add_subcommand("scene", "docs/scene.md")->callback([] { fmt::print("{}", scene_reference()); });
    command->add_subcommand("schema", "docs/scene.schema.json")->callback([] {
        fmt::print("{}", scene_json_schema());
    });
}

} // namespace pliant
