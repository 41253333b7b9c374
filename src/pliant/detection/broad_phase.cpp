#include "pliant/detection/broad_phase.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>

namespace pliant {

void FeatureBoxes::compute(const Surface& surface, const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius,
                           Real uniform)
{
    vertex.resize(x_t0.size());
    edge.resize(surface.edges.size());
    face.resize(surface.triangles.size());
    parallel_for(count(vertex), [&](Index v) {
        const Real r = radius.empty() ? uniform : radius[v];
        Box b;
        b.add(x_t0[v], r);
        b.add(x_t1[v], r);
        vertex[v] = b;
    });
    parallel_for(count(edge), [&](Index e) {
        Box b = vertex[surface.edges[e][0]];
        b.add(vertex[surface.edges[e][1]]);
        edge[e] = b;
    });
    parallel_for(count(face), [&](Index f) {
        const Triangle& t = surface.triangles[f];
        Box b = vertex[t[0]];
        b.add(vertex[t[1]]);
        b.add(vertex[t[2]]);
        face[f] = b;
    });
}

Candidates CandidateChunks::sorted() const
{
    Candidates c;
    const auto gather = [](const std::vector<std::vector<Pair>>& chunks, std::vector<Pair>& all) {
        std::size_t n = 0;
        for (const auto& chunk : chunks) n += chunk.size();
        all.reserve(n);
        for (const auto& chunk : chunks) all.insert(all.end(), chunk.begin(), chunk.end());
        std::sort(all.begin(), all.end());
    };
    gather(vertex_face, c.vertex_face);
    gather(edge_edge, c.edge_edge);
    return c;
}

void all_pairs(const Surface& surface, const PairFilter& filter, const FeatureBoxes& boxes, CandidateChunks& out)
{
    out.clear();
    auto& vf = out.vertex_face.emplace_back();
    auto& ee = out.edge_edge.emplace_back();
    for (Index v = 0; v < surface.vertex_count(); ++v)
        for (Index f = 0; f < count(surface.triangles); ++f)
            if (overlap(boxes.vertex[v], boxes.face[f]) && filter.vertex_face(v, f)) vf.push_back({v, f});
    for (Index e = 0; e < count(surface.edges); ++e)
        for (Index g = e + 1; g < count(surface.edges); ++g)
            if (overlap(boxes.edge[e], boxes.edge[g]) && filter.edge_edge(e, g)) ee.push_back({e, g});
}

} // namespace pliant
