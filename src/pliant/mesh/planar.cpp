#include "pliant/mesh/planar.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace pliant {
namespace {

Real cross(const Vec2& a, const Vec2& b)
{
    return a.x() * b.y() - a.y() * b.x();
}

Real twice_area(const Vec2& a, const Vec2& b, const Vec2& c)
{
    return cross(b - a, c - a);
}

/// A triangulation that knows its neighbours; neighbour k of a triangle lies across the edge opposite to corner k.
class Flipper {
public:
    explicit Flipper(PlanarMesh& mesh) : mesh_(mesh) { find_neighbours(); }

    void legalise_all()
    {
        for (Index t = 0; t < count(mesh_.triangles); ++t) pending_.push_back(t);
        legalise();
    }

    /// Triangle that holds p, by walking from the last one; `none` outside.
    Index locate(const Vec2& p)
    {
        Index t = last_;
        for (Index steps = 0; t != none && steps < count(mesh_.triangles); ++steps) {
            const Index across = edge_that_separates(t, p);
            if (across == none) return last_ = t;
            t = neighbours_[t][across];
        }
        for (t = 0; t < count(mesh_.triangles); ++t) // the walk left the outline, which need not be convex
            if (edge_that_separates(t, p) == none) return last_ = t;
        return none;
    }

    void insert(const Vec2& p, Index t)
    {
        const Index v = count(mesh_.vertices);
        mesh_.vertices.push_back(p);
        const auto [a, b, c] = mesh_.triangles[t];
        const auto [na, nb, nc] = neighbours_[t];
        const Index u = count(mesh_.triangles), w = u + 1;
        mesh_.triangles[t] = {a, b, v};
        mesh_.triangles.push_back({b, c, v});
        mesh_.triangles.push_back({c, a, v});
        neighbours_[t] = {u, w, nc};
        neighbours_.push_back({w, t, na});
        neighbours_.push_back({t, u, nb});
        replace_neighbour(na, t, u);
        replace_neighbour(nb, t, w);
        pending_.insert(pending_.end(), {t, u, w});
        legalise();
    }

private:
    void find_neighbours()
    {
        neighbours_.assign(mesh_.triangles.size(), {none, none, none});
        std::map<Edge, std::pair<Index, int>> open; // directed edge -> (triangle, corner opposite to it)
        for (Index t = 0; t < count(mesh_.triangles); ++t)
            for (int k = 0; k < 3; ++k) {
                const Index a = mesh_.triangles[t][(k + 1) % 3], b = mesh_.triangles[t][(k + 2) % 3];
                if (const auto twin = open.find({b, a}); twin != open.end()) {
                    neighbours_[t][k] = twin->second.first;
                    neighbours_[twin->second.first][twin->second.second] = t;
                }
                open[{a, b}] = {t, k};
            }
    }

    Index edge_that_separates(Index t, const Vec2& p) const
    {
        for (int k = 0; k < 3; ++k)
            if (twice_area(corner(t, k + 1), corner(t, k + 2), p) < 0) return k;
        return none;
    }

    const Vec2& corner(Index t, int k) const { return mesh_.vertices[mesh_.triangles[t][k % 3]]; }

    void replace_neighbour(Index t, Index before, Index after)
    {
        if (t != none) *std::find(neighbours_[t].begin(), neighbours_[t].end(), before) = after;
    }

    /// The edge is illegal when the angles opposite to it sum to more than a half turn: sin(alpha + beta) < 0. Unlike
    /// the in-circle determinant this also sees through flat triangles, whose angle of a half turn faces the edge.
    bool should_flip(Index t, int k) const
    {
        const Index u = neighbours_[t][k];
        const Vec2 &a = corner(t, k), &b = corner(t, k + 1), &c = corner(t, k + 2), &d = opposite(u, t);
        const Vec2 ab = b - a, ac = c - a, db = b - d, dc = c - d;
        const Real scale = std::sqrt(ab.squaredNorm() * ac.squaredNorm() * db.squaredNorm() * dc.squaredNorm());
        if (!(scale > 0)) return false;
        const Real sine = cross(ab, ac) * dc.dot(db) + ab.dot(ac) * cross(dc, db);
        if (sine >= -1e-12 * scale) return false;
        return twice_area(a, b, d) > 0 && twice_area(a, d, c) > 0;
    }

    const Vec2& opposite(Index u, Index t) const
    {
        const auto at = std::find(neighbours_[u].begin(), neighbours_[u].end(), t) - neighbours_[u].begin();
        return corner(u, static_cast<int>(at));
    }

