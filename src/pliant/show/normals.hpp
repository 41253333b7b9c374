#pragma once
#include "pliant/core/types.hpp"

namespace pliant {

/// Unit normals for smooth shading, three a triangle: each averages, weighted by angle, the triangles around the corner
/// that are within `crease_angle` of this one, so that folds and edges of letters stay sharp.
Vec3s corner_normals(const Vec3s& positions, const std::vector<Triangle>& triangles, Real crease_angle);

} // namespace pliant
