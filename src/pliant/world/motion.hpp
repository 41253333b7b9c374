#pragma once
// Scripted motion of obstacles and pins.

#include "pliant/core/types.hpp"

namespace pliant {

/// Where the script has moved a body at a time, relative to its start.
struct Keyframe {
    Real time = 0;            ///< [s]
    Vec3 move = Vec3::Zero(); ///< displacement of the pivot [m]
    Vec3 turn = Vec3::Zero(); ///< rotation about the x, then y, then z axis through the pivot [rad]; full turns count
};

/// Piecewise motion between keyframes; constant before the first and after the last one.
class Motion {
public:
    Motion() = default;
    /// Keyframes in increasing time. `smooth` eases in and out of every keyframe (velocity 0 there).
    Motion(std::vector<Keyframe> keyframes, const Vec3& pivot, bool smooth);

    bool empty() const { return keyframes_.empty(); }
    /// Maps a point's place at the start to its place at time t.
    Pose pose(Real t) const;
    const std::vector<Keyframe>& keyframes() const { return keyframes_; }
    const Vec3& pivot() const { return pivot_; }

    /// The first keyframe between the two times, by more than rounding; t1 if there is none [s].
    Real next_keyframe(Real t0, Real t1) const;
    /// A bound for how far the path of a point, at most `radius` from the pivot, is from the straight line between its
    /// ends [m]. A path that is straight but not uniform in time has no error.
    Real chord_error(Real t0, Real t1, Real radius) const;

private:
    Keyframe at(Real t) const; ///< interpolated; there must be a keyframe

    std::vector<Keyframe> keyframes_;
    Vec3 pivot_ = Vec3::Zero();
    bool smooth_ = false;
};

/// Rotation about x, then y, then z by the given angles [rad].
Quat rotation_xyz(const Vec3& angles);

} // namespace pliant
