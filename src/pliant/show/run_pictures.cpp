#include "pliant/show/run_pictures.hpp"

#include "pliant/core/error.hpp"
#include "pliant/run/certificate_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

Vec3s positions_of(const RunBody& body, const Frame& frame)
{
    return Vec3s(frame.positions.begin() + body.first_vertex,
                 frame.positions.begin() + body.first_vertex + body.vertex_count);
}

std::vector<Triangle> triangles_of(const RunBody& body, const std::vector<Triangle>& all)
{
    std::vector<Triangle> out;
    for (Index t = body.first_triangle; t < body.first_triangle + body.triangle_count; ++t)
        out.push_back({all[t][0] - body.first_vertex, all[t][1] - body.first_vertex, all[t][2] - body.first_vertex});
    return out;
}

/// The points of a body that are farthest out in each of 98 directions.
void add_outline(const Frame& frame, const RunBody& body, Vec3s& out)
{
    constexpr int n = 2;
    for (int i = -n; i <= n; ++i)
        for (int j = -n; j <= n; ++j)
            for (int k = -n; k <= n; ++k) {
                if (std::max({std::abs(i), std::abs(j), std::abs(k)}) < n) continue;
                const Vec3 direction(i, j, k);
                const Vec3* farthest = nullptr;
                for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
                    if (!farthest || direction.dot(frame.positions[v]) > direction.dot(*farthest))
                        farthest = &frame.positions[v];
                if (farthest) out.push_back(*farthest);
            }
}

bool moves(const RunBody& body)
{
    return !is_scripted(body.kind);
}

} // namespace

Vec3 up_axis(const Scene& scene)
{
    return scene.document.at("up").scalar == "z" ? Vec3(Vec3::UnitZ()) : Vec3(Vec3::UnitY());
}

std::vector<Vec3> body_colours(const std::vector<RunBody>& bodies)
{
    std::map<BodyKind, Index> next;
    std::vector<Vec3> out;
    for (const RunBody& body : bodies) out.push_back(body_colour(body.kind, next[body.kind]++));
    return out;
}

RunPictures::RunPictures(const RunReader& reader, const PictureOptions& options) : reader_(reader), options_(options)
{
    up_ = up_axis(reader.scene());
    survey();
    if (options_.subdivide)
        for (Index b = 0; b < count(reader.bodies()); ++b) {
            const RunBody& body = reader.bodies()[b];
            if (body.triangle_count > 0 && is_deformable(body.kind))
                fine_.emplace(b, LoopSubdivision(triangles_of(body, reader.triangles()), body.vertex_count));
        }
}

void RunPictures::survey()
{
    const Index frames = reader_.frame_count();
    if (frames == 0) throw Error(reader_.directory().string() + ": the run has no frames");
    Box3 moving;
    Vec3s moving_outline;
    for (const Index f : spread(frames, std::min(frames, options_.surveyed))) {
        const Frame frame = reader_.frame(f);
        for (const RunBody& body : reader_.bodies()) {
            for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
                (moves(body) ? moving : box_).add(frame.positions[v]);
            add_outline(frame, body, moves(body) ? moving_outline : outline_);
        }
        if (options_.colour == PictureColour::stress) stress_.add(reader_.mesh(), frame);
        for (const ContactPoint& c : frame.contacts) strongest_ = std::max(strongest_, c.force.norm());
    }
    // Obstacles are shown whole unless they would make what moves tiny.
    if (!moving.empty() && (box_.empty() || box_.diagonal() > 6 * moving.diagonal())) {
        box_ = moving;
        outline_.clear();
    }
    outline_.insert(outline_.end(), moving_outline.begin(), moving_outline.end());
    if (!moving.empty()) {
        box_.add(moving.low);
        box_.add(moving.high);
    }
    const Frame first = reader_.frame(0);
    for (const Plane& plane : first.planes)
        if (plane.normal.dot(up_) > 0.9999) ground_ = std::max(ground_.value_or(-1e300), plane.offset);
    // What has just begun will fall to the ground, unless that is far away.
    if (frames == 1 && ground_ && !moving.empty() && moving.low.dot(up_) - *ground_ < 3 * moving.diagonal()) {
        const Vec3s start = moving_outline;
        for (const Vec3& x : start) {
            outline_.push_back(x - (x.dot(up_) - *ground_) * up_);
            box_.add(outline_.back());
        }
    }
    if (!ground_) ground_ = (box_.empty() ? 0 : box_.low.dot(up_)) - 0.02 * box_.diagonal();
    if (strongest_ > 0) arrow_scale_ = 0.12 * box_.diagonal() / strongest_;
}

Camera RunPictures::camera(Real aspect) const
{
    return options_.camera ? *options_.camera : frame_points(outline_, up_, aspect, options_.view);
}

