#pragma once
// Patches of bodies seen flat: what the sound cull of self-collision knows about the rest shape (self_cull.hpp).
//
// A patch is a node of a body's tree together with the nodes of the same depth next to it. Its texture is the rest
// shape seen along the mean normal of the patch: for grids and flat panels that is the pattern itself; tubes, cones and
// other meshes are cut and flattened by it, patch by patch. A patch has a window only if the convex hull of its texture
// is covered by triangles of the body, each point once, so that the straight line between any two points of the patch
// stays on the body.

#include "pliant/detection/tree.hpp"

#include <cmath>

namespace pliant {

struct PatchWindow {
    static constexpr Real least_cosine = 0.5; ///< of the angle between a triangle and the texture

    std::vector<std::array<Index, 2>> covering; ///< ranges of blocks of faces that hold all triangles of the hull
    Vec3 u = Vec3::UnitX(), v = Vec3::UnitZ();  ///< axes of the texture, unit vectors of the rest shape
    Real altitude = 0;    ///< smallest of a triangle of the hull, in the texture [m]; 0: there is no window
    Real slenderness = 1; ///< largest ratio of an edge to an altitude of a triangle of the hull, at rest
};

/// Nodes of the same depth that share a vertex with a node, and itself; ascending.
using NodeNeighbours = std::vector<std::vector<Index>>;

/// Of the nodes of a tree, without those that are deeper than its shortest branch; of others there are none.
void find_neighbours(const Surface& surface, const SurfaceTrees& trees, const SurfaceTrees::Tree& tree,
                     NodeNeighbours& neighbours);

class WindowBuilder {
public:
    WindowBuilder(const Surface& surface, const SurfaceTrees& trees);

    /// The window of the patch that these nodes form.
    PatchWindow window(std::span<const Index> nodes);
    /// The smallest of a face at rest [m].
    Real altitude(Index face) const { return std::sqrt(twice_area_[face] / slenderness_[face]); }

private:
    enum State : char { unknown, in_patch, waiting, waiting_in_patch, reached };

    /// The corners of a triangle in the texture.
    std::array<Vec2, 3> corners(const PatchWindow& w, Index face) const;
    bool faces(const Vec3& normal, Index face) const
    {
        return twice_area_[face] > 0 && normal_[face].dot(normal) >= PatchWindow::least_cosine;
    }
    /// Goes from the first triangle over edges to all that have a part in the hull.
    bool cover(const std::vector<Vec2>& hull, const Vec3& normal, std::size_t patch_size, PatchWindow& window);

    const Surface& surface_;
    const SurfaceTrees& trees_;
    std::vector<std::array<Index, 3>> across_; ///< per face: the face across each edge; none at a border
    std::vector<Index> block_;                 ///< per face
    Vec3s normal_;                             ///< per face, at rest
    std::vector<Real> twice_area_;             ///< per face, at rest [m^2]
    std::vector<Real> slenderness_;            ///< per face, at rest: the longest edge over the altitude
    std::vector<State> state_;                 ///< per face; scratch
    std::vector<Index> reached_;               ///< faces; scratch
};

} // namespace pliant
