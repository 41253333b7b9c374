#pragma once
#include "pliant/core/types.hpp"
#include "pliant/scene/value.hpp"

#include <optional>

namespace pliant {

/// How many bodies a body entry makes; `copies` may be null.
Real copy_count(const Value* copies);

/// Poses of all copies: the body's own pose, an array of it, or random ones whose bounding spheres (about the mesh
/// origin) do not overlap.
std::vector<Pose> copy_poses(const Value* copies, const Pose& place, Real radius);

} // namespace pliant
