#include "pliant/geometry/ccd.hpp"

#include "pliant/core/error.hpp"
#include "pliant/geometry/ccd_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pliant {
namespace {

/// Vertex pairs of the hull in cyclic order, as indices into CcdPoints.
template <int K>
constexpr std::array<std::array<int, 2>, K> corners()
{
    if constexpr (K == 3)
        return {{{0, 1}, {0, 2}, {0, 3}}}; // v - f_k
    else
        return {{{0, 2}, {1, 2}, {1, 3}, {0, 3}}}; // a0 - b0, a1 - b0, a1 - b1, a0 - b1
}

[[noreturn]] void throw_not_finite()
{
    throw Error("A position given to collision detection is not a finite number; the state has diverged.");
}

bool all_finite(const CcdPoints& x)
{
    return x[0].allFinite() && x[1].allFinite() && x[2].allFinite() && x[3].allFinite();
}

/// Unit normal for features that touch when nothing else gives one: that of the hull's plane, against the motion.
template <int K>
Vec3 touching_normal(const ccd::Query<K>& q, Real t)
{
    std::array<Vec3, K> c;
    Vec3 velocity = Vec3::Zero();
    for (int k = 0; k < K; ++k) {
        c[k] = (1 - t) * q.c_t0[k] + t * q.c_t1[k];
        velocity += q.c_t1[k] - q.c_t0[k];
    }
    const Vec3 e = c[1] - c[0], g = c[K - 1] - c[0], n = e.cross(g);
    const Real length = n.norm();
    if (length > 1e-12 * e.norm() * g.norm()) return (n.dot(velocity) > 0 ? -1 : 1) * n / length;
    const Real speed = velocity.norm();
    return speed > 0 ? Vec3(-velocity / speed) : Vec3::UnitX();
}

/// Cheap certificate first: the normal of the hull at the start, then at the end. Where two sheets lie on each other
/// one of them nearly always separates the pair.
template <int K>
bool separated_by_normal(const ccd::Query<K>& q, Real level)
{
    for (const std::array<Vec3, K>* c : {&q.c_t0, &q.c_t1}) {
        const Vec3 n = ((*c)[1] - (*c)[0]).cross((*c)[K - 1] - (*c)[0]);
        const Real length = n.norm(), bound = level * length;
        if (!(length > ccd::shortest_direction)) continue;
        Real lowest = ccd::inf, highest = -ccd::inf;
        for (int k = 0; k < K; ++k) {
            const Real g0 = n.dot(q.c_t0[k]), g1 = n.dot(q.c_t1[k]);
            lowest = std::min(lowest, std::min(g0, g1));
            highest = std::max(highest, std::max(g0, g1));
        }
        if (lowest > bound || highest < -bound) return true;
    }
    return false;
}

template <int K>
std::optional<CcdHit> solve(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& o)
{
    constexpr auto pair = corners<K>();
    ccd::Query<K> q;
    Real size_sq = 0, total = 0; // the total is NaN or infinite when anything is
    for (int k = 0; k < K; ++k) {
        q.c_t0[k] = x_t0[pair[k][0]] - x_t0[pair[k][1]];
        q.c_t1[k] = x_t1[pair[k][0]] - x_t1[pair[k][1]];
        const Real s0 = q.c_t0[k].squaredNorm(), s1 = q.c_t1[k].squaredNorm();
        size_sq = std::max(size_sq, std::max(s0, s1));
        total += s0 + s1;
    }
    Real x_scale = 1, scale = 1; // powers of two
    if (!(total < 0x1p180 && total > 0x1p-180)) {
        // Rare: the tenth powers that occur may over- or underflow. Scale the differences to about 1, without rounding.
        if (!all_finite(x_t0) || !all_finite(x_t1)) throw_not_finite();
        x_scale = std::isfinite(total) ? 1 : 0.25; // a quarter of any two doubles can be subtracted
        Real largest = 0;
        for (int k = 0; k < K; ++k) {
            q.c_t0[k] = x_scale * x_t0[pair[k][0]] - x_scale * x_t0[pair[k][1]];
            q.c_t1[k] = x_scale * x_t1[pair[k][0]] - x_scale * x_t1[pair[k][1]];
            largest = std::max({largest, q.c_t0[k].cwiseAbs().maxCoeff(), q.c_t1[k].cwiseAbs().maxCoeff()});
        }
        if (largest > 0) {
            const int exponent = std::clamp(-std::ilogb(largest), -1000, 1000);
            scale = std::ldexp(1.0, exponent);
        }
        size_sq = 0;
        for (int k = 0; k < K; ++k) {
            q.c_t0[k] *= scale;
            q.c_t1[k] *= scale;
            size_sq = std::max({size_sq, q.c_t0[k].squaredNorm(), q.c_t1[k].squaredNorm()});
        }
    }
    q.size = std::sqrt(size_sq);

    const Real to_query = x_scale * scale; // lengths of the caller -> lengths of the query
    const Real separation = std::min(o.min_separation * to_query, 0x1p500);
    const Real tolerance = std::min(o.tolerance * to_query, 0x1p500);
    const Real margin = ccd::margin_factor * (q.size + separation);
    if (separated_by_normal(q, separation + 2 * margin)) return {};
    const ccd::Outcome<K> r =
        o.kind == CcdKind::cubic ? ccd::coplanarity_cubic(q, o, separation) : ccd::advance(q, o, separation, tolerance);
    if (r.free) return {};
    const bool undecided = r.separation == 0 && q.size > 0 && o.kind == CcdKind::advancement;
    if (undecided && !ccd::passes_through(q, r)) {
        // With a separation to keep, the tolerance is far above rounding. Without one, "touches" and "misses by 1e-17"
        // differ, and only more digits can tell.
        ccd::FineQuery<K> fine;
        for (int k = 0; k < K; ++k) {
            const int i = pair[k][0], j = pair[k][1];
            fine.c_t0[k] = DoubleDouble3::difference(x_scale * x_t0[i], x_scale * x_t0[j]) * scale;
            fine.c_t1[k] = DoubleDouble3::difference(x_scale * x_t1[i], x_scale * x_t1[j]) * scale;
        }
        fine.size = q.size;
        if (ccd::free_in_double_double(fine, r.time)) return {};
    }
    CcdHit hit;
    hit.time = r.time;
    hit.distance = r.closest.distance / to_query;
    hit.start_distance = r.start_distance / to_query;
    if (r.start_distance > 0) hit.start_normal = r.start_direction / r.start_distance;
    hit.iterations = r.iterations;
    const Vec3& w = r.closest.weights;
    if constexpr (K == 3)
        hit.weights = {1, -w[0], -w[1], -w[2]};
    else
        hit.weights = {1 - w[0], w[0], -(1 - w[1]), -w[1]};
    if (r.closest.distance > 4 * ccd::margin_factor * q.size)
        hit.normal = r.closest.direction / r.closest.distance;
    else if (r.last_direction != Vec3::Zero())
        hit.normal = r.last_direction;
    else
        hit.normal = touching_normal(q, r.time);
    return hit;
}

} // namespace

