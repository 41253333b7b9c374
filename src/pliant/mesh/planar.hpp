#pragma once
// Planar triangulations: improve one that only spans its outline, so that cloth cut from it or letters extruded from it
// have usable triangles.

#include "pliant/core/types.hpp"

#include <vector>

namespace pliant {

/// Triangles counter-clockwise; edges used by one triangle are the outline and are never changed.
struct PlanarMesh {
    std::vector<Vec2> vertices;
    std::vector<Triangle> triangles;
};

/// Flips inner edges until the triangulation is constrained Delaunay (Lawson 1977). Flat triangles, as tessellators
/// leave them along collinear points, disappear.
void make_delaunay(PlanarMesh& mesh);

/// Delaunay triangulation with inner vertices about `spacing` apart; the vertices given keep their index and place.
void fill_with_vertices(PlanarMesh& mesh, Real spacing);

} // namespace pliant
