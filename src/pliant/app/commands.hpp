#pragma once
// The subcommands of pliant. Each file adds its own to the command line; `main` runs the one that was chosen.

#include <CLI/CLI.hpp>

namespace pliant {

enum ExitCode : int {
    exit_done = 0,
    exit_failed = 1,       ///< the run or the check broke its own promise
    exit_bad_input = 2,    ///< scene, options or files
    exit_interrupted = 130 ///< state saved
};

void add_run_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_scenes_command(CLI::App& app);
void add_docs_command(CLI::App& app);

} // namespace pliant