namespace ccd {

std::optional<CcdHit> vertex_face(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options)
{
    return solve<3>(x_t0, x_t1, options);
}
std::optional<CcdHit> edge_edge(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options)
{
    return solve<4>(x_t0, x_t1, options);
}

} // namespace ccd

namespace {

/// Order of two vertices by their positions only, so that results do not depend on how the caller numbered them.
struct Before {
    const CcdPoints &x_t0, &x_t1;
    bool operator()(int i, int j) const
    {
        const auto key = [&](int k) {
            return std::tie(x_t0[k][0], x_t0[k][1], x_t0[k][2], x_t1[k][0], x_t1[k][1], x_t1[k][2]);
        };
        return key(i) < key(j);
    }
};

CcdPoints permuted(const CcdPoints& x, const std::array<int, 4>& order)
{
    return {x[order[0]], x[order[1]], x[order[2]], x[order[3]]};
}

} // namespace

std::optional<CcdHit> vertex_face_ccd(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options)
{
    std::array<int, 4> order = {0, 1, 2, 3};
    const Before before{x_t0, x_t1};
    if (before(order[2], order[1])) std::swap(order[1], order[2]);
    if (before(order[3], order[2])) std::swap(order[2], order[3]);
    if (before(order[2], order[1])) std::swap(order[1], order[2]);
    std::optional<CcdHit> hit = solve<3>(permuted(x_t0, order), permuted(x_t1, order), options);
    if (hit) {
        const std::array<Real, 4> w = hit->weights;
        for (int k = 1; k < 4; ++k) hit->weights[order[k]] = w[k];
    }
    return hit;
}

std::optional<CcdHit> edge_edge_ccd(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options)
{
    std::array<int, 4> order = {0, 1, 2, 3};
    const Before before{x_t0, x_t1};
    if (before(1, 0)) std::swap(order[0], order[1]);
    if (before(3, 2)) std::swap(order[2], order[3]);
    const bool b_first = before(order[2], order[0]) || (!before(order[0], order[2]) && before(order[3], order[1]));
    if (b_first) order = {order[2], order[3], order[0], order[1]};
    std::optional<CcdHit> hit = solve<4>(permuted(x_t0, order), permuted(x_t1, order), options);
    if (hit) {
        const std::array<Real, 4> w = hit->weights;
        const Real sign = b_first ? -1 : 1;
        for (int k = 0; k < 4; ++k) hit->weights[order[k]] = sign * w[k];
        hit->normal *= sign;
        hit->start_normal *= sign;
    }
    return hit;
}

} // namespace pliant
