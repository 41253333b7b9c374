#pragma once
// What a run directory stores of a state, for pictures, checks and exports: what drives the surface. With the map in
// RunMesh it gives the surface that the simulation had, to the bit, and a fine surface costs no more than the coarse
// lattice that carries it.

#include "pliant/methods/report.hpp"
#include "pliant/run/run_mesh.hpp"

namespace pliant {

/// What drives the surface, at one time.
struct StoredState {
    Real time = 0;             ///< [s]
    Vec3s position;            ///< per block, as in State [m]
    Carriers carriers;         ///< poses of rigid bodies and obstacles, and vertices that scripts move one by one
    std::vector<Plane> planes; ///< of the plane bodies, in the order of the bodies
};

/// One stored state with what is known of it. Always a computed one with its own time: nothing is interpolated.
struct StoredFrame {
    Index number = 0;      ///< in the run
    std::int64_t step = 0; ///< steps taken so far
    StoredState state;
    Vec3s velocity;                     ///< per block, as in State [m/s]
    Real dt = 0;                        ///< length of a step [s]
    Carriers earlier;                   ///< as carriers, but obstacles dt earlier
    std::vector<Real> stress;           ///< per block, see block_stress()
    std::vector<ContactPoint> contacts; ///< with a force, of the step that led here
    std::vector<StoredState> inner;     ///< ends of the step's sub-steps but the last, with `run --every-step`
};

StoredState store_state(const Model& model, InnerState state);
StoredFrame store_frame(const World& world, Index number, Real dt, const std::vector<ContactPoint>& contacts);

void save_frame(const StoredFrame& frame, const std::filesystem::path& path);
/// Throws Error when the file is missing, damaged, or not of the mesh's run.
StoredFrame load_frame(const RunMesh& mesh, const std::filesystem::path& path);

/// The surface in a stored frame.
struct Frame {
    Index number = 0;                   ///< in the run
    std::int64_t step = 0;              ///< steps taken so far
    Real time = 0;                      ///< [s]
    Vec3s positions;                    ///< of all surface vertices [m]
    Vec3s velocities;                   ///< of all surface vertices [m/s]
    std::vector<Real> stress;           ///< of all surface vertices, see surface_stress()
    std::vector<Plane> planes;          ///< of the plane bodies, in the order of the bodies
    std::vector<ContactPoint> contacts; ///< with a force, of the step that led here
};

Frame make_frame(const RunMesh& mesh, const StoredFrame& stored);
Frame make_frame(const World& world, Index number, Real dt, const std::vector<ContactPoint>& contacts);

/// A corner of the path that led to a stored state.
struct PathState {
    Real time = 0;             ///< [s]
    Vec3s positions;           ///< of all surface vertices [m]
    std::vector<Plane> planes; ///< as in Frame
};

PathState make_path_state(const RunMesh& mesh, const StoredState& stored);

} // namespace pliant
