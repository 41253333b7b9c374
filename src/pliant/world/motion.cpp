#include "pliant/world/motion.hpp"

#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <utility>

namespace pliant {

Motion::Motion(std::vector<Keyframe> keyframes, const Vec3& pivot, bool smooth)
    : keyframes_(std::move(keyframes)), pivot_(pivot), smooth_(smooth)
{}

Keyframe Motion::at(Real t) const
{
    const auto after = std::upper_bound(keyframes_.begin(), keyframes_.end(), t,
                                        [](Real time, const Keyframe& k) { return time < k.time; });
    if (after == keyframes_.begin()) return keyframes_.front();
    if (after == keyframes_.end()) return keyframes_.back();
    const Keyframe &a = *(after - 1), &b = *after;
    Real u = (t - a.time) / (b.time - a.time);
    if (smooth_) u = u * u * (3 - 2 * u);
    Keyframe at;
    at.move = a.move + u * (b.move - a.move);
    at.turn = a.turn + u * (b.turn - a.turn);
    return at;
}

Pose Motion::pose(Real t) const
{
    if (keyframes_.empty()) return {};
    const Keyframe now = at(t);
    Pose pose;
    pose.rotation = rotation_xyz(now.turn);
    pose.translation = pivot_ + now.move - pose.rotation * pivot_;
    return pose;
}

Real Motion::next_keyframe(Real t0, Real t1) const
{
    const Real rounding = 1e-9 * (t1 - t0);
    for (const Keyframe& k : keyframes_)
        if (k.time > t0 + rounding && k.time < t1 - rounding) return k.time;
    return t1;
}

// Between keyframes x(u) = pivot + move(u) + R(turn(u)) r with move and turn linear in u: the translation follows its
// chord, and |x''| is at most r times the square of the sum of the angles' rates, so that x leaves its chord by an
// eighth of that. Across keyframes half of the way along the arc bounds the rotation, and the corners the translation.
Real Motion::chord_error(Real t0, Real t1, Real radius) const
{
    if (keyframes_.empty()) return 0;
    const Keyframe begin = at(t0), end = at(t1);
    const Real key = next_keyframe(t0, t1);
    if (key == t1) {
        const Real angle = (end.turn - begin.turn).cwiseAbs().sum();
        return radius * std::min(angle * angle / 8, angle / 2);
    }
    Real corner = 0, angle = 0;
    Keyframe before = begin;
    for (Real t = key;; t = next_keyframe(t, t1)) {
        const Keyframe now = at(t);
        const Real u = closest_on_segment(now.move, begin.move, end.move);
        corner = std::max(corner, (now.move - (1 - u) * begin.move - u * end.move).norm());
        angle += (now.turn - before.turn).cwiseAbs().sum();
        before = now;
        if (t == t1) break;
    }
    return corner + radius * angle / 2;
}

Quat rotation_xyz(const Vec3& angles)
{
    if (angles.isZero(0)) return Quat::Identity();
    return Quat(Eigen::AngleAxis<Real>(angles.z(), Vec3::UnitZ()) * Eigen::AngleAxis<Real>(angles.y(), Vec3::UnitY()) *
                Eigen::AngleAxis<Real>(angles.x(), Vec3::UnitX()));
}

} // namespace pliant
