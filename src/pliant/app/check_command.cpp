#include "pliant/app/commands.hpp"
#include "pliant/app/progress.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/methods/start.hpp"
#include "pliant/run/animation_check.hpp"
#include "pliant/run/certificate.hpp"
#include "pliant/run/start_check.hpp"
#include "pliant/scene/garments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace pliant {
namespace {

constexpr int lines_shown = 20; ///< findings of a kind on the terminal; certificate.json has more

std::string place(const Vec3& x)
{
    return fmt::format("({:.6g}, {:.6g}, {:.6g})", x.x(), x.y(), x.z());
}

std::string pair_text(const RunMesh& mesh, const TriangleCrossing& x)
{
    const RunBody &a = mesh.bodies[x.body_a], &b = mesh.bodies[x.body_b];
    return fmt::format("'{}' triangle {} and '{}' triangle {} at {}, {}", a.name, x.triangle_a - a.first_triangle,
                       b.name, x.triangle_b - b.first_triangle, place(x.position),
                       x.depth > 0 ? fmt::format("depth {:.3g} m", x.depth) : "touching");
}

void print_bodies(const Scene& scene, const Model& model)
{
    fmt::print("{} steps of {:g} s, method {}, gravity ({:g}, {:g}, {:g}) m/s^2\n", scene.step_count(), scene.step,
               scene.method.method, model.gravity.x(), model.gravity.y(), model.gravity.z());
    fmt::print("{:<24} {:<9} {:>9} {:>9} {:>9} {:>9}\n", "body", "kind", "vertices", "triangles", "blocks", "gap [m]");
    for (const Body& b : model.bodies)
        fmt::print("{:<24} {:<9} {:>9} {:>9} {:>9} {:>9}\n", b.name, to_string(b.kind), b.vertex_count,
                   b.triangle_count, b.block_count, b.gap > 0 ? fmt::format("{:.3g}", b.gap) : "-");
    Index cells = 0;
    for (const Lattice& l : model.lattices) cells += l.mesh->cell_count();
    if (cells > 0) fmt::print("{} lattices of {} cells\n", model.lattices.size(), cells);
}

/// The two bodies with the least room between them, measured in their gaps.
void print_closest(const World& world)
{
    constexpr Real looked_at = 10; // gaps
    const std::vector<StartDistance> near = start_distances(world, looked_at);
    if (near.empty()) {
        if (world.model.bodies.size() > 1)
            fmt::print("no two bodies start within {:g} gaps of each other\n", looked_at);
        return;
    }
    const auto room = [](const StartDistance& d) { return d.distance / d.gap; };
    const StartDistance& d = *std::min_element(
        near.begin(), near.end(), [&](const StartDistance& a, const StartDistance& b) { return room(a) < room(b); });
    const std::vector<Body>& bodies = world.model.bodies;
    fmt::print("closest bodies at the start: '{}' and '{}', {:.3g} m apart, contact keeps {:.3g} m",
               bodies[d.body_a].name, bodies[d.body_b].name, d.distance, d.gap);
    if (d.distance < d.gap) fmt::print(": they start within their gap, and open it");
    fmt::print("\n");
    for (const PairLengths::Exception& e : world.model.pair_gaps)
        fmt::print("'{}' and '{}' start within their default gap: contact keeps {:.3g} m between them, half of their "
                   "room\n",
                   bodies[e.a].name, bodies[e.b].name, e.length);
}

/// The panels of all garments as files: FILE, or FILE-<body> where there are several.
void draw_garments(const Scene& scene, const std::filesystem::path& file)
{
    std::vector<std::pair<std::string, Pattern>> garments;
    for (const Value::Entry& e : scene.document.at("bodies").entries)
        if (const Value* mesh = e.value.find("mesh"))
            if (const Value* garment = mesh->find("garment")) garments.emplace_back(e.key, garment_pattern(*garment));
    if (garments.empty()) throw Error("--panels: the scene has no garment");
    for (const auto& [name, pattern] : garments) {
        std::filesystem::path path = file;
        if (garments.size() > 1) path.replace_filename(file.stem().string() + "-" + name + file.extension().string());
        write_file(path, draw_panels(pattern));
        fmt::print("the panels of '{}' are drawn in {}\n", name, path.string());
    }
}

int check_scene(const std::string& path, const std::vector<std::string>& overrides, const std::string& panels)
{
    const Scene scene = load_scene(path, overrides);
    if (!panels.empty()) draw_garments(scene, panels);
    const World world = build_world(scene);
    fmt::print("{}: {}\n", path, scene.title);
    print_bodies(scene, world.model);
    for (const std::string& note : animation_jumps(world.model)) fmt::print("note: {}\n", note);
    for (const std::string& note : animation_crossings(world.model, scene.end)) fmt::print("note: {}\n", note);
    const StartCheck start = check_start(world);
    for (const std::string& fault : start.faults) fmt::print("at the start {}\n", fault);
    for (const std::string& note : start.notes) fmt::print("note: at the start {}\n", note);
    fmt::print("{} triangle pairs tested at the start, {} intersections\n", start.pairs_tested, start.intersections);

    const bool refused = promise_of(scene.method).no_crossing && !start.faults.empty();
    if (start.faults.empty()) print_closest(world);
    const bool expected = !scene.expect.intersections || start.intersections <= *scene.expect.intersections;
    if (refused)
        fmt::print("method {} needs a start without intersections: move the bodies apart\n", scene.method.method);
    else
        fmt::print("the scene is valid\n");
    return expected && !refused ? exit_done : exit_failed;
}

void print_findings(const Certificate& c, const RunMesh& mesh)
{
    const auto name = [&](Index body) { return mesh.bodies[body].name; };
    const auto more = [](std::int64_t all, int shown) {
        if (all > shown) fmt::print("... and {} more\n", all - shown);
    };
    int shown = 0;
    for (const auto& [frame, time, x] : c.crossings) {
        if (shown++ == lines_shown) break;
        fmt::print("intersection in frame {} ({:.6g} s): {}\n", frame, time, pair_text(mesh, x));
    }
    more(c.intersections, lines_shown);
    shown = 0;
    for (const CertificateEnclosure& e : c.enclosed) {
        if (shown++ == lines_shown) break;
        fmt::print("tunnelled in frame {} ({:.6g} s): {} of '{}' {} '{}', such as vertex {} at {}\n", e.frame, e.time,
                   e.vertices == 1 ? "a vertex" : fmt::format("{} vertices", e.vertices), name(e.body),
                   mesh.bodies[e.container].plane == none ? "inside" : "behind", name(e.container),
                   e.first_vertex - mesh.bodies[e.body].first_vertex, place(e.position));
    }
    more(static_cast<std::int64_t>(c.enclosed.size()), lines_shown);
    shown = 0;
    for (const auto& [frame, time, certain, x] : c.impacts) {
        if (shown++ == lines_shown) break;
        const RunBody &a = mesh.bodies[x.body_a], &b = mesh.bodies[x.body_b];
        fmt::print("{} on the way to frame {} ({:.6g} s): ",
                   certain ? "crossing" : "undecided (the step was cut into sub-steps, which are not stored)", frame,
                   time);
        if (x.kind == PathKind::vertex_plane)
            fmt::print("vertex {} of '{}' and plane '{}' at {}\n", x.vertex - a.first_vertex, a.name, b.name,
                       place(x.position));
        else
            fmt::print("{} of '{}' triangle {} and '{}' triangle {} at {}\n",
                       x.kind == PathKind::edge_edge ? "edges" : "vertex and face", a.name,
                       x.triangle_a - a.first_triangle, b.name, x.triangle_b - b.first_triangle, place(x.position));
    }
    more(c.path_impacts + c.uncertain_impacts, lines_shown);
}

int check_run(const std::string& path, ExactTest exact)
{
    const RunReader reader(path);
    FrameProgress progress("checking");
    const Certificate c = certify_run(
        reader, [&](Index done, Index of) { progress.update(done, of); }, exact);
    progress.end();
    save_certificate(c, reader);

    print_findings(c, reader.mesh());
    for (const ExpectationResult& e : c.expectations)
        fmt::print("{:<14} {:<7} {}\n", e.name, e.met ? "ok" : "FAILED", e.detail);
    fmt::print("{}: {}\n", path, certificate_words(c));
    return c.kept() ? exit_done : exit_failed;
}

} // namespace

void add_check_command(CLI::App& app, int& exit_code)
{
    struct Arguments {
        std::string path;
        std::vector<std::string> overrides;
        int threads = 0;
        bool exact = false;
        std::string panels;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("check", "Certify the frames of a run directory exactly, or check a scene file");
    command->add_option("path", arguments->path, "Scene file or run directory")->required();
    command->add_option("--set", arguments->overrides, "Override a key of the scene")->expected(1)->take_all();
    command->add_option("--threads", arguments->threads, "Threads to use; 0 means all cores")
        ->check(CLI::Range(0, 1024));
    command->add_flag("--exact", arguments->exact,
                      "Test the triangles of a run too whose method has a measure of its own");
    command->add_option("--panels", arguments->panels,
                        "Draw the panels of a scene's garments, with their seams, as FILE.svg");
    command->callback([arguments, &exit_code] {
        set_thread_count(arguments->threads);
        const bool is_run = std::filesystem::is_directory(arguments->path);
        const ExactTest exact = arguments->exact ? ExactTest::always : ExactTest::on_request;
        exit_code = is_run ? check_run(arguments->path, exact)
                           : check_scene(arguments->path, arguments->overrides, arguments->panels);
    });
}

} // namespace pliant
