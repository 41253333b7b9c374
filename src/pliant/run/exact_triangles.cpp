#include "pliant/run/exact.hpp"

#include <algorithm>
#include <limits>

namespace pliant::exact {
namespace {

/// Sign of n . (x - s) when rounding cannot change it, else 0: differences, products and sums of three terms are off by
/// less than 4 units in the last place of the sum of magnitudes.
int certain_sign(const Vec3& n, const Vec3& x, const Vec3& s)
{
    const Vec3 d = x - s;
    const Real sum = n.dot(d), bound = 8 * std::numeric_limits<Real>::epsilon() * n.cwiseAbs().dot(d.cwiseAbs());
    return sum > bound ? 1 : sum < -bound ? -1 : 0;
}

bool lexicographic_less(const Vec3& a, const Vec3& b)
{
    return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
}

/// An axis along which the triangle's projection keeps its area; -1 when it has none.
int projection_axis(const Vec3& a, const Vec3& b, const Vec3& c)
{
    for (int axis = 0; axis < 3; ++axis)
        if (orientation_2d(a, b, c, axis) != 0) return axis;
    return -1;
}

/// Whether c, on the line through a and b, lies between them.
bool between(const Vec3& a, const Vec3& b, const Vec3& c)
{
    const Vec3 &low = lexicographic_less(b, a) ? b : a, &high = lexicographic_less(b, a) ? a : b;
    return !lexicographic_less(c, low) && !lexicographic_less(high, c);
}

/// For points of one plane that does not contain `axis`.
bool segments_meet_2d(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, int axis)
{
    const int pa = orientation_2d(p, q, a, axis), pb = orientation_2d(p, q, b, axis);
    const int ap = orientation_2d(a, b, p, axis), aq = orientation_2d(a, b, q, axis);
    if (pa * pb < 0 && ap * aq < 0) return true;
    return (pa == 0 && between(p, q, a)) || (pb == 0 && between(p, q, b)) || (ap == 0 && between(a, b, p)) ||
           (aq == 0 && between(a, b, q));
}

bool segments_meet(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b)
{
    if (orientation(p, q, a, b) != 0) return false;
    for (const auto& [i, j, k] : {std::array{&p, &q, &a}, {&p, &q, &b}, {&a, &b, &p}, {&a, &b, &q}})
        if (const int axis = projection_axis(*i, *j, *k); axis >= 0) return segments_meet_2d(p, q, a, b, axis);
    return between(p, q, a) || between(p, q, b) || between(a, b, p) || between(a, b, q);
}

bool coplanar_segment_meets_triangle(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const int axis = projection_axis(a, b, c);
    if (axis < 0) return segments_meet(p, q, a, b) || segments_meet(p, q, b, c) || segments_meet(p, q, c, a);
    const int s = orientation_2d(a, b, p, axis), t = orientation_2d(b, c, p, axis), u = orientation_2d(c, a, p, axis);
    if ((s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0)) return true;
    return segments_meet_2d(p, q, a, b, axis) || segments_meet_2d(p, q, b, c, axis) ||
           segments_meet_2d(p, q, c, a, axis);
}

/// Two triangles with the common edge s, t overlap beyond it only when they lie in one plane on the same side of it.
bool folded_flat(const Vec3& s, const Vec3& t, const Vec3& a, const Vec3& b)
{
    // Angles at the edge of more than a right angle are the rule, and are decided without exact arithmetic.
    const Vec3 e = t - s, da = a - s, db = b - s, na = e.cross(da), nb = e.cross(db);
    const Real size = e.squaredNorm() * da.norm() * db.norm();
    if (na.dot(nb) < -64 * std::numeric_limits<Real>::epsilon() * size) return false;
    if (orientation(s, t, a, b) != 0) return false;
    for (int axis = 0; axis < 3; ++axis) {
        const int side_a = orientation_2d(s, t, a, axis), side_b = orientation_2d(s, t, b, axis);
        if (side_a != 0 && side_b != 0) return side_a == side_b;
    }
    if (s == t) { // the edge is a point, the triangles are segments from it
        const bool collinear = projection_axis(s, a, b) < 0;
        return collinear && a != s && b != s && !between(a, b, s);
    }
    // One of them has no area: it stays on the edge's line, where a second segment may lie over it.
    if (projection_axis(s, t, a) >= 0 || projection_axis(s, t, b) >= 0) return false;
    const bool a_within = between(s, t, a), b_within = between(s, t, b);
    return !a_within && !b_within && (between(s, a, t) == between(s, b, t));
}

/// A plane through s that has one triangle strictly on each side, found by guesses: square to the difference of the
/// triangles' mean directions, or (in a nearly flat fan) through the middle of the gap between two of their edges.
bool separated_at(const Vec3& s, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const Vec3 ua = (a - s).normalized(), ub = (b - s).normalized(), uc = (c - s).normalized(),
               ud = (d - s).normalized();
    const auto splits = [&](const Vec3& n) {
        const int side = certain_sign(n, a, s);
        return side != 0 && certain_sign(n, b, s) == side && certain_sign(n, c, s) == -side &&
               certain_sign(n, d, s) == -side;
    };
    if (splits(ua + ub - uc - ud)) return true;
    const Vec3 normal_a = ua.cross(ub), normal_b = uc.cross(ud);
    const Vec3 normal = normal_a.dot(normal_b) > 0 ? Vec3(normal_a + normal_b) : Vec3(normal_a - normal_b);
    return splits(normal.cross(ua + uc)) || splits(normal.cross(ua + ud)) || splits(normal.cross(ub + uc)) ||
           splits(normal.cross(ub + ud));
}

/// Whether the plane square to n through the corner of b nearest to a has a strictly behind it.
bool splits(const Vec3& n, const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b)
{
    const Vec3* low = &b[0];
    for (const Vec3& x : b)
        if (n.dot(x) < n.dot(*low)) low = &x;
    // A corner of b that is level with `low` up to rounding could be behind it: only a wider gap counts then.
    const Vec3 origin = *low;
    Real slack = 0;
    for (const Vec3& x : b) slack = std::max(slack, n.cwiseAbs().dot((x - origin).cwiseAbs()));
    for (const Vec3& x : a) {
        const Vec3 d = origin - x;
        const Real bound = 64 * std::numeric_limits<Real>::epsilon() * (n.cwiseAbs().dot(d.cwiseAbs()) + slack);
        if (!(n.dot(d) > bound)) return false;
    }
    for (const Vec3& x : b)
        if (n.dot(x - origin) < -16 * std::numeric_limits<Real>::epsilon() * slack) return false;
    return true;
}

/// Separation of triangles without a common vertex, found by guesses: along the line between the centroids, the
/// normals, and square to each edge within its plane.
bool separated(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b)
{
    const auto either = [&](const Vec3& n) { return splits(n, a, b) || splits(-n, a, b); };
    if (splits(b[0] + b[1] + b[2] - a[0] - a[1] - a[2], a, b)) return true;
    for (const auto& t : {a, b}) {
        const Vec3 normal = (t[1] - t[0]).cross(t[2] - t[0]);
        if (either(normal)) return true;
        for (int k = 0; k < 3; ++k)
            if (either(normal.cross(t[(k + 1) % 3] - t[k]))) return true;
    }
    return false;
}

bool one_sided(const std::array<Vec3, 3>& t, const Vec3& p, const Vec3& q, const Vec3& r)
{
    const int first = orientation(t[0], t[1], t[2], p);
    return first != 0 && orientation(t[0], t[1], t[2], q) == first && orientation(t[0], t[1], t[2], r) == first;
}

bool apart(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b)
{
    return separated(a, b) || one_sided(a, b[0], b[1], b[2]) || one_sided(b, a[0], a[1], a[2]);
}

} // namespace

bool segment_meets_triangle(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const int side_p = orientation(a, b, c, p), side_q = orientation(a, b, c, q);
    if (side_p == 0 && side_q == 0) return coplanar_segment_meets_triangle(p, q, a, b, c);
    if (side_p == side_q) return false;
    // The segment's line meets the plane in one point, which the triangle holds unless its edges disagree.
    const int s = orientation(p, q, a, b), t = orientation(p, q, b, c), u = orientation(p, q, c, a);
    return (s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0);
}

bool triangles_meet(const Vec3s& x, const Triangle& ta, const Triangle& tb)
{
    // Turn both so that the common vertices come first.
    Triangle a = ta, b = tb;
    int shared = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = shared; j < 3; ++j)
            if (a[i] == b[j] && i >= shared) {
                std::swap(a[i], a[shared]);
                std::swap(b[j], b[shared]);
                ++shared;
                break;
            }
    const std::array<Vec3, 3> pa = {x[a[0]], x[a[1]], x[a[2]]}, pb = {x[b[0]], x[b[1]], x[b[2]]};
    if (shared == 3) return true;
    if (shared == 2) return folded_flat(pa[0], pa[1], pa[2], pb[2]);
    if (shared == 1) {
        // What they have in common is convex and holds the vertex; if it holds more, it reaches an opposite edge.
        if (separated_at(pa[0], pa[1], pa[2], pb[1], pb[2])) return false;
        return segment_meets_triangle(pa[1], pa[2], pb[0], pb[1], pb[2]) ||
               segment_meets_triangle(pb[1], pb[2], pa[0], pa[1], pa[2]);
    }
    if (apart(pa, pb)) return false;
    for (int k = 0; k < 3; ++k)
        if (segment_meets_triangle(pa[k], pa[(k + 1) % 3], pb[0], pb[1], pb[2]) ||
            segment_meets_triangle(pb[k], pb[(k + 1) % 3], pa[0], pa[1], pa[2]))
            return true;
    return false;
}

} // namespace pliant::exact
