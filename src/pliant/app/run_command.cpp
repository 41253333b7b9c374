#include "pliant/app/commands.hpp"
#include "pliant/app/progress.hpp"
#include "pliant/app/simulate.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/start_check.hpp"

#include <fmt/format.h>

#include <memory>

namespace pliant {
namespace {

struct RunArguments {
    std::string scene, directory, end;
    std::vector<std::string> overrides;
    int threads = 0;
    bool resume = false, force = false, every_step = false, quiet = false, no_report = false;
    double checkpoint_every = 10;
};

/// A report that cannot be written must not hide why the run failed.
void report_failed_run(const std::filesystem::path& directory, bool quiet)
{
    try {
        certify_and_report(directory, quiet);
        std::fflush(stdout); // before the last words
    } catch (const std::exception&) {
    }
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
    options.directory = arguments.directory.empty() ? default_run_directory(arguments.scene)
                                                    : std::filesystem::path(arguments.directory);
    options.resume = arguments.resume;
    options.force = arguments.force;
    options.every_step = arguments.every_step;
    options.checkpoint_every = arguments.checkpoint_every;
    RunResult result;
    try {
        result = simulate(scene, world, options, arguments.quiet);
    } catch (const RunFailure&) { // what was simulated so far shows how it came to that
        if (!arguments.no_report) report_failed_run(options.directory, arguments.quiet);
        throw;
    }
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
    if (!promise_of(scene.method).no_crossing) return;
    const StartCheck start = check_start(world);
    for (const std::string& note : start.notes) fmt::print("note: at the start {}\n", note);
    if (start.faults.empty()) return;
    const std::string others =
        start.faults.size() == 1 ? "" : fmt::format(" (and {} more such pairs)", start.faults.size() - 1);
    throw Error(fmt::format("{}: at the start {}{}; method {} needs a start without intersections: move the bodies "
                            "apart ('pliant check {}' lists all pairs)",
                            path, start.faults.front(), others, scene.method.method, path));
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
