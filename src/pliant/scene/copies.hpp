#pragma once
#include "pliant/core/types.hpp"
#include "pliant/scene/value.hpp"

#include <optional>

namespace pliant {

/// How many bodies a body entry makes; `copies` may be null.
Real copy_count(const Value* copies);

/// Poses of all copies: the body's own pose, an array of it, a helix, or random ones. radius: of the bounding sphere
/// about the mesh's origin [m].
std::vector<Pose> copy_poses(const Value* copies, const Pose& place, Real radius, const Vec3& up);

} // namespace pliant
