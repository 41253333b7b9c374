// Directional conservative advancement: at time t take the closest direction d, which separates the pair at t by
// f_d(t) = distance > level. f_d is a minimum of linear functions, so the time up to which f_d stays above the level
// has a closed form; go there and repeat. Conservative advancement (Mirtich 1996) with the direction's own speed
// instead of a bound over all directions.

#include "pliant/geometry/ccd_kernel.hpp"
#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <cmath>

namespace pliant::ccd {
namespace {

template <int K>
Closest<K> closest_at(const Query<K>& q, Real t)
{
    std::array<Vec3, K> c;
    for (int k = 0; k < K; ++k) c[k] = (1 - t) * q.c_t0[k] + t * q.c_t1[k];
    Closest<K> r;
    if constexpr (K == 3) {
        r.weights = kernel::triangle_to_origin(c[0], c[1], c[2]);
        r.direction = r.weights[0] * c[0] + r.weights[1] * c[1] + r.weights[2] * c[2];
    } else {
        const Vec2 st = kernel::parallelogram_to_origin(c[0], c[1] - c[0], c[0] - c[3]);
        r.weights = {st[0], st[1], 0};
        r.direction = (1 - st[1]) * ((1 - st[0]) * c[0] + st[0] * c[1]) + st[1] * ((1 - st[0]) * c[3] + st[0] * c[2]);
    }
    r.distance = r.direction.norm();
    return r;
}

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

/// The farthest time that a direction found at t certifies; t when none does. For slivers and nearly parallel edges,
/// where the closest points are too inaccurate to give a direction.
template <int K>
Real farthest_end(const Query<K>& q, Real t, Real level, Vec3& direction)
{
    std::array<Vec3, K> c;
    for (int k = 0; k < K; ++k) c[k] = (1 - t) * q.c_t0[k] + t * q.c_t1[k];
    Real end = t;
    separating_directions<K>(c, [&](const Vec3& d) {
        const Real length = d.norm();
        if (!(length > 0)) return;
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
    r.separation = o.relax_to_start ? std::min(min_separation, r.start_distance / 2) : min_separation;
    const Real margin = margin_factor * (q.size + r.separation);
    const Real slack = std::max(std::min(tolerance, (r.start_distance - r.separation) / 2), 4 * margin);
    const Real level = r.separation + slack / 2; // proves separation + margin
    r.reported = r.separation + slack;
    const auto free = [&] {
        r.free = true;
        return r;
    };

    Real free_from = inf; // the pair is certified apart on [free_from, 1]
    for (;; ++r.iterations) {
        if (!(r.closest.distance > r.reported) || r.iterations == o.max_iterations) return r;
        Vec3 d = r.closest.direction / r.closest.distance;
        Interval forward = separated(q, d, level);
        if (!(forward.begin <= r.time && forward.end > r.time)) {
            forward.end = farthest_end(q, r.time, level, d);
            if (!(forward.end > r.time)) return r;
        }
        if (forward.end >= 1 || forward.end > o.max_time) return free();
        if (r.iterations == 0) {
            // The direction at the end, and the bisector of both, often separate the whole step at once.
            const Closest<K> last = closest_at(q, 1);
            if (last.distance > level) {
                const Vec3 e = last.direction / last.distance;
                const Interval backward = separated(q, e, level);
                if (backward.end >= 1) {
                    if (backward.begin <= forward.end) return free();
                    free_from = backward.begin;
                    const Vec3 bisector = d + e;
                    const Real length = bisector.norm();
                    if (length > 0.1) {
                        const Interval both = separated(q, Vec3(bisector / length), level);
                        if (both.begin <= forward.end && both.end >= free_from) return free();
                    }
                }
            }
        }
        r.last_direction = d;
        r.time = forward.end;
        if (r.time >= free_from) return free();
        r.closest = closest_at(q, r.time);
    }
}

template <int K>
bool passes_through(const Query<K>& q, const Outcome<K>& hit)
{
    if (hit.iterations == 0) return false;
    const auto interior = [](const Vec3& w) {
        constexpr Real lowest = 1e-6;
        if constexpr (K == 3) return w.minCoeff() > lowest;
        return std::min(w[0], w[1]) > lowest && std::max(w[0], w[1]) < 1 - lowest;
    };
    if (!interior(hit.closest.weights)) return false;
    Real speed = 0; // at which the pair closes along the last separating direction
    for (int k = 0; k < K; ++k) speed = std::max(speed, hit.last_direction.dot(q.c_t0[k] - q.c_t1[k]));
    const Real t = hit.time + 0x1p20 * hit.reported / speed;
    if (!(t < 1)) return false;
    const Closest<K> after = closest_at(q, t);
    return interior(after.weights) && after.distance > 0x1p16 * hit.reported &&
           after.direction.dot(hit.last_direction) < -0.5 * after.distance;
}

template bool passes_through<3>(const Query<3>&, const Outcome<3>&);
template bool passes_through<4>(const Query<4>&, const Outcome<4>&);
template Outcome<3> advance<3>(const Query<3>&, const CcdOptions&, Real, Real);
template Outcome<4> advance<4>(const Query<4>&, const CcdOptions&, Real, Real);

} // namespace pliant::ccd
