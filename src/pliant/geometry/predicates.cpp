#include "pliant/geometry/predicates.hpp"

#include "pliant/geometry/double_double.hpp"

#include <cmath>

namespace pliant {
namespace {

int sign_of(Real x)
{
    return (x > 0) - (x < 0);
}

/// A sum of doubles without rounding: components that do not overlap, smallest first.
class Expansion {
public:
    void add(double x)
    {
        // Grow-expansion: x travels upwards, what it loses stays behind.
        int kept = 0;
        for (int i = 0; i < size_; ++i) {
            const DoubleDouble s = DoubleDouble::sum(x, part_[i]);
            x = s.hi;
            if (s.lo != 0) part_[kept++] = s.lo;
        }
        if (x != 0) part_[kept++] = x;
        size_ = kept;
    }
    /// Adds sign * a * b * c.
    void add_product(double sign, double a, double b, double c)
    {
        const DoubleDouble ab = DoubleDouble::product(a, b);
        for (double half : {ab.hi, ab.lo}) {
            const DoubleDouble abc = DoubleDouble::product(half, c);
            add(sign * abc.lo);
            add(sign * abc.hi);
        }
    }
    /// Adds sign * det(a, b, c).
    void add_determinant(double sign, const Vec3& a, const Vec3& b, const Vec3& c)
    {
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            add_product(sign, a[i], b[j], c[k]);
            add_product(-sign, a[i], b[k], c[j]);
        }
    }
    int sign() const { return size_ == 0 ? 0 : sign_of(part_[size_ - 1]); }

private:
    std::array<double, 128> part_; // 24 products of three make at most 96
    int size_ = 0;
};

constexpr double half_ulp = 0x1p-53;

Vec2 drop_x(const Vec3& v)
{
    return {v.y(), v.z()};
}

} // namespace

int orientation_sign(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
    const Vec3 u = b - a, v = c - a, w = d - a;
    const Real det = u.dot(v.cross(w));
    // The permanent bounds every partial sum; a rounding each for three differences, two products and five sums stay
    // below eight half ulps of it (Shewchuk's bound is 7 + 56 eps).
    const Vec3 au = u.cwiseAbs(), av = v.cwiseAbs(), aw = w.cwiseAbs();
    const Real permanent = au.x() * (av.y() * aw.z() + av.z() * aw.y()) + au.y() * (av.z() * aw.x() + av.x() * aw.z()) +
                           au.z() * (av.x() * aw.y() + av.y() * aw.x());
    if (std::abs(det) > 9 * half_ulp * permanent) return sign_of(det);
    // det(b - a, c - a, d - a) = det(b, c, d) - det(a, c, d) + det(a, b, d) - det(a, b, c), each without rounding.
    Expansion exact;
    exact.add_determinant(1, b, c, d);
    exact.add_determinant(-1, a, c, d);
    exact.add_determinant(1, a, b, d);
    exact.add_determinant(-1, a, b, c);
    return exact.sign();
}

int orientation_sign(const Vec2& a, const Vec2& b, const Vec2& c)
{
    const Real left = (b.x() - a.x()) * (c.y() - a.y()), right = (b.y() - a.y()) * (c.x() - a.x());
    const Real det = left - right;
    if (std::abs(det) > 4 * half_ulp * (std::abs(left) + std::abs(right))) return sign_of(det);
    Expansion exact;
    const auto add = [&](double sign, const Vec2& p, const Vec2& q) {
        exact.add_product(sign, p.x(), q.y(), 1);
        exact.add_product(-sign, p.y(), q.x(), 1);
    };
    add(1, b, c);
    add(-1, a, c);
    add(1, a, b);
    return exact.sign();
}

int ray_crossing(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c)
{
    const Vec2 o = drop_x(p);
    // Sign of the turn p, s, t in the y-z plane after p was moved by (e, e^2). The determinant is linear in p: its
    // derivative is s.z - t.z along y and t.y - s.y along z. It is 0 only for an edge that is a point in the plane.
    const auto turn = [&](const Vec3& s, const Vec3& t) {
        const int sign = orientation_sign(o, drop_x(s), drop_x(t));
        if (sign != 0) return sign;
        if (s.z() != t.z()) return s.z() > t.z() ? 1 : -1;
        return sign_of(t.y() - s.y());
    };
    const int ab = turn(a, b), bc = turn(b, c), ca = turn(c, a);
    if (ab == 0 || ab != bc || bc != ca) return 0;
    // The moved ray's line goes through the triangle; it leaves through the front when a, b, c turn anticlockwise in
    // the y-z plane, and ahead of p when p is on the side the ray comes from.
    return orientation_sign(a, b, c, p) * ab < 0 ? ab : 0;
}

} // namespace pliant
