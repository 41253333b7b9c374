#include "pliant/world/vertex_motion.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

/// Axes of a triangle: along its first edge, across it in its plane, along its normal.
Mat3 triangle_axes(const Triangle& t, const Vec3s& x)
{
    Mat3 axes;
    axes.col(0) = (x[t[1]] - x[t[0]]).normalized();
    axes.col(2) = (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));
    return axes;
}

} // namespace

SequenceMotion::SequenceMotion(std::vector<Vec3s> frames, const SequenceTiming& timing)
    : frames_(std::move(frames)), timing_(timing)
{
    assert(!frames_.empty() && timing_.interval > 0);
    assert(
        std::ranges::all_of(frames_, [&](const Vec3s& f) { return f.size() == frames_[0].size() && all_finite(f); }));
}

SequenceMotion::Moment SequenceMotion::at(Real t) const
{
    const Index last = count(frames_) - 1;
    Real place = (t - timing_.start) / timing_.interval; // in frames
    if (!(place > 0) || last == 0) return {};
    const Real period = last + 1;
    if (timing_.after == AfterLast::loop) place -= period * std::floor(place / period);
    const Real before = std::floor(place);
    if (before > last || (before >= last && timing_.after == AfterLast::hold)) return {last, last, 0};
    const Index i = static_cast<Index>(before);
    return {i, i == last ? 0 : i + 1, place - before};
}

void SequenceMotion::positions(Real t, std::span<Vec3> out) const
{
    assert(count(out) == vertex_count());
    const Moment m = at(t);
    parallel_for(count(out), [&](Index v) { out[v] = position(v, m); });
}

Real SequenceMotion::next_keyframe(Real t0, Real t1) const
{
    const Real rounding = 1e-9 * (t1 - t0), last = count(frames_) - 1;
    const Real place = std::max(0.0, std::floor((t0 - timing_.start) / timing_.interval));
    for (Real frame = place; frame <= place + 2; ++frame) {
        if (timing_.after == AfterLast::hold && frame > last) break;
        const Real t = timing_.start + frame * timing_.interval;
        if (t > t0 + rounding && t < t1 - rounding) return t;
    }
    return t1;
}

// Between frames every path is straight; across them its corners are what leaves the chord.
Real SequenceMotion::chord_error(Real t0, Real t1) const
{
    const Moment begin = at(t0), end = at(t1);
    Real error = 0;
    for (Real t = next_keyframe(t0, t1); t < t1; t = next_keyframe(t, t1)) {
        const Moment key = at(t);
        error = std::max(error, parallel_max(vertex_count(), 0, [&](Index v) {
                             const Vec3 a = position(v, begin), b = position(v, end), x = position(v, key);
                             const Real u = closest_on_segment(x, a, b);
                             return (x - (1 - u) * a - u * b).norm();
                         }));
    }
    return error;
}

std::shared_ptr<const VertexMotion> SequenceMotion::follow(const std::vector<Triangle>& triangles,
                                                           const Vec3s& points) const
{
    Vec3s start(frames_[0].size());
    positions(0, start);
    const std::vector<TrianglePoint> attached = attach_points(triangles, start, points);
    std::vector<Vec3s> frames(frames_.size());
    for (std::size_t f = 0; f < frames.size(); ++f)
        for (const TrianglePoint& p : attached) frames[f].push_back(attached_position(triangles, frames_[f], p));
    return std::make_shared<SequenceMotion>(std::move(frames), timing_);
}

SequenceJump find_jump(const SequenceMotion& motion, Real part)
{
    const std::vector<Vec3s>& frames = motion.frames();
    Eigen::AlignedBox<Real, 3> box;
    for (const Vec3& x : frames[0]) box.extend(x);
    SequenceJump farthest;
    farthest.distance = part * box.diagonal().norm();
    const auto look = [&](Index from, Index to) {
        for (Index v = 0; v < motion.vertex_count(); ++v) {
            const Real d = (frames[to][v] - frames[from][v]).norm();
            if (d > farthest.distance) farthest = {to, v, d};
        }
    };
    for (Index f = 1; f < count(frames); ++f) look(f - 1, f);
    if (motion.timing().after == AfterLast::loop) look(count(frames) - 1, 0);
    return farthest;
}

std::vector<TrianglePoint> attach_points(const std::vector<Triangle>& triangles, const Vec3s& x, const Vec3s& points)
{
    std::vector<TrianglePoint> attached(points.size());
    parallel_for(count(points), [&](Index i) {
        Real nearest = std::numeric_limits<Real>::infinity();
        for (Index f = 0; f < count(triangles); ++f) {
            const Triangle& t = triangles[f];
            const Real d = closest_point_triangle(points[i], x[t[0]], x[t[1]], x[t[2]]).distance;
            if (d >= nearest) continue;
            nearest = d;
            attached[i].triangle = f;
        }
        const Triangle& t = triangles[attached[i].triangle];
        attached[i].local = triangle_axes(t, x).transpose() * (points[i] - x[t[0]]);
    });
    return attached;
}

Vec3 attached_position(const std::vector<Triangle>& triangles, const Vec3s& x, const TrianglePoint& point)
{
    const Triangle& t = triangles[point.triangle];
    return x[t[0]] + triangle_axes(t, x) * point.local;
}

} // namespace pliant
