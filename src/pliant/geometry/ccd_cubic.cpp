// The classical test [Provot97, sec. 1.1 and 1.2], kept for comparison: four points can only meet when they are
// coplanar,
//     C(t) = c_0(t) . (c_1(t) x c_2(t)) = 0,
// a cubic in time, and they do meet when the closest points of the features coincide at such a time.
//
// Solved without a miss: the cubic is cut into Bernstein pieces whose signs are only trusted beyond a bound of all
// rounding errors, and a piece that may hold a root is narrowed until the distance in its middle proves that the
// features cannot reach each other within it, or until it is too short to tell. A cubic that vanishes altogether
// (motion in a plane) is no special case. It is blind to separations: a pair that passes at any distance > 0 is free.
// So that steps can follow each other, a separation is at least kept at the ends of the step, where distances are
// known.

#include "pliant/geometry/ccd_kernel.hpp"

#include <algorithm>

namespace pliant::ccd {
namespace {

constexpr Real bound_factor = 0x1p-42; ///< of size^3: triple products of rounded differences, and 40 halvings
constexpr Real shortest = 0x1p-40;     ///< a piece that is not longer is taken for a root
constexpr int most_pieces = 512;       ///< looked at before a pair is reported as a hit

using Coefficients = std::array<Real, 4>;

template <int K>
Coefficients bernstein(const Query<K>& q)
{
    const auto triple = [](const Vec3& a, const Vec3& b, const Vec3& c) { return a.dot(b.cross(c)); };
    const Vec3 &a0 = q.c_t0[0], &b0 = q.c_t0[1], &c0 = q.c_t0[K - 1];
    const Vec3 &a1 = q.c_t1[0], &b1 = q.c_t1[1], &c1 = q.c_t1[K - 1];
    return {triple(a0, b0, c0), (triple(a1, b0, c0) + triple(a0, b1, c0) + triple(a0, b0, c1)) / 3,
            (triple(a0, b1, c1) + triple(a1, b0, c1) + triple(a1, b1, c0)) / 3, triple(a1, b1, c1)};
}

/// f_d(t) of a unit d; see ccd.hpp.
template <int K>
Real lowest_at(const Query<K>& q, Real t, const Vec3& d)
{
    Real lowest = inf;
    for (int k = 0; k < K; ++k) lowest = std::min(lowest, d.dot((1 - t) * q.c_t0[k] + t * q.c_t1[k]));
    return lowest;
}

struct Piece {
    Real begin, length;
    Coefficients b;
};

std::array<Piece, 2> halves(const Piece& p)
{
    const auto& b = p.b;
    const Real b01 = (b[0] + b[1]) / 2, b12 = (b[1] + b[2]) / 2, b23 = (b[2] + b[3]) / 2;
    const Real b012 = (b01 + b12) / 2, b123 = (b12 + b23) / 2, middle = (b012 + b123) / 2;
    return {{{p.begin, p.length / 2, {b[0], b01, b012, middle}},
             {p.begin + p.length / 2, p.length / 2, {middle, b123, b23, b[3]}}}};
}

} // namespace

template <int K>
Outcome<K> coplanarity_cubic(const Query<K>& q, const CcdOptions& o, Real min_separation)
{
    Outcome<K> r;
    r.closest = closest_at(q, 0);
    r.start_distance = r.closest.distance;
    r.start_direction = r.closest.direction;
    r.reported = 4 * margin_factor * q.size;
    if (r.start_distance > 0) r.last_direction = r.start_direction / r.start_distance;
    const Real level = r.reported;
    r.separation = o.relax_to_start ? std::min(min_separation, o.start_part * r.start_distance) : min_separation;
    if (r.start_distance < r.separation) return r;
    const Real bound = bound_factor * q.size * q.size * q.size;

    std::array<Piece, 64> stack; // at most one waiting piece a halving
    std::size_t size = 0;
    stack[size++] = {0, 1, bernstein(q)};
    while (size > 0) {
        const Piece p = stack[--size];
        ++r.iterations;
        if (p.begin > o.max_time) break;
        const auto [lowest, highest] = std::minmax_element(p.b.begin(), p.b.end());
        if (*lowest > bound || *highest < -bound) continue; // never coplanar
        const Closest<K> middle = closest_at(q, p.begin + p.length / 2);
        if (middle.distance > level) { // coplanar perhaps, but apart: one direction separates the pair all along
            const Vec3 d = middle.direction / middle.distance;
            if (lowest_at(q, p.begin, d) > level && lowest_at(q, p.begin + p.length, d) > level) {
                r.last_direction = d;
                continue;
            }
        }
        if (p.length <= shortest || r.iterations >= most_pieces) {
            r.time = p.begin;
            r.closest = closest_at(q, p.begin);
            return r;
        }
        const auto [first, second] = halves(p);
        stack[size++] = second;
        stack[size++] = first; // earlier times first
    }
    if (r.separation > 0 && o.max_time >= 1) {
        const Closest<K> end = closest_at(q, 1);
        if (end.distance < r.separation) {
            r.time = 1;
            r.closest = end;
            return r;
        }
    }
    r.free = true;
    return r;
}

template Outcome<3> coplanarity_cubic<3>(const Query<3>&, const CcdOptions&, Real);
template Outcome<4> coplanarity_cubic<4>(const Query<4>&, const CcdOptions&, Real);

} // namespace pliant::ccd
