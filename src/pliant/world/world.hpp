#pragma once
// What is simulated: an immutable model (bodies, one surface, maps) and the state that evolves.

#include "pliant/bodies/batch.hpp"
#include "pliant/bodies/materials.hpp"
#include "pliant/bodies/rigid.hpp"
#include "pliant/core/record.hpp"
#include "pliant/mesh/lattice.hpp"
#include "pliant/world/motion.hpp"
#include "pliant/world/pair_lengths.hpp"
#include "pliant/world/surface.hpp"
#include "pliant/world/vertex_motion.hpp"

#include <memory>
#include <optional>
#include <string>

namespace pliant {

/// What a body was made as: for names, colours and units. Physics asks the questions of Body and Model instead.
enum class BodyKind { cloth, solid, rigid, obstacle, plane, lattice }; // run directories store the numbers
const char* to_string(BodyKind kind);
/// Nothing but a script moves it.
inline bool is_scripted(BodyKind kind)
{
    return kind == BodyKind::obstacle || kind == BodyKind::plane;
}
/// It has a stress: its elements resist deformation.
inline bool is_deformable(BodyKind kind)
{
    return kind == BodyKind::cloth || kind == BodyKind::solid || kind == BodyKind::lattice;
}

/// Its stress is the tension of springs [N], not a force per area [Pa].
inline bool has_tension(BodyKind kind)
{
    return kind == BodyKind::cloth || kind == BodyKind::lattice;
}

/// One body's place in the world's arrays.
struct Body {
    std::string name;
    BodyKind kind = BodyKind::cloth;
    Index first_block = 0, block_count = 0;   ///< blocks in State::position and State::velocity
    Index first_vertex = 0, vertex_count = 0; ///< in the surface
    Index first_edge = 0, edge_count = 0;
    Index first_triangle = 0, triangle_count = 0;
    Index first_tet = 0, tet_count = 0;     ///< in Model::tets
    Index first_limit = 0, limit_count = 0; ///< in Model::length_limits
    Index rotor = none;                     ///< in Model::rotors, for a rigid body
    Index lattice = none;                   ///< in Model::lattices
    Index obstacle = none;                  ///< in Model::obstacles, for what a script moves
    bool plane = false;                     ///< a half-space without triangles; an obstacle
    bool closed = false;                    ///< its surface encloses a volume
    bool sheet = false;                     ///< its particles are its surface, and none is inside
    bool stiff = false;                     ///< answers a push first of all as a whole
    Real gap = 0;            ///< distance that contact keeps [m]; 0 for an obstacle that takes the other body's
    bool default_gap = true; ///< nobody asked for this gap: it gives way to a smaller clearance at the start
    Real edge_length = 0;    ///< median edge length of its surface in the rest shape [m]; 0 for a plane
};

/// A scripted obstacle: a mesh or a plane, moved as a whole or vertex by vertex.
struct Obstacle {
    Motion motion;
    Plane plane = {};                                       ///< at the start; only for bodies that are planes
    std::shared_ptr<const VertexMotion> vertices = nullptr; ///< instead of `motion`, for bodies without a frame

    bool is_still() const { return motion.empty() && !vertices; }
};

/// Two blocks that move as a rigid body: the centre of mass, and after it the angular velocity.
struct Rotor {
    Index block = 0; ///< the linear one
    Rigid rigid;
    Index angular_block() const { return block + 1; }
};

/// Cells that carry a surface. Their nodes are blocks from first_block on, in the order of the mesh's nodes.
struct Lattice {
    Index body = none;
    Index first_block = 0;
    std::shared_ptr<const LatticeMesh> mesh; ///< copies of a body share it
    LatticeMaterial material;                ///< springs are a batch of the model; shape matching is the method's

