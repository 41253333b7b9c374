#pragma once
// What a run directory stores once: bodies, triangles, tetrahedra, and how the surface hangs on what frames store.

#include "pliant/world/world.hpp"

#include <filesystem>

namespace pliant {

/// A body as pictures, checks and exports see it.
struct RunBody {
    std::string name;
    BodyKind kind = BodyKind::cloth;
    Index first_vertex = 0, vertex_count = 0; ///< in Frame::positions
    Index first_triangle = 0, triangle_count = 0;
    bool closed = false;                    ///< its surface encloses a volume
    Real gap = 0;                           ///< [m]
    Index plane = none;                     ///< index into Frame::planes
    Index first_block = 0, block_count = 0; ///< in StoredState::position
    Index first_tet = 0, tet_count = 0;
};

/// What does not change during a run.
struct RunMesh {
    std::vector<RunBody> bodies;
    std::vector<Triangle> triangles;              ///< of all bodies, vertex numbers of Frame::positions
    Vec3s rest;                                   ///< rest shapes [m], per vertex
    std::vector<std::uint8_t> prescribed;         ///< per vertex: pinned or scripted
    std::vector<std::array<Index, 2>> no_contact; ///< body pairs that do not feel each other
    std::vector<Tet> tets;                        ///< of all solids, block numbers
    SurfaceMap map;                               ///< vertex -> blocks and frames
    std::vector<Index> weld;                      ///< as Surface::weld
    Index block_count = 0, plane_count = 0;
};

RunMesh make_run_mesh(const Model& model);
void save_mesh(const RunMesh& mesh, const std::filesystem::path& path);
/// Throws Error when the file is missing or damaged: every number in it may be used as an index without asking.
RunMesh load_mesh(const std::filesystem::path& path);

} // namespace pliant
