#include "pliant/run/certificate_path.hpp"

#include "pliant/geometry/plain_tree.hpp"
#include "pliant/run/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace pliant {
namespace {

constexpr int finest_level = 40, most_parts = 100000;

const std::array<Vec3, 4> zeros = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};

/// Corners of the difference of two features, at both ends of the step: point minus triangle has 3, edge minus edge 4
/// (a parallelogram, in order around it). The features meet when the polygon holds the origin.
struct MovingPolygon {
    int corners = 0;
    std::array<Vec3, 4> at_t0 = zeros, at_t1 = zeros;

    Vec3 at(int k, Real t) const { return (1 - t) * at_t0[k] + t * at_t1[k]; }
};

/// The point of a triangle that is closest to the origin, good to rounding; only a guess for a plane.
Vec3 closest_to_origin(const Vec3& a, const Vec3& b, const Vec3& c)
{
    Vec3 best = a;
    const auto consider = [&](const Vec3& x) {
        if (x.squaredNorm() < best.squaredNorm()) best = x;
    };
    const auto edge = [&](const Vec3& p, const Vec3& q) {
        const Vec3 d = q - p;
        const Real length_sq = d.squaredNorm();
        consider(length_sq > 0 ? Vec3(p + std::clamp(-p.dot(d) / length_sq, 0.0, 1.0) * d) : p);
    };
    edge(a, b);
    edge(b, c);
    edge(c, a);
    const Vec3 n = (b - a).cross(c - a);
    const Real area_sq = n.squaredNorm();
    if (area_sq > 0 && n.dot(a.cross(b)) >= 0 && n.dot(b.cross(c)) >= 0 && n.dot(c.cross(a)) >= 0)
        consider(n * (n.dot(a) / area_sq));
    return best;
}

/// Whether all corners, at both times, are certainly on the positive side of n through the origin. A corner is a
/// convex combination of two differences, each rounded once: the error stays below 6 units in the last place.
bool certainly_ahead(const MovingPolygon& p, const Vec3& n, Real from, Real to)
{
    const Vec3 magnitude = n.cwiseAbs();
    for (int k = 0; k < p.corners; ++k) {
        const Real bound =
            16 * std::numeric_limits<Real>::epsilon() * magnitude.dot(p.at_t0[k].cwiseAbs() + p.at_t1[k].cwiseAbs());
        if (!(n.dot(p.at(k, from)) > bound) || !(n.dot(p.at(k, to)) > bound)) return false;
    }
    return true;
}

bool stays_clear(const MovingPolygon& p, Real from, Real to)
{
    const Real middle = (from + to) / 2;
    const std::array<Vec3, 4> x = {p.at(0, middle), p.at(1, middle), p.at(2, middle), p.at(3, middle)};
    Vec3 n = closest_to_origin(x[0], x[1], x[2]);
    if (p.corners == 4) {
        const Vec3 other = closest_to_origin(x[0], x[2], x[3]);
        if (other.squaredNorm() < n.squaredNorm()) n = other;
    }
    if (certainly_ahead(p, n, from, to)) return true;
    // Far larger than it is distant, the polygon is better served by its own normal.
    Vec3 normal = (x[1] - x[0]).cross(x[2] - x[0]);
    if (normal.dot(x[0]) < 0) normal = -normal;
    return certainly_ahead(p, normal, from, to);
}

/// `budget` parts are looked at, so that features which hug each other along a curve cannot take for ever.
Real first_unclear(const MovingPolygon& p, Real from, Real to, int level, int& budget)
{
    if (stays_clear(p, from, to)) return -1;
    if (level == finest_level || --budget < 0) return from;
    const Real middle = (from + to) / 2;
    const Real first = first_unclear(p, from, middle, level + 1, budget);
    return first >= 0 ? first : first_unclear(p, middle, to, level + 1, budget);
}

Real first_unclear(const MovingPolygon& p)
{
    int budget = most_parts;
    return first_unclear(p, 0, 1, 0, budget);
}

/// Which triangle tests a vertex or an edge, so that each is tested once.
struct Owners {
    std::vector<std::uint8_t> vertices, edges; ///< per triangle: bit k for corner k, or for the edge (k, k + 1)