Vec3s RunPictures::field_colours(const Frame& frame) const
{
    Vec3s out;
    if (options_.colour == PictureColour::elongation) {
        for (const Real e : vertex_elongation(reader_.mesh(), frame.positions))
            out.push_back(scale_colour(e / full_elongation));
    } else if (options_.colour == PictureColour::stress) {
        out.resize(frame.stress.size());
        for (const RunBody& body : reader_.bodies())
            for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
                out[v] = scale_colour(stress_.end(body.kind) > 0 ? frame.stress[v] / stress_.end(body.kind) : 0);
    }
    return out;
}

RenderScene RunPictures::scene(const Frame& frame) const
{
    RenderScene out;
    const Vec3s by_vertex = field_colours(frame);
    out.up = up_;
    out.ground = ground_;
    const std::vector<Vec3> colours = body_colours(reader_.bodies());
    std::vector<std::vector<Index>> marked(reader_.bodies().size());
    if (options_.penetrations) {
        const FrameChecker checker(reader_.mesh());
        for (const TriangleCrossing& x : checker.check(frame).crossings) {
            marked[x.body_a].push_back(x.triangle_a - reader_.bodies()[x.body_a].first_triangle);
            marked[x.body_b].push_back(x.triangle_b - reader_.bodies()[x.body_b].first_triangle);
        }
    }
    for (Index b = 0; b < count(reader_.bodies()); ++b) {
        const RunBody& body = reader_.bodies()[b];
        if (body.plane != none && body.plane < count(frame.planes)) {
            const Plane& plane = frame.planes[body.plane];
            const bool is_ground =
                plane.normal.dot(up_) > 0.9999 && std::abs(plane.offset - *ground_) <= 1e-9 * (1 + box_.diagonal());
            // A wall that faces away from the eye would hide everything.
            const Vec3 eye = camera(Real(options_.width) / options_.height).eye;
            if (!is_ground && plane.normal.dot(eye) > plane.offset)
                out.bodies.push_back(
                    plane_patch(box_.centre() - plane.normal * (plane.normal.dot(box_.centre()) - plane.offset),
                                plane.normal, 1.5 * box_.diagonal(), colours[b]));
        }
        if (body.triangle_count == 0) continue;
        RenderBody r;
        r.colour = colours[b];
        r.positions = positions_of(body, frame);
        r.triangles = triangles_of(body, reader_.triangles());
        r.marked = marked[b];
        if (!by_vertex.empty() && is_deformable(body.kind))
            r.vertex_colours.assign(by_vertex.begin() + body.first_vertex,
                                    by_vertex.begin() + body.first_vertex + body.vertex_count);
        if (const auto fine = fine_.find(b); fine != fine_.end()) {
            r.positions = fine->second(r.positions);
            if (!r.vertex_colours.empty()) r.vertex_colours = fine->second(r.vertex_colours);
            r.triangles = fine->second.triangles();
            for (Index& t : r.marked) t *= 4; // each triangle became four in a row
            const std::size_t coarse = r.marked.size();
            for (std::size_t i = 0; i < coarse; ++i)
                for (Index k = 1; k < 4; ++k) r.marked.push_back(r.marked[i] + k);
        }
        out.bodies.push_back(std::move(r));
    }
    if (options_.contacts)
        for (const ContactPoint& c : frame.contacts)
            out.arrows.push_back({c.position, c.position + arrow_scale_ * c.force});
    return out;
}

Image RunPictures::picture(Index number) const
{
    return picture(number, options_.width, options_.height);
}

Image RunPictures::picture(Index number, Index width, Index height) const
{
    const Frame frame = reader_.frame(number);
    RenderOptions options;
    options.width = width;
    options.height = height;
    options.samples = options_.samples;
    options.camera = camera(Real(width) / height);
    Image image = render(scene(frame), options);
    std::string label = fmt::format("{:.3f} s", frame.time);
    if (options_.colour == PictureColour::stress) label += "   red: " + stress_.words();
    if (options_.colour == PictureColour::elongation)
        label += fmt::format("   red: elongation {:g} %", 100 * full_elongation);
    if (options_.label) draw_label(image, label, height / 30, height / 30, std::max(10, height / 22));
    return image;
}

std::vector<Index> RunPictures::spread(Index frames, Index pictures)
{
    std::vector<Index> out;
    for (Index i = 0; i < std::min(frames, pictures); ++i)
        out.push_back(pictures <= 1 || frames <= pictures
                          ? (frames <= pictures ? i : frames - 1)
                          : static_cast<Index>(std::llround(Real(i) * (frames - 1) / (pictures - 1))));
    return out;
}

Image RunPictures::sheet(Index columns, Index rows) const
{
    const Index width = std::max(Index(1), options_.width / columns),
                height = std::max(Index(1), options_.height / rows);
    std::vector<Image> tiles;
    for (const Index f : spread(reader_.frame_count(), columns * rows)) tiles.push_back(picture(f, width, height));
    return contact_sheet(tiles, columns);
}

} // namespace pliant
