#include "pliant/app/simulate.hpp"

#include "pliant/app/progress.hpp"
#include "pliant/run/animation_check.hpp"
#include "pliant/run/array_file.hpp"

#include <fmt/format.h>

#include <csignal>

namespace pliant {
namespace {

volatile std::sig_atomic_t interrupt_requested = 0;

/// The first signal asks the run to save and stop; a second one ends the process at once.
void on_signal(int signal)
{
    interrupt_requested = 1;
    std::signal(signal, SIG_DFL);
}

void print_start(const Scene& scene, const World& world, const RunOptions& options)
{
    const Model& model = world.model;
    fmt::print("{}: {} bodies, {} triangles, {} unknowns, {} steps of {:g} s, method {}, into {}\n", scene.title,
               model.bodies.size(), model.surface.triangles.size(), 3 * (model.block_count() - count(model.pins)),
               scene.step_count(), scene.step, scene.method.method, options.directory.string());
    for (const std::string& note : animation_jumps(model)) fmt::print("note: {}\n", note);
    std::fflush(stdout);
}

} // namespace

std::filesystem::path default_run_directory(const std::string& scene)
{
    return std::filesystem::path("out") / std::filesystem::path(scene).stem();
}

RunResult simulate(const Scene& scene, World& world, RunOptions options, bool quiet)
{
    Progress progress;
    if (!quiet) {
        print_start(scene, world, options);
        options.on_step = [&](const RunProgress& p) { progress.update(p); };
        options.on_note = [&](const std::string& text) { progress.note(text); };
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
    return result;
}

} // namespace pliant
