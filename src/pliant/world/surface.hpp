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

/// How each surface vertex hangs on what moves it.
struct SurfaceMap {
    std::vector<Carrier> carrier; ///< per vertex
    std::vector<Index> map_begin; ///< per vertex + 1: range in map_block and map_weight (Carrier::blocks)
    std::vector<Index> map_block;
    std::vector<Real> map_weight;
    std::vector<Index> frame;       ///< per vertex: rigid body or obstacle number; `none` for Carrier::blocks
    Vec3s local;                    ///< per vertex: position in that frame [m]
    std::vector<Index> rigid_block; ///< per rigid body: its first block

    std::span<const Index> blocks(Index v) const
    {
        return {map_block.data() + map_begin[v], map_block.data() + map_begin[v + 1]};
    }
    std::span<const Real> weights(Index v) const
    {
        return {map_weight.data() + map_begin[v], map_weight.data() + map_begin[v + 1]};
    }
};

/// The frames that carry vertices, at one time.
struct SurfaceFrames {
    std::vector<Pose> rigid;    ///< per rigid body
    std::vector<Pose> scripted; ///< per obstacle
};

struct Surface : SurfaceMap {
    // Topology over all bodies; vertices, edges and triangles of one body are contiguous.
    std::vector<Triangle> triangles;
    std::vector<Edge> edges;                          ///< unique, per body sorted
    std::vector<std::array<Index, 3>> triangle_edges; ///< edge opposite to corner 2, 0, 1: (v0v1, v1v2, v2v0)
    std::vector<Index> vertex_body, edge_body, triangle_body;
    std::vector<std::uint8_t> prescribed; ///< per vertex: pinned or scripted, so that contact cannot move it
    std::vector<Real> vertex_gap;         ///< per vertex: half of the distance its body keeps to itself [m]
    Vec3s rest;                           ///< positions in the rest shape [m] (rest distances, elongation)

    Index vertex_count() const { return count(vertex_body); }
};

/// Positions of all vertices [m] when the blocks have the given ones. The simulation and the readers of its frames both
/// come here, so that they see the same bits.
void surface_positions(const SurfaceMap& map, const Vec3s& block_position, const SurfaceFrames& frames, Vec3s& out);
/// Velocities of all vertices [m/s]; of scripted ones by the difference to the frames dt earlier.
void surface_velocities(const SurfaceMap& map, const Vec3s& block_velocity, const SurfaceFrames& frames,
                        const std::vector<Pose>& scripted_before, Real dt, Vec3s& out);
/// A value of the blocks at all vertices: its weighted sum, 0 where a frame carries the vertex.
void surface_values(const SurfaceMap& map, const std::vector<Real>& block_value, std::vector<Real>& out);

/// The half-space normal . x >= offset is free. Planes are obstacles without triangles.
struct Plane {
    Vec3 normal = Vec3::UnitY(); ///< unit length
    Real offset = 0;             ///< [m]
};

} // namespace pliant