    explicit Owners(const RunMesh& mesh) : vertices(mesh.triangles.size(), 0), edges(mesh.triangles.size(), 0)
    {
        std::vector<std::uint8_t> taken(mesh.rest.size(), 0);
        std::vector<std::tuple<Index, Index, Index, int>> all;
        for (Index t = 0; t < count(mesh.triangles); ++t)
            for (int k = 0; k < 3; ++k) {
                const Index v = mesh.triangles[t][k], w = mesh.triangles[t][(k + 1) % 3];
                if (!taken[v]) vertices[t] |= 1u << k;
                taken[v] = 1;
                all.emplace_back(std::min(v, w), std::max(v, w), t, k);
            }
        std::sort(all.begin(), all.end());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& [v, w, t, k] = all[i];
            if (i == 0 || std::get<0>(all[i - 1]) != v || std::get<1>(all[i - 1]) != w) edges[t] |= 1u << k;
        }
    }
};

class PathChecker {
public:
    PathChecker(const FrameChecker& checker, const Vec3s& x_t0, const Vec3s& x_t1)
        : checker_(checker), triangles_(checker.mesh().triangles), x0_(x_t0), x1_(x_t1), owners_(checker.mesh())
    {}

    PathCheck run()
    {
        std::vector<TreeBox> boxes(triangles_.size());
        for (std::size_t t = 0; t < triangles_.size(); ++t)
            for (const Index v : triangles_[t]) {
                boxes[t].add(x0_[v]);
                boxes[t].add(x1_[v]);
            }
        PlainTree(std::move(boxes)).for_each_pair([&](Index i, Index j) {
            if (checker_.excluded_triangles(i, j)) return;
            for (int k = 0; k < 3; ++k) {
                if (owners_.vertices[i] >> k & 1) vertex_face(i, k, j);
                if (owners_.vertices[j] >> k & 1) vertex_face(j, k, i);
                for (int l = 0; l < 3; ++l)
                    if ((owners_.edges[i] >> k & 1) && (owners_.edges[j] >> l & 1)) edge_edge(i, k, j, l);
            }
        });
        std::sort(out_.listed.begin(), out_.listed.end(), [](const PathImpact& a, const PathImpact& b) {
            return std::tie(a.fraction, a.triangle_a, a.triangle_b) < std::tie(b.fraction, b.triangle_a, b.triangle_b);
        });
        if (out_.listed.size() > FrameChecker::max_listed) out_.listed.resize(FrameChecker::max_listed);
        return std::move(out_);
    }

private:
    /// All pinned, and of one body: its own script says what they do to each other.
    bool pinned_together(const std::array<Index, 4>& vertices) const
    {
        return std::all_of(vertices.begin(), vertices.end(), [&](Index v) {
            return checker_.mesh().prescribed[v] != 0 &&
                   checker_.body_of_vertex(v) == checker_.body_of_vertex(vertices[0]);
        });
    }

    bool same(Index v, Index w) const { return checker_.same_vertex(v, w); }

    void vertex_face(Index i, int k, Index j)
    {
        const Index v = triangles_[i][k];
        const Triangle& t = triangles_[j];
        if (same(v, t[0]) || same(v, t[1]) || same(v, t[2]) || pinned_together({v, t[0], t[1], t[2]})) return;
        ++out_.pairs_tested;
        const std::array<Index, 4> vertices = {v, t[0], t[1], t[2]};
        note(first_contact_vertex_face(at(x0_, vertices), at(x1_, vertices)), false, i, j, v);
    }

    void edge_edge(Index i, int k, Index j, int l)
    {
        const std::array<Index, 4> v = {triangles_[i][k], triangles_[i][(k + 1) % 3], triangles_[j][l],
                                        triangles_[j][(l + 1) % 3]};
        if (same(v[0], v[2]) || same(v[0], v[3]) || same(v[1], v[2]) || same(v[1], v[3])) return;
        if (pinned_together(v)) return;
        ++out_.pairs_tested;
        note(first_contact_edge_edge(at(x0_, v), at(x1_, v)), true, i, j, v[0]);
    }

    static std::array<Vec3, 4> at(const Vec3s& x, const std::array<Index, 4>& v)
    {
        return {x[v[0]], x[v[1]], x[v[2]], x[v[3]]};
    }

    void note(Real fraction, bool edge_edge, Index i, Index j, Index v)
    {
        if (fraction < 0) return;
        ++out_.impacts;
        if (out_.listed.size() < 100 * FrameChecker::max_listed)
            out_.listed.push_back({edge_edge ? PathKind::edge_edge : PathKind::vertex_face, v, i, j,
                                   checker_.body_of_triangle(i), checker_.body_of_triangle(j), fraction,
                                   (1 - fraction) * x0_[v] + fraction * x1_[v]});
    }

    const FrameChecker& checker_;
    const std::vector<Triangle>& triangles_;
    const Vec3s &x0_, &x1_;
    const Owners owners_;
    PathCheck out_;
};

} // namespace

