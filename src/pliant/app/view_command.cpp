#include "pliant/app/commands.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/show/server.hpp"
#include "pliant/show/view_live.hpp"

#include <fmt/format.h>
#include <spawn.h>

#include <csignal>
#include <cstdlib>
#include <memory>

extern char** environ;

namespace pliant {
namespace {

struct ViewArguments {
    std::string what, host = "127.0.0.1";
    std::vector<std::string> overrides;
    int port = 0, threads = 0;
    bool no_open = false;
};

/// Shows the page if there is a desktop; its absence is no fault.
void open_browser(const std::string& address)
{
    if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
    std::string program = "xdg-open", argument = address;
    char* argv[] = {program.data(), argument.data(), nullptr};
    posix_spawnattr_t attributes; // the browser shall feel Ctrl-C, which we keep to ourselves
    sigset_t nothing;
    sigemptyset(&nothing);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &nothing);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child;
    posix_spawnp(&child, program.c_str(), nullptr, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
}

/// A file is a scene to simulate, anything else has to be a run.
std::unique_ptr<ViewSource> make_source(const ViewArguments& arguments)
{
    std::error_code status;
    if (std::filesystem::is_regular_file(arguments.what, status)) {
        const Scene scene = load_scene(arguments.what, arguments.overrides);
        World world = build_world(scene);
        require_clean_start(arguments.what, scene, world);
        return std::make_unique<LiveViewSource>(scene, std::move(world));
    }
    if (!std::filesystem::exists(arguments.what, status))
        throw Error(arguments.what + ": no such run directory or scene file");
    if (!arguments.overrides.empty()) throw Error("--set changes a scene; " + arguments.what + " is no scene file");
    return std::make_unique<RunViewSource>(arguments.what);
}

int view(const ViewArguments& arguments)
{
    if (viewer_assets().empty()) throw Error("this build has no viewer: install Node.js and npm and build again");
    sigset_t signals; // before any thread starts, so that all of them leave these signals to this one
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    set_thread_count(arguments.threads);
    const std::unique_ptr<ViewSource> source = make_source(arguments);
    ViewServer server(*source, {arguments.host, arguments.port});
    fmt::print("{} (Ctrl-C ends)\n", server.address());
    std::fflush(stdout);
    if (!arguments.no_open) open_browser(server.address());
    int signal = 0;
    sigwait(&signals, &signal);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr); // a second one ends the process at once
    return exit_done;
}

} // namespace

void add_view_command(CLI::App& app, int& exit_code)
{
    auto arguments = std::make_shared<ViewArguments>();
    CLI::App* command = app.add_subcommand("view", "Look at a run in the browser, or simulate a scene there");
    command->add_option("what", arguments->what, "Run directory, or scene file to simulate")->required();
    command->add_option("--port", arguments->port, "Port to listen on; 0 means any free one")
        ->check(CLI::Range(0, 65535));
    command->add_option("--host", arguments->host,
                        "Address to listen on [127.0.0.1]: others who know the printed address can then see the run");
    command->add_option("--set", arguments->overrides, "Override a key of the scene, like contact.friction=0.5")
        ->expected(1)
        ->take_all();
    command->add_option("--threads", arguments->threads, "Threads to use; 0 means all cores")
        ->check(CLI::Range(0, 1024));
    command->add_flag("--no-open", arguments->no_open, "Do not open a browser");
    command->callback([arguments, &exit_code] { exit_code = view(*arguments); });
}

} // namespace pliant
