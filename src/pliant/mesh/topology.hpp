#pragma once
#include "pliant/mesh/mesh.hpp"

namespace pliant {

/// Unique undirected edges (smaller index first), sorted.
std::vector<Edge> edges_of(const std::vector<Triangle>& triangles);
std::vector<Edge> edges_of(const std::vector<Tet>& tets);

/// An edge with the one or two triangles that use it and the vertices opposite to it; `none` at a boundary.
struct Hinge {
    Edge edge;
    std::array<Index, 2> triangle; ///< second is `none` on a boundary edge
    std::array<Index, 2> opposite; ///< vertex of triangle[k] that is not on the edge
};
/// One hinge an edge, in the order of edges_of(). An edge with more than two triangles keeps the first two.
std::vector<Hinge> hinges_of(const std::vector<Triangle>& triangles);

/// Boundary triangles of a tetrahedral mesh, oriented outward, in the order of the tetrahedra.
std::vector<Triangle> boundary_of(const std::vector<Tet>& tets);

/// True when every edge has exactly two triangles that run along it in opposite directions.
bool is_closed(const std::vector<Triangle>& triangles);

/// Signed volume enclosed by a closed surface (positive when oriented outward) [m^3].
Real enclosed_volume(const TriangleMesh& mesh);

/// Median length of the edges [m]; 0 for a mesh without edges.
Real median_edge_length(const Vec3s& vertices, const std::vector<Edge>& edges);

} // namespace pliant
