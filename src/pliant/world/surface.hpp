#pragma once
// The one surface of the world: every body's triangles, and how each vertex hangs on the state's blocks.

#include "pliant/core/types.hpp"

#include <span>

namespace pliant {

/// What carries a surface vertex.
enum class Carrier : std::uint8_t {
    blocks,   ///< position is a weighted sum of particle blocks: cloth (one, weight 1), embedded surfaces (four)
    rigid,    ///< fixed in a rigid body's frame: blocks (frame's first block, +1), J = [I, -[r]x]
    obstacle, ///< fixed in a scripted frame: no block, only a prescribed position
};

struct Surface {
    // Topology over all bodies; vertices, edges and triangles of one body are contiguous.
    std::vector<Triangle> triangles;
    std::vector<Edge> edges;                          ///< unique, per body sorted
    std::vector<std::array<Index, 3>> triangle_edges; ///< edge opposite to corner 2, 0, 1: (v0v1, v1v2, v2v0)
    std::vector<Index> vertex_body, edge_body, triangle_body;
    std::vector<std::uint8_t> prescribed; ///< per vertex: pinned or scripted, so that contact cannot move it
    std::vector<Real> vertex_gap;         ///< per vertex: half of the distance its body keeps to itself [m]
    Vec3s rest;                           ///< positions in the rest shape [m] (rest distances, elongation)

    // Vertex -> state.
    std::vector<Carrier> carrier; ///< per vertex
    std::vector<Index> map_begin; ///< per vertex + 1: range in map_block and map_weight (Carrier::blocks)
    std::vector<Index> map_block;
    std::vector<Real> map_weight;
    std::vector<Index> frame; ///< per vertex: rigid body or obstacle number; `none` for Carrier::blocks
    Vec3s local;              ///< per vertex: position in that frame [m]

    Index vertex_count() const { return count(vertex_body); }
    std::span<const Index> blocks(Index v) const
    {
        return {map_block.data() + map_begin[v], map_block.data() + map_begin[v + 1]};
    }
    std::span<const Real> weights(Index v) const
    {
        return {map_weight.data() + map_begin[v], map_weight.data() + map_begin[v + 1]};
    }
};

/// The half-space normal . x >= offset is free. Planes are obstacles without triangles.
struct Plane {
    Vec3 normal = Vec3::UnitY(); ///< unit length
    Real offset = 0;             ///< [m]
};

} // namespace pliant
