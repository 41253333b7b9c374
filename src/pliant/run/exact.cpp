#include "pliant/run/exact.hpp"

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Exact_rational.h>

#include <cmath>
#include <limits>

namespace pliant::exact {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;

Kernel::Point_3 point(const Vec3& x)
{
    return {x.x(), x.y(), x.z()};
}

} // namespace

int orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    return static_cast<int>(CGAL::orientation(point(a), point(b), point(c), point(d)));
}

int orientation_2d(const Vec3& a, const Vec3& b, const Vec3& c, int axis)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return static_cast<int>(
        CGAL::orientation(Kernel::Point_2(a[u], a[v]), Kernel::Point_2(b[u], b[v]), Kernel::Point_2(c[u], c[v])));
}

int side_of_plane(const Vec3& normal, Real offset, const Vec3& x)
{
    // Three products and three sums: the error is below 4 units in the last place of the sum of magnitudes.
    const Real sum = normal.dot(x) - offset;
    const Real bound =
        8 * std::numeric_limits<Real>::epsilon() * (normal.cwiseAbs().dot(x.cwiseAbs()) + std::abs(offset));
    if (std::abs(sum) > bound && std::isfinite(bound)) return sum > 0 ? 1 : -1;
    using Exact = CGAL::Exact_rational;
    Exact total = -Exact(offset);
    for (int k = 0; k < 3; ++k) total += Exact(normal[k]) * Exact(x[k]);
    return static_cast<int>(CGAL::sign(total));
}

int ray_crossing(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c, bool& on)
{
    // Seen along x, the triangle winds around the moved point when its edges cross the half line towards +y an odd
    // number of times. An edge that passes through p is decided by the derivative of its orientation along y.
    const auto edge = [&](const Vec3& s, const Vec3& t) {
        const bool s_below = s.z() <= p.z(), t_below = t.z() <= p.z();
        if (s_below == t_below) return 0;
        int side = orientation_2d(s, t, p, 0);
        if (side == 0) side = t.z() > s.z() ? -1 : 1;
        if (s_below) return side > 0 ? 1 : 0;
        return side < 0 ? -1 : 0;
    };
    const int turn = edge(a, b) + edge(b, c) + edge(c, a);
    if (turn == 0) return 0;
    const int side = orientation(a, b, c, p);
    if (side == 0) {
        on = true;
        return 0;
    }
    return side == -turn ? turn : 0;
}

} // namespace pliant::exact
