#pragma once
// The exact check of one state: triangles that intersect, vertices inside closed bodies or behind planes.

#include "pliant/run/frame.hpp"

namespace pliant {

/// Two triangles that intersect, touch, or lie in each other's plane and overlap.
struct TriangleCrossing {
    Index triangle_a = none, triangle_b = none; ///< in RunMesh::triangles, a < b
    Index body_a = none, body_b = none;
    Vec3 position = Vec3::Zero(); ///< a point of the intersection, rounded [m]
    Real depth = 0;               ///< shortest move that separates the two triangles, rounded [m]; 0: they touch
};

/// A vertex of one body inside another, closed one, or behind a plane.
struct Enclosure {
    Index container = none; ///< body
    Index vertex = none;
    Real depth = 0; ///< distance to the surface or the plane, rounded [m]
    // The same vertex in the same body is the same enclosure, whatever its depth.
    bool operator==(const Enclosure& e) const { return container == e.container && vertex == e.vertex; }
    auto operator<=>(const Enclosure& e) const
    {
        return container != e.container ? container <=> e.container : vertex <=> e.vertex;
    }
};

struct FrameCheck {
    std::int64_t pairs_tested = 0;           ///< triangle pairs whose boxes meet
    std::int64_t intersections = 0;          ///< triangle pairs
    std::vector<TriangleCrossing> crossings; ///< the first of them, in canonical order
    Real deepest = 0;                        ///< depth of the deepest crossing, listed or not [m]
    std::vector<Enclosure> enclosed;         ///< sorted
};

class FrameChecker {
public:
    static constexpr std::size_t max_listed = 200; ///< crossings a frame that are described one by one

    explicit FrameChecker(const RunMesh& mesh);

    /// Throws Error when a position is not finite.
    FrameCheck check(const Frame& frame) const;

    /// Pairs that no method separates: bodies that the scene lets through each other, and what only scripts move.
    bool excluded(Index body_a, Index body_b) const;
    bool excluded_triangles(Index a, Index b) const;
    /// One vertex, or partners in a seam.
    bool same_vertex(Index v, Index w) const
    {
        return v == w || (!mesh_.weld.empty() && mesh_.weld[v] == mesh_.weld[w]);
    }

    const RunMesh& mesh() const { return mesh_; }
    Index body_of_triangle(Index t) const { return triangle_body_[t]; }
    Index body_of_vertex(Index v) const { return vertex_body_[v]; }

private:
    bool meet(const Vec3s& x, Index a, Index b) const;
    void find_crossings(const Vec3s& x, FrameCheck& out) const;
    void find_enclosed(const Frame& frame, FrameCheck& out) const;
    void find_inside(const Vec3s& x, Index container, const std::vector<Index>& others, FrameCheck& out) const;

    const RunMesh& mesh_;
    std::vector<Index> triangle_body_, vertex_body_;
    std::vector<std::uint8_t> triangle_prescribed_;
    std::vector<std::array<Index, 2>> no_contact_; ///< sorted, smaller number first
};

/// Shortest translation that separates two triangles [m], in rounded arithmetic.
Real separation_depth(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b);

} // namespace pliant
