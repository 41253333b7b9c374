#include "pliant/app/commands.hpp"
#include "pliant/app/progress.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/runner.hpp"

#include <fmt/format.h>

#include <csignal>
#include <memory>

namespace pliant {
namespace {

volatile std::sig_atomic_t interrupt_requested = 0;

/// The first signal asks the run to save and stop; a second one ends the process at once.
void on_signal(int signal)
{
    interrupt_requested = 1;
    std::signal(signal, SIG_DFL);
}

struct RunArguments {
    std::string scene, directory, end;
    std::vector<std::string> overrides;
    int threads = 0;
    bool resume = false, force = false, every_step = false, quiet = false, no_report = false;
    double checkpoint_every = 10;
};

std::filesystem::path default_directory(const std::string& scene)
{
    return std::filesystem::path("out") / std::filesystem::path(scene).stem();
}

void print_start(const Scene& scene, const World& world, const RunOptions& options)
{
    const Model& model = world.model;
    fmt::print("{}: {} bodies, {} triangles, {} unknowns, {} steps of {:g} s, method {}, into {}\n", scene.title,
               model.bodies.size(), model.surface.triangles.size(), 3 * (model.block_count() - count(model.pins)),
               scene.step_count(), scene.step, scene.method.method, options.directory.string());
    std::fflush(stdout);
}

int run(const RunArguments& arguments)
{
    std::vector<std::string> overrides = arguments.overrides;
    if (!arguments.end.empty()) overrides.push_back("time.end=" + arguments.end);
    set_thread_count(arguments.threads);
    const Scene scene = load_scene(arguments.scene, overrides);
    World world = build_world(scene);
    if (!arguments.resume) require_clean_start(arguments.scene, scene, world);

    RunOptions options;
    options.directory =
        arguments.directory.empty() ? default_directory(arguments.scene) : std::filesystem::path(arguments.directory);
    options.resume = arguments.resume;
    options.force = arguments.force;
    options.every_step = arguments.every_step;
    options.checkpoint_every = arguments.checkpoint_every;
    Progress progress;
    if (!arguments.quiet) {
        print_start(scene, world, options);
        options.on_step = [&](const RunProgress& p) { progress.update(p); };
    }
    options.interrupted = [] { return interrupt_requested != 0; };
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);

    RunResult result;
    try {
        result = run_scene(scene, world, options);
        progress.end();
    } catch (const StorageError& e) {
        progress.end();
        throw StorageError(std::string(e.what()) + "; what is stored so far can be continued with --resume");
    } catch (const std::exception&) {
        progress.end();
        throw;
    }
    std::signal(SIGINT, SIG_DFL); // all is stored
    std::signal(SIGTERM, SIG_DFL);
    int code = exit_done;
    if (!result.finished) {
        fmt::print("interrupted at step {} of {}, state saved; continue with --resume\n", result.step, result.steps);
        code = exit_interrupted;
    } else {
        if (!arguments.quiet)
            fmt::print("{} steps, {} frames in {}\n", result.steps, result.frames, duration_text(result.seconds));
        if (!arguments.no_report && !certify_and_report(options.directory, arguments.quiet)) code = exit_failed;
    }
    fmt::print("state hash {:016x}\n", result.hash);
    return code;
}

} // namespace

void require_clean_start(const std::string& path, const Scene& scene, const World& world)
{
    if (!promises_no_crossing(scene.method)) return;
    const RunMesh mesh = make_run_mesh(world.model);
    const FrameChecker checker(mesh);
    const FrameCheck found = checker.check(make_frame(world, 0, scene.step, {}));
    const std::string cure = fmt::format(
        "; method {} needs a start without intersections: move the bodies apart ('pliant check {}' lists all pairs)",
        scene.method.method, path);
    if (!found.crossings.empty()) {
        const TriangleCrossing& x = found.crossings.front();
        throw Error(fmt::format("{}: at the start '{}' and '{}' intersect at ({:.6g}, {:.6g}, {:.6g}) m{}", path,
                                mesh.bodies[x.body_a].name, mesh.bodies[x.body_b].name, x.position.x(), x.position.y(),
                                x.position.z(), cure));
    }
    for (const Enclosure& e : found.enclosed)
        if (mesh.bodies[e.container].plane != none)
            throw Error(fmt::format("{}: at the start '{}' is partly behind the plane '{}'{}", path,
                                    mesh.bodies[checker.body_of_vertex(e.vertex)].name, mesh.bodies[e.container].name,
                                    cure));
}

void add_run_command(CLI::App& app, int& exit_code)
{
    auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Simulate a scene into a run directory");
    command->add_option("scene", arguments->scene, "Scene file (YAML)")->required();
    command->add_option("-o,--output", arguments->directory, "Run directory [out/<name of the scene>]");
    command->add_option("--set", arguments->overrides, "Override a key of the scene, like contact.friction=0.5")
        ->expected(1)
        ->take_all();
    command->add_option("--end", arguments->end, "Simulated time, instead of the scene's time.end");
    command->add_option("--threads", arguments->threads, "Threads to use; 0 means all cores")
        ->check(CLI::Range(0, 1024));
    command->add_flag("--resume", arguments->resume, "Continue from the last checkpoint in the run directory");
    command->add_flag("--force", arguments->force, "Replace what the run directory holds");
    command->add_flag("--every-step", arguments->every_step, "Store a frame for every step");
    command->add_option("--checkpoint", arguments->checkpoint_every, "Seconds between checkpoints [10]")
        ->check(CLI::Range(0.0, 1e6));
    command->add_flag("--no-report", arguments->no_report, "Leave out the certificate and the report at the end");
    command->add_flag("-q,--quiet", arguments->quiet, "Print the state hash only");
    command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

} // namespace pliant
