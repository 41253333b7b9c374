#include "pliant/show/camera.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

Camera frame_box(const Box3& box, const Vec3& up, Real aspect, const View& view)
{
    Vec3s corners;
    for (int k = 0; k < 8 && !box.empty(); ++k)
        corners.emplace_back(k & 1 ? box.high.x() : box.low.x(), k & 2 ? box.high.y() : box.low.y(),
                             k & 4 ? box.high.z() : box.low.z());
    return frame_points(corners, up, aspect, view);
}

Camera frame_points(const Vec3s& points, const Vec3& up, Real aspect, const View& view)
{
    if (points.empty()) return frame_box({-Vec3::Ones(), Vec3::Ones()}, up, aspect, view);
    Box3 box;
    for (const Vec3& x : points) box.add(x);
    const bool z_up = std::abs(up.z()) > 0.5;
    const Vec3 front = z_up ? Vec3(-Vec3::UnitY()) : Vec3(Vec3::UnitZ()); // from the target towards the viewer
    const Vec3 side = up.cross(front);
    const Vec3 level = std::cos(view.azimuth) * front + std::sin(view.azimuth) * side;
    const Vec3 backward = std::cos(view.elevation) * level + std::sin(view.elevation) * up;

    Camera camera;
    camera.up = up;
    camera.fov = view.fov;
    const Vec3 forward = -backward, right = forward.cross(up).normalized(), above = right.cross(forward);
    const Real padding = std::max(1e-9, 1e-3 * box.diagonal());

    // In camera axes a point (x, y, z) is visible from (ex, ey, ez) when |x - ex| <= tx (z - ez) and the same for y.
    // Both sides of each axis give a bound on ez; the eye goes as far forward as they allow, and faces the box's centre
    // where the other axis leaves room.
    const Real ty = std::tan(view.fov / 2) * (1 - 2 * view.margin), tx = ty * aspect;
    Real right_max = -1e300, left_max = -1e300, top_max = -1e300, bottom_max = -1e300;
    for (const Vec3& point : points) {
        const Real x = point.dot(right), y = point.dot(above), z = point.dot(forward) - padding;
        right_max = std::max(right_max, x + padding - tx * z);
        left_max = std::max(left_max, padding - x - tx * z);
        top_max = std::max(top_max, y + padding - ty * z);
        bottom_max = std::max(bottom_max, padding - y - ty * z);
    }
    const Real ez = std::min(-(right_max + left_max) / (2 * tx), -(top_max + bottom_max) / (2 * ty));
    const auto between = [&](Real wanted, Real a, Real b) { return a < b ? std::clamp(wanted, a, b) : (a + b) / 2; };
    const Vec3 centre = box.centre();
    const Real ex = between(centre.dot(right), right_max + tx * ez, -left_max - tx * ez);
    const Real ey = between(centre.dot(above), top_max + ty * ez, -bottom_max - ty * ez);
    camera.eye = ex * right + ey * above + ez * forward;
    camera.target = camera.eye + forward * (centre - camera.eye).dot(forward);
    return camera;
}

} // namespace pliant
