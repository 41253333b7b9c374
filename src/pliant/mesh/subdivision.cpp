#include "pliant/mesh/subdivision.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

Real square(Real x)
{
    return x * x;
}

/// Weight of each of the n neighbours of an inner vertex [Loop 1987].
Real neighbour_weight(Index n)
{
    return (0.625 - square(0.375 + 0.25 * std::cos(2 * std::numbers::pi / n))) / n;
}

} // namespace

LoopSubdivision::LoopSubdivision(const std::vector<Triangle>& triangles, Index vertices)
{
    const std::vector<Hinge> hinges = hinges_of(triangles);
    const auto edge_id = [&](Index a, Index b) {
        const Edge e = a < b ? Edge{a, b} : Edge{b, a};
        const auto at = std::lower_bound(hinges.begin(), hinges.end(), e,
                                         [](const Hinge& h, const Edge& edge) { return h.edge < edge; });
        return static_cast<Index>(at - hinges.begin());
    };
    std::vector<Index> uses(hinges.size(), 0);
    for (const auto& [a, b, c] : triangles)
        for (const Index e : {edge_id(a, b), edge_id(b, c), edge_id(c, a)}) ++uses[e];

    std::vector<std::vector<Index>> around(vertices), crease(vertices); // neighbours; those along a boundary
    for (std::size_t e = 0; e < hinges.size(); ++e)
        for (int k = 0; k < 2; ++k) {
            around[hinges[e].edge[k]].push_back(hinges[e].edge[1 - k]);
            if (uses[e] != 2) crease[hinges[e].edge[k]].push_back(hinges[e].edge[1 - k]);
        }

    const auto begin_row = [&] { row_start_.push_back(count(entries_)); };
    for (Index v = 0; v < vertices; ++v) {
        begin_row();
        if (crease[v].size() == 2) {
            entries_.push_back({v, 0.75});
            for (const Index w : crease[v]) entries_.push_back({w, 0.125});
        } else if (!crease[v].empty() || around[v].empty()) {
            entries_.push_back({v, 1}); // where boundaries meet: a corner
        } else {
            const Index n = count(around[v]);
            const Real weight = neighbour_weight(n);
            entries_.push_back({v, 1 - n * weight});
            for (const Index w : around[v]) entries_.push_back({w, weight});
        }
    }
    for (std::size_t e = 0; e < hinges.size(); ++e) {
        begin_row();
        const bool inner = uses[e] == 2;
        for (const Index v : hinges[e].edge) entries_.push_back({v, inner ? 0.375 : 0.5});
        if (inner)
            for (const Index v : hinges[e].opposite) entries_.push_back({v, 0.125});
    }
    begin_row();

    triangles_.reserve(4 * triangles.size());
    for (const auto& [a, b, c] : triangles) {
        const Index ab = vertices + edge_id(a, b), bc = vertices + edge_id(b, c), ca = vertices + edge_id(c, a);
        triangles_.insert(triangles_.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
}

Vec3s LoopSubdivision::operator()(const Vec3s& coarse) const
{
    Vec3s fine(row_start_.size() - 1);
    parallel_for(
        count(fine),
        [&](Index v) {
            Vec3 x = Vec3::Zero();
            for (Index k = row_start_[v]; k < row_start_[v + 1]; ++k)
                x += entries_[k].weight * coarse[entries_[k].vertex];
            fine[v] = x;
        },
        4096);
    return fine;
}

TriangleMesh loop_subdivide(const TriangleMesh& mesh)
{
    const LoopSubdivision subdivision(mesh.triangles, count(mesh.vertices));
    return {subdivision(mesh.vertices), subdivision.triangles()};
}

} // namespace pliant
