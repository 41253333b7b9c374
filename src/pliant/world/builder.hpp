#pragma once
// Puts bodies into a world. Meshes are in their rest shape; `place` brings them to their start.

#include "pliant/bodies/cloth.hpp"
#include "pliant/bodies/solid.hpp"
#include "pliant/mesh/mesh.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

/// Particles that move by one script (cloth vertices, tetrahedron nodes).
struct PinGroup {
    std::vector<Index> particles;
    Motion motion;        ///< empty: held still
    Index follows = none; ///< number of an obstacle body that exists already: they go along with it
};

struct BodyOptions {
    std::string name;
    Pose place;                   ///< rest shape -> start
    Vec3s start;                  ///< of cloth: its vertices at the start, before `place`; empty: the rest shape [m]
    Vec3 velocity = Vec3::Zero(); ///< at the start [m/s]
    Vec3 angular_velocity = Vec3::Zero(); ///< at the start, about the centre of mass [rad/s]
    std::vector<Index> pinned;            ///< particles held or scripted (cloth vertices, tetrahedron nodes)
    Motion motion;                        ///< of `pinned`, or of the obstacle
    std::shared_ptr<const VertexMotion>
        vertex_motion;                  ///< of an obstacle, in the world's coordinates: replaces `motion`
    std::vector<PinGroup> pin_groups;   ///< more pins with scripts of their own; a particle keeps its first one
    std::vector<Real> stiffness_factor; ///< of cloth, per vertex: springs there are so much stiffer; empty: 1
    std::vector<std::pair<Edge, Real>> shortened; ///< of cloth: springs whose rest length is times this
    Real texture_scale = 0;                       ///< of cloth: above 0, its rest shape is its texture times this [m]
    std::optional<Real> gap; ///< [m]; default: see gap_per_edge; an obstacle takes the other body's
};

/// Vertex numbering of a rectangular cloth: nx fastest. Lets the springs follow the grid [Provot 1995].
struct GridShape {
    Index nx = 0, nz = 0;
};

class WorldBuilder {
public:
    /// Default gap: the smaller of these fractions of a body's median edge length and of its rest shape's diagonal.
    static constexpr Real gap_per_edge = 0.1, gap_per_size = 0.005;

    Index add_cloth(const TriangleMesh& mesh, const ClothMaterial& material, const BodyOptions& options,
                    std::optional<GridShape> grid = {});
    Index add_solid(const TetMesh& mesh, const SolidMaterial& material, const BodyOptions& options);
    Index add_solid(const EmbeddedMesh& mesh, const SolidMaterial& material, const BodyOptions& options);
    /// Springs are elements of the model; shape matching needs a method that knows it.
    Index add_lattice(std::shared_ptr<const LatticeMesh> mesh, const LatticeMaterial& material,
                      const BodyOptions& options);
    Index add_rigid(const TriangleMesh& mesh, const RigidMaterial& material, const BodyOptions& options);
    Index add_obstacle(const TriangleMesh& mesh, const BodyOptions& options);
    Index add_plane(const Plane& plane, const BodyOptions& options);
    /// Pairs of particles of a cloth, by their numbers in its mesh, that are pulled together and then sewn.
    /// A thread pulls at each pair with the given force [N], and shortens by its own length in `pull` [s].
    void add_seam(const std::string& name, Index body, const std::vector<Edge>& pairs, Real force, Real pull);
    /// More elastic energy between blocks that exist already, of one body or of several.
    void add_batch(std::shared_ptr<const ElementBatch> batch);

    /// Of a body that was added: its particles are the blocks from here on, in the order of its mesh; the centre of a
    /// rigid body is this one.
    Index first_block(Index body) const { return world_.model.bodies[body].first_block; }
    bool is_obstacle(Index body) const { return world_.model.bodies[body].obstacle != none; }

    void set_gravity(const Vec3& gravity) { world_.model.gravity = gravity; }
    void set_friction(FrictionTable friction) { world_.model.friction = std::move(friction); }
    void exclude_contact(Index a, Index b);

    /// The finished world at time 0.
    World build();

private:
    Body& begin_body(BodyKind kind, const BodyOptions& options);
    void add_surface(Body& body, const Vec3s& rest, const std::vector<Triangle>& triangles,
                     const std::optional<Real>& gap);
    void add_particles(Body& body, const Vec3s& rest, const BodyOptions& options, const std::vector<Real>& mass,
                       Real drag);
    void add_solid_particles(Body& body, const TetMesh& mesh, const SolidMaterial& material,
                             const BodyOptions& options);
    void set_script(const PinGroup& group, std::span<Pin> pins);
    void pin(Body& body, const BodyOptions& options);

    World world_;
};

} // namespace pliant
