#include "pliant/detection/patch_windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

Real cross(const Vec2& a, const Vec2& b)
{
    return a.x() * b.y() - a.y() * b.x();
}

/// Corners of the convex hull, counter-clockwise (monotone chain).
std::vector<Vec2> convex_hull(std::vector<Vec2> points)
{
    std::sort(points.begin(), points.end(),
              [](const Vec2& a, const Vec2& b) { return a.x() != b.x() ? a.x() < b.x() : a.y() < b.y(); });
    std::vector<Vec2> hull;
    const auto add = [&](const Vec2& p, std::size_t least) {
        while (hull.size() > least && cross(hull.back() - hull[hull.size() - 2], p - hull.back()) <= 0) hull.pop_back();
        hull.push_back(p);
    };
    for (const Vec2& p : points) add(p, 1);
    const std::size_t below = hull.size();
    for (auto p = points.rbegin() + 1; p != points.rend(); ++p) add(*p, below);
    hull.pop_back();
    return hull;
}

template <class Polygon>
Real area(const Polygon& polygon)
{
    Real twice = 0;
    for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
        twice += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
    return twice / 2;
}

/// The area of a triangle inside of a convex hull [Sutherland and Hodgman 1974]. side: of the hull that the last one
/// was beyond; neighbours are, too.
Real area_inside(const std::array<Vec2, 3>& triangle, const std::vector<Vec2>& hull, std::size_t& side)
{
    for (std::size_t n = 0; n < hull.size(); ++n) { // most are outside
        const std::size_t i = (side + n) % hull.size();
        const Vec2 &a = hull[i], along = hull[(i + 1) % hull.size()] - a;
        if (!std::ranges::all_of(triangle, [&](const Vec2& p) { return cross(along, p - a) <= 0; })) continue;
        side = i;
        return 0;
    }
    std::vector<Vec2> polygon(triangle.begin(), triangle.end()), next;
    for (std::size_t i = 0; i < hull.size() && !polygon.empty(); ++i) {
        const Vec2 &a = hull[i], along = hull[(i + 1) % hull.size()] - a;
        next.clear();
        for (std::size_t k = 0; k < polygon.size(); ++k) {
            const Vec2 &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
            const Real of_p = cross(along, p - a), of_q = cross(along, q - a);
            if (of_p >= 0) next.push_back(p);
            if ((of_p >= 0) != (of_q >= 0)) next.push_back(p + of_p / (of_p - of_q) * (q - p));
        }
        polygon.swap(next);
    }
    return area(polygon);
}

/// Whether a part of the segment is inside of the hull by more than a distance.
bool enters(const Vec2& p, const Vec2& q, const std::vector<Vec2>& hull, Real distance)
{
    Real begin = 0, end = 1;
    for (std::size_t i = 0; i < hull.size(); ++i) {
        const Vec2 &a = hull[i], along = (hull[(i + 1) % hull.size()] - a).normalized();
        const Real of_p = cross(along, p - a) - distance, of_q = cross(along, q - a) - distance;
        if (of_p < 0 && of_q < 0) return false;
        if (of_p < 0) begin = std::max(begin, of_p / (of_p - of_q));
        if (of_q < 0) end = std::min(end, of_p / (of_p - of_q));
    }
    return begin < end;
}

} // namespace

void find_neighbours(const Surface& surface, const SurfaceTrees& trees, const SurfaceTrees::Tree& tree,
                     NodeNeighbours& neighbours)
{
    const SurfaceTrees::Node& root = trees.nodes()[tree.root];
    std::vector<std::array<Index, 2>> leaf_of_vertex; // vertex, leaf
    for (Index leaf = root.leaf; leaf < root.leaf + root.leaves; ++leaf)
        trees.for_faces(leaf, leaf + 1, [&](Index, Index face) {
            for (const Index v : surface.triangles[face]) leaf_of_vertex.push_back({v, leaf});
        });
    std::sort(leaf_of_vertex.begin(), leaf_of_vertex.end());
    const auto last = std::unique(leaf_of_vertex.begin(), leaf_of_vertex.end());
    leaf_of_vertex.erase(last, leaf_of_vertex.end());
    std::vector<Index> ancestor(static_cast<std::size_t>(root.leaves), tree.root); // per leaf, at the depth at hand
    neighbours[tree.root] = {tree.root};
    std::vector<std::array<Index, 2>> pairs;
    for (;;) {
        for (Index leaf = root.leaf; leaf < root.leaf + root.leaves; ++leaf) {
            Index& node = ancestor[leaf - root.leaf];
            const Index second = trees.nodes()[node].second;
            if (second == none) return;
            node = leaf < trees.nodes()[second].leaf ? node + 1 : second;
        }
        pairs.clear();
        for (const Index node : ancestor) pairs.push_back({node, node});
        for (std::size_t begin = 0, end = 0; begin < leaf_of_vertex.size(); begin = end) {
            for (; end < leaf_of_vertex.size() && leaf_of_vertex[end][0] == leaf_of_vertex[begin][0]; ++end)
                for (std::size_t other = begin; other < end; ++other) {
                    const Index a = ancestor[leaf_of_vertex[end][1] - root.leaf];
                    const Index b = ancestor[leaf_of_vertex[other][1] - root.leaf];
                    if (a == b) continue;
                    pairs.push_back({a, b});
                    pairs.push_back({b, a});
                }
        }
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        for (const auto& [a, b] : pairs) neighbours[a].push_back(b);
    }
}

