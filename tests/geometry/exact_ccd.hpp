#pragma once
// Exact oracle for continuous collision detection: decides without rounding whether a vertex and a face, or two edges,
// touch while their vertices move on straight lines, and when first. Slow, and written differently from the library on
// purpose: it follows the roots of the coplanarity cubic [Provot97, sec. 1.1] in integer arithmetic.

#include "geometry/exact_polynomial.hpp"
#include "pliant/geometry/ccd.hpp"

#include <cmath>

namespace pliant::exact {

using Poly3 = std::array<Poly, 3>; ///< a vector whose components are polynomials of time

inline Poly3 sub(const Poly3& a, const Poly3& b)
{
    return {sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])};
}
inline Poly dot(const Poly3& a, const Poly3& b)
{
    return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]));
}
inline Poly3 cross(const Poly3& a, const Poly3& b)
{
    return {sub(mul(a[1], b[2]), mul(a[2], b[1])), sub(mul(a[2], b[0]), mul(a[0], b[2])),
            sub(mul(a[0], b[1]), mul(a[1], b[0]))};
}
inline bool is_zero(const Poly3& a, Root& t)
{
    return sign_at(a[0], t) == 0 && sign_at(a[1], t) == 0 && sign_at(a[2], t) == 0;
}

/// The four trajectories relative to where the first vertex starts, all coordinates multiplied by one power of two that
/// makes them integers with as few digits as possible.
inline std::array<Poly3, 4> trajectories(const CcdPoints& x_t0, const CcdPoints& x_t1)
{
    int lowest = 2000;
    for (const CcdPoints* x : {&x_t0, &x_t1})
        for (const Vec3& p : *x)
            for (double c : p) {
                if (c == 0) continue;
                int e;
                std::frexp(c, &e);
                lowest = std::min(lowest, e - 53);
            }
    const auto integer = [&](double c) -> Int {
        if (c == 0) return 0;
        int e;
        const double m = std::frexp(c, &e);
        const Int i = static_cast<long long>(std::ldexp(m, 53));
        return i << static_cast<unsigned>(e - 53 - lowest);
    };
    std::array<std::array<std::array<Int, 2>, 3>, 4> ends;
    unsigned zeros = ~0u; // that all of them end with
    for (int k = 0; k < 4; ++k)
        for (int axis = 0; axis < 3; ++axis)
            for (int t = 0; t < 2; ++t) {
                Int& i = ends[k][axis][t];
                i = integer((t == 0 ? x_t0 : x_t1)[k][axis]) - integer(x_t0[0][axis]);
                if (i != 0) zeros = std::min(zeros, static_cast<unsigned>(lsb(Int(abs(i)))));
            }
    std::array<Poly3, 4> p;
    for (int k = 0; k < 4; ++k)
        for (int axis = 0; axis < 3; ++axis) {
            const auto& [a, b] = ends[k][axis];
            if (zeros == ~0u) continue;
            p[k][axis] = {Int(a >> zeros), Int((b - a) >> zeros)};
            trim(p[k][axis]);
        }
    return p;
}

inline bool on_segment(const Poly3& p, const Poly3& a, const Poly3& b, Root& t)
{
    return is_zero(cross(sub(p, a), sub(b, a)), t) && sign_at(dot(sub(p, a), sub(p, b)), t) <= 0;
}

/// Whether the vertex is on the face at time t, given that the four points are coplanar then.
inline bool vertex_on_face(const std::array<Poly3, 4>& x, Root& t)
{
    const Poly3 n = cross(sub(x[2], x[1]), sub(x[3], x[1]));
    if (is_zero(n, t))
        return on_segment(x[0], x[1], x[2], t) || on_segment(x[0], x[2], x[3], t) || on_segment(x[0], x[3], x[1], t);
    for (int k = 0; k < 3; ++k) {
        const Poly3 &a = x[1 + k], &b = x[1 + (k + 1) % 3];
        if (sign_at(dot(n, cross(sub(b, a), sub(x[0], a))), t) < 0) return false;
    }
    return true;
}

/// Whether the edges meet at time t, given that the four points are coplanar then.
inline bool edges_meet(const std::array<Poly3, 4>& x, Root& t)
{
    const Poly3 a = sub(x[1], x[0]), b = sub(x[3], x[2]), c = sub(x[2], x[0]);
    const Poly3 n = cross(a, b);
    if (is_zero(n, t))
        return on_segment(x[0], x[2], x[3], t) || on_segment(x[1], x[2], x[3], t) || on_segment(x[2], x[0], x[1], t) ||
               on_segment(x[3], x[0], x[1], t);
    // x0 + s a = x2 + r b:  s n.n = n.(c x b),  r n.n = n.(c x a)
    const Poly nn = dot(n, n), s = dot(n, cross(c, b)), r = dot(n, cross(c, a));
    return sign_at(s, t) >= 0 && sign_at(sub(nn, s), t) >= 0 && sign_at(r, t) >= 0 && sign_at(sub(nn, r), t) >= 0;
}

