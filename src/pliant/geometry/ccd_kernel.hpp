#pragma once
// Internal to geometry: the two stages of continuous collision detection, on the differences between the features.

#include "pliant/geometry/ccd.hpp"
#include "pliant/geometry/double_double.hpp"

#include <limits>

namespace pliant::ccd {

// Rounding. c = a - b is rounded once: |error| <= u |c|, u = 2^-53. With a unit d, d . c adds less than 4 u |c|, and
// the time at which a linear function reaches a level less than 8 u |c|. 2^-48 max|c| covers all of it twice.
inline constexpr Real inf = std::numeric_limits<Real>::infinity();
inline constexpr Real margin_factor = 0x1p-48;

/// A direction shorter than this is not used: its length, and with it all bounds, would suffer from underflow.
inline constexpr Real shortest_direction = 0x1p-400;

/// Vertex pairs c_k(t) = (1 - t) c_t0[k] + t c_t1[k] in cyclic order. The distance of the two features is that of the
/// origin from the hull of the c_k: a triangle (K = 3) for vertex-face, a parallelogram (K = 4) for edge-edge.
template <int K>
struct Query {
    std::array<Vec3, K> c_t0, c_t1;
    Real size = 0; ///< largest |c_k|, between 2^-90 and 2^90 unless it is 0
};

/// The hull's point closest to the origin at one time.
template <int K>
struct Closest {
    std::array<Vec3, K> c; ///< the hull's corners
    Vec3 direction;        ///< closest point, as seen from the origin
    Vec3 weights;          ///< K = 3: of the face's corners; K = 4: (s, t, 0)
    Real distance;
};

template <int K>
struct Outcome {
    bool free = false;
    Real time = 0; ///< certified free of contact before this time
    Closest<K> closest;
    Vec3 last_direction = Vec3::Zero();                    ///< unit, separates the pair just before `time`
    Vec3 start_direction = Vec3::Zero();                   ///< closest at time 0, unnormalised
    Real start_distance = 0, separation = 0, reported = 0; ///< `reported`: distance that counts as a hit
    int iterations = 0;
};

template <int K>
Closest<K> closest_at(const Query<K>& q, Real t);

/// CcdKind::cubic.
template <int K>
Outcome<K> coplanarity_cubic(const Query<K>& q, const CcdOptions& o, Real min_separation);

/// Directional conservative advancement in double precision.
template <int K>
Outcome<K> advance(const Query<K>& q, const CcdOptions& o, Real min_separation, Real tolerance);

/// True when just after the hit the features have clearly changed sides in their interior: more digits cannot turn such
/// a hit into a miss.
template <int K>
bool passes_through(const Query<K>& q, const Outcome<K>& hit);

template <int K>
struct FineQuery {
    std::array<DoubleDouble3, K> c_t0, c_t1; ///< without rounding
    Real size = 0;
};

/// Separation 0 only: proves that the pair stays apart on [time, 1], or gives up after a few steps.
template <int K>
bool free_in_double_double(const FineQuery<K>& q, Real time);

inline Real dot(const Vec3& a, const Vec3& b)
{
    return a.dot(b);
}
inline Vec3 cross(const Vec3& a, const Vec3& b)
{
    return a.cross(b);
}
inline Real leading(Real x)
{
    return x;
}
inline Real leading(const DoubleDouble& x)
{
    return x.hi;
}

/// Calls visit(d) for directions that may separate a convex polygon from the origin: its normal when the origin
/// projects into it, else for every edge that sees the origin from outside the direction to the edge. No division, so
/// that the directions are as accurate as the arithmetic.
template <int K, class Vector, class Visit>
void separating_directions(const std::array<Vector, K>& c, Visit&& visit)
{
    const Vector n = cross(c[1] - c[0], c[K - 1] - c[0]);
    std::array<bool, K> outside;
    bool inside = true;
    for (int k = 0; k < K; ++k) {
        outside[k] = leading(dot(n, cross(c[k], c[(k + 1) % K]))) < 0;
        inside = inside && !outside[k];
    }
    if (inside) {
        const Real height = leading(dot(n, c[0]));
        if (height != 0) {
            if (height < 0)
                visit(Vector(-n));
            else
                visit(n);
            return;
        }
    }
    for (int k = 0; k < K; ++k) {
        if (!inside && !outside[k]) continue;
        const Vector& next = c[(k + 1) % K];
        const Vector e = next - c[k];
        const auto ee = dot(e, e), along = -dot(c[k], e);
        if (!(leading(along) > 0))
            visit(c[k]);
        else if (!(leading(ee - along) > 0))
            visit(next);
        else {
            // twice, because the first result is mostly rounding when the edge nearly passes through the origin
            const Vector d = c[k] * ee + e * along;
            visit(Vector(d * ee - e * dot(d, e)));
        }
    }
}

} // namespace pliant::ccd
