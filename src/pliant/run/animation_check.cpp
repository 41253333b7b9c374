#include "pliant/run/animation_check.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/geometry/plain_tree.hpp"
#include "pliant/run/exact.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace pliant {
namespace {

constexpr std::size_t most_moments = 2000; ///< of a script that are looked at

/// "frame 12 (0.48 s)" of a sequence, "0.48 s" of other scripts.
std::string moment_words(const VertexMotion& motion, Real t)
{
    const auto* sequence = dynamic_cast<const SequenceMotion*>(&motion);
    if (!sequence) return fmt::format("at {:.4g} s", t);
    const auto frames = static_cast<Index>(sequence->frames().size());
    const auto frame = static_cast<Index>(std::llround((t - sequence->timing().start) / sequence->timing().interval));
    return fmt::format("in frame {} of its sequence ({:.4g} s)", std::max<Index>(0, frame) % frames, t);
}

/// A point of the first pair of triangles that meet; nothing if none do.
std::optional<Vec3> crossing_of(const std::vector<Triangle>& triangles, const Vec3s& x)
{
    std::vector<TreeBox> boxes(triangles.size());
    for (std::size_t t = 0; t < boxes.size(); ++t)
        for (const Index v : triangles[t]) boxes[t].add(x[v]);
    std::optional<std::array<Index, 2>> first;
    PlainTree(std::move(boxes)).for_each_pair([&](Index i, Index j) {
        if (first && *first < std::array{i, j}) return;
        if (exact::triangles_meet(x, triangles[i], triangles[j])) first = {i, j};
    });
    if (!first) return {};
    const Triangle& t = triangles[(*first)[0]];
    return Vec3((x[t[0]] + x[t[1]] + x[t[2]]) / 3);
}

} // namespace

std::vector<std::string> animation_jumps(const Model& model)
{
    std::vector<std::string> notes;
    for (const Body& body : model.bodies) {
        if (body.obstacle == none) continue;
        const auto* sequence = dynamic_cast<const SequenceMotion*>(model.obstacles[body.obstacle].vertices.get());
        if (!sequence) continue;
        const SequenceJump jump = find_jump(*sequence);
        if (jump.frame == none) continue;
        const Vec3& to = sequence->frames()[jump.frame][jump.vertex];
        notes.push_back(fmt::format("'{}' jumps: to frame {} of its sequence vertex {} moves by {:.3g} m, to ({:.3g}, "
                                    "{:.3g}, {:.3g}) m{}",
                                    body.name, jump.frame, jump.vertex, jump.distance, to.x(), to.y(), to.z(),
                                    jump.frame == 0 ? "; the loop does not close" : ""));
    }
    return notes;
}

std::vector<std::string> animation_crossings(const Model& model, Real end)
{
    std::vector<std::string> notes;
    for (const Body& body : model.bodies) {
        if (body.obstacle == none || !model.obstacles[body.obstacle].vertices) continue;
        const VertexMotion& motion = *model.obstacles[body.obstacle].vertices;
        std::vector<Triangle> triangles(model.surface.triangles.begin() + body.first_triangle,
                                        model.surface.triangles.begin() + body.first_triangle + body.triangle_count);
        for (Triangle& t : triangles)
            for (Index& v : t) v -= body.first_vertex;
        std::vector<Real> moments = {0};
        while (moments.size() < most_moments && moments.back() < end)
            moments.push_back(motion.next_keyframe(moments.back(), end));
        std::vector<std::optional<Vec3>> found(moments.size());
        parallel_for(
            count(moments),
            [&](Index i) {
                Vec3s x(static_cast<std::size_t>(motion.vertex_count()));
                motion.positions(moments[i], x);
                found[i] = crossing_of(triangles, x);
            },
            1);
        const auto first = std::ranges::find_if(found, [](const auto& f) { return f.has_value(); });
        if (first == found.end()) continue;
        const auto crossed = std::ranges::count_if(found, [](const auto& f) { return f.has_value(); });
        const Vec3& x = **first;
        notes.push_back(fmt::format("'{}' passes through itself {}, at ({:.3g}, {:.3g}, {:.3g}) m, and at {} of the {} "
                                    "moments looked at; an obstacle may",
                                    body.name, moment_words(motion, moments[first - found.begin()]), x.x(), x.y(),
                                    x.z(), crossed, moments.size()));
    }
    return notes;
}

} // namespace pliant
