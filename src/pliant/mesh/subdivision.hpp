#pragma once
#include "pliant/mesh/mesh.hpp"

namespace pliant {

/// One step of Loop subdivision (Loop 1987) as a fixed linear map, for meshes that move: built once from the triangles,
/// applied to every frame's positions. Old vertices keep their index, then comes one vertex an edge. Boundaries follow
/// the cubic B-spline of their own vertices; edges with more than two triangles are treated like boundaries.
class LoopSubdivision {
public:
    LoopSubdivision(const std::vector<Triangle>& triangles, Index vertices);

    /// The finer triangles: each old one is replaced by four.
    const std::vector<Triangle>& triangles() const { return triangles_; }
    Vec3s operator()(const Vec3s& coarse) const;

private:
    struct Entry {
        Index vertex;
        Real weight;
    };
    std::vector<Triangle> triangles_;
    std::vector<Index> row_start_; ///< per fine vertex: its entries begin here
    std::vector<Entry> entries_;
};

TriangleMesh loop_subdivide(const TriangleMesh& mesh);

} // namespace pliant
