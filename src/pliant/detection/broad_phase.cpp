#include "pliant/detection/broad_phase.hpp"

#include <algorithm>

namespace pliant {

void CandidateChunks::reset(std::size_t chunks)
{
    vertex_face.resize(chunks);
    edge_edge.resize(chunks);
    for (auto& c : vertex_face) c.clear();
    for (auto& c : edge_edge) c.clear();
}

void CandidateChunks::add(std::size_t chunks)
{
    vertex_face.resize(vertex_face.size() + chunks);
    edge_edge.resize(edge_edge.size() + chunks);
}

std::int64_t CandidateChunks::size() const
{
    std::int64_t n = 0;
    for (const auto& c : vertex_face) n += count(c);
    for (const auto& c : edge_edge) n += count(c);
    return n;
}

std::size_t CandidateChunks::bytes() const
{
    std::size_t n = 0;
    for (const auto& c : vertex_face) n += c.capacity() * sizeof(Pair);
    for (const auto& c : edge_edge) n += c.capacity() * sizeof(Pair);
    return n;
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

void all_pairs(const Surface& surface, const PairFilter& filter, const VertexBoxes& boxes, CandidateChunks& out)
{
    out.reset(1);
    std::vector<MovingBox> faces, edges;
    for (const Triangle& t : surface.triangles) faces.push_back(boxes.both(t));
    for (const Edge& e : surface.edges) edges.push_back(boxes.both(e));
    for (Index v = 0; v < surface.vertex_count(); ++v)
        for (Index f = 0; f < count(surface.triangles); ++f)
            if (overlap(boxes.both(v), faces[f]) && filter.vertex_face(v, f)) out.vertex_face[0].push_back({v, f});
    for (Index e = 0; e < count(surface.edges); ++e)
        for (Index g = e + 1; g < count(surface.edges); ++g)
            if (overlap(edges[e], edges[g]) && filter.edge_edge(e, g)) out.edge_edge[0].push_back({e, g});
}

} // namespace pliant
