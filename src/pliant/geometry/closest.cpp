#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace kernel {
namespace {

// Below this squared sine the interior solution is refined and compared with the boundary (slivers, parallel edges):
// the normal's relative error is about 1e-16 / sine.
constexpr Real thin_sq = 1e-8;

Vec3 combine(const Vec3& w, const Vec3& c0, const Vec3& c1, const Vec3& c2)
{
    return w[0] * c0 + w[1] * c1 + w[2] * c2;
}

struct Best {
    Real distance_sq = std::numeric_limits<Real>::infinity();
    Vec3 weights = Vec3::UnitX();

    void offer(const Vec3& w, const Vec3& point)
    {
        const Real d = point.squaredNorm();
        if (d < distance_sq) {
            distance_sq = d;
            weights = w;
        }
    }
};

} // namespace

// The projection of the origin onto the plane has weights w_i = n . (c_j x c_k) / n.n with n = (c1-c0) x (c2-c0).
// Where one is negative, the closest point lies on an edge that sees the projection from outside; there are at most
// two.
Vec3 triangle_to_origin(const Vec3& c0, const Vec3& c1, const Vec3& c2)
{
    const std::array<const Vec3*, 3> c = {&c0, &c1, &c2};
    const Vec3 e1 = c1 - c0, e2 = c2 - c0, e3 = c2 - c1;
    const Vec3 n = e1.cross(e2);
    const Real nn = n.squaredNorm();
    const Real longest = std::max({e1.squaredNorm(), e2.squaredNorm(), e3.squaredNorm()});
    const bool thin = !(nn > thin_sq * longest * longest);
    Vec3 w(n.dot(c1.cross(c2)), n.dot(c2.cross(c0)), n.dot(c0.cross(c1)));
    if (!thin && !(w.minCoeff() < 0)) return w / w.sum();
    Best best;
    if (thin && nn > 0) {
        // The weights are inaccurate, but their residual r is small: project it too, r + s e1 + t e2 normal to both.
        w /= w.sum();
        for (int pass = 0; pass < 3; ++pass) {
            const Vec3 r = combine(w, c0, c1, c2);
            w[1] -= n.dot(r.cross(e2)) / nn;
            w[2] -= n.dot(e1.cross(r)) / nn;
            w[0] = 1 - w[1] - w[2];
        }
        if (w.minCoeff() >= 0 && w.allFinite()) best.offer(w, combine(w, c0, c1, c2));
    }
    for (int i = 0; i < 3; ++i) { // edge opposite to corner i
        if (!thin && !(w[i] < 0)) continue;
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const Vec3 e = *c[k] - *c[j];
        const Real t = segment_to_origin(*c[j], e);
        Vec3 edge_weights = Vec3::Zero();
        edge_weights[j] = 1 - t;
        edge_weights[k] = t;
        best.offer(edge_weights, *c[j] + t * e);
    }
    return best.weights;
}

namespace {

// Parallel edges side by side: every s in an interval is as close as any other. Returns false without overlap.
bool middle_of_overlap(const Vec3& c, const Vec3& a, const Vec3& b, Vec2& st)
{
    const Real aa = a.squaredNorm(), bb = b.squaredNorm();
    if (!(aa > 0) || !(bb > 0)) return false;
    // ends of b as parameters of a: c + s a - t b has its smallest component along a at s = a.(t b - c) / aa
    const Real s0 = -a.dot(c) / aa, s1 = a.dot(b - c) / aa;
    const Real lo = std::max(0.0, std::min(s0, s1)), hi = std::min(1.0, std::max(s0, s1));
    if (!(lo < hi)) return false;
    const Real s = (lo + hi) / 2;
    st = {s, std::clamp(b.dot(c + s * a) / bb, 0.0, 1.0)};
    return true;
}

} // namespace

// The same idea on the parallelogram c + s a - t b: n = a x b, s = (b x c).n / n.n, t = (a x c).n / n.n.
Vec2 parallelogram_to_origin(const Vec3& c, const Vec3& a, const Vec3& b)
{
    const Vec3 n = a.cross(b);
    const Real nn = n.squaredNorm();
    const bool thin = !(nn > thin_sq * a.squaredNorm() * b.squaredNorm());
    Vec2 st = Vec2::Constant(0.5);
    Real best = std::numeric_limits<Real>::infinity();
    const auto offer = [&](Real s, Real t) {
        const Real d = (c + s * a - t * b).squaredNorm();
        if (d < best) {
            best = d;
            st = {s, t};
        }
    };
    Real s = n.dot(b.cross(c)), t = n.dot(a.cross(c)); // times nn
    if (!thin && s >= 0 && s <= nn && t >= 0 && t <= nn) return {s / nn, t / nn};
    if (thin && nn > 0) {
        s /= nn;
        t /= nn;
        for (int pass = 0; pass < 3; ++pass) { // as above
            const Vec3 r = c + s * a - t * b;
            s += n.dot(b.cross(r)) / nn;
            t += n.dot(a.cross(r)) / nn;
        }
        if (s >= 0 && s <= 1 && t >= 0 && t <= 1) offer(s, t);
    }
    if (thin || s < 0) offer(0, segment_to_origin(c, -b));
    if (thin || s > nn) offer(1, segment_to_origin(c + a, -b));
    if (thin || t < 0) offer(segment_to_origin(c, a), 0);
    if (thin || t > nn) offer(segment_to_origin(c - b, a), 1);
    if (thin) {
        Vec2 middle;
        if (middle_of_overlap(c, a, b, middle)) {
            // as close as the best up to rounding: then the pair is parallel as far as doubles can tell
            const Real d = (c + middle[0] * a - middle[1] * b).norm();
            const Real scale = std::max({c.norm(), a.norm(), b.norm()});
            if (d <= std::sqrt(best) + 4 * std::numeric_limits<Real>::epsilon() * scale) st = middle;
        }
    }
    return st;
}

} // namespace kernel

Real closest_on_segment(const Vec3& p, const Vec3& a, const Vec3& b)
{
    return kernel::segment_to_origin(a - p, b - a);
}

PointTriangle closest_point_triangle(const Vec3& p, const Vec3& f0, const Vec3& f1, const Vec3& f2)
{
    PointTriangle r;
    const Vec3 c0 = p - f0, c1 = p - f1, c2 = p - f2;
    r.weights = kernel::triangle_to_origin(c0, c1, c2);
    r.difference = r.weights[0] * c0 + r.weights[1] * c1 + r.weights[2] * c2;
    r.distance = r.difference.norm();
    return r;
}

EdgeEdge closest_edge_edge(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1)
{
    EdgeEdge r;
    const Vec3 c = a0 - b0, a = a1 - a0, b = b1 - b0;
    const Vec2 st = kernel::parallelogram_to_origin(c, a, b);
    r.s = st[0];
    r.t = st[1];
    // weights of the four corners: accurate also where c is much longer than the distance
    r.difference = (1 - r.s) * ((1 - r.t) * c + r.t * (a0 - b1)) + r.s * ((1 - r.t) * (a1 - b0) + r.t * (a1 - b1));
    r.distance = r.difference.norm();
    return r;
}

} // namespace pliant
