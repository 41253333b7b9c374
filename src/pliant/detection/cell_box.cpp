#include "pliant/detection/cell_box.hpp"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

Vec3 node(const BoxNodes& nodes, int k)
{
    return nodes.row(k).transpose().matrix();
}

/// A coordinate of eight points: of nodes 0 to 3, and of 4 to 7.
struct Eight {
    Real4 a, b;

    explicit Eight(const Real* numbers) : a(Real4::load(numbers)), b(Real4::load(numbers + 4)) {}
    Eight(Real4 p, Real4 q) : a(p), b(q) {}
    void store(Real* numbers) const
    {
        a.store(numbers);
        b.store(numbers + 4);
    }
    friend Eight operator-(const Eight& p, const Eight& q) { return {p.a - q.a, p.b - q.b}; }
    friend Eight operator*(const Eight& p, const Eight& q) { return {p.a * q.a, p.b * q.b}; }
    friend Eight operator+(const Eight& p, const Eight& q) { return {p.a + q.a, p.b + q.b}; }
    Real sum() const
    {
        const Real4 four = a + b, two = evens(four) + odds(four);
        return (two + upper(two)).first();
    }
};
using EightPoints = std::array<Eight, 3>;

EightPoints cross(const EightPoints& p, const EightPoints& q)
{
    return {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
}
Eight dot(const EightPoints& p, const EightPoints& q)
{
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}
EightPoints points(const BoxNodes& nodes)
{
    return {Eight(nodes.data()), Eight(nodes.data() + 8), Eight(nodes.data() + 16)};
}

/// For each node, the edge along an axis that it is an end of.
EightPoints edges(const EightPoints& x, int axis)
{
    const auto edge = [&](const Eight& p) -> Eight {
        if (axis == 0) return {odds(p.a) - evens(p.a), odds(p.b) - evens(p.b)};
        if (axis == 1) return {upper(p.a) - lower(p.a), upper(p.b) - lower(p.b)};
        return {p.b - p.a, p.b - p.a};
    };
    return {edge(x[0]), edge(x[1]), edge(x[2])};
}

void set_axis_aligned(CellBox& box)
{
    box.inverted = true;
    for (int s = 0; s < 8; ++s) {
        const int side = std::min(s, 5), axis = side / 2;
        const bool up = side % 2 == 1;
        box.normals.row(s) = ((up ? 1 : -1) * Vec3::Unit(axis)).transpose();
        box.offsets[s] = up ? box.high[axis] : -box.low[axis];
    }
    for (int axis = 0; axis < 4; ++axis) box.directions.row(axis) = Vec3::Unit(std::min(axis, 2)).transpose();
}

/// The diagonals of the six sides, of which the last is there three times: nodes `to` minus nodes `from`.
EightPoints diagonals(const BoxNodes& x, const std::array<int, 6>& from, const std::array<int, 6>& to)
{
    const auto along_axis = [&](int k) -> Eight {
        const auto d = [&](int s) { return x(to[s], k) - x(from[s], k); };
        const Real last = d(5);
        return {{d(0), d(1), d(2), d(3)}, {d(4), last, last, last}};
    };
    return {along_axis(0), along_axis(1), along_axis(2)};
}

/// Largest or smallest of the nodes' places along eight axes.
struct Extent {
    Eight low, high;
};
Extent extent(const BoxNodes& nodes, const EightPoints& axes)
{
    const Real inf = std::numeric_limits<Real>::infinity();
    Extent e{{inf, inf}, {-inf, -inf}};
    for (int k = 0; k < 8; ++k) {
        const Real4 x = nodes(k, 0), y = nodes(k, 1), z = nodes(k, 2);
        const Eight at = {x * axes[0].a + y * axes[1].a + z * axes[2].a, x * axes[0].b + y * axes[1].b + z * axes[2].b};
        e.low = {min(e.low.a, at.a), min(e.low.b, at.b)};
        e.high = {max(e.high.a, at.a), max(e.high.b, at.b)};
    }
    return e;
}

} // namespace

