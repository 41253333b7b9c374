#pragma once
#include "pliant/core/types.hpp"

namespace pliant {

struct Box3 {
    Vec3 low = Vec3::Constant(1e300), high = Vec3::Constant(-1e300);

    void add(const Vec3& x)
    {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    bool empty() const { return !(low.x() <= high.x()); }
    Vec3 centre() const { return (low + high) / 2; }
    Real diagonal() const { return empty() ? 0 : (high - low).norm(); }
};

/// Pinhole camera: looks from `eye` to `target`.
struct Camera {
    Vec3 eye = Vec3(0, 1, 4);
    Vec3 target = Vec3::Zero();
    Vec3 up = Vec3::UnitY();
    Real fov = 0.6; ///< vertical angle of view [rad]

    Vec3 forward() const { return (target - eye).normalized(); }
    Vec3 right() const { return forward().cross(up).normalized(); }
};

/// Where to look from; angles in radians.
struct View {
    Real azimuth = 0.45;   ///< around the up axis, 0 looks along -z (y up) or along +y (z up)
    Real elevation = 0.35; ///< above the horizon
    Real fov = 0.6;
    Real margin = 0.06; ///< of the picture, left free on each side
};

/// The closest camera of that direction that sees all points; without points it looks at the unit box.
Camera frame_points(const Vec3s& points, const Vec3& up, Real aspect, const View& view = {});

/// The same for the corners of a box.
Camera frame_box(const Box3& box, const Vec3& up, Real aspect, const View& view = {});

} // namespace pliant
