#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <tuple>

namespace pliant {
namespace {

Edge sorted(Index a, Index b)
{
    return a < b ? Edge{a, b} : Edge{b, a};
}

void sort_unique(std::vector<Edge>& edges)
{
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

/// Triangles of a positively oriented tetrahedron, each seen from outside, face k opposite to vertex k.
constexpr std::array<std::array<int, 3>, 4> tet_faces = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

} // namespace

std::vector<Edge> edges_of(const std::vector<Triangle>& triangles)
{
    std::vector<Edge> edges;
    edges.reserve(3 * triangles.size());
    for (const Triangle& t : triangles)
        for (int k = 0; k < 3; ++k) edges.push_back(sorted(t[k], t[(k + 1) % 3]));
    sort_unique(edges);
    return edges;
}

std::vector<Edge> edges_of(const std::vector<Tet>& tets)
{
    std::vector<Edge> edges;
    edges.reserve(6 * tets.size());
    for (const Tet& t : tets)
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j) edges.push_back(sorted(t[i], t[j]));
    sort_unique(edges);
    return edges;
}

std::vector<Hinge> hinges_of(const std::vector<Triangle>& triangles)
{
    struct Side {
        Edge edge;
        Index triangle, opposite;
        bool operator<(const Side& o) const { return std::tie(edge, triangle) < std::tie(o.edge, o.triangle); }
    };
    std::vector<Side> sides;
    sides.reserve(3 * triangles.size());
    for (Index f = 0; f < count(triangles); ++f)
        for (int k = 0; k < 3; ++k) {
            const Triangle& t = triangles[f];
            sides.push_back({sorted(t[k], t[(k + 1) % 3]), f, t[(k + 2) % 3]});
        }
    std::sort(sides.begin(), sides.end());
    std::vector<Hinge> hinges;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (!hinges.empty() && hinges.back().edge == sides[i].edge) {
            if (hinges.back().triangle[1] == none) {
                hinges.back().triangle[1] = sides[i].triangle;
                hinges.back().opposite[1] = sides[i].opposite;
            }
            continue;
        }
        hinges.push_back({sides[i].edge, {sides[i].triangle, none}, {sides[i].opposite, none}});
    }
    return hinges;
}

std::vector<Triangle> boundary_of(const std::vector<Tet>& tets)
{
    struct Face {
        std::array<Index, 3> key;
        Index tet;
        int face;
    };
    std::vector<Face> faces;
    faces.reserve(4 * tets.size());
    for (Index t = 0; t < count(tets); ++t)
        for (int f = 0; f < 4; ++f) {
            std::array<Index, 3> key;
            for (int k = 0; k < 3; ++k) key[k] = tets[t][tet_faces[f][k]];
            std::sort(key.begin(), key.end());
            faces.push_back({key, t, f});
        }
    std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
    std::vector<std::pair<Index, int>> open;
    for (std::size_t i = 0; i < faces.size();) {
        std::size_t j = i + 1;
        while (j < faces.size() && faces[j].key == faces[i].key) ++j;
        if (j == i + 1) open.emplace_back(faces[i].tet, faces[i].face);
        i = j;
    }
    std::sort(open.begin(), open.end());
    std::vector<Triangle> boundary;
    boundary.reserve(open.size());
    for (auto [t, f] : open)
        boundary.push_back({tets[t][tet_faces[f][0]], tets[t][tet_faces[f][1]], tets[t][tet_faces[f][2]]});
    return boundary;
}

bool is_closed(const std::vector<Triangle>& triangles)
{
    std::vector<std::pair<Index, Index>> directed;
    directed.reserve(3 * triangles.size());
    for (const Triangle& t : triangles)
        for (int k = 0; k < 3; ++k) directed.emplace_back(t[k], t[(k + 1) % 3]);
    std::sort(directed.begin(), directed.end());
    if (std::adjacent_find(directed.begin(), directed.end()) != directed.end()) return false;
    return std::all_of(directed.begin(), directed.end(), [&](const auto& e) {
        return std::binary_search(directed.begin(), directed.end(), std::pair(e.second, e.first));
    });
}

Real enclosed_volume(const TriangleMesh& mesh)
{
    Real volume = 0;
    if (mesh.vertices.empty()) return volume;
    const Vec3 origin = mesh.vertices.front();
    for (const Triangle& t : mesh.triangles) {
        const Vec3 a = mesh.vertices[t[0]] - origin, b = mesh.vertices[t[1]] - origin, c = mesh.vertices[t[2]] - origin;
        volume += a.dot(b.cross(c));
    }
    return volume / 6;
}

Real median_edge_length(const Vec3s& vertices, const std::vector<Edge>& edges)
{
    if (edges.empty()) return 0;
    std::vector<Real> lengths;
    lengths.reserve(edges.size());
    for (const Edge& e : edges) lengths.push_back((vertices[e[0]] - vertices[e[1]]).norm());
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

} // namespace pliant
