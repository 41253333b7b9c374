#pragma once
// The one surface of the world: every body's triangles, and what carries each vertex.

#include "pliant/core/types.hpp"

#include <span>

namespace pliant {

/// What carries each surface vertex. Its velocity is a sum over blocks, u = sum_k w_k v_k: one block for a particle,
/// four in a tetrahedron, eight in a lattice cell, the linear block for a rigid body, none for a script. A vertex in a
/// frame is at the frame's pose of its local position instead of the sum over the blocks' positions, and a frame that
/// turns adds omega x arm to its velocity. A script may also move vertices one by one.
struct SurfaceMap {
    std::vector<Index> map_begin; ///< per vertex + 1: range in map_block and map_weight
    std::vector<Index> map_block;
    std::vector<Real> map_weight;
    std::vector<Index> frame;      ///< per vertex: number of the frame, or none
    Vec3s local;                   ///< per vertex: position in its frame [m]
    std::vector<Index> frame_spin; ///< per frame: block of its angular velocity, none for a scripted one
    std::vector<Index> moved;      ///< vertices that a script moves one by one, ascending

    std::span<const Index> blocks(Index v) const
    {
        return {map_block.data() + map_begin[v], map_block.data() + map_begin[v + 1]};
    }
    std::span<const Real> weights(Index v) const
    {
        return {map_weight.data() + map_begin[v], map_weight.data() + map_begin[v + 1]};
    }
    /// Position of a vertex that is not moved one by one, from the blocks' positions and the frames' poses [m].
    Vec3 position(Index v, const Vec3s& block_position, const std::vector<Pose>& frames) const
    {
        if (frame[v] != none) return frames[frame[v]](local[v]);
        const Index begin = map_begin[v], end = map_begin[v + 1];
        if (end == begin + 1) return block_position[map_block[begin]];
        Vec3 x = Vec3::Zero();
        for (Index k = begin; k < end; ++k) x += map_weight[k] * block_position[map_block[k]];
        return x;
    }
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
    /// Per vertex: the first vertex of its class; partners in a seam are of one class, all others their own. Features
    /// that share a class are neighbours like those that share a vertex. Empty: there are no seams.
    std::vector<Index> weld;

    Index vertex_count() const { return count(vertex_body); }
};

/// What carries vertices beside blocks, at one time.
struct Carriers {
    std::vector<Pose> poses; ///< per frame
    Vec3s moved;             ///< per vertex of SurfaceMap::moved: its place [m]
};

/// What moves the vertices at one time.
struct SurfaceMotion {
    const Vec3s& block_velocity; ///< [m/s]
    const Carriers& now;
    const Carriers& earlier; ///< dt earlier; only what scripts move is used
    Real dt;                 ///< [s]
};

/// Positions of all vertices [m]. The simulation and the readers of its frames both come here, so that they see the
/// same bits.
void surface_positions(const SurfaceMap& map, const Vec3s& block_position, const Carriers& carriers, Vec3s& out);
/// Velocities of all vertices [m/s]; of scripted ones by a one-sided difference over dt.
void surface_velocities(const SurfaceMap& map, const SurfaceMotion& motion, Vec3s& out);
/// A value of the blocks at all vertices: its weighted sum, 0 for a scripted vertex.
void surface_values(const SurfaceMap& map, const std::vector<Real>& block_value, std::vector<Real>& out);

/// The half-space normal . x >= offset is free. Planes are obstacles without triangles.
struct Plane {
    Vec3 normal = Vec3::UnitY(); ///< unit length
    Real offset = 0;             ///< [m]
};

} // namespace pliant
