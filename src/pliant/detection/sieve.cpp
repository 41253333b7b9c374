#include "pliant/detection/sieve.hpp"

#include "pliant/core/parallel.hpp"

#include <cassert>
#include <cmath>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace pliant {

void Sieve::look_from_the_middle_of(const Vec3s& x)
{
    if (x.empty()) return;
    Vec3 lo = x[0], hi = x[0];
    for (const Vec3& p : x) {
        lo = lo.cwiseMin(p);
        hi = hi.cwiseMax(p);
    }
    middle_ = lo / 2 + hi / 2;
    t0_.clear(); // what was seen from elsewhere
}

void Sieve::prepare(std::size_t n, bool moving)
{
    t0_.resize(n);
    t1_.resize(moving ? n : 0);
}

Real Sieve::put(Point& p, const Vec3& x, Real radius) const
{
    const Vec3 d = x - middle_;
    p.xyzr = {float(d[0]), float(d[1]), float(d[2]), float(1.001 * radius)};
    return d.cwiseAbs().maxCoeff();
}

// Coordinates are at most E from the middle. A rounded one is wrong by 2^-24 E, a component of a difference c by
// 2^-22 E, so that a distance n.c / |n| is wrong by sqrt(3) 2^-22 E, and by 4 x 2^-24 |c| <= 2^-20 E for the sums:
// together below 2^-19 E. Factors of 1.001 cover the relative errors of radii and of |n|.
void Sieve::allow_for(Real extent)
{
    extent_ = extent;
    rounding_ = float(0x1p-19 * extent);
    shortest_sq_ = float(0x1p-22 * extent * extent);
}

void Sieve::look_at(const VertexBalls& balls)
{
    prepare(balls.x_t0.size(), balls.moving());
    in_rooms_ = false;
    allow_for(parallel_max(balls.size(), 0, [&](Index v) {
        const Real start = put(t0_[v], balls.centre(0, v), balls.radius(0, v));
        return balls.moving() ? std::max(start, put(t1_[v], balls.centre(1, v), balls.radius(1, v))) : start;
    }));
}

void Sieve::look_at(const Rooms& rooms)
{
    const std::span<const char> changed = rooms.changed();
    const bool all = t0_.size() != changed.size() || t1_.empty() == rooms.moving() || !in_rooms_;
    prepare(changed.size(), rooms.moving());
    in_rooms_ = true;
    allow_for(parallel_max(count(changed), all ? 0 : extent_, [&](Index v) {
        if (!all && !changed[v]) return 0.0;
        const Real start = put(t0_[v], rooms.centre(0, v), rooms.radius(0, v));
        return rooms.moving() ? std::max(start, put(t1_[v], rooms.centre(1, v), rooms.radius(1, v))) : start;
    }));
}

#ifdef __AVX2__

namespace {

struct Lanes {
    __m256 x, y, z;

    friend Lanes operator-(const Lanes& a, const Lanes& b)
    {
        return {_mm256_sub_ps(a.x, b.x), _mm256_sub_ps(a.y, b.y), _mm256_sub_ps(a.z, b.z)};
    }
    friend Lanes operator+(const Lanes& a, const Lanes& b)
    {
        return {_mm256_add_ps(a.x, b.x), _mm256_add_ps(a.y, b.y), _mm256_add_ps(a.z, b.z)};
    }
};

__m256 dot(const Lanes& a, const Lanes& b)
{
    return _mm256_fmadd_ps(a.x, b.x, _mm256_fmadd_ps(a.y, b.y, _mm256_mul_ps(a.z, b.z)));
}
Lanes cross(const Lanes& a, const Lanes& b)
{
    return {_mm256_fmsub_ps(a.y, b.z, _mm256_mul_ps(a.z, b.y)), _mm256_fmsub_ps(a.z, b.x, _mm256_mul_ps(a.x, b.z)),
            _mm256_fmsub_ps(a.x, b.y, _mm256_mul_ps(a.y, b.x))};
}
__m256 all(float value)
{
    return _mm256_set1_ps(value);
}
__m256 greater(__m256 a, __m256 b) // false for what is no number
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}
bool every(__m256 mask)
{
    return _mm256_movemask_ps(mask) == 255;
}

using Vertices = std::array<Index, Sieve::width>;

/// Eight points and their radii.
struct Points {
    Lanes x;
    __m256 radius;

