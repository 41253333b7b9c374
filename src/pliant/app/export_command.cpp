#include "pliant/app/commands.hpp"
#include "pliant/core/error.hpp"
#include "pliant/show/export.hpp"
#include "pliant/show/run_pictures.hpp"

#include <fmt/format.h>

#include <charconv>
#include <memory>

namespace pliant {
namespace {

enum class Content { surface, tetrahedra };

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

std::vector<Index> chosen_bodies(const RunReader& reader, const std::vector<std::string>& names, Content content)
{
    const auto has = [&](Index b) {
        const RunBody& body = reader.bodies()[b];
        return content == Content::surface ? body.triangle_count > 0 : body.tet_count > 0;
    };
    const char* what = content == Content::surface ? "triangles" : "tetrahedra";
    std::vector<Index> out;
    for (const std::string& name : names) {
        out.push_back(reader.find_body(name));
        if (!has(out.back()))
            throw Error(fmt::format("body '{}' ({}) has no {} to export", name,
                                    to_string(reader.bodies()[out.back()].kind), what));
    }
    if (names.empty())
        for (Index b = 0; b < count(reader.bodies()); ++b)
            if (has(b)) out.push_back(b);
    if (out.empty())
        throw Error(fmt::format("{}: there is no body with {} to export", reader.directory().string(), what));
    return out;
}

ExportBody export_body(const RunReader& reader, Index b, const Vec3& colour, Content content)
{
    const RunBody& body = reader.bodies()[b];
    ExportBody out;
    out.name = body.name;
    out.colour = colour;
    if (content == Content::tetrahedra) {
        for (Index t = body.first_tet; t < body.first_tet + body.tet_count; ++t) {
            out.tets.push_back(reader.mesh().tets[t]);
            for (Index& n : out.tets.back()) n -= body.first_block;
        }
        return out;
    }
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

template <class T>
std::vector<T> part(const std::vector<T>& all, Index first, Index size)
{
    return {all.begin() + first, all.begin() + first + size};
}

ExportState surface_state(const RunReader& reader, const Frame& frame, Index b, bool with_fields)
{
    const RunBody& body = reader.bodies()[b];
    const auto of_body = [&](const auto& all) { return part(all, body.first_vertex, body.vertex_count); };
    ExportState out{of_body(frame.positions), {}};
    if (!with_fields) return out;
    out.fields.push_back({"velocity", of_body(frame.velocities), {}});
    out.fields.push_back({"contact_force", Vec3s(static_cast<std::size_t>(body.vertex_count), Vec3::Zero()), {}});
    add_contact_forces(frame, body, b, out.fields.back());
    if (is_deformable(body.kind))
        out.fields.push_back({has_tension(body.kind) ? "tension" : "stress", {}, of_body(frame.stress)});
    return out;
}

ExportState node_state(const RunBody& body, const StoredFrame& frame)
{
    const auto of_body = [&](const auto& all) { return part(all, body.first_block, body.block_count); };
    return {of_body(frame.state.position),
            {{"velocity", of_body(frame.velocity), {}}, {"stress", {}, of_body(frame.stress)}}};
}

int export_run(const ExportArguments& arguments)
{
    const RunReader reader(arguments.directory);
    const Index frames = reader.frame_count();
    if (frames == 0) throw Error(arguments.directory + ": the run has no frames");
    const auto [first, last] = frame_range(arguments.frames, frames);
    const Content content = arguments.format == "vtu" ? Content::tetrahedra : Content::surface;
    const std::vector<Index> chosen = chosen_bodies(reader, arguments.bodies, content);
    // Damage is found before anything is written.
    for (Index f = first; f <= last; ++f) reader.stored_frame(f);

    const std::vector<Vec3> colours = body_colours(reader.bodies());
    std::vector<ExportBody> bodies;
    for (const Index b : chosen) bodies.push_back(export_body(reader, b, colours[b], content));
    ExportOptions options;
    options.up = up_axis(reader.scene());
    options.ascii = arguments.ascii;
    const std::unique_ptr<Exporter> exporter = make_exporter(arguments.format, arguments.output, bodies, options);
    for (Index f = first; f <= last; ++f) {
        const StoredFrame stored = reader.stored_frame(f);
        std::vector<ExportState> states;
        if (content == Content::tetrahedra) {
            for (const Index b : chosen) states.push_back(node_state(reader.bodies()[b], stored));
        } else {
            const Frame frame = make_frame(reader.mesh(), stored);
            for (const Index b : chosen) states.push_back(surface_state(reader, frame, b, arguments.format == "vtk"));
        }
        exporter->add(stored.state.time, states);
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
    command->add_option("--format", arguments->format, "ply, obj, stl, pc2, vtk, vtu or gltf")
        ->required()
        ->check(CLI::IsMember({"ply", "obj", "stl", "pc2", "vtk", "vtu", "gltf"}));
    command->add_option("-o,--output", arguments->output, "Directory to write into; gltf: the file, x.glb")->required();
    command->add_option("--body", arguments->bodies, "Only this body; may be given more than once")
        ->expected(1)
        ->take_all();
    command->add_option("--frames", arguments->frames, "First and last frame, like 10:20 [all]");
    command->add_flag("--ascii", arguments->ascii, "PLY and STL as text");
    command->callback([arguments, &exit_code] { exit_code = export_run(*arguments); });
}

} // namespace pliant
