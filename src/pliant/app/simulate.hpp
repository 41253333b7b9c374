#pragma once
#include "pliant/run/runner.hpp"

namespace pliant {

/// run_scene() as a user sees it: says what starts, shows progress, and lets Ctrl-C and SIGTERM save and stop.
/// Once it is over, they end the process at once, with exit code 130: everything is stored.
/// `options` gets its callbacks here.
RunResult simulate(const Scene& scene, World& world, RunOptions options, bool quiet);

/// "out/<name of the scene>".
std::filesystem::path default_run_directory(const std::string& scene);

} // namespace pliant