WindowBuilder::WindowBuilder(const Surface& surface, const SurfaceTrees& trees)
    : surface_(surface), trees_(trees), block_(surface.triangles.size(), none),
      state_(surface.triangles.size(), unknown)
{
    trees.for_faces(0, trees.leaf_count(), [&](Index block, Index face) { block_[face] = block; });
    for (const auto& [a, b, c] : surface.triangles) {
        const Vec3 ab = surface.rest[b] - surface.rest[a], ac = surface.rest[c] - surface.rest[a], n = ab.cross(ac);
        const Real longest_sq = std::max({ab.squaredNorm(), ac.squaredNorm(), (ac - ab).squaredNorm()});
        twice_area_.push_back(n.norm());
        normal_.push_back(n.normalized());
        slenderness_.push_back(longest_sq / twice_area_.back());
    }
    struct Side {
        Index face = none;
        int edge = 0;
        int count = 0;
    };
    std::vector<std::array<Side, 2>> sides(surface.edges.size()); // by the direction in which the face runs along it
    for (Index f = 0; f < count(surface.triangles); ++f)
        for (int k = 0; k < 3; ++k) {
            const Index e = surface.triangle_edges[f][k];
            Side& side = sides[e][surface.triangles[f][k] == surface.edges[e][0] ? 0 : 1];
            side = {f, k, side.count + 1};
        }
    across_.assign(surface.triangles.size(), {none, none, none});
    for (const auto& [a, b] : sides) {
        if (a.count != 1 || b.count != 1) continue;
        across_[a.face][a.edge] = b.face;
        across_[b.face][b.edge] = a.face;
    }
}

std::array<Vec2, 3> WindowBuilder::corners(const PatchWindow& w, Index face) const
{
    std::array<Vec2, 3> t;
    for (int k = 0; k < 3; ++k) {
        const Vec3& x = surface_.rest[surface_.triangles[face][k]];
        t[k] = {w.u.dot(x), w.v.dot(x)};
    }
    return t;
}

PatchWindow WindowBuilder::window(std::span<const Index> nodes)
{
    std::vector<Index> patch;
    Vec3 normal = Vec3::Zero();
    for (const Index n : nodes) {
        const SurfaceTrees::Node& node = trees_.nodes()[n];
        trees_.for_faces(node.leaf, node.leaf + node.leaves, [&](Index, Index face) {
            patch.push_back(face);
            normal += twice_area_[face] * normal_[face];
        });
    }
    if (patch.empty() || !(normal.norm() > 0)) return {};
    normal.normalize();
    for (const Index f : patch)
        if (!faces(normal, f)) return {};
    PatchWindow w;
    w.u = normal.unitOrthogonal();
    w.v = normal.cross(w.u);
    for (const Index f : patch) state_[f] = in_patch;
    std::vector<Vec2> points; // of the triangles at its rim
    for (const Index f : patch)
        if (std::ranges::any_of(across_[f], [&](Index g) { return g == none || state_[g] != in_patch; }))
            for (const Vec2& p : corners(w, f)) points.push_back(p);
    reached_ = {patch[0]};
    const bool covered = points.size() >= 3 && cover(convex_hull(std::move(points)), normal, patch.size(), w);
    for (const Index f : patch) state_[f] = unknown;
    for (const Index f : reached_) state_[f] = unknown;
    if (!covered) return {};
    std::vector<Index> blocks;
    for (const Index f : reached_) blocks.push_back(block_[f]);
    std::sort(blocks.begin(), blocks.end());
    for (const Index b : blocks) {
        if (w.covering.empty() || b > w.covering.back()[1])
            w.covering.push_back({b, b + 1});
        else
            w.covering.back()[1] = std::max(w.covering.back()[1], b + 1);
    }
    return w;
}

// No border is in the hull and all triangles are the same way up: the texture covers every point of the hull equally
// often, and the areas tell how often.
bool WindowBuilder::cover(const std::vector<Vec2>& hull, const Vec3& normal, std::size_t patch_size, PatchWindow& w)
{
    const Real hull_area = area(hull), thickness = 1e-9 * std::sqrt(hull_area);
    Real covered = 0;
    std::size_t of_patch = 0, side = 0;
    Real altitude_sq = std::numeric_limits<Real>::infinity();
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        const Index f = reached_[k];
        const bool whole = state_[f] == in_patch || state_[f] == waiting_in_patch;
        state_[f] = reached;
        const std::array<Vec2, 3> t = corners(w, f);
        const Real twice_area = cross(t[1] - t[0], t[2] - t[0]);
        const Real longest_sq =
            std::max({(t[1] - t[0]).squaredNorm(), (t[2] - t[1]).squaredNorm(), (t[0] - t[2]).squaredNorm()});
        altitude_sq = std::min(altitude_sq, twice_area * twice_area / longest_sq);
        w.slenderness = std::max(w.slenderness, slenderness_[f]);
        if (whole) covered += twice_area / 2;
        of_patch += whole;
        for (int e = 0; e < 3; ++e) {
            const Index next = across_[f][e];
            if (next == none) {
                if (enters(t[e], t[(e + 1) % 3], hull, thickness)) return false;
                continue;
            }
            if (state_[next] == waiting || state_[next] == reached || state_[next] == waiting_in_patch) continue;
            if (state_[next] == unknown) {
                const Real part = area_inside(corners(w, next), hull, side);
                if (!(std::abs(part) > 1e-12 * hull_area)) continue; // upside down, it is reached too
                if (!faces(normal, next)) return false;
                covered += part;
            }
            state_[next] = state_[next] == in_patch ? waiting_in_patch : waiting;
            reached_.push_back(next);
        }
    }
    w.altitude = std::sqrt(altitude_sq);
    return of_patch == patch_size && std::abs(covered - hull_area) < 1e-6 * hull_area;
}

} // namespace pliant
