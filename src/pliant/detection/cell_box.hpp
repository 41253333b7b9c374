#pragma once
// Boxes that deform with the cells of a lattice ("FFD AABB") [Jung, sections 4 and 6.2].

#include "pliant/core/real4.hpp"

namespace pliant {

/// Positions of the eight boundary nodes [m], shape [8, 3]; the k-th is at (k & 1, k >> 1 & 1, k >> 2) of the box.
using BoxNodes = Eigen::Array<Real, 8, 3>;

/// Of each node along an axis of unit length [m].
inline Eigen::Array<Real, 8, 1> along(const BoxNodes& nodes, const Vec3& axis)
{
    return nodes.col(0) * axis.x() + nodes.col(1) * axis.y() + nodes.col(2) * axis.z();
}

/// The coordinates at(block) of eight blocks, of each the first three numbers.
template <class At>
BoxNodes gather_nodes(const std::array<Index, 8>& block, At&& at)
{
    BoxNodes corners;
    for (int k = 0; k < 8; k += 4) {
        const Real4x3 four = Real4x3::of(at(block[k]), at(block[k + 1]), at(block[k + 2]), at(block[k + 3]));
        four.x.store(corners.col(0).data() + k);
        four.y.store(corners.col(1).data() + k);
        four.z.store(corners.col(2).data() + k);
    }
    return corners;
}

/// How the six planes of a box are placed.
enum class BoxPlanes {
    safe, ///< all eight nodes are behind each: what the box holds is too, however it is sheared or twisted
    paper ///< the four nodes of its own side are [Jung, eq. 4 to 6]
};

/// Where a deformed box is. Rows are padded, so that four can be worked on at once: the last one is there again.
struct CellBox {
    BoxNodes nodes;
    Vec3 low, high;                      ///< of the nodes [m]
    Vec3 centre;                         ///< mean of the nodes [m]
    Eigen::Array<Real, 8, 3> normals;    ///< outward, unit length: -x, +x, -y, +y, -z, +z of the undeformed box
    Eigen::Array<Real, 8, 1> offsets;    ///< inside is normal . p <= offset [m]
    Eigen::Array<Real, 4, 3> directions; ///< of the four edges along each axis, on average; unit length
    bool inverted = false;               ///< or flat at a corner: the planes are those of the axis-aligned box

    Vec3 normal(int side) const { return normals.row(side).transpose().matrix(); }
};

/// Nodes of a part of a cell, from the cell's corners in the same order [Jung, eq. 2].
BoxNodes box_nodes(const BoxNodes& corners, const Vec3& low, const Vec3& high);
void set_nodes(CellBox& box, const BoxNodes& nodes);
/// From the nodes. [Jung, eq. 3 to 6] with corrected signs.
void set_planes(CellBox& box, BoxPlanes planes);

/// Two boxes that overlap, or nearly do.
struct BoxOverlap {
    Real depth = 0;             ///< moving b by depth * normal makes them touch [m]; < 0: apart; 0: far apart
    Vec3 normal = Vec3::Zero(); ///< from a to b
};

/// Depth of a point below the nearest of the six planes; `plane` tells which. At most 0 outside.
Real depth_in(const CellBox& box, const Vec3& p, int& plane);

/// Length of the way from the centre of a to that of b, and of what lies between the hulls along it; < 0: they overlap
/// there [m]. Needs no planes. Hulls that are apart along it are apart.
struct CentreGap {
    Real between = 0, centres = 0; ///< the former is multiplied by the latter
    bool more_than(Real reach) const { return between > reach * centres; }
};
CentreGap gap_along_centres(const CellBox& a, const CellBox& b);

/// The separating axes of the two boxes: their planes, and the products of their directions. Finds every overlap of the
/// boxes' hulls, also where no node is inside; boxes with crooked sides may be found that miss each other narrowly.
/// Those that are apart by `reach` [m] or more along one of the axes are far apart.
BoxOverlap overlap_by_axes(const CellBox& a, const CellBox& b, Real reach = 0);
/// The test of the paper: nodes of either box, and inner ones, inside of the other's planes. The deepest node counts.
/// `inner` points along each axis: 1 is the centre alone.
BoxOverlap overlap_by_nodes(const CellBox& a, const CellBox& b, int inner);

} // namespace pliant
