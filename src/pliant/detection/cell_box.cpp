#include "pliant/detection/cell_box.hpp"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

/// Nodes of a side in the order around it.
constexpr std::array<std::array<int, 4>, 6> sides = {
    {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}}};

Vec3 node(const BoxNodes& nodes, int k)
{
    return nodes.row(k).transpose().matrix();
}

/// Whether the box has its orientation at all eight corners.
bool is_upright(const BoxNodes& nodes)
{
    for (int k = 0; k < 8; ++k) {
        const Vec3 x = node(nodes, k);
        const auto edge = [&](int bit) -> Vec3 { return (k & bit ? -1 : 1) * (node(nodes, k ^ bit) - x); };
        if (!(edge(1).cross(edge(2)).dot(edge(4)) > 0)) return false;
    }
    return true;
}

void set_axis_aligned(CellBox& box)
{
    box.inverted = true;
    for (int axis = 0; axis < 3; ++axis) {
        box.normal[2 * axis] = -Vec3::Unit(axis);
        box.offset[2 * axis] = -box.low[axis];
        box.normal[2 * axis + 1] = Vec3::Unit(axis);
        box.offset[2 * axis + 1] = box.high[axis];
        box.direction[axis] = Vec3::Unit(axis);
    }
}

/// Keeps the shallower of two overlaps; false when the boxes are apart along the axis.
bool take(BoxOverlap& best, Real depth, const Vec3& normal)
{
    if (!(depth > 0)) return false;
    if (depth < best.depth) best = {depth, normal};
    return true;
}

} // namespace

BoxNodes box_nodes(const BoxNodes& corners, const Vec3& low, const Vec3& high)
{
    BoxNodes p = corners, q;
    for (int axis = 0; axis < 3; ++axis) {
        const int bit = 1 << axis;
        for (int k = 0; k < 8; ++k) {
            const Real t = k & bit ? high[axis] : low[axis];
            for (int n = 0; n < 3; ++n) {
                const Real a = p(k & ~bit, n), b = p(k | bit, n);
                q(k, n) = (1 - t) * a + t * b;
            }
        }
        p = q;
    }
    return p;
}

void set_nodes(CellBox& box, const BoxNodes& nodes)
{
    box.nodes = nodes;
    box.low = nodes.colwise().minCoeff().transpose();
    box.high = nodes.colwise().maxCoeff().transpose();
}

void set_planes(CellBox& box, BoxPlanes planes)
{
    box.inverted = false;
    if (!is_upright(box.nodes)) return set_axis_aligned(box);
    const Vec3 centre = box.nodes.colwise().mean().transpose();
    for (int s = 0; s < 6; ++s) {
        const auto [i, j, k, l] = sides[s];
        const Vec3 a = node(box.nodes, i), b = node(box.nodes, j), c = node(box.nodes, k), d = node(box.nodes, l);
        // Orthogonal to both diagonals, so that the four nodes of the side have two offsets [Jung, eq. 3].
        Vec3 n = (c - a).cross(d - b);
        const Real length = n.norm();
        if (!(length > 0)) return set_axis_aligned(box);
        n /= length;
        if (n.dot((a + b + c + d) / 4 - centre) < 0) n = -n; // outward
        box.normal[s] = n;
        // The larger of the offsets holds both [Jung, eq. 4 to 6, whose sign takes the smaller one].
        box.offset[s] = planes == BoxPlanes::safe ? along(box.nodes, n).maxCoeff() : std::max(n.dot(a), n.dot(b));
    }
    for (int axis = 0; axis < 3; ++axis) {
        Vec3 sum = Vec3::Zero();
        for (int k = 0; k < 8; ++k)
            if (k & 1 << axis) sum += node(box.nodes, k) - node(box.nodes, k ^ 1 << axis);
        box.direction[axis] = sum / 4;
    }
}

Real depth_in(const CellBox& box, const Vec3& p, int& plane)
{
    Real depth = std::numeric_limits<Real>::infinity();
    for (int s = 0; s < 6; ++s) {
        const Real d = box.offset[s] - box.normal[s].dot(p);
        if (d < depth) {
            depth = d;
            plane = s;
        }
        if (!(depth > 0)) break;
    }
    return depth;
}

BoxOverlap overlap_by_axes(const CellBox& a, const CellBox& b)
{
    BoxOverlap best;
    best.depth = std::numeric_limits<Real>::infinity();
    for (int s = 0; s < 6; ++s)
        if (!take(best, a.offset[s] - along(b.nodes, a.normal[s]).minCoeff(), a.normal[s])) return {};
    for (int s = 0; s < 6; ++s)
        if (!take(best, b.offset[s] - along(a.nodes, b.normal[s]).minCoeff(), -b.normal[s])) return {};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            Vec3 axis = a.direction[i].cross(b.direction[j]);
            const Real length = axis.norm();
            if (!(length > 1e-3 * a.direction[i].norm() * b.direction[j].norm())) continue; // parallel: no new axis
            axis /= length;
            const auto on_a = along(a.nodes, axis).eval(), on_b = along(b.nodes, axis).eval();
            if (!take(best, on_a.maxCoeff() - on_b.minCoeff(), axis)) return {};
            if (!take(best, on_b.maxCoeff() - on_a.minCoeff(), -axis)) return {};
        }
    return best;
}

BoxOverlap overlap_by_nodes(const CellBox& a, const CellBox& b, int inner)
{
    BoxOverlap deepest;
    const auto look = [&](const CellBox& box, const CellBox& other, Real sign) {
        const auto test = [&](const Vec3& p) {
            int plane = 0;
            const Real depth = depth_in(box, p, plane);
            if (depth > deepest.depth) deepest = {depth, sign * box.normal[plane]};
        };
        for (int k = 0; k < 8; ++k) test(node(other.nodes, k));
        const auto place = [&](int i) { return (i + 0.5) / inner; };
        for (int k = 0; k < inner; ++k)
            for (int j = 0; j < inner; ++j)
                for (int i = 0; i < inner; ++i) {
                    const Vec3 at(place(i), place(j), place(k));
                    test(node(box_nodes(other.nodes, at, at), 0));
                }
    };
    look(a, b, 1);
    look(b, a, -1);
    return deepest;
}

} // namespace pliant