BoxNodes box_nodes(const BoxNodes& corners, const Vec3& low, const Vec3& high)
{
    const Real4 tx(low.x(), high.x(), low.x(), high.x()), ty(low.y(), low.y(), high.y(), high.y());
    const Real4 sx = Real4(1) - tx, sy = Real4(1) - ty;
    BoxNodes out;
    for (int n = 0; n < 3; ++n) {
        Eight p(corners.col(n).data());
        p = {sx * evens(p.a) + tx * odds(p.a), sx * evens(p.b) + tx * odds(p.b)};
        p = {sy * lower(p.a) + ty * upper(p.a), sy * lower(p.b) + ty * upper(p.b)};
        p = {Real4(1 - low.z()) * p.a + Real4(low.z()) * p.b, Real4(1 - high.z()) * p.a + Real4(high.z()) * p.b};
        p.store(out.col(n).data());
    }
    return out;
}

void set_nodes(CellBox& box, const BoxNodes& nodes)
{
    box.nodes = nodes;
    for (int k = 0; k < 3; ++k) {
        const Eight x(nodes.col(k).data());
        box.low[k] = least(min(x.a, x.b));
        box.high[k] = largest(max(x.a, x.b));
        box.centre[k] = x.sum() / 8;
    }
}

void set_planes(CellBox& box, BoxPlanes planes)
{
    box.inverted = false;
    const EightPoints x = points(box.nodes), ex = edges(x, 0), ey = edges(x, 1), ez = edges(x, 2);
    // The box has its orientation at all eight corners.
    const Eight volume = dot(cross(ex, ey), ez);
    if ((greater(volume.a, 0) & greater(volume.b, 0)) != 15) return set_axis_aligned(box);
    std::array<Vec3, 3> direction; // twice the way from the middle to each side, before it has unit length
    for (int axis = 0; axis < 3; ++axis) {
        const EightPoints& e = axis == 0 ? ex : axis == 1 ? ey : ez;
        direction[axis] = Vec3(e[0].sum(), e[1].sum(), e[2].sum()) / 8;
    }
    // Orthogonal to both diagonals, so that the four nodes of the side have two offsets [Jung, eq. 3].
    EightPoints n = cross(diagonals(box.nodes, {0, 1, 0, 2, 0, 4}, {6, 7, 5, 7, 3, 7}),
                          diagonals(box.nodes, {2, 3, 1, 3, 1, 5}, {4, 5, 4, 6, 2, 6}));
    const Eight size_sq = dot(n, n);
    if ((greater(size_sq.a, 0) & greater(size_sq.b, 0)) != 15) return set_axis_aligned(box);
    const auto out = [&](int k) -> Eight {
        const Real a = direction[0][k], b = direction[1][k], c = direction[2][k];
        return {{-a, a, -b, b}, {-c, c, c, c}};
    };
    const Eight outward = dot(n, {out(0), out(1), out(2)});
    const Eight scale = {choose_greater(0, outward.a, -1, 1) / sqrt(size_sq.a),
                         choose_greater(0, outward.b, -1, 1) / sqrt(size_sq.b)};
    for (int k = 0; k < 3; ++k) {
        n[k] = n[k] * scale;
        n[k].store(box.normals.col(k).data());
    }
    // The larger of the offsets holds both [Jung, eq. 4 to 6, whose sign takes the smaller one].
    if (planes == BoxPlanes::safe) {
        extent(box.nodes, n).high.store(box.offsets.data());
    } else {
        constexpr std::array<std::array<int, 2>, 6> ends = {{{0, 2}, {1, 3}, {0, 1}, {2, 3}, {0, 1}, {4, 5}}};
        for (int s = 0; s < 8; ++s) {
            const auto [i, j] = ends[std::min(s, 5)];
            box.offsets[s] = std::max(box.normal(s).dot(node(box.nodes, i)), box.normal(s).dot(node(box.nodes, j)));
        }
    }
    for (int axis = 0; axis < 4; ++axis) {
        const Vec3& d = direction[std::min(axis, 2)];
        const Real length = d.norm();
        box.directions.row(axis) = (length > 0 ? Vec3(d / length) : d).transpose();
    }
}

