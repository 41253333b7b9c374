#include "pliant/app/commands.hpp"
#include "pliant/app/progress.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/files.hpp"
#include "pliant/show/report.hpp"

#include <fmt/format.h>

#include <memory>

namespace pliant {

bool certify_and_report(const std::filesystem::path& directory, bool quiet)
{
    const RunReader reader(directory);
    FrameProgress progress("checking");
    const Certificate certificate = certify_run(reader, [&](Index done, Index of) {
        if (!quiet) progress.update(done, of);
    });
    progress.end();
    save_certificate(certificate, reader);
    write_report(reader, certificate_json(certificate, reader.mesh()));
    if (!quiet || !certificate.kept()) fmt::print("{}\n", certificate_words(certificate));
    if (!quiet) fmt::print("{}\n", (directory / run_file::report).string());
    return certificate.kept();
}

void add_report_command(CLI::App& app, int& exit_code)
{
    struct Arguments {
        std::string directory, output;
        int threads = 0;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("report", "Write one HTML page about a run: plots, pictures, 3D playback");
    command->add_option("directory", arguments->directory, "Run directory")->required();
    command->add_option("-o,--output", arguments->output, "The page [report.html in the run directory]");
    command->add_option("--threads", arguments->threads, "Threads to use; 0 means all cores")
        ->check(CLI::Range(0, 1024));
    command->callback([arguments, &exit_code] {
        set_thread_count(arguments->threads);
        const RunReader reader(arguments->directory);
        const std::filesystem::path output = arguments->output.empty() ? reader.directory() / run_file::report
                                                                       : std::filesystem::path(arguments->output);
        const std::string page = report_html(reader, read_certificate(reader.directory()));
        try {
            write_atomically(output, std::string_view(page));
        } catch (const StorageError& e) {
            throw Error(e.what()); // the place was the user's choice
        }
        fmt::print("{}\n", output.string());
        exit_code = exit_done;
    });
}

} // namespace pliant