    bool is_matched() const { return material.model == LatticeModel::shape_matching; }
};

/// A frame that surface vertices are fixed in: a rotor's or an obstacle's.
struct CarrierFrame {
    Index rotor = none, obstacle = none;
};

/// Two particles that may not be farther apart than `ratio` times their rest length.
struct LengthLimit {
    Index a, b;       ///< blocks
    Real rest_length; ///< [m]
    Real ratio;
};

/// A block whose motion is prescribed: it leaves the linear system.
struct Pin {
    Index block = 0;
    Vec3 start = Vec3::Zero(); ///< position at time 0 [m]
    Index motion = none;       ///< index into Model::motions, none: held still
    Index follows = none;      ///< index into Model::followed, instead of `motion`
    Index follower = none;     ///< number of its point there
    Index tied_to = none;      ///< a block whose value it has, since they were sewn together
};

/// Particles of one body that a run brings together and then ties: one value for both from then on.
struct Seam {
    std::string name;
    Index body = none;
    std::vector<std::array<Index, 2>> pairs; ///< blocks; a block may be in several pairs and seams
};

/// Friction between bodies: a default and exceptions.
struct FrictionTable {
    Real value = 0.3;
    struct Exception {
        Index a, b; ///< body numbers, any order
        Real value;
    };
    std::vector<Exception> exceptions;
    Real between(Index a, Index b) const;
};

/// Everything that never changes during a run.
struct Model {
    std::vector<Body> bodies;
    std::vector<std::shared_ptr<const ElementBatch>> batches; ///< elastic energy, in the order of summation
    std::vector<Tet> tets;                                    ///< of all solids: blocks; those of one body contiguous
    std::vector<LengthLimit> length_limits;                   ///< limits of one body are contiguous
    std::vector<Rotor> rotors;                                ///< in the order of their blocks
    std::vector<Obstacle> obstacles;
    std::vector<Lattice> lattices;                             ///< in the order of the bodies
    std::vector<CarrierFrame> frames;                          ///< that Surface::frame names
    std::vector<Motion> motions;                               ///< of pins
    std::vector<std::shared_ptr<const VertexMotion>> followed; ///< of pins that go along with an obstacle
    std::vector<Pin> pins;                                     ///< sorted by block
    std::vector<Seam> seams;                                   ///< those that State::sewn names are tied already
    std::shared_ptr<const Model> unsewn = nullptr;             ///< as it was before anything was tied; null: nothing is
    // Per block.
    std::vector<Index> block_body;
    std::vector<Index> pin_of_block;   ///< index into pins or none
    std::vector<Index> rotor_of_block; ///< index into rotors (for both of its blocks) or none
    std::vector<Real> mass;            ///< [kg]; 0 for the angular block of a rotor
    std::vector<Real> drag;            ///< mass-proportional Rayleigh damping, alpha [1/s]
    Vec3s rest;                        ///< in the rest shape of its body [m]
    Surface surface;
    Vec3 gravity = {0, -9.81, 0}; ///< [m/s^2]
    FrictionTable friction;
    std::vector<std::array<Index, 2>> no_contact;  ///< body pairs that the scene excludes, smaller number first
    std::vector<PairLengths::Exception> pair_gaps; ///< pairs of bodies that keep less than their gaps, sorted

    Index block_count() const { return count(block_body); }
    bool is_prescribed(Index block) const { return pin_of_block[block] != none; }
    bool is_scripted(Index body) const { return bodies[body].obstacle != none; }
    /// The rotor that turns a surface vertex; null for all other carriers.
    const Rotor* rotor_of_vertex(Index v) const
    {
        const Index f = surface.frame[v];
        return f == none || frames[f].rotor == none ? nullptr : &rotors[frames[f].rotor];
    }
    /// Whether nothing but a script moves a surface vertex (pins are blocks, and not meant).
    bool is_scripted_vertex(Index v) const { return surface.map_begin[v] == surface.map_begin[v + 1]; }
};

/// Everything that evolves; a checkpoint stores exactly this.
struct State {
    Real time = 0; ///< [s]
    std::int64_t step = 0;
    Vec3s position; ///< [m], per block; a rigid body's first block is its centre of mass, its second is unused (0)
    Vec3s velocity; ///< [m/s], per block; a rigid body's second block is its angular velocity [rad/s]
    std::vector<Quat> orientation;  ///< per rotor, unit length
    std::vector<std::int64_t> sewn; ///< numbers of the seams that are tied, ascending
    Record memory;                  ///< what the method remembers from its last step, a struct of its own

    /// FNV-1a over what a user sees: time, step, positions, velocities, orientations.
    std::uint64_t visible_hash() const;
    /// The same with the memory.
    std::uint64_t hash() const;
};

struct World {
    Model model;
    State state;
};

/// Whether the state has the sizes that the model asks for.
bool fits(const Model& model, const State& state);

/// The distance that contact keeps between two bodies (or within one), times `part`: the smaller gap, so that a coarse
/// body does not push a fine one out of shape; a body without a gap of its own takes the other's [m].
PairLengths contact_gaps(const Model& model, Real part = 1);

/// Pose of an obstacle at a time.
inline Pose obstacle_pose(const Model& model, Index obstacle, Real time)
{
    return model.obstacles[obstacle].motion.pose(time);
}
/// An obstacle plane at a time.
Plane plane_at(const Model& model, Index obstacle, Real time);
/// Prescribed positions of the pinned blocks at a time, per pin [m].
Vec3s pin_positions(const Model& model, Real time);

/// Poses of all frames that carry surface vertices, from State::position and State::orientation; obstacles by their
/// script at the given time.
std::vector<Pose> frame_poses(const Model& model, Real time, const Vec3s& position,
                              const std::vector<Quat>& orientation);
/// The same with the vertices that scripts move one by one.
Carriers carriers_at(const Model& model, Real time, const Vec3s& position, const std::vector<Quat>& orientation);
inline Carriers carriers_at(const Model& model, const State& state)
{
    return carriers_at(model, state.time, state.position, state.orientation);
}
/// Positions of all surface vertices in a state [m]; obstacles by their script at state.time.
void surface_positions(const Model& model, const State& state, Vec3s& out);
/// Velocities of all surface vertices [m/s]; obstacles by a one-sided difference of their script over dt.
void surface_velocities(const Model& model, const State& state, Real dt, Vec3s& out);

/// Kinetic, elastic and gravitational energy [J] and momenta of the moving bodies.
struct Energy {
    Real kinetic = 0, elastic = 0, gravity = 0;
    Real total() const { return kinetic + elastic + gravity; }
};
Energy energy(const Model& model, const State& state);
Real moving_mass(const Model& model);                          ///< of all blocks, pinned ones included [kg]
Vec3 linear_momentum(const Model& model, const State& state);  ///< [kg m/s]
Vec3 angular_momentum(const Model& model, const State& state); ///< about the origin [kg m^2/s]

} // namespace pliant
