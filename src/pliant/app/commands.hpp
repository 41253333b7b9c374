#pragma once
// The subcommands of pliant. Each file adds its own to the command line; `main` runs the one that was chosen.

#include "pliant/scene/scene.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace pliant {

enum ExitCode : int {
    exit_done = 0,
    exit_failed = 1,       ///< the run or the check broke its own promise
    exit_bad_input = 2,    ///< scene, options or files
    exit_interrupted = 130 ///< state saved
};

void add_run_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_render_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app, int& exit_code);
void add_view_command(CLI::App& app, int& exit_code);

/// The promise of a method begins with a start without intersections: throws Error where there is one.
void require_clean_start(const std::string& path, const Scene& scene, const World& world);

/// At the end of a run: certificate.json and report.html. False when what was promised or expected is broken.
bool certify_and_report(const std::filesystem::path& directory, bool quiet);

void add_scenes_command(CLI::App& app);
void add_docs_command(CLI::App& app);

} // namespace pliant