    void flip(Index t, int k)
    {
        const Index u = neighbours_[t][k];
        const auto j =
            static_cast<int>(std::find(neighbours_[u].begin(), neighbours_[u].end(), t) - neighbours_[u].begin());
        const Index a = mesh_.triangles[t][k], b = mesh_.triangles[t][(k + 1) % 3], c = mesh_.triangles[t][(k + 2) % 3];
        const Index d = mesh_.triangles[u][j]; // u = (d, c, b)
        const Index ca = neighbours_[t][(k + 1) % 3], ab = neighbours_[t][(k + 2) % 3];
        const Index bd = neighbours_[u][(j + 1) % 3], dc = neighbours_[u][(j + 2) % 3];
        mesh_.triangles[t] = {a, b, d};
        neighbours_[t] = {bd, u, ab};
        mesh_.triangles[u] = {a, d, c};
        neighbours_[u] = {dc, ca, t};
        replace_neighbour(bd, u, t);
        replace_neighbour(ca, t, u);
    }

    void legalise()
    {
        // Each flip raises the sorted angles, so it ends; the bound guards against rounding.
        std::size_t budget = 100 * mesh_.triangles.size() + 1000;
        while (!pending_.empty()) {
            const Index t = pending_.back();
            pending_.pop_back();
            for (int k = 0; k < 3; ++k)
                if (neighbours_[t][k] != none && should_flip(t, k)) {
                    const Index u = neighbours_[t][k];
                    flip(t, k);
                    if (budget-- == 0) {
                        pending_.clear();
                        return;
                    }
                    pending_.push_back(t);
                    pending_.push_back(u);
                    break;
                }
        }
    }

    PlanarMesh& mesh_;
    std::vector<std::array<Index, 3>> neighbours_;
    std::vector<Index> pending_;
    Index last_ = 0;
};

std::vector<Edge> outline_of(const PlanarMesh& mesh)
{
    std::map<Edge, Index> uses;
    for (const Triangle& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) {
            const Index a = t[k], b = t[(k + 1) % 3];
            ++uses[a < b ? Edge{a, b} : Edge{b, a}];
        }
    std::vector<Edge> outline;
    for (const auto& [edge, n] : uses)
        if (n == 1) outline.push_back(edge);
    return outline;
}

Real distance_sq(const Vec2& p, const Vec2& a, const Vec2& b)
{
    const Vec2 d = b - a;
    const Real s = std::clamp(d.dot(p - a) / std::max(d.squaredNorm(), 1e-300), 0.0, 1.0);
    return (p - a - s * d).squaredNorm();
}

/// Moves each inner vertex towards the middle of its neighbours where no triangle turns over.
void smooth(PlanarMesh& mesh, Index first_movable)
{
    std::vector<std::vector<Index>> star(mesh.vertices.size());
    for (Index t = 0; t < count(mesh.triangles); ++t)
        for (Index v : mesh.triangles[t]) star[v].push_back(t);
    for (Index v = first_movable; v < count(mesh.vertices); ++v) {
        Vec2 sum = Vec2::Zero();
        for (Index t : star[v])
            for (Index w : mesh.triangles[t])
                if (w != v) sum += mesh.vertices[w];
        const Vec2 before = mesh.vertices[v];
        mesh.vertices[v] = sum / (2.0 * static_cast<Real>(star[v].size()));
        for (Index t : star[v]) {
            const auto [a, b, c] = mesh.triangles[t];
            if (twice_area(mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]) > 0) continue;
            mesh.vertices[v] = before;
            break;
        }
    }
}

} // namespace

void make_delaunay(PlanarMesh& mesh)
{
    Flipper(mesh).legalise_all();
}

void fill_with_vertices(PlanarMesh& mesh, Real spacing)
{
    if (mesh.triangles.empty()) return;
    const Index given = count(mesh.vertices);
    const std::vector<Edge> outline = outline_of(mesh);
    Vec2 low = mesh.vertices.front(), high = low;
    for (const Vec2& x : mesh.vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    {
        Flipper flipper(mesh);
        flipper.legalise_all();
        const Real row_height = spacing * std::sqrt(3.0) / 2, margin_sq = 0.36 * spacing * spacing;
        const auto rows = static_cast<Index>((high.y() - low.y()) / row_height);
        const auto columns = static_cast<Index>((high.x() - low.x()) / spacing) + 1;
        for (Index j = 0; j <= rows; ++j)
            for (Index i = 0; i <= columns; ++i) {
                const Vec2 p = low + Vec2((i + (j % 2 ? 0.25 : 0.75)) * spacing, (j + 0.5) * row_height);
                const bool near = std::any_of(outline.begin(), outline.end(), [&](const Edge& e) {
                    return distance_sq(p, mesh.vertices[e[0]], mesh.vertices[e[1]]) < margin_sq;
                });
                if (near) continue;
                if (const Index t = flipper.locate(p); t != none) flipper.insert(p, t);
            }
    }
    for (int pass = 0; pass < 4; ++pass) {
        smooth(mesh, given);
        make_delaunay(mesh);
    }
}

} // namespace pliant
