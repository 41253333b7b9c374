#pragma once
// What collides in the methods on tetrahedra, as plain arrays that stay the same during a run. Points are the nodes of
// all tetrahedra, interior ones too, and the vertices of closed shells (obstacles). Volumes are the tetrahedra, the
// shells and half-spaces. Positions are not in here: every query gets them.

#include "pliant/core/types.hpp"

#include <span>

namespace pliant {

/// Lists of numbers, one list an element, one after the other in memory.
struct IndexLists {
    std::vector<Index> begin = {0}; ///< per element + 1
    std::vector<Index> items;

    std::span<const Index> operator[](Index i) const
    {
        return {items.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])};
    }
};

/// Everything with normal . x < offset belongs to the body.
struct HalfSpace {
    Index body = 0;
    Vec3 normal = Vec3::UnitY(); ///< unit, out of the body
    Real offset = 0;             ///< [m]
};

/// The arrays a collision mesh is made from.
struct CollisionInput {
    Index bodies = 0;              ///< numbers 0 to bodies - 1; half-spaces count too
    Vec3s rest;                    ///< [m], per node: positions in the rest shape
    std::vector<Index> node_body;  ///< per node
    std::vector<Tet> tets;         ///< of positive volume in the rest shape
    std::vector<Index> tet_body;   ///< per tetrahedron
    std::vector<Triangle> shells;  ///< closed surfaces of bodies without tetrahedra, seen from outside
    std::vector<Index> shell_body; ///< per triangle of the shells
    std::vector<Index> no_points;  ///< nodes that are no points and never collide
    std::vector<Index> still;      ///< bodies that nothing moves: they do not collide among themselves
};

struct CollisionMesh {
    Index bodies = 0;
    Vec3s rest;
    std::vector<Index> node_body, tet_body;
    std::vector<Tet> tets;
    std::vector<Real> rest_det; ///< per tetrahedron: six times its rest volume [m^3]

    std::vector<Triangle> faces;               ///< boundary of the tetrahedra and the shells, body by body, outward
    std::vector<Index> face_begin;             ///< per body + 1: range in faces
    std::vector<std::array<Index, 4>> tet_out; ///< what lies behind face k (opposite to corner k): a tetrahedron t >= 0
                                               ///< or the boundary face -1 - t
    IndexLists neighbours;                     ///< per node: nodes that share an edge with it, ascending
    IndexLists node_faces;                     ///< per node: boundary faces around it, ascending
    std::vector<Real> face_angle; ///< per item of node_faces: the angle of the face at the node in the rest shape [rad]
    std::vector<char> is_shell;   ///< per body
    std::vector<char> is_still;   ///< per body
    std::vector<Index> points;    ///< nodes that may collide, ascending
    std::vector<Real> edge;       ///< per body: median edge length in the rest shape [m], 0 without edges

    Index node_count() const { return count(node_body); }
};

CollisionMesh make_collision_mesh(CollisionInput input);

/// A body collides with itself only where node and element are farther apart in the rest shape than this many median
/// edges of the body, corner by corner: neighbours would collide all the time.
inline constexpr Real self_rest_distance = 2;

/// Whether all the corners are that far from the node.
template <std::size_t n>
bool far_at_rest(const CollisionMesh& mesh, Index node, const std::array<Index, n>& corners)
{
    const Real least = self_rest_distance * mesh.edge[mesh.node_body[node]];
    for (Index corner : corners)
        if ((mesh.rest[corner] - mesh.rest[node]).squaredNorm() <= least * least) return false;
    return true;
}

/// A point that is inside a body.
struct PointInBody {
    Index node = none;
    Index body = none;           ///< the body it is inside of
    Index tet = none;            ///< of that body; `none` in a shell or a half-space
    Vec4 weights = Vec4::Zero(); ///< barycentric coordinates in the tetrahedron

    friend bool operator==(const PointInBody& a, const PointInBody& b)
    {
        return a.node == b.node && a.body == b.body && a.tet == b.tet && a.weights == b.weights;
    }
    /// The canonical order. There is one entry a node and body.
    friend bool operator<(const PointInBody& a, const PointInBody& b)
    {
        return a.node != b.node ? a.node < b.node : a.body < b.body;
    }
};

} // namespace pliant