    template <class Point>
    Points(const std::vector<Point>& points, const Vertices& v)
    {
        const auto two = [&](int i) {
            return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(points[v[i]].xyzr.data())),
                                        _mm_load_ps(points[v[i + 4]].xyzr.data()), 1);
        };
        const __m256 a = two(0), b = two(1), c = two(2), d = two(3);
        const __m256 ab_lo = _mm256_unpacklo_ps(a, b), ab_hi = _mm256_unpackhi_ps(a, b);
        const __m256 cd_lo = _mm256_unpacklo_ps(c, d), cd_hi = _mm256_unpackhi_ps(c, d);
        x = {_mm256_shuffle_ps(ab_lo, cd_lo, 0x44), _mm256_shuffle_ps(ab_lo, cd_lo, 0xEE),
             _mm256_shuffle_ps(ab_hi, cd_hi, 0x44)};
        radius = _mm256_shuffle_ps(ab_hi, cd_hi, 0xEE);
    }
};

/// Differences between the corners of two convex features at one end of a step, and how far apart they have to be.
template <int corners>
struct End {
    std::array<Lanes, corners> difference;
    __m256 level;
};

/// The features are apart along a direction when all the differences are, at both ends; and so they are in between.
/// In rooms, which are boxes, vertices may come closer by the sum of the components of the direction times a half side.
template <int corners>
class Apart {
public:
    Apart(const End<corners>& t0, const End<corners>* t1, bool in_rooms) : t0_(t0), t1_(t1), in_rooms_(in_rooms) {}

    /// Normals of the features at either end, and the line between their centres.
    unsigned left()
    {
        try_direction(normal(t0_));
        if (every(apart_)) return 0;
        Lanes centres = t0_.difference[0];
        for (int k = 1; k < corners; ++k) centres = centres + t0_.difference[k];
        try_direction(centres);
        if (t1_ && !every(apart_)) try_direction(normal(*t1_));
        return ~static_cast<unsigned>(_mm256_movemask_ps(apart_)) & 255u;
    }

private:
    static Lanes normal(const End<corners>& end)
    {
        const auto& c = end.difference;
        return cross(c[1] - c[0], c[corners - 1] - c[0]);
    }
    static __m256 absolute(__m256 a) { return _mm256_andnot_ps(all(-0.0f), a); }

    void try_direction(const Lanes& n)
    {
        constexpr float underflow = 1e-25f; // squares below have lost digits
        const __m256 nn = dot(n, n);
        const __m256 length =
            in_rooms_ ? _mm256_add_ps(absolute(n.x), _mm256_add_ps(absolute(n.y), absolute(n.z))) : _mm256_sqrt_ps(nn);
        const __m256 scale = _mm256_mul_ps(length, all(1.001f));
        __m256 forward = greater(nn, all(underflow)), backward = forward;
        const auto look = [&](const End<corners>& end) {
            __m256 lo = dot(n, end.difference[0]), hi = lo;
            for (int k = 1; k < corners; ++k) {
                const __m256 g = dot(n, end.difference[k]);
                lo = _mm256_min_ps(g, lo);
                hi = _mm256_max_ps(g, hi);
            }
            const __m256 level = _mm256_mul_ps(end.level, scale);
            forward = _mm256_and_ps(forward, greater(lo, level));
            backward = _mm256_and_ps(backward, greater(_mm256_sub_ps(_mm256_setzero_ps(), hi), level));
        };
        look(t0_);
        if (t1_) look(*t1_);
        apart_ = _mm256_or_ps(apart_, _mm256_or_ps(forward, backward));
    }

    const End<corners>& t0_;
    const End<corners>* t1_; ///< null for a single state
    bool in_rooms_;
    __m256 apart_ = _mm256_setzero_ps();
};

} // namespace

unsigned Sieve::vertex_face(const Batch& pairs) const
{
    std::array<Vertices, 4> v;
    for (int j = 0; j < width; ++j) {
        const Triangle& t = surface_.triangles[pairs[j][1]];
        v[0][j] = pairs[j][0], v[1][j] = t[0], v[2][j] = t[1], v[3][j] = t[2];
    }
    const auto end = [&](const std::vector<Point>& points) -> End<3> {
        const Points p(points, v[0]), a(points, v[1]), b(points, v[2]), c(points, v[3]);
        const __m256 farthest = _mm256_max_ps(a.radius, _mm256_max_ps(b.radius, c.radius));
        return {{p.x - a.x, p.x - b.x, p.x - c.x}, _mm256_add_ps(_mm256_add_ps(p.radius, farthest), all(rounding_))};
    };
    const End<3> t0 = end(t0_);
    if (t1_.empty()) return Apart<3>(t0, nullptr, in_rooms_).left();
    const End<3> t1 = end(t1_);
    return Apart<3>(t0, &t1, in_rooms_).left();
}

