#include "pliant/app/commands.hpp"
#include "pliant/run/reader.hpp"
#include "pliant/run/runner.hpp"

#include <fmt/format.h>

#include <memory>

namespace pliant {
namespace {

int check_scene(const std::string& path, const std::vector<std::string>& overrides)
{
    const Scene scene = load_scene(path, overrides);
    const World world = build_world(scene);
    const Model& model = world.model;
    fmt::print("{}: {}\n", path, scene.title);
    fmt::print("{} steps of {:g} s, method {}, gravity ({:g}, {:g}, {:g}) m/s^2\n", scene.step_count(), scene.step,
               scene.method.method, model.gravity.x(), model.gravity.y(), model.gravity.z());
    fmt::print("{:<24} {:<9} {:>9} {:>9} {:>9} {:>9}\n", "body", "kind", "vertices", "triangles", "blocks", "gap [m]");
    for (const Body& b : model.bodies)
        fmt::print("{:<24} {:<9} {:>9} {:>9} {:>9} {:>9}\n", b.name, to_string(b.kind), b.vertex_count,
                   b.triangle_count, b.block_count, b.gap > 0 ? fmt::format("{:.3g}", b.gap) : "-");
    fmt::print("the scene is valid\n");
    return exit_done;
}

int check_run(const std::string& path)
{
    const RunReader reader(path);
    const Index frames = reader.frame_count();
    for (Index i = 0; i < frames; ++i) reader.frame(i);
    fmt::print("{}: {} frames, all readable\n", path, frames);
    return exit_done;
}

} // namespace

void add_check_command(CLI::App& app, int& exit_code)
{
    struct Arguments {
        std::string path;
        std::vector<std::string> overrides;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("check", "Check a scene file, or the frames of a run directory");
    command->add_option("path", arguments->path, "Scene file or run directory")->required();
    command->add_option("--set", arguments->overrides, "Override a key of the scene")->expected(1)->take_all();
    command->callback([arguments, &exit_code] {
        const bool is_run = std::filesystem::is_directory(arguments->path);
        exit_code = is_run ? check_run(arguments->path) : check_scene(arguments->path, arguments->overrides);
    });
}

} // namespace pliant
