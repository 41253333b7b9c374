#include "pliant/app/commands.hpp"
#include "pliant/core/error.hpp"
#include "pliant/show/export.hpp"
#include "pliant/show/run_pictures.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>

namespace pliant {
namespace {

struct ExportArguments {
    std::string directory, format, output, frames;
    std::vector<std::string> bodies;
    bool ascii = false;
};

/// "a:b" as frames a to b, both included; either may be left out.
std::array<Index, 2> frame_range(const std::string& text, Index frames)
{
    std::array<Index, 2> range = {0, frames - 1};
    if (text.empty()) return range;
    const std::size_t colon = text.find(':');
    const auto read = [&](const std::string& number, Index& out) {
        if (number.empty()) return;
        const auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), out);
        if (bad != std::errc() || end != number.data() + number.size())
            throw Error(fmt::format("--frames must be like 10:20, but is '{}'", text));
    };
    read(text.substr(0, colon), range[0]);
    read(colon == std::string::npos ? text : text.substr(colon + 1), range[1]);
    if (range[0] < 0 || range[1] < range[0] || range[1] >= frames)
        throw Error(fmt::format("--frames {}: the run has frames 0 to {}", text, frames - 1));
    return range;
}

std::vector<Index> chosen_bodies(const RunReader& reader, const std::vector<std::string>& names)
{
    std::vector<Index> out;
    for (const std::string& name : names) {
        out.push_back(reader.find_body(name));
        if (reader.bodies()[out.back()].triangle_count == 0)
            throw Error(fmt::format("body '{}' is a plane, which has no triangles to export", name));
    }
    if (names.empty())
        for (Index b = 0; b < count(reader.bodies()); ++b)
            if (reader.bodies()[b].triangle_count > 0) out.push_back(b);
    if (out.empty()) throw Error(reader.directory().string() + ": there is no body with triangles to export");
    return out;
}

ExportBody export_body(const RunReader& reader, Index b, const Vec3& colour)
{
    const RunBody& body = reader.bodies()[b];
    ExportBody out;
    out.name = body.name;
    out.colour = colour;
    for (Index t = body.first_triangle; t < body.first_triangle + body.triangle_count; ++t) {
        const Triangle& v = reader.triangles()[t];
        out.triangles.push_back({v[0] - body.first_vertex, v[1] - body.first_vertex, v[2] - body.first_vertex});
    }
    return out;
}

/// Contact forces are known at points; each goes to the nearest vertex of the body that feels it.
void add_contact_forces(const Frame& frame, const RunBody& body, Index number, VertexField& field)
{
    for (const ContactPoint& c : frame.contacts)
        for (const bool first : {true, false}) {
            if ((first ? c.body_a : c.body_b) != number) continue;
            Index nearest = 0;
            Real best = 1e300;
            for (Index v = 0; v < body.vertex_count; ++v) {
                const Real d = (frame.positions[body.first_vertex + v] - c.position).squaredNorm();
                if (d < best) best = d, nearest = v;
            }
            if (body.vertex_count > 0) field.vectors[nearest] += first ? c.force : Vec3(-c.force);
        }
}

ExportState export_state(const RunReader& reader, const Frame& frame, Index b, bool fields)
{
    const RunBody& body = reader.bodies()[b];
    const auto part = [&](const Vec3s& all) {
        return Vec3s(all.begin() + body.first_vertex, all.begin() + body.first_vertex + body.vertex_count);
    };
    ExportState out{part(frame.positions), {}};
    if (!fields) return out;
    out.fields.push_back({"velocity", part(frame.velocities), {}});
    out.fields.push_back({"contact_force", Vec3s(static_cast<std::size_t>(body.vertex_count), Vec3::Zero()), {}});
    add_contact_forces(frame, body, b, out.fields.back());
    const bool cloth = body.kind == BodyKind::cloth;
    if (is_deformable(body.kind) && !frame.stress.empty())
        out.fields.push_back(
            {cloth ? "tension" : "stress",
             {},
             {frame.stress.begin() + body.first_vertex, frame.stress.begin() + body.first_vertex + body.vertex_count}});
    return out;
}

int export_run(const ExportArguments& arguments)
{
    const RunReader reader(arguments.directory);
    const Index frames = reader.frame_count();
    if (frames == 0) throw Error(arguments.directory + ": the run has no frames");
    const auto [first, last] = frame_range(arguments.frames, frames);
    const std::vector<Index> chosen = chosen_bodies(reader, arguments.bodies);
    // Damage is found before anything is written.
    for (Index f = first; f <= last; ++f) reader.frame(f);

    const std::vector<Vec3> colours = body_colours(reader.bodies());
    std::vector<ExportBody> bodies;
    for (const Index b : chosen) bodies.push_back(export_body(reader, b, colours[b]));
    ExportOptions options;
    options.up = up_axis(reader.scene());
    options.ascii = arguments.ascii;
    const std::unique_ptr<Exporter> exporter = make_exporter(arguments.format, arguments.output, bodies, options);
    for (Index f = first; f <= last; ++f) {
        const Frame frame = reader.frame(f);
        std::vector<ExportState> states;
        for (const Index b : chosen) states.push_back(export_state(reader, frame, b, arguments.format == "vtk"));
        exporter->add(frame.time, states);
    }
    exporter->finish();
    fmt::print("{}: {} {}, {} {}\n", arguments.output, last - first + 1, last == first ? "frame" : "frames",
               chosen.size(), chosen.size() == 1 ? "body" : "bodies");
    return exit_done;
}

} // namespace

void add_export_command(CLI::App& app, int& exit_code)
{
    auto arguments = std::make_shared<ExportArguments>();
    CLI::App* command = app.add_subcommand("export", "Write a run's motion for other programs");
    command->add_option("directory", arguments->directory, "Run directory")->required();
    command->add_option("--format", arguments->format, "ply, obj, stl, pc2, vtk or gltf")
        ->required()
        ->check(CLI::IsMember({"ply", "obj", "stl", "pc2", "vtk", "gltf"}));
    command->add_option("-o,--output", arguments->output, "Directory to write into; gltf: the file, x.glb")->required();
    command->add_option("--body", arguments->bodies, "Only this body; may be given more than once")
        ->expected(1)
        ->take_all();
    command->add_option("--frames", arguments->frames, "First and last frame, like 10:20 [all]");
    command->add_flag("--ascii", arguments->ascii, "PLY and STL as text");
    command->callback([arguments, &exit_code] { exit_code = export_run(*arguments); });
}

} // namespace pliant