Real first_contact_vertex_face(const std::array<Vec3, 4>& x_t0, const std::array<Vec3, 4>& x_t1)
{
    MovingPolygon p;
    p.corners = 3;
    for (int k = 0; k < 3; ++k) {
        p.at_t0[k] = x_t0[k + 1] - x_t0[0];
        p.at_t1[k] = x_t1[k + 1] - x_t1[0];
    }
    return first_unclear(p);
}

Real first_contact_edge_edge(const std::array<Vec3, 4>& x_t0, const std::array<Vec3, 4>& x_t1)
{
    MovingPolygon p;
    p.corners = 4;
    constexpr std::array<std::array<int, 2>, 4> around = {{{0, 2}, {0, 3}, {1, 3}, {1, 2}}};
    for (int k = 0; k < 4; ++k) {
        p.at_t0[k] = x_t0[around[k][0]] - x_t0[around[k][1]];
        p.at_t1[k] = x_t1[around[k][0]] - x_t1[around[k][1]];
    }
    return first_unclear(p);
}

// The signed distance is a parabola with Bernstein coefficients s0, sm, s1: positive all along when they are, or when
// sm^2 < s0 s1. Each is a sum of four rounded products, so its error stays below 8 units of their magnitudes.
Real first_contact_vertex_plane(const Vec3& x_t0, const Vec3& x_t1, const Plane& p_t0, const Plane& p_t1)
{
    const auto height = [](const Plane& p, const Vec3& x) { return p.normal.dot(x) - p.offset; };
    const Vec3 n = p_t0.normal.cwiseAbs() + p_t1.normal.cwiseAbs(), x = x_t0.cwiseAbs() + x_t1.cwiseAbs();
    const Real error =
        8 * std::numeric_limits<Real>::epsilon() * (n.dot(x) + std::abs(p_t0.offset) + std::abs(p_t1.offset));
    const Real s0 = height(p_t0, x_t0) - error, s1 = height(p_t1, x_t1) - error;
    const Real sm = (height(p_t0, x_t1) + height(p_t1, x_t0)) / 2 - error;
    // What starts exactly on the plane, s(t) = 2 sm t (1 - t) + s1 t^2, is above it from then on when it rises, and
    // never behind it when none of the terms that make up sm and s1 is negative, exactly: it slides on the plane.
    const auto side = [](const Plane& p, const Vec3& at) { return exact::side_of_plane(p.normal, p.offset, at); };
    if (side(p_t0, x_t0) == 0 &&
        ((sm > 0 && s1 > 0) || (side(p_t0, x_t1) >= 0 && side(p_t1, x_t0) >= 0 && side(p_t1, x_t1) >= 0)))
        return -1;
    if (!(s0 > 0)) return 0;
    if (s1 > 0 && (sm >= 0 || sm * sm < s0 * s1 * (1 - 1e-12))) return -1;
    // s(t) = s0 - 2 p t + q t^2; the smaller positive root without cancellation, lowered by `error`
    const Real p = s0 - sm, q = s0 - 2 * sm + s1;
    const Real root = p + std::sqrt(std::max(0.0, p * p - q * s0));
    return root > s0 ? s0 / root : 1;
}

PathCheck check_path(const FrameChecker& checker, const PathState& from, const PathState& to)
{
    PathCheck out = check_path(checker, from.positions, to.positions);
    const RunMesh& mesh = checker.mesh();
    for (Index b = 0; b < count(mesh.bodies); ++b) {
        const Index plane = mesh.bodies[b].plane;
        if (plane == none) continue;
        const Plane &p0 = from.planes[plane], &p1 = to.planes[plane];
        for (Index v = 0; v < count(from.positions); ++v) {
            const Index body = checker.body_of_vertex(v);
            if (checker.excluded(body, b)) continue;
            const Vec3 &x0 = from.positions[v], &x1 = to.positions[v];
            if (exact::side_of_plane(p0.normal, p0.offset, x0) < 0) continue;
            ++out.pairs_tested;
            const Real fraction = first_contact_vertex_plane(x0, x1, p0, p1);
            if (fraction < 0) continue;
            ++out.impacts;
            if (out.listed.size() < FrameChecker::max_listed)
                out.listed.push_back(
                    {PathKind::vertex_plane, v, none, none, body, b, fraction, (1 - fraction) * x0 + fraction * x1});
        }
    }
    return out;
}

PathCheck check_path(const FrameChecker& checker, const Vec3s& x_t0, const Vec3s& x_t1)
{
    return PathChecker(checker, x_t0, x_t1).run();
}

} // namespace pliant
