#include "pliant/show/view_source.hpp"

#include "pliant/core/error.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/runner.hpp"
#include "pliant/show/run_pictures.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <map>

namespace pliant {
namespace {

using Json = nlohmann::json;
static_assert(std::endian::native == std::endian::little, "the page reads little-endian arrays");

constexpr Index frames_surveyed = 12; ///< for the first view
constexpr Real usual_aspect = 1.6;    ///< of the view; the page steps back where it is narrower

template <class To, class From>
void append(std::string& bytes, From value)
{
    const To v = static_cast<To>(value);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
}

void append(std::string& bytes, const Vec3& x)
{
    for (int k = 0; k < 3; ++k) append<float>(bytes, x[k]);
}

Real to_srgb(Real x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
}

std::string css_colour(const Vec3& linear)
{
    char text[8];
    const auto byte = [](Real x) { return static_cast<unsigned>(std::lround(255 * std::clamp(to_srgb(x), 0.0, 1.0))); };
    std::snprintf(text, sizeof text, "#%02x%02x%02x", byte(linear.x()) & 255, byte(linear.y()) & 255,
                  byte(linear.z()) & 255);
    return text;
}

Json list(const Vec3& x)
{
    return {x.x(), x.y(), x.z()};
}

/// What the page needs to know of the whole motion: where to look from, what is large.
Json survey(const RunReader& reader)
{
    PictureOptions options;
    options.surveyed = frames_surveyed;
    options.colour = PictureColour::stress; // for its scale
    const RunPictures pictures(reader, options);
    const Camera camera = pictures.camera(usual_aspect);
    return {{"low", list(pictures.box().low)},
            {"high", list(pictures.box().high)},
            {"force", pictures.strongest_force()},
            {"stress", {{"solid", pictures.stress_scale().solid}, {"cloth", pictures.stress_scale().cloth}}},
            {"camera", {{"eye", list(camera.eye)}, {"target", list(camera.target)}, {"aspect", usual_aspect}}}};
}

} // namespace

std::string encode_frame(const Frame& frame)
{
    std::string bytes;
    bytes.reserve(32 + 16 * frame.positions.size() + 16 * frame.planes.size() + 32 * frame.contacts.size());
    append<std::uint32_t>(bytes, frame.positions.size());
    append<std::uint32_t>(bytes, frame.planes.size());
    append<std::uint32_t>(bytes, frame.contacts.size());
    append<std::uint32_t>(bytes, frame.stress.size());
    append<double>(bytes, frame.time);
    append<double>(bytes, frame.step);
    for (const Vec3& x : frame.positions) append(bytes, x);
    for (const Plane& p : frame.planes) {
        append(bytes, p.normal);
        append<float>(bytes, p.offset);
    }
    for (const ContactPoint& c : frame.contacts) {
        append(bytes, c.position);
        append(bytes, c.force);
    }
    for (const ContactPoint& c : frame.contacts) {
        append<std::int32_t>(bytes, c.body_a);
        append<std::int32_t>(bytes, c.body_b);
    }
    for (const Real s : frame.stress) append<float>(bytes, s);
    return bytes;
}

ViewPoints::ViewPoints(const RunMesh& mesh)
{
    const SurfaceMap& map = mesh.map;
    carrier.assign(mesh.rest.size(), none);
    std::vector<Index> point_of(static_cast<std::size_t>(mesh.block_count), none); // among the nodes
    std::map<std::array<Index, 8>, Index> known;
    for (const RunBody& body : mesh.bodies) {
        const Index end = body.first_vertex + body.vertex_count;
        bool rides = body.kind == BodyKind::lattice;
        for (Index v = body.first_vertex; v < end && rides; ++v)
            rides = map.frame[v] == none && map.blocks(v).size() == 8;
        known.clear();
        for (Index v = body.first_vertex; v < end; ++v) {
            if (!rides) {
                carrier[v] = -1 - count(vertex);
                vertex.push_back(v);
                continue;
            }
            std::array<Index, 8> corners;
            std::ranges::copy(map.blocks(v), corners.begin());
            const auto [cell, is_new] = known.try_emplace(corners, count(cells));
            carrier[v] = cell->second;
            if (!is_new) continue;
            for (Index& corner : corners) {
                if (point_of[corner] == none) {
                    point_of[corner] = count(block);
                    block.push_back(corner);
                }
                corner = point_of[corner];
            }
            cells.push_back(corners);
        }
    }
    for (auto& corners : cells)
        for (Index& corner : corners) corner += count(vertex);
}

RunViewSource::RunViewSource(const std::filesystem::path& directory)
    : reader_(directory), points_(reader_.mesh()), scene_(reader_.scene())
{
    const Vec3 up = up_axis(scene_);
    const std::vector<Vec3> colours = body_colours(reader_.bodies());
    const Vec3 plane_colour = body_colour(BodyKind::obstacle, 0);
    fixed_ = {{"title", scene_.title},        {"up", {up.x(), up.y(), up.z()}}, {"step", scene_.step},
              {"steps", scene_.step_count()}, {"method", scene_.method.method}, {"live", false},
              {"survey", survey(reader_)},    {"bodies", Json::array()}};
    for (Index b = 0; b < count(reader_.bodies()); ++b) {
        const RunBody& body = reader_.bodies()[b];
        fixed_["bodies"].push_back({{"name", body.name},
                                    {"kind", to_string(body.kind)},
                                    {"colour", css_colour(body.plane == none ? colours[b] : plane_colour)},
                                    {"firstVertex", body.first_vertex},
                                    {"vertices", body.vertex_count},
                                    {"firstTriangle", body.first_triangle},
                                    {"triangles", body.triangle_count},
                                    {"plane", body.plane}});
    }
}

Json RunViewSource::description()
{
    Json out = fixed_;
    bool every_step = false;
    std::string status = "unknown", message;
    try {
        const Json info = read_run_info(reader_.directory());
        if (const auto s = info.find("settings"); s != info.end()) every_step = s->value("every_step", false);
        if (const auto s = info.find("summary"); s != info.end()) {
            status = s->value("status", status);
            message = s->value("message", message);
        }
    } catch (const Error& e) {
        message = e.what();
    }
    out["status"] = status;
    out["message"] = message;
    Json steps = Json::array();
    for (Index k = 0, n = reader_.frame_count(); k < n; ++k) steps.push_back(frame_step(scene_, every_step, k));
    out["frameSteps"] = steps;
    return out;
}

std::string RunViewSource::topology()
{
    const RunMesh& mesh = reader_.mesh();
    std::string bytes;
    bytes.reserve(12 + 28 * mesh.rest.size() + 12 * mesh.triangles.size() + 32 * points_.cells.size());
    append<std::uint32_t>(bytes, mesh.rest.size());
    append<std::uint32_t>(bytes, mesh.triangles.size());
    append<std::uint32_t>(bytes, points_.cells.size());
    for (const Vec3& x : mesh.rest) append(bytes, x);
    for (const Triangle& t : mesh.triangles)
        for (const Index v : t) append<std::uint32_t>(bytes, v);
    if (points_.cells.empty()) return bytes; // points are vertices
    for (const auto& corners : points_.cells)
        for (const Index p : corners) append<std::uint32_t>(bytes, p);
    for (const Index c : points_.carrier) append<std::int32_t>(bytes, c);
    for (Index v = 0; v < count(mesh.rest); ++v) {
        Vec3 place = Vec3::Zero(); // sums of the weights of trilinear_weights()
        if (points_.carrier[v] >= 0)
            for (int k = 0; k < 8; ++k)
                for (int n = 0; n < 3; ++n)
                    if (k >> n & 1) place[n] += mesh.map.weights(v)[k];
        append(bytes, place);
    }
    return bytes;
}

std::string RunViewSource::frame(Index number)
{
    std::error_code status; // this one file only: counting all of them takes longer than reading one
    if (number < 0 || !std::filesystem::exists(reader_.frame_path(number), status))
        throw Error("there is no such frame");
    if (points_.cells.empty()) return encode_frame(reader_.frame(number));
    const StoredFrame stored = reader_.stored_frame(number);
    Frame frame;
    if (points_.vertex.empty()) { // nothing but lattices, and planes
        frame.step = stored.step;
        frame.time = stored.state.time;
        frame.planes = stored.state.planes;
        frame.contacts = stored.contacts;
    } else {
        const Frame all = make_frame(reader_.mesh(), stored);
        frame = all;
        frame.positions.clear();
        frame.stress.clear();
        for (const Index v : points_.vertex) {
            frame.positions.push_back(all.positions[v]);
            frame.stress.push_back(all.stress[v]);
        }
    }
    for (const Index b : points_.block) {
        frame.positions.push_back(stored.state.position[b]);
        frame.stress.push_back(stored.stress[b]);
    }
    return encode_frame(frame);
}

void StatsLines::update(const std::filesystem::path& path)
{
    std::error_code status;
    const auto size = std::filesystem::file_size(path, status);
    std::ifstream stream(path, std::ios::binary);
    std::string header;
    if (status || !std::getline(stream, header) || stream.eof()) {
        *this = {};
        return;
    }
    // A new stage of the simulation adds a column to every line, and a reset begins anew.
    if (header != header_ || size < end_) {
        header_ = header;
        begins_.clear();
        end_ = header.size() + 1;
    }
    stream.seekg(static_cast<std::streamoff>(end_));
    for (std::string line; std::getline(stream, line) && !stream.eof();) { // else it is still being written
        begins_.push_back(end_);
        end_ += line.size() + 1;
    }
}

std::string StatsLines::text(const std::filesystem::path& path, std::size_t first_row) const
{
    std::string out = header_ + "\n";
    if (first_row >= begins_.size()) return out;
    std::ifstream stream(path, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(begins_[first_row]));
    std::string rows(end_ - begins_[first_row], '\0');
    stream.read(rows.data(), static_cast<std::streamsize>(rows.size()));
    rows.resize(static_cast<std::size_t>(stream.gcount()));
    return out + rows;
}

std::string RunViewSource::stats(std::size_t first_row)
{
    const std::lock_guard lock(stats_mutex_);
    const std::filesystem::path path = reader_.directory() / run_file::stats;
    stats_lines_.update(path);
    return stats_lines_.text(path, first_row);
}

} // namespace pliant