Real depth_in(const CellBox& box, const Vec3& p, int& plane)
{
    Real depth = std::numeric_limits<Real>::infinity();
    for (int s = 0; s < 6; ++s) {
        const Real d = box.offsets[s] - box.normal(s).dot(p);
        if (d < depth) {
            depth = d;
            plane = s;
        }
        if (!(depth > 0)) break;
    }
    return depth;
}

CentreGap gap_along_centres(const CellBox& a, const CellBox& b)
{
    const Vec3 u = b.centre - a.centre;
    const Real4 x = u.x(), y = u.y(), z = u.z();
    const auto along_way = [&](const BoxNodes& nodes) {
        const EightPoints p = points(nodes);
        return Eight(x * p[0].a + y * p[1].a + z * p[2].a, x * p[0].b + y * p[1].b + z * p[2].b);
    };
    const Eight p = along_way(a.nodes), q = along_way(b.nodes);
    return {least(min(q.a, q.b)) - largest(max(p.a, p.b)), u.norm()};
}

BoxOverlap overlap_by_axes(const CellBox& a, const CellBox& b, Real reach)
{
    // Depths along the planes of a, of b, and along the products of their directions, there and back.
    alignas(32) std::array<Real, 16> planes;
    alignas(32) std::array<Real, 24> crossed;
    const auto apart = [&](Real4 p, Real4 q) { return (greater(p, -reach) & greater(q, -reach)) != 15; };
    const auto look = [&](const CellBox& box, const CellBox& other, Real* depth) {
        const EightPoints n = points(box.normals);
        const Eight d = Eight(box.offsets.data()) - extent(other.nodes, n).low;
        d.store(depth);
        return !apart(d.a, d.b);
    };
    if (!look(a, b, planes.data()) || !look(b, a, planes.data() + 8)) return {};
    const Real inf = std::numeric_limits<Real>::infinity();
    const Real4x3 e = {Real4::load(b.directions.col(0).data()), Real4::load(b.directions.col(1).data()),
                       Real4::load(b.directions.col(2).data())};
    for (int i = 0; i < 3; ++i) {
        const Real4x3 axis = cross(Real4x3{a.directions(i, 0), a.directions(i, 1), a.directions(i, 2)}, e);
        Real4 low_a = inf, high_a = -inf, low_b = inf, high_b = -inf;
        for (int k = 0; k < 8; ++k) {
            const Real4 p = dot(axis, Real4x3{a.nodes(k, 0), a.nodes(k, 1), a.nodes(k, 2)});
            const Real4 q = dot(axis, Real4x3{b.nodes(k, 0), b.nodes(k, 1), b.nodes(k, 2)});
            low_a = min(low_a, p);
            high_a = max(high_a, p);
            low_b = min(low_b, q);
            high_b = max(high_b, q);
        }
        const Real4 length = sqrt(dot(axis, axis));
        const auto depth = [&](Real4 overlap) { return choose_greater(length, 1e-3, overlap / length, inf); };
        const Real4 there = depth(high_a - low_b), back = depth(high_b - low_a); // parallel edges give no axis
        if (apart(there, back)) return {};
        there.store(crossed.data() + 8 * i);
        back.store(crossed.data() + 8 * i + 4);
    }
    const auto plane = std::min_element(planes.begin(), planes.end());
    const auto product = std::min_element(crossed.begin(), crossed.end());
    if (*plane <= *product) {
        const int s = static_cast<int>(plane - planes.begin());
        return {*plane, s < 8 ? a.normal(s) : Vec3(-b.normal(s - 8))};
    }
    const int c = static_cast<int>(product - crossed.begin()), i = c / 8, j = c % 4;
    const Vec3 axis = Vec3(a.directions.row(i).transpose()).cross(Vec3(b.directions.row(j).transpose())).normalized();
    return {*product, c % 8 < 4 ? axis : Vec3(-axis)};
}

BoxOverlap overlap_by_nodes(const CellBox& a, const CellBox& b, int inner)
{
    BoxOverlap deepest;
    const auto look = [&](const CellBox& box, const CellBox& other, Real sign) {
        const auto test = [&](const Vec3& p) {
            int plane = 0;
            const Real depth = depth_in(box, p, plane);
            if (depth > deepest.depth) deepest = {depth, sign * box.normal(plane)};
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
