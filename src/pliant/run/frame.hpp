#pragma once
// What a run directory stores of a state, for pictures, checks and exports.

#include "pliant/methods/report.hpp"
#include "pliant/world/world.hpp"

#include <filesystem>

namespace pliant {

/// A corner of the path that led to a stored state.
struct PathState {
    Real time = 0;             ///< [s]
    Vec3s positions;           ///< of all surface vertices [m]
    std::vector<Plane> planes; ///< as in Frame
};

/// One stored state. Always a computed one with its own time: nothing is interpolated.
struct Frame {
    Index number = 0;                   ///< in the run
    std::int64_t step = 0;              ///< steps taken so far
    Real time = 0;                      ///< [s]
    Vec3s positions;                    ///< of all surface vertices [m]
    Vec3s velocities;                   ///< of all surface vertices [m/s]
    std::vector<Real> stress;           ///< of all surface vertices, see surface_stress(); empty in older files
    std::vector<Plane> planes;          ///< of the plane bodies, in the order of the bodies
    std::vector<ContactPoint> contacts; ///< with a force, of the step that led here
    std::vector<PathState> inner;       ///< ends of the step's sub-steps but the last, with `run --every-step`
};

Frame make_frame(const World& world, Index number, Real dt, const std::vector<ContactPoint>& contacts);
std::vector<PathState> make_inner_states(const Model& model, std::vector<InnerState> inner);

void save_frame(const Frame& frame, const std::filesystem::path& path);
/// Throws Error when the file is missing or damaged.
Frame load_frame(const std::filesystem::path& path);

/// A body as pictures, checks and exports see it.
struct RunBody {
    std::string name;
    BodyKind kind = BodyKind::cloth;
    Index first_vertex = 0, vertex_count = 0; ///< in Frame::positions
    Index first_triangle = 0, triangle_count = 0;
    bool closed = false; ///< its surface encloses a volume
    Real gap = 0;        ///< [m]
    Index plane = none;  ///< index into Frame::planes
};

/// What does not change during a run.
struct RunMesh {
    std::vector<RunBody> bodies;
    std::vector<Triangle> triangles;              ///< of all bodies, vertex numbers of Frame::positions
    Vec3s rest;                                   ///< rest shapes [m], per vertex
    std::vector<std::uint8_t> prescribed;         ///< per vertex: pinned or scripted
    std::vector<std::array<Index, 2>> no_contact; ///< body pairs that do not feel each other
};

RunMesh make_run_mesh(const Model& model);
void save_mesh(const RunMesh& mesh, const std::filesystem::path& path);
RunMesh load_mesh(const std::filesystem::path& path);

} // namespace pliant
