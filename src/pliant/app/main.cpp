#include "pliant/app/commands.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/log.hpp"
#include "pliant/run/array_file.hpp"

#include <csignal>
#include <cstdio>
#include <new>

namespace {

/// One line for the user, whatever it is; not even a closed stderr makes it throw.
int complain(const std::string& message, int code)
{
    std::fputs(("pliant: " + message + "\n").c_str(), stderr);
    return code;
}

} // namespace

int main(int argc, char** argv)
{
    using namespace pliant;
    std::signal(SIGXFSZ, SIG_IGN); // a file size limit shall be an error of write(), not a death
    set_log_sink([](LogLevel level, const std::string& message) {
        if (level == LogLevel::warning) complain(message, 0);
    });
    CLI::App app("Pliant: contact among deformable bodies");
    app.set_version_flag("--version", "pliant " PLIANT_VERSION);
    app.require_subcommand(1);
    app.footer("Exit codes: 0 done, 1 the run or the check failed, 2 bad input, 130 interrupted (state saved).");
    int exit_code = exit_done;
    add_run_command(app, exit_code);
    add_compare_command(app, exit_code);
    add_check_command(app, exit_code);
    add_render_command(app, exit_code);
    add_export_command(app, exit_code);
    add_report_command(app, exit_code);
    add_view_command(app, exit_code);
    add_scenes_command(app);
    add_docs_command(app);
    try {
        app.parse(argc, argv);
        return exit_code;
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e); // --help, --version
        return complain(std::string(e.what()) + " (see pliant --help)", exit_bad_input);
    } catch (const Error& e) {
        return complain(e.what(), exit_bad_input);
    } catch (const StorageError& e) {
        return complain(e.what(), exit_failed);
    } catch (const std::bad_alloc&) {
        return complain("out of memory", exit_failed);
    } catch (const std::exception& e) {
        return complain(e.what(), exit_failed);
    }
}
