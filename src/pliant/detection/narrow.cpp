#include "pliant/detection/narrow.hpp"

#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <cmath>

namespace pliant::narrow {
namespace {

constexpr std::array<Index, 4> no_vertices = {none, none, none, none};

/// Unit normal of a pair that touches: across the directions in which its features extend.
Vec3 touching_normal(const Vec3& e, const Vec3& g)
{
    const Vec3 n = e.cross(g);
    return n.squaredNorm() > 0 ? n.normalized() : Vec3(e.unitOrthogonal());
}

void set_normal(ContactPair& p, const Vec3& difference, const Vec3& e, const Vec3& g)
{
    p.distance = difference.norm();
    p.normal = p.distance > 0 ? Vec3(difference / p.distance) : touching_normal(e, g);
}

ContactPair vertex_vertex(const Vec3s& x, Index v, Index w)
{
    if (w < v) std::swap(v, w);
    ContactPair p;
    p.key = {PairKind::vertex_vertex, v, w};
    p.vertices = {v, w, none, none};
    p.weights = {1, -1, 0, 0};
    set_normal(p, x[v] - x[w], Vec3::UnitY(), Vec3::UnitZ());
    return p;
}

ContactPair vertex_edge(const Surface& s, const Vec3s& x, Index v, Index e)
{
    const auto [b0, b1] = s.edges[e];
    const Real t = closest_on_segment(x[v], x[b0], x[b1]);
    if (t == 0 || t == 1) return vertex_vertex(x, v, t == 0 ? b0 : b1);
    ContactPair p;
    p.key = {PairKind::vertex_edge, v, e};
    p.vertices = {v, b0, b1, none};
    p.weights = {1, -(1 - t), -t, 0};
    set_normal(p, (1 - t) * (x[v] - x[b0]) + t * (x[v] - x[b1]), x[b1] - x[b0], Vec3::UnitX());
    return p;
}

/// Index of the single corner with a weight, or of the one without, or -1.
int corners_used(const Vec3& w, int& missing)
{
    int used = 0;
    missing = -1;
    for (int k = 0; k < 3; ++k) {
        if (w[k] != 0)
            ++used;
        else
            missing = k;
    }
    return used;
}

constexpr std::array<int, 3> edge_opposite = {1, 2, 0}; ///< corner -> place in Surface::triangle_edges

constexpr Real certain = 1 + 1e-9; ///< beyond what rounding does to a quick test of well-shaped features
constexpr Real thin_sq = 1e-8;     ///< squared sine below which features are not well shaped

} // namespace

std::optional<ContactPair> closest_vertex_face(const Surface& s, const Vec3s& x, Index v, Index f, Real limit)
{
    const Triangle& t = s.triangles[f];
    // Most candidates are farther away than the limit, and most of those are so from the plane of the face.
    const Vec3 a = x[t[1]] - x[t[0]], b = x[t[2]] - x[t[0]], d = x[v] - x[t[0]];
    const Vec3 n = a.cross(b);
    const Real nn = n.squaredNorm(), height = n.dot(d);
    if (nn > thin_sq * a.squaredNorm() * b.squaredNorm() && height * height > certain * limit * limit * nn) return {};
    const PointTriangle c = closest_point_triangle(x[v], x[t[0]], x[t[1]], x[t[2]]);
    if (c.distance > limit) return {};
    int missing;
    const int used = corners_used(c.weights, missing);
    if (used == 1) {
        int corner;
        c.weights.maxCoeff(&corner);
        return vertex_vertex(x, v, t[corner]);
    }
    if (used == 2) return vertex_edge(s, x, v, s.triangle_edges[f][edge_opposite[missing]]);
    ContactPair p;
    p.key = {PairKind::vertex_face, v, f};
    p.vertices = {v, t[0], t[1], t[2]};
    p.weights = {1, -c.weights[0], -c.weights[1], -c.weights[2]};
    set_normal(p, c.difference, x[t[1]] - x[t[0]], x[t[2]] - x[t[0]]);
    return p;
}

std::optional<ContactPair> closest_edge_edge(const Surface& s, const Vec3s& x, Index e, Index g, Real limit,
                                             bool crossings_only)
{
    if (g < e) std::swap(e, g);
    const auto [a0, a1] = s.edges[e];
    const auto [b0, b1] = s.edges[g];
    const Vec3 p0 = x[a0] - x[b0], along_a = x[a1] - x[a0], along_b = x[b1] - x[b0];
    const Vec3 n = along_a.cross(along_b);
    const Real nn = n.squaredNorm();
    if (nn > thin_sq * along_a.squaredNorm() * along_b.squaredNorm()) {
        const Real height = n.dot(p0); // of the lines over each other, times |n|
        if (height * height > certain * limit * limit * nn) return {};
        if (crossings_only) {
            const Vec3 m = p0.cross(n); // the lines' closest points are at along_b.m / nn and along_a.m / nn
            const Real s_nn = along_b.dot(m), t_nn = along_a.dot(m), margin = (certain - 1) * nn;
            if (s_nn < -margin || s_nn > nn + margin || t_nn < -margin || t_nn > nn + margin) return {};
        }
    }
    const EdgeEdge c = pliant::closest_edge_edge(x[a0], x[a1], x[b0], x[b1]);
    if (c.distance > limit) return {};
    const bool a_end = c.s == 0 || c.s == 1, b_end = c.t == 0 || c.t == 1;
    const Index a = c.s == 0 ? a0 : a1, b = c.t == 0 ? b0 : b1;
    if (crossings_only && (a_end || b_end)) return {};
    if (a_end && b_end) return vertex_vertex(x, a, b);
    if (a_end) return vertex_edge(s, x, a, g);
    if (b_end) return vertex_edge(s, x, b, e);
    ContactPair p;
    p.key = {PairKind::edge_edge, e, g};
    p.vertices = {a0, a1, b0, b1};
    p.weights = {1 - c.s, c.s, -(1 - c.t), -c.t};
    set_normal(p, c.difference, x[a1] - x[a0], x[b1] - x[b0]);
    return p;
}

ContactPair vertex_plane(Index v, Index number, const Plane& plane, Real distance)
{
    ContactPair p;
    p.key = {PairKind::vertex_plane, v, number};
    p.vertices = {v, none, none, none};
    p.weights = {1, 0, 0, 0};
    p.normal = plane.normal;
    p.distance = distance;
    return p;
}

namespace {

Impact from_hit(const CcdHit& hit, Real sign)
{
    Impact i;
    i.vertices = no_vertices;
    i.weights = {0, 0, 0, 0};
    i.normal = sign * hit.normal;
    i.start_normal = sign * hit.start_normal;
    i.distance = hit.distance;
    i.time = hit.time;
    i.start_distance = hit.start_distance;
    return i;
}

Impact impact_vertex_vertex(const CcdHit& hit, Index v, Index w, Real sign) // normal from w to v times sign
{
    if (w < v) {
        std::swap(v, w);
        sign = -sign;
    }
    Impact i = from_hit(hit, sign);
    i.key = {PairKind::vertex_vertex, v, w};
    i.vertices = {v, w, none, none};
    i.weights = {1, -1, 0, 0};
    return i;
}

Impact impact_vertex_edge(const Surface& s, const CcdHit& hit, Index v, Index e, Real t, Real sign)
{
    Impact i = from_hit(hit, sign);
    const auto [b0, b1] = s.edges[e];
    i.key = {PairKind::vertex_edge, v, e};
    i.vertices = {v, b0, b1, none};
    i.weights = {1, -(1 - t), -t, 0};
    return i;
}

} // namespace

Impact impact_vertex_face(const Surface& s, const CcdHit& hit, Index v, Index f)
{
    const Triangle& t = s.triangles[f];
    const Vec3 w(-hit.weights[1], -hit.weights[2], -hit.weights[3]);
    int missing;
    const int used = corners_used(w, missing);
    if (used == 1) {
        int corner;
        w.maxCoeff(&corner);
        return impact_vertex_vertex(hit, v, t[corner], 1);
    }
    if (used == 2) {
        const Index e = s.triangle_edges[f][edge_opposite[missing]];
        const int next = (missing + 1) % 3, last = (missing + 2) % 3;
        return impact_vertex_edge(s, hit, v, e, s.edges[e][1] == t[next] ? w[next] : w[last], 1);
    }
    Impact i = from_hit(hit, 1);
    i.key = {PairKind::vertex_face, v, f};
    i.vertices = {v, t[0], t[1], t[2]};
    i.weights = hit.weights;
    return i;
}

Impact impact_edge_edge(const Surface& s, const CcdHit& hit, Index e, Index g)
{
    const auto [a0, a1] = s.edges[e];
    const auto [b0, b1] = s.edges[g];
    const auto& w = hit.weights;
    const bool a_end = w[0] == 0 || w[1] == 0, b_end = w[2] == 0 || w[3] == 0;
    const Index a = w[0] != 0 ? a0 : a1, b = w[2] != 0 ? b0 : b1;
    if (a_end && b_end) return impact_vertex_vertex(hit, a, b, 1);
    if (a_end) return impact_vertex_edge(s, hit, a, g, -w[3], 1);
    if (b_end) return impact_vertex_edge(s, hit, b, e, w[1], -1);
    Impact i = from_hit(hit, 1);
    i.key = {PairKind::edge_edge, e, g};
    i.vertices = {a0, a1, b0, b1};
    i.weights = w;
    return i;
}

bool stays_far_from_plane(const Vec3& x_t0, const Vec3& x_t1, const Plane& p_t0, const Plane& p_t1, Real far)
{
    const Real s0 = p_t0.normal.dot(x_t0) - p_t0.offset, s1 = p_t1.normal.dot(x_t1) - p_t1.offset;
    const Real sm = (p_t0.normal.dot(x_t1) - p_t0.offset + p_t1.normal.dot(x_t0) - p_t1.offset) / 2;
    const Real sum = x_t0.lpNorm<1>() + x_t1.lpNorm<1>() + std::abs(p_t0.offset) + std::abs(p_t1.offset) + far;
    return std::min({s0, sm, s1}) > far + 0x1p-43 * sum; // the margin of impact_vertex_plane, and some
}

// s(t) = n(t).x(t) - o(t) with n, o, x linear in t is a parabola, and at most the distance because |n(t)| <= 1. Its
// first time at the level is that of the parabola with Bernstein coefficients s0, sm, s1, lowered by a rounding margin.
std::optional<Impact> impact_vertex_plane(const Vec3& x_t0, const Vec3& x_t1, const Plane& p_t0, const Plane& p_t1,
                                          const CcdOptions& o)
{
    const Real s0 = p_t0.normal.dot(x_t0) - p_t0.offset, s1 = p_t1.normal.dot(x_t1) - p_t1.offset;
    const Real sm = (p_t0.normal.dot(x_t1) - p_t0.offset + p_t1.normal.dot(x_t0) - p_t1.offset) / 2;
    const Real scale = std::max({x_t0.norm(), x_t1.norm(), std::abs(p_t0.offset), std::abs(p_t1.offset)});
    const Real separation =
        o.relax_to_start ? std::min(o.min_separation, o.start_part * std::max(s0, 0.0)) : o.min_separation;
    const Real margin = 0x1p-46 * (scale + separation);
    const Real slack = std::max(std::min(o.tolerance, (s0 - separation) / 2), 4 * margin);
    const Real level = separation + slack / 2;
    Real time = 0;
    // What starts on the plane, or closer to it than rounding can tell, is free as long as it comes no closer.
    if (s0 >= 0 && s0 <= separation + slack && sm >= s0 && s1 >= s0) return {};
    if (s0 > separation + slack) {
        const Real b0 = s0 - level, bm = sm - level, b1 = s1 - level;
        if (b0 > 0 && bm > 0 && b1 > 0) return {}; // convex hull of the coefficients
        // b(t) = b0 + 2 (bm - b0) t + (b0 - 2 bm + b1) t^2; the smaller positive root, without cancellation
        const Real q = b0 - 2 * bm + b1, p = b0 - bm;
        const Real discriminant = p * p - q * b0;
        if (discriminant < 0) return {};
        const Real root = p + std::sqrt(discriminant);
        if (!(root > 0)) return {};
        time = b0 / root;
        if (!(time <= o.max_time)) return {};
    }
    Impact i;
    i.vertices = no_vertices;
    i.weights = {1, 0, 0, 0};
    i.time = time;
    const Vec3 n = (1 - time) * p_t0.normal + time * p_t1.normal;
    const Real length = n.norm();
    i.normal = length > 0 ? Vec3(n / length) : p_t0.normal;
    i.start_normal = p_t0.normal;
    i.start_distance = s0;
    i.distance = (n.dot((1 - time) * x_t0 + time * x_t1) - (1 - time) * p_t0.offset - time * p_t1.offset);
    if (length > 0) i.distance /= length;
    return i;
}

} // namespace pliant::narrow
