#include "pliant/detection/normal_cones.hpp"

namespace pliant {

NormalCones::NormalCones(const Surface& surface) : surface_(surface)
{
    opposite_.assign(surface.edges.size(), {none, none});
    for (Index f = 0; f < count(surface.triangles); ++f)
        for (int k = 0; k < 3; ++k) {
            auto& o = opposite_[surface.triangle_edges[f][k]];
            o[o[0] == none ? 0 : 1] = surface.triangles[f][(k + 2) % 3];
        }
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
