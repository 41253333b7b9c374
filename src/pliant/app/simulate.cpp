#include "pliant/app/simulate.hpp"

#include "pliant/app/commands.hpp"
#include "pliant/app/progress.hpp"
#include "pliant/run/animation_check.hpp"
#include "pliant/run/array_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

namespace pliant {
namespace {

volatile std::sig_atomic_t interrupt_requested = 0;

/// The first signal asks the run to save and stop; a second one ends the process at once.
void save_and_stop(int signal)
{
    interrupt_requested = 1;
    std::signal(signal, SIG_DFL);
}

/// All is stored: only calls that a signal handler may make.
void stop_at_once(int)
{
    constexpr std::string_view words = "\npliant: interrupted; what was simulated is stored, and 'pliant check' and "
                                       "'pliant report' can be run on it\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
    _exit(exit_interrupted);
}

/// Signals ask the run to save and stop while it lasts, however it ends; afterwards, while it is checked and reported
/// on, they end the process.
struct SignalScope {
    SignalScope() { set(save_and_stop); }
    SignalScope(const SignalScope&) = delete;
    SignalScope& operator=(const SignalScope&) = delete;
    ~SignalScope()
    {
        set(stop_at_once);
        if (interrupt_requested != 0 && !answered) stop_at_once(0); // it came when there was nothing left to stop
    }
    static void set(void (*handler)(int))
    {
        for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, handler);
    }

    bool answered = false; ///< the run has stopped by itself, and says so
};

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
    SignalScope signals;
    try {
        const RunResult result = run_scene(scene, world, options);
        signals.answered = !result.finished;
        progress.end();
        return result;
    } catch (const StorageError& e) {
        signals.answered = true; // not all is stored, and the words below say so
        progress.end();
        throw StorageError(std::string(e.what()) + "; what is stored so far can be continued with --resume");
    } catch (const std::exception&) {
        progress.end();
        throw;
    }
}

} // namespace pliant
