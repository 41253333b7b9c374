#include "pliant/world/motion.hpp"

#include <algorithm>
#include <utility>

namespace pliant {

Motion::Motion(std::vector<Keyframe> keyframes, const Vec3& pivot, bool smooth)
    : keyframes_(std::move(keyframes)), pivot_(pivot), smooth_(smooth)
{}

Pose Motion::pose(Real t) const
{
    if (keyframes_.empty()) return {};
    const auto after = std::upper_bound(keyframes_.begin(), keyframes_.end(), t,
                                        [](Real time, const Keyframe& k) { return time < k.time; });
    Keyframe at;
    if (after == keyframes_.begin()) {
        at = keyframes_.front();
    } else if (after == keyframes_.end()) {
        at = keyframes_.back();
    } else {
        const Keyframe &a = *(after - 1), &b = *after;
        Real u = (t - a.time) / (b.time - a.time);
        if (smooth_) u = u * u * (3 - 2 * u);
        at.move = a.move + u * (b.move - a.move);
        at.turn = a.turn + u * (b.turn - a.turn);
    }
    Pose pose;
    pose.rotation = rotation_xyz(at.turn);
    pose.translation = pivot_ + at.move - pose.rotation * pivot_;
    return pose;
}

Quat rotation_xyz(const Vec3& angles)
{
    if (angles.isZero(0)) return Quat::Identity();
    return Quat(Eigen::AngleAxis<Real>(angles.z(), Vec3::UnitZ()) * Eigen::AngleAxis<Real>(angles.y(), Vec3::UnitY()) *
                Eigen::AngleAxis<Real>(angles.x(), Vec3::UnitX()));
}

} // namespace pliant
