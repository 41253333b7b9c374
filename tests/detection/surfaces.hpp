#pragma once
// Surfaces and motions for detection tests and benchmarks.

#include "pliant/core/random.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/world/surface.hpp"

#include <cmath>
#include <map>
#include <numbers>

namespace pliant {

enum class CarriedBy { particles, rigid, obstacle };

/// Adds a mesh as one body; its vertices are where the rest shape is.
inline void add_body(Surface& s, const TriangleMesh& mesh, Real half_gap = 0, CarriedBy carrier = CarriedBy::particles)
{
    const Index first = s.vertex_count(), first_edge = count(s.edges);
    const Index body = s.vertex_body.empty() ? 0 : s.vertex_body.back() + 1;
    const std::vector<Edge> edges = edges_of(mesh.triangles);
    std::map<Edge, Index> number;
    for (const Edge& e : edges) {
        number[e] = first_edge + count(number);
        s.edges.push_back({first + e[0], first + e[1]});
        s.edge_body.push_back(body);
    }
    for (const Triangle& t : mesh.triangles) {
        s.triangles.push_back({first + t[0], first + t[1], first + t[2]});
        s.triangle_body.push_back(body);
        auto& te = s.triangle_edges.emplace_back();
        for (int k = 0; k < 3; ++k) {
            const Index a = t[k], b = t[(k + 1) % 3];
            te[k] = number.at(a < b ? Edge{a, b} : Edge{b, a});
        }
    }
    for (const Vec3& x : mesh.vertices) {
        s.vertex_body.push_back(body);
        s.prescribed.push_back(carrier == CarriedBy::obstacle);
        s.vertex_gap.push_back(half_gap);
        s.rest.push_back(x);
        s.frame.push_back(carrier == CarriedBy::particles ? none : body);
    }
}

/// Random triangles, most of them small, some long and thin, with shared vertices.
inline TriangleMesh random_soup(Random& random, Index vertices, Index triangles, Real size)
{
    TriangleMesh mesh;
    for (Index i = 0; i < vertices; ++i)
        mesh.vertices.push_back(i % 4 == 0 ? random.in_box(Vec3::Constant(-1), Vec3::Constant(1))
                                           : Vec3(mesh.vertices[i - i % 4] + size * random.on_sphere()));
    for (Index i = 0; i < triangles; ++i) {
        const Index base = 4 * random.below(vertices / 4);
        Triangle t = {base + random.below(4), base + random.below(4), base + random.below(4)};
        if (i % 50 == 0) t[2] = random.below(vertices);
        if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) mesh.triangles.push_back(t);
    }
    return mesh;
}

/// A square cloth of n by n vertices and side 1 folded `layers` times like a letter: layers `gap` apart, joined by
/// round folds, with ripples.
inline Vec3s folded(const TriangleMesh& grid, Index layers, Real gap, std::uint64_t seed)
{
    Random random(seed);
    const Real width = 1.0 / layers, arc = std::numbers::pi * gap / 2;
    Vec3s x;
    for (const Vec3& p : grid.vertices) {
        const Real u = p.x() + 0.5;
        const Index layer = std::min(layers - 1, static_cast<Index>(u / width));
        Real along = u - layer * width, y = layer * gap;
        const bool back = layer % 2 == 1;
        if (along < arc && layer > 0) { // the fold: half a circle of radius gap / 2 that begins the layer
            const Real a = std::numbers::pi * along / arc;
            y -= gap / 2 + gap / 2 * std::cos(a);
            along = -gap / 2 * std::sin(a);
        } else if (layer > 0)
            along -= arc;
        const Real jitter = 0.1 * gap * random.uniform(-1, 1);
        x.emplace_back(back ? width - along : along, y + 0.2 * gap * std::sin(40 * p.z() + layer) + jitter, p.z());
    }
    return x;
}

} // namespace pliant
