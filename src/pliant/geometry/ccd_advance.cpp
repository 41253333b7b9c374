// Directional conservative advancement. At time t the closest direction d separates the pair by f_d(t) = distance >
// level. Two kinds of certificate carry the time forward:
//
// - d is kept: f_d is a minimum of linear functions, so the time up to which it stays above the level has a closed
// form.
//   This always makes progress; it is conservative advancement (Mirtich 1996) with the direction's own speed instead of
//   a bound over all directions.
// - d turns: between the closest directions d_a at time a and d_b at time b, d(t) is interpolated linearly. Then
// d(t).c_k(t)
//   is a quadratic with Bernstein coefficients d_a.c_k(a), (d_a.c_k(b) + d_b.c_k(a)) / 2, d_b.c_k(b), and the pair is
//   apart on [a, b] when all of them are above the level, because |d(t)| <= 1. Features that roll or slide on each
//   other, where the first kind creeps, are followed in long steps.

#include "pliant/geometry/ccd_kernel.hpp"
#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <cmath>

namespace pliant::ccd {
namespace {

/// Where the features nearly touch, the difference of the closest points is mostly rounding. Its direction is made
/// accurate by what is known of it: it is normal to the hull, or to the edge, that holds the closest point.
template <int K>
void refine(Closest<K>& r)
{
    const auto& c = r.c;
    Vec3 e; // of the edge that holds the point
    bool interior = false, vertex = false;
    if constexpr (K == 3) {
        const int zeros = (r.weights[0] == 0) + (r.weights[1] == 0) + (r.weights[2] == 0);
        interior = zeros == 0;
        vertex = zeros == 2;
        e = r.weights[0] == 0 ? c[2] - c[1] : r.weights[1] == 0 ? c[2] - c[0] : c[1] - c[0];
    } else {
        const Real s = r.weights[0], t = r.weights[1];
        const bool s_end = s == 0 || s == 1, t_end = t == 0 || t == 1;
        interior = !s_end && !t_end;
        vertex = s_end && t_end;
        e = s_end ? (s == 0 ? c[3] - c[0] : c[2] - c[1]) : (t == 1 ? c[2] - c[3] : c[1] - c[0]);
    }
    if (vertex) return;
    if (interior) {
        const Vec3 a = c[1] - c[0], b = c[K - 1] - c[0], n = a.cross(b);
        const Real nn = n.squaredNorm();
        if (nn > 1e-20 * a.squaredNorm() * b.squaredNorm()) {
            r.direction = n * (n.dot(c[0]) / nn);
            r.distance = r.direction.norm();
            return;
        }
    }
    const Real ee = e.squaredNorm();
    if (!(ee > 0)) return;
    r.direction -= e * (r.direction.dot(e) / ee);
    r.distance = r.direction.norm();
}

} // namespace

template <int K>
Closest<K> closest_at(const Query<K>& q, Real t)
{
    Closest<K> r;
    for (int k = 0; k < K; ++k) r.c[k] = (1 - t) * q.c_t0[k] + t * q.c_t1[k];
    const auto& c = r.c;
    if constexpr (K == 3) {
        r.weights = kernel::triangle_to_origin(c[0], c[1], c[2]);
        r.direction = r.weights[0] * c[0] + r.weights[1] * c[1] + r.weights[2] * c[2];
    } else {
        const Vec2 st = kernel::parallelogram_to_origin(c[0], c[1] - c[0], c[0] - c[3]);
        r.weights = {st[0], st[1], 0};
        r.direction = (1 - st[1]) * ((1 - st[0]) * c[0] + st[0] * c[1]) + st[1] * ((1 - st[0]) * c[3] + st[0] * c[2]);
    }
    r.distance = r.direction.norm();
    if (r.distance < 1e-4 * q.size) refine(r);
    return r;
}

namespace {

struct Interval {
    Real begin, end; ///< empty when begin > end
};

/// Times in [0, 1] at which f_d(t) >= level for a unit d.
template <int K>
Interval separated(const Query<K>& q, const Vec3& d, Real level)
{
    Interval r = {0, 1};
    for (int k = 0; k < K; ++k) {
        const Real g0 = d.dot(q.c_t0[k]) - level, g1 = d.dot(q.c_t1[k]) - level;
        if (g1 < 0) {
            if (g0 < 0) return {1, 0};
            r.end = std::min(r.end, g0 / (g0 - g1));
        } else if (g0 < 0)
            r.begin = std::max(r.begin, g0 / (g0 - g1));
    }
    return r;
}

/// Whether the direction that turns from a's to b's (both unit) separates the pair between the two times.
template <int K>
bool separated_turning(const Closest<K>& a, const Vec3& d_a, const Closest<K>& b, const Vec3& d_b, Real level)
{
    Real lowest = inf;
    for (int k = 0; k < K; ++k) {
        const Real q0 = d_a.dot(a.c[k]), q1 = (d_a.dot(b.c[k]) + d_b.dot(a.c[k])) / 2, q2 = d_b.dot(b.c[k]);
        lowest = std::min(lowest, std::min(q0, std::min(q1, q2)));
    }
    return lowest > level;
}

/// The farthest time that a direction found at t certifies; t when none does. For slivers and nearly parallel edges,
/// where the closest points are too inaccurate to give a direction.
template <int K>
Real farthest_end(const Query<K>& q, const std::array<Vec3, K>& c, Real t, Real level, Vec3& direction)
{
    Real end = t;
    separating_directions<K>(c, [&](const Vec3& d) {
        const Real length = d.norm();
        if (!(length > shortest_direction)) return;
        const Vec3 unit = d / length;
        const Interval i = separated(q, unit, level);
        if (i.begin <= t && i.end > end) {
            end = i.end;
            direction = unit;
        }
    });
    return end;
}

} // namespace

template <int K>
Outcome<K> advance(const Query<K>& q, const CcdOptions& o, Real min_separation, Real tolerance)
{
    Outcome<K> r;
    r.closest = closest_at(q, 0);
    r.start_distance = r.closest.distance;
    r.start_direction = r.closest.direction;
    r.separation = o.relax_to_start ? std::min(min_separation, o.start_part * r.start_distance) : min_separation;
    const Real margin = margin_factor * (q.size + r.separation);
    const Real slack = std::max(std::min(tolerance, (r.start_distance - r.separation) / 2), 4 * margin);
    const Real level = r.separation + slack / 2; // proves separation + margin
    r.reported = r.separation + slack;
    const auto free = [&] {
        r.free = true;
        return r;
    };

    Real previous_time = 0, previous_distance = 0;
    Real reach = 1; // how far a turning direction is tried, as a part of the way to the expected contact
    for (;; ++r.iterations) {
        if (!(r.closest.distance > r.reported) || r.iterations == o.max_iterations) return r;
        Vec3 d = r.closest.direction / r.closest.distance;
        const Interval forward = separated(q, d, level);
        Real certified = forward.begin <= r.time ? forward.end : r.time;
        if (!(certified > r.time)) {
            certified = farthest_end<K>(q, r.closest.c, r.time, level, d);
            if (!(certified > r.time)) return r;
        }
        if (certified >= 1 || certified > o.max_time) return free();
        // Expected contact by the secant of the distance; the end of the step where the features do not approach.
        Real target = 1;
        if (r.iterations > 0) {
            const Real rate = (previous_distance - r.closest.distance) / (r.time - previous_time);
            if (rate > 0) target = std::min(target, r.time + (r.closest.distance - level) / rate * (1 - 0x1p-4));
        }
        previous_time = r.time;
        previous_distance = r.closest.distance;
        r.last_direction = d;
        target = r.time + reach * (target - r.time);
        if (target > certified) {
            const Closest<K> there = closest_at(q, target);
            if (there.distance > r.reported) {
                const Vec3 e = there.direction / there.distance;
                const auto backward = [&] { // e alone separates from where d stops
                    const Interval i = separated(q, e, level);
                    return i.begin <= certified && i.end >= target;
                };
                if (separated_turning(r.closest, d, there, e, level) || backward()) {
                    if (target >= 1 || target > o.max_time) return free();
                    r.time = target;
                    r.closest = there;
                    r.last_direction = e;
                    reach = std::min(1.0, 2 * reach);
                    continue;
                }
            }
            reach /= 2;
        } else
            reach = std::min(1.0, 2 * reach);
        r.time = certified;
        r.closest = closest_at(q, certified);
    }
}

template <int K>
bool passes_through(const Query<K>& q, const Outcome<K>& hit)
{
    if (hit.iterations == 0) return false;
    const auto inside = [](const Vec3& w) { // how far the weights are from those of the hull's boundary
        if constexpr (K == 3) return w.minCoeff();
        return std::min({w[0], w[1], 1 - w[0], 1 - w[1]});
    };
    const Real depth = inside(hit.closest.weights);
    if (!(depth > 1e-6)) return false;
    Real speed = 0; // at which the pair closes along the last separating direction
    for (int k = 0; k < K; ++k) speed = std::max(speed, hit.last_direction.dot(q.c_t0[k] - q.c_t1[k]));
    const Real t = hit.time + 0x1p20 * hit.reported / speed;
    if (!(t < 1)) return false;
    const Closest<K> after = closest_at(q, t);
    const bool same_place = (after.weights - hit.closest.weights).cwiseAbs().maxCoeff() < 0.1 * depth;
    return same_place && after.distance > 0x1p16 * hit.reported &&
           after.direction.dot(hit.last_direction) < -0.5 * after.distance;
}

template Closest<3> closest_at<3>(const Query<3>&, Real);
template Closest<4> closest_at<4>(const Query<4>&, Real);
template bool passes_through<3>(const Query<3>&, const Outcome<3>&);
template bool passes_through<4>(const Query<4>&, const Outcome<4>&);
template Outcome<3> advance<3>(const Query<3>&, const CcdOptions&, Real, Real);
template Outcome<4> advance<4>(const Query<4>&, const CcdOptions&, Real, Real);

} // namespace pliant::ccd
