#include "pliant/app/commands.hpp"
#include "pliant/app/progress.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/show/run_pictures.hpp"
#include "pliant/show/video.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>

namespace pliant {
namespace {

struct RenderArguments {
    std::string directory, output, sheet, size = "1280x720", view, colour = "body";
    std::vector<double> camera; ///< eye and target
    int frame = -1, samples = 32, threads = 0;
    double fps = 0;
    bool subdivide = false, contacts = false, penetrations = false, label = false;
};

/// "1280x720" as two whole numbers of at least 1.
std::array<Index, 2> two_numbers(const std::string& text, const std::string& option, Index most)
{
    int a = 0, b = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%dx%d%c", &a, &b, &rest) != 2 || a < 1 || b < 1 || a > most || b > most)
        throw Error(fmt::format("{} must be two whole numbers from 1 to {} like 3x4, but is '{}'", option, most, text));
    return {a, b};
}

View parse_view(const std::string& text)
{
    View view;
    double azimuth = 0, elevation = 0;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%lf,%lf%c", &azimuth, &elevation, &rest) != 2 || !std::isfinite(azimuth) ||
        !(std::abs(elevation) < 90))
        throw Error(fmt::format(
            "--view must be two angles in degrees like 25,20 (around, above; above less than 90), but is '{}'", text));
    view.azimuth = azimuth * std::numbers::pi / 180;
    view.elevation = elevation * std::numbers::pi / 180;
    return view;
}

PictureOptions picture_options(const RenderArguments& arguments, const Vec3& up)
{
    PictureOptions options;
    const auto size = two_numbers(arguments.size, "--size", 16384);
    options.width = size[0];
    options.height = size[1];
    options.samples = arguments.samples;
    options.subdivide = arguments.subdivide;
    if (arguments.colour == "elongation") options.colour = PictureColour::elongation;
    if (arguments.colour == "stress") options.colour = PictureColour::stress;
    options.contacts = arguments.contacts;
    options.penetrations = arguments.penetrations;
    options.label = arguments.label || !arguments.sheet.empty();
    if (!arguments.view.empty()) options.view = parse_view(arguments.view);
    if (!arguments.camera.empty()) {
        const std::vector<double>& c = arguments.camera;
        Camera camera;
        camera.eye = {c[0], c[1], c[2]};
        camera.target = {c[3], c[4], c[5]};
        camera.up = up;
        const Vec3 sight = camera.target - camera.eye;
        if (!sight.allFinite() || !(sight.cross(up).norm() > 1e-6 * sight.norm()))
            throw Error("--camera needs an eye and a target apart from each other, and not one above the other");
        options.camera = camera;
    }
    return options;
}

void write_video(const RunReader& reader, const RunPictures& pictures, const RenderArguments& arguments,
                 const PictureOptions& options)
{
    const Real fps = arguments.fps > 0 ? arguments.fps : reader.scene().fps;
    const Index frames = reader.frame_count();
    VideoWriter video(arguments.output, options.width, options.height, fps);
    FrameProgress progress("drawing");
    for (Index f = 0; f < frames; ++f) {
        video.add(pictures.picture(f));
        progress.update(f + 1, frames);
    }
    progress.end();
    video.finish();
}

int render_run(const RenderArguments& arguments)
{
    set_thread_count(arguments.threads);
    const std::string extension = std::filesystem::path(arguments.output).extension().string();
    if (extension != ".png" && extension != ".mp4")
        throw Error(fmt::format("{}: the output must end in .png or .mp4", arguments.output));
    if (extension == ".mp4" && (arguments.frame >= 0 || !arguments.sheet.empty()))
        throw Error("--frame and --sheet make a picture: the output must end in .png");
    const RunReader reader(arguments.directory);
    const PictureOptions options = picture_options(arguments, up_axis(reader.scene()));
    const Index frames = reader.frame_count();
    if (arguments.frame >= frames)
        throw Error(fmt::format("{}: there is no frame {}; the last one is {}", arguments.directory, arguments.frame,
                                frames - 1));
    const RunPictures pictures(reader, options);
    if (extension == ".mp4") {
        write_video(reader, pictures, arguments, options);
    } else if (!arguments.sheet.empty()) {
        const auto tiles = two_numbers(arguments.sheet, "--sheet", 64);
        write_png(arguments.output, pictures.sheet(tiles[0], tiles[1]));
    } else {
        write_png(arguments.output, pictures.picture(arguments.frame >= 0 ? arguments.frame : frames - 1));
    }
    fmt::print("{}\n", arguments.output);
    return exit_done;
}

} // namespace

void add_render_command(CLI::App& app, int& exit_code)
{
    auto arguments = std::make_shared<RenderArguments>();
    CLI::App* command = app.add_subcommand("render", "Draw a run: a picture, a sheet of pictures, or a film");
    command->add_option("directory", arguments->directory, "Run directory")->required();
    command->add_option("-o,--output", arguments->output, "x.png or x.mp4")->required();
    command->add_option("--frame", arguments->frame, "Frame to draw [the last one]")->check(CLI::Range(0, 1 << 30));
    command->add_option("--sheet", arguments->sheet, "Pictures spread over the run, COLUMNSxROWS")->excludes("--frame");
    command->add_option("--size", arguments->size, "Of the picture (a sheet: of all together) in pixels [1280x720]");
    command->add_option("--view", arguments->view, "Angles around and above the scene in degrees, like 25,20");
    command->add_option("--camera", arguments->camera, "Eye and target, six numbers [m]; default: sees all the motion")
        ->delimiter(',')
        ->expected(6)
        ->excludes("--view");
    command->add_option("--samples", arguments->samples, "Rays a pixel [32]")->check(CLI::Range(1, 4096));
    command->add_option("--fps", arguments->fps, "Of a film [the scene's]")->check(CLI::Range(0.1, 1000.0));
    command->add_option("--threads", arguments->threads, "Threads to use; 0 means all cores")
        ->check(CLI::Range(0, 1024));
    command->add_option("--colour", arguments->colour, "Of cloth and solids: body, elongation or stress [body]")
        ->check(CLI::IsMember({"body", "elongation", "stress"}));
    command->add_flag("--subdivide", arguments->subdivide, "Smooth cloth and solids by Loop subdivision");
    command->add_flag("--contacts", arguments->contacts, "Arrows of the contact forces");
    command->add_flag("--penetrations", arguments->penetrations, "Intersecting triangles in magenta");
    command->add_flag("--label", arguments->label, "Write the time into the picture");
    command->callback([arguments, &exit_code] { exit_code = render_run(*arguments); });
}

} // namespace pliant
