#pragma once
// Scripts that move each vertex of an obstacle on its own: mesh sequences here, skeletons in skeleton.hpp.

#include "pliant/core/types.hpp"

#include <memory>
#include <span>

namespace pliant {

/// Where the vertices of a surface, or points that go along with it, are at every time. Immutable: worlds share it.
class VertexMotion {
public:
    virtual ~VertexMotion() = default;

    virtual Index vertex_count() const = 0;
    /// At a time, one place a vertex [m].
    virtual void positions(Real t, std::span<Vec3> out) const = 0;
    /// The first keyframe between the two times, by more than rounding; t1 if there is none [s].
    virtual Real next_keyframe(Real t0, Real t1) const = 0;
    /// A bound for how far the path of any vertex is from the straight line between its ends [m]. A path that is
    /// straight but not uniform in time has no error.
    virtual Real chord_error(Real t0, Real t1) const = 0;
    /// Points that go along with the surface, whose triangles are given: where they are at the time 0 [m].
    virtual std::shared_ptr<const VertexMotion> follow(const std::vector<Triangle>& triangles,
                                                       const Vec3s& points) const = 0;
};

/// What comes after the last frame of a sequence.
enum class AfterLast {
    hold, ///< it stays
    loop  ///< the first one again, one frame later
};

/// When the frames of a sequence are.
struct SequenceTiming {
    Real start = 0;       ///< time of the first frame; before it nothing moves [s]
    Real interval = 0.04; ///< from one frame to the next [s]
    AfterLast after = AfterLast::hold;
};

/// Frames of a mesh with one topology, and straight lines between them.
class SequenceMotion final : public VertexMotion {
public:
    /// Frames have places of the same vertices [m]; at least one.
    SequenceMotion(std::vector<Vec3s> frames, const SequenceTiming& timing);

    const std::vector<Vec3s>& frames() const { return frames_; }
    const SequenceTiming& timing() const { return timing_; }

    Index vertex_count() const override { return count(frames_.front()); }
    void positions(Real t, std::span<Vec3> out) const override;
    Real next_keyframe(Real t0, Real t1) const override;
    Real chord_error(Real t0, Real t1) const override;
    std::shared_ptr<const VertexMotion> follow(const std::vector<Triangle>& triangles,
                                               const Vec3s& points) const override;

private:
    /// Between which frames a time is, and how far from the first of them.
    struct Moment {
        Index before = 0, after = 0;
        Real part = 0;
    };
    Moment at(Real t) const;
    Vec3 position(Index v, const Moment& m) const
    {
        return (1 - m.part) * frames_[m.before][v] + m.part * frames_[m.after][v];
    }

    std::vector<Vec3s> frames_;
    SequenceTiming timing_;
};

/// A vertex that moves suspiciously far from one frame to the next.
struct SequenceJump {
    Index frame = none; ///< the one it jumps to, from 0; none: nothing jumps
    Index vertex = none;
    Real distance = 0; ///< [m]
};
/// The farthest move of a vertex from a frame to the next, if it is more than `part` of the diagonal of the first
/// frame; in a loop also from the last frame to the first.
SequenceJump find_jump(const SequenceMotion& motion, Real part = 0.25);

/// A point in the frame of a triangle: along its first edge, across it, and off its plane, in metres.
struct TrianglePoint {
    Index triangle = none;
    Vec3 local = Vec3::Zero();
};
/// Of each point the triangle that is nearest at places x.
std::vector<TrianglePoint> attach_points(const std::vector<Triangle>& triangles, const Vec3s& x, const Vec3s& points);
Vec3 attached_position(const std::vector<Triangle>& triangles, const Vec3s& x, const TrianglePoint& point);

} // namespace pliant
