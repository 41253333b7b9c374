#include "pliant/detection/normal_cones.hpp"

#include "pliant/core/parallel.hpp"

#include <cmath>

namespace pliant {

NormalCones::NormalCones(const Surface& surface) : surface_(surface)
{
    opposite_.assign(surface.edges.size(), {none, none});
    faces_ = opposite_;
    std::vector<std::array<Index, 2>> from(surface.edges.size(), {none, none}); // where the faces' edges begin
    for (Index f = 0; f < count(surface.triangles); ++f)
        for (int k = 0; k < 3; ++k) {
            const Index e = surface.triangle_edges[f][k];
            const int side = opposite_[e][0] == none ? 0 : 1;
            opposite_[e][side] = surface.triangles[f][(k + 2) % 3];
            faces_[e][side] = f;
            from[e][side] = surface.triangles[f][k];
        }
    for (const auto& [a, b] : from) turned_.push_back(a == b);
    ring_begin_.assign(static_cast<std::size_t>(surface.vertex_count()) + 1, 0);
    for (const Edge& e : surface.edges)
        for (Index v : e) ++ring_begin_[v + 1];
    for (Index v = 0; v < surface.vertex_count(); ++v) ring_begin_[v + 1] += ring_begin_[v];
    ring_.resize(2 * surface.edges.size());
    std::vector<Index> next(ring_begin_.begin(), ring_begin_.end() - 1);
    for (const auto& [a, b] : surface.edges) {
        ring_[next[a]++] = b;
        ring_[next[b]++] = a;
    }
}

bool NormalCones::vertex_allows(Index v, const Vec3& n, const Vec3s& x, Real tolerance) const
{
    for (Index i = ring_begin_[v]; i < ring_begin_[v + 1]; ++i) {
        const Vec3 e = x[ring_[i]] - x[v];
        const Real away = e.dot(n);
        if (away < 0 && away * away > tolerance * tolerance * e.squaredNorm()) return false;
    }
    return true;
}

bool NormalCones::edge_allows(Index e, const Vec3& n, const Vec3s& x, Real tolerance) const
{
    const auto [a, b] = surface_.edges[e];
    const Vec3 along = x[b] - x[a];
    const Real length_sq = along.squaredNorm();
    for (Index o : opposite_[e]) {
        if (o == none) continue;
        Vec3 across = x[o] - x[a];
        if (length_sq > 0) across -= along * (across.dot(along) / length_sq);
        const Real away = across.dot(n);
        if (away < 0 && away * away > tolerance * tolerance * across.squaredNorm()) return false;
    }
    return true;
}

bool NormalCones::is_flat(Index e, const Vec3s& x, Real tolerance) const
{
    const auto [a, b] = surface_.edges[e];
    const auto [c, d] = opposite_[e];
    if (c == none || d == none) return false;
    const Vec3 along = x[b] - x[a];
    const Vec3 m = along.cross(x[c] - x[a]), n = (x[d] - x[a]).cross(along); // both faces' normals, the same way up
    return m.dot(n) > 0 && m.cross(n).squaredNorm() <= tolerance * tolerance * m.squaredNorm() * n.squaredNorm();
}

// By the normals of the faces, two products an edge instead of three; where rounding could decide, by is_flat().
void NormalCones::find_flat(const Vec3s& x, Real tolerance, std::span<const char> still_bodies, std::vector<char>& flat)
{
    const bool first = flat.empty();
    flat.resize(surface_.edges.size());
    normal_.resize(surface_.triangles.size());
    normal_sq_.resize(surface_.triangles.size());
    const auto still = [&](Index vertex) { return !first && still_bodies[surface_.vertex_body[vertex]]; };
    parallel_for(count(normal_), [&](Index f) {
        const auto& [a, b, c] = surface_.triangles[f];
        if (still(a)) return;
        normal_[f] = (x[b] - x[a]).cross(x[c] - x[a]);
        normal_sq_[f] = normal_[f].squaredNorm();
    });
    parallel_for(count(flat), [&](Index e) {
        if (still(surface_.edges[e][0])) return;
        const auto& [f, g] = faces_[e];
        if (f == none || g == none) {
            flat[e] = 0;
            return;
        }
        constexpr Real rounding = 1e-9;
        const Real sum = normal_[f].dot(normal_[g]), product = turned_[e] ? -sum : sum;
        const Real squares = normal_sq_[f] * normal_sq_[g], square = product * product;
        const Real sine_sq = squares - square, level = tolerance * tolerance * squares; // times squares
        if (square > rounding * squares && std::abs(sine_sq - level) > rounding * squares)
            flat[e] = product > 0 && sine_sq < level;
        else
            flat[e] = is_flat(e, x, tolerance);
    });
}

bool NormalCones::local_minimum(const ContactPair& pair, const Vec3s& x, Real tolerance) const
{
    const Vec3& n = pair.normal;
    switch (pair.key.kind) {
    case PairKind::vertex_vertex:
        return vertex_allows(pair.key.a, n, x, tolerance) && vertex_allows(pair.key.b, -n, x, tolerance);
    case PairKind::vertex_edge:
        return vertex_allows(pair.key.a, n, x, tolerance) && edge_allows(pair.key.b, -n, x, tolerance);
    case PairKind::edge_edge:
        return edge_allows(pair.key.a, n, x, tolerance) && edge_allows(pair.key.b, -n, x, tolerance);
    default:
        return true;
    }
}

} // namespace pliant