unsigned Sieve::edge_edge(const Batch& pairs) const
{
    std::array<Vertices, 4> v;
    for (int j = 0; j < width; ++j) {
        const Edge &a = surface_.edges[pairs[j][0]], &b = surface_.edges[pairs[j][1]];
        v[0][j] = a[0], v[1][j] = a[1], v[2][j] = b[0], v[3][j] = b[1];
    }
    const auto end = [&](const std::vector<Point>& points) -> End<4> {
        const Points a0(points, v[0]), a1(points, v[1]), b0(points, v[2]), b1(points, v[3]);
        const __m256 sum = _mm256_add_ps(_mm256_max_ps(a0.radius, a1.radius), _mm256_max_ps(b0.radius, b1.radius));
        return {{a0.x - b0.x, a1.x - b0.x, a1.x - b1.x, a0.x - b1.x}, // around a parallelogram
                _mm256_add_ps(sum, all(rounding_))};
    };
    const End<4> t0 = end(t0_);
    if (t1_.empty()) return Apart<4>(t0, nullptr, in_rooms_).left();
    const End<4> t1 = end(t1_);
    return Apart<4>(t0, &t1, in_rooms_).left();
}

// The lines' closest points are at s = b.m / nn and t = a.m / nn of the edges a and b, with n = a x b and m = p x n.
// With differences wrong by d <= sqrt(3) 2^-22 E they are wrong by about |p| d / (|a| |b| sin^2): for a sine of 0.3 or
// more and |p| <= 4 |b| by 44 d / |a|, and so by less than 0.05 for edges longer than 2^-11 E. Others are kept.
unsigned Sieve::crossing(const Batch& pairs) const
{
    assert(t1_.empty() && !in_rooms_);
    std::array<Vertices, 4> v;
    for (int j = 0; j < width; ++j) {
        const Edge &a = surface_.edges[pairs[j][0]], &b = surface_.edges[pairs[j][1]];
        v[0][j] = a[0], v[1][j] = a[1], v[2][j] = b[0], v[3][j] = b[1];
    }
    const Points a0(t0_, v[0]), a1(t0_, v[1]), b0(t0_, v[2]), b1(t0_, v[3]);
    const Lanes p = a0.x - b0.x, a = a1.x - a0.x, b = b1.x - b0.x, n = cross(a, b), m = cross(p, n);
    const __m256 nn = dot(n, n), aa = dot(a, a), bb = dot(b, b), s = dot(b, m), t = dot(a, m);
    const __m256 low = _mm256_mul_ps(nn, all(-0.05f)), high = _mm256_mul_ps(nn, all(1.05f));
    const auto outside = [&](__m256 u) { return _mm256_or_ps(greater(low, u), greater(u, high)); };
    const __m256 shorter_sq = _mm256_min_ps(aa, bb);
    const __m256 well_shaped = _mm256_and_ps(greater(nn, _mm256_mul_ps(all(0.09f), _mm256_mul_ps(aa, bb))),
                                             greater(_mm256_mul_ps(all(16), shorter_sq), dot(p, p)));
    const __m256 certain =
        _mm256_and_ps(well_shaped, _mm256_and_ps(greater(shorter_sq, all(shortest_sq_)), greater(nn, all(1e-25f))));
    const __m256 drop = _mm256_and_ps(certain, _mm256_or_ps(outside(s), outside(t)));
    const unsigned kept = ~static_cast<unsigned>(_mm256_movemask_ps(drop)) & 255u;
    return kept == 0 ? 0 : kept & edge_edge(pairs);
}

#else

unsigned Sieve::vertex_face(const Batch&) const
{
    return 255;
}
unsigned Sieve::edge_edge(const Batch&) const
{
    return 255;
}
unsigned Sieve::crossing(const Batch&) const
{
    return 255;
}

#endif

} // namespace pliant