enum class Features { vertex_face, edge_edge };

/// Filter for the bulk of free queries: whether one of a few directions d has d . (a - b) > 0 for all vertex pairs at
/// both ends, and hence, the motion being linear, all the time. In floating point, with a bound of its error: a
/// difference is rounded once, the sum of three products by less than 4 units of their magnitudes.
inline bool certainly_apart(Features features, const CcdPoints& x_t0, const CcdPoints& x_t1)
{
    const int split = features == Features::vertex_face ? 1 : 2; // vertices [0, split) against [split, 4)
    const auto separates = [&](const Vec3& d) {
        for (const CcdPoints* x : {&x_t0, &x_t1})
            for (int i = 0; i < split; ++i)
                for (int j = split; j < 4; ++j) {
                    const Vec3 c = (*x)[i] - (*x)[j];
                    if (!(d.dot(c) > 0x1p-48 * d.cwiseAbs().dot(c.cwiseAbs()) + 0x1p-1000)) return false;
                }
        return true;
    };
    for (const CcdPoints* x : {&x_t0, &x_t1}) {
        Vec3 between = Vec3::Zero();
        for (int k = 0; k < 4; ++k) between += (*x)[k] / (k < split ? split : split - 4);
        const Vec3 n =
            split == 1 ? ((*x)[2] - (*x)[1]).cross((*x)[3] - (*x)[1]) : ((*x)[1] - (*x)[0]).cross((*x)[3] - (*x)[2]);
        for (Vec3 d : {between, n, Vec3(-n)}) {
            const Real size = d.cwiseAbs().maxCoeff(); // products with d must not underflow
            if (size > 0x1p-500 && separates(d / size)) return true;
        }
    }
    return false;
}

/// The first time at which the features touch, if they do.
inline std::optional<Root> first_contact(Features features, const CcdPoints& x_t0, const CcdPoints& x_t1)
{
    if (certainly_apart(features, x_t0, x_t1)) return {};
    const std::array<Poly3, 4> x = trajectories(x_t0, x_t1);
    const auto touch = [&](Root& t) {
        return features == Features::vertex_face ? vertex_on_face(x, t) : edges_meet(x, t);
    };
    const Poly3 e = sub(x[1], x[0]), f = sub(x[2], x[0]), g = sub(x[3], x[0]);
    const Poly cubic = dot(e, cross(f, g));
    std::vector<Root> times;
    if (!cubic.empty())
        times = roots(cubic);
    else {
        // Always coplanar: the first contact is at the start, or where a vertex arrives on an edge, or on a vertex.
        times.push_back({true, {0, 0}, {}});
        const auto offer = [&](const Poly3& v) {
            for (const Poly& p : v)
                for (const Root& r : roots(p)) times.push_back(r);
        };
        const std::vector<std::array<int, 3>> vertex_edge =
            features == Features::vertex_face
                ? std::vector<std::array<int, 3>>{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}}
                : std::vector<std::array<int, 3>>{{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}};
        for (auto [p, a, b] : vertex_edge) {
            offer(cross(sub(x[p], x[a]), sub(x[b], x[a])));
            offer(sub(x[p], x[a]));
            offer(sub(x[p], x[b]));
        }
    }
    std::optional<Root> first;
    for (Root& t : times) {
        if (!touch(t)) continue;
        if (!cubic.empty()) return t; // in order
        // Without order: lower ends decide, narrow enough for any double that is compared with it.
        while (!t.point && t.at.m < 80) t.halve();
        const auto before = [](const Dyadic& a, const Dyadic& b) { return (a.k << b.m) < (b.k << a.m); };
        if (!first || before(t.at, first->at)) first = t;
    }
    return first;
}

/// Whether the contact is at or after the double t.
inline bool not_before(Root contact, double t)
{
    if (t <= 0) return true;
    int e;
    const double m = std::frexp(t, &e); // t = m 2^e: the polynomial 2^(53 - e) s - 2^53 m
    const Poly linear = {-Int(static_cast<long long>(std::ldexp(m, 53))), Int(1) << static_cast<unsigned>(53 - e)};
    return sign_at(linear, contact) >= 0;
}

} // namespace pliant::exact
