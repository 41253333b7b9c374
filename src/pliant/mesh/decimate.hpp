#pragma once
// Fewer triangles for the same shape.

#include "pliant/mesh/mesh.hpp"

namespace pliant {

/// Collapses edges of a closed surface, first those that change its shape least [Garland and Heckbert 1997], until at
/// most so many triangles are left, or no edge can go without a fold or a pinch. Small features keep small triangles;
/// no edge becomes longer than four times the mean one of that many equal triangles.
TriangleMesh decimate(const TriangleMesh& mesh, Index triangles);

} // namespace pliant
