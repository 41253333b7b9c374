#pragma once
// Boxes that deform with the cells of a lattice ("FFD AABB") [Jung, sections 4 and 6.2].

#include "pliant/core/types.hpp"

namespace pliant {

/// Positions of the eight boundary nodes [m], shape [8, 3]; the k-th is at (k & 1, k >> 1 & 1, k >> 2) of the box.
using BoxNodes = Eigen::Array<Real, 8, 3>;

/// Of each node along an axis of unit length [m].
inline Eigen::Array<Real, 8, 1> along(const BoxNodes& nodes, const Vec3& axis)
{
    return nodes.col(0) * axis.x() + nodes.col(1) * axis.y() + nodes.col(2) * axis.z();
}

/// How the six planes of a box are placed.
enum class BoxPlanes {
    safe, ///< all eight nodes are behind each: what the box holds is too, however it is sheared or twisted
    paper ///< the four nodes of its own side are [Jung, eq. 4 to 6]
};

/// Where a deformed box is.
struct CellBox {
    BoxNodes nodes;
    Vec3 low, high;                ///< of the nodes [m]
    std::array<Vec3, 6> normal;    ///< outward, unit length: -x, +x, -y, +y, -z, +z of the undeformed box
    std::array<Real, 6> offset;    ///< inside is normal . p <= offset [m]
    std::array<Vec3, 3> direction; ///< mean of the four edges along each axis
    bool inverted = false;         ///< or flat at a corner: the planes are those of the axis-aligned box
};

/// Nodes of a part of a cell, from the cell's corners in the same order [Jung, eq. 2].
BoxNodes box_nodes(const BoxNodes& corners, const Vec3& low, const Vec3& high);
void set_nodes(CellBox& box, const BoxNodes& nodes);
/// From the nodes. [Jung, eq. 3 to 6] with corrected signs.
void set_planes(CellBox& box, BoxPlanes planes);

/// Two boxes that overlap.
struct BoxOverlap {
    Real depth = 0;             ///< moving b by depth * normal separates them [m]; 0: they do not overlap
    Vec3 normal = Vec3::Zero(); ///< from a to b
};

/// Depth of a point below the nearest of the six planes; `plane` tells which. At most 0 outside.
Real depth_in(const CellBox& box, const Vec3& p, int& plane);

/// The separating axes of the two boxes: their planes, and the products of their directions. Finds every overlap of the
/// boxes' hulls, also where no node is inside; boxes with crooked sides may be found that miss each other narrowly.
BoxOverlap overlap_by_axes(const CellBox& a, const CellBox& b);
/// The test of the paper: nodes of either box, and inner ones, inside of the other's planes. The deepest node counts.
/// `inner` points along each axis: 1 is the centre alone.
BoxOverlap overlap_by_nodes(const CellBox& a, const CellBox& b, int inner);

} // namespace pliant
