#include "pliant/world/builder.hpp"

#include "pliant/bodies/lattice.hpp"
#include "pliant/bodies/seam_pull.hpp"
#include "pliant/bodies/sewing_aid.hpp"
#include "pliant/bodies/solid_models.hpp"
#include "pliant/core/contracts.hpp"
#include "pliant/core/error.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/world/sewing.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace pliant {

Body& WorldBuilder::begin_body(BodyKind kind, const BodyOptions& options)
{
    Model& model = world_.model;
    Body body;
    body.name = options.name;
    body.kind = kind;
    body.first_block = model.block_count();
    body.first_vertex = model.surface.vertex_count();
    body.first_edge = count(model.surface.edges);
    body.first_triangle = count(model.surface.triangles);
    body.first_tet = count(model.tets);
    model.bodies.push_back(body);
    return model.bodies.back();
}

void WorldBuilder::add_particles(Body& body, const Vec3s& rest, const BodyOptions& options,
                                 const std::vector<Real>& mass, Real drag)
{
    State& state = world_.state;
    Model& model = world_.model;
    const Index id = count(world_.model.bodies) - 1;
    const Vec3s& start = options.start.empty() ? rest : options.start;
    assert(start.size() == rest.size());
    body.block_count = count(rest);
    Real total = 0;
    Vec3 center = Vec3::Zero();
    for (std::size_t i = 0; i < rest.size(); ++i) {
        total += mass[i];
        center += mass[i] * options.place(start[i]);
    }
    center /= total;
    for (const Vec3& X : start) {
        const Vec3 x = options.place(X);
        state.position.push_back(x);
        state.velocity.push_back(options.velocity + options.angular_velocity.cross(x - center));
        model.block_body.push_back(id);
        model.pin_of_block.push_back(none);
        model.rotor_of_block.push_back(none);
    }
    model.mass.insert(model.mass.end(), mass.begin(), mass.end());
    model.drag.insert(model.drag.end(), mass.size(), drag);
    model.rest.insert(model.rest.end(), rest.begin(), rest.end());
    pin(body, options);
}

/// Pins of one group have one script: held still, moved, or along with an obstacle.
void WorldBuilder::set_script(const PinGroup& group, std::span<Pin> pins)
{
    Model& model = world_.model;
    Motion motion = group.motion;
    if (group.follows != none) {
        const Body& leader = model.bodies[group.follows];
        const Obstacle& obstacle = model.obstacles[leader.obstacle];
        if (obstacle.vertices) {
            std::vector<Triangle> triangles;
            for (Index t = leader.first_triangle; t < leader.first_triangle + leader.triangle_count; ++t) {
                triangles.push_back(model.surface.triangles[t]);
                for (Index& v : triangles.back()) v -= leader.first_vertex;
            }
            Vec3s points;
            for (const Pin& pin : pins) points.push_back(pin.start);
            model.followed.push_back(obstacle.vertices->follow(triangles, points));
            for (Index i = 0; i < count(pins); ++i) pins[i].follows = count(model.followed) - 1, pins[i].follower = i;
            return;
        }
        motion = obstacle.motion;
    }
    if (motion.empty()) return;
    model.motions.push_back(motion);
    for (Pin& pin : pins) pin.motion = count(model.motions) - 1;
}

void WorldBuilder::pin(Body& body, const BodyOptions& options)
{
    Model& model = world_.model;
    std::vector<Pin> pins;
    const auto add_group = [&](const PinGroup& group) {
        if (group.particles.empty()) return;
        const std::size_t first = pins.size();
        for (Index p : group.particles) {
            if (p < 0 || p >= body.block_count)
                throw Error("body '" + body.name + "': pinned vertex " + std::to_string(p) +
                            " does not exist; it has " + std::to_string(body.block_count));
            const Index block = body.first_block + p;
            pins.push_back({block, world_.state.position[block]});
        }
        set_script(group, std::span(pins).subspan(first));
    };
    add_group({options.pinned, options.motion});
    for (const PinGroup& group : options.pin_groups) add_group(group);
    std::stable_sort(pins.begin(), pins.end(), [](const Pin& a, const Pin& b) { return a.block < b.block; });
    for (const Pin& p : pins) {
        if (model.is_prescribed(p.block)) continue;
        model.pin_of_block[p.block] = count(model.pins);
        model.pins.push_back(p);
        world_.state.velocity[p.block].setZero();
    }
}

void WorldBuilder::add_surface(Body& body, const Vec3s& rest, const std::vector<Triangle>& triangles,
                               const std::optional<Real>& gap)
{
    Surface& s = world_.model.surface;
    const Index id = count(world_.model.bodies) - 1;
    const std::vector<Edge> edges = edges_of(triangles);
    const auto edge_number = [&](Index a, Index b) {
        const Edge key = a < b ? Edge{a, b} : Edge{b, a};
        return body.first_edge + Index(std::lower_bound(edges.begin(), edges.end(), key) - edges.begin());
    };
    for (const Triangle& t : triangles) {
        s.triangles.push_back({t[0] + body.first_vertex, t[1] + body.first_vertex, t[2] + body.first_vertex});
        s.triangle_edges.push_back({edge_number(t[0], t[1]), edge_number(t[1], t[2]), edge_number(t[2], t[0])});
    }
    for (const Edge& e : edges) s.edges.push_back({e[0] + body.first_vertex, e[1] + body.first_vertex});
    s.rest.insert(s.rest.end(), rest.begin(), rest.end());
    body.vertex_count = count(rest);
    body.edge_count = count(edges);
    body.triangle_count = count(triangles);
    body.closed = !triangles.empty() && is_closed(triangles);
    body.edge_length = median_edge_length(rest, edges);
    body.default_gap = !gap;
    if (gap) {
        body.gap = *gap;
    } else if (body.obstacle == none) {
        Eigen::AlignedBox<Real, 3> box;
        for (const Vec3& x : rest) box.extend(x);
        body.gap = std::min(gap_per_edge * body.edge_length, gap_per_size * box.diagonal().norm());
    }
    s.vertex_body.insert(s.vertex_body.end(), rest.size(), id);
    s.edge_body.insert(s.edge_body.end(), edges.size(), id);
    s.triangle_body.insert(s.triangle_body.end(), triangles.size(), id);
    s.vertex_gap.insert(s.vertex_gap.end(), rest.size(), body.gap / 2);
    if (s.map_begin.empty()) s.map_begin.push_back(0);
}

namespace {

/// The next vertex is carried by blocks with these weights, and by a frame if there is one.
void carry(Model& model, std::span<const Index> blocks, std::span<const Real> weights, Index frame = none,
           const Vec3& local = Vec3::Zero())
{
    Surface& s = model.surface;
    s.map_block.insert(s.map_block.end(), blocks.begin(), blocks.end());
    s.map_weight.insert(s.map_weight.end(), weights.begin(), weights.end());
    s.map_begin.push_back(count(s.map_block));
    s.frame.push_back(frame);
    s.local.push_back(local);
    s.prescribed.push_back(
        std::all_of(blocks.begin(), blocks.end(), [&](Index block) { return model.is_prescribed(block); }));
}

void carry_by_block(Model& model, Index block)
{
    const Real weight = 1;
    carry(model, {&block, 1}, {&weight, 1});
}

} // namespace

namespace {

/// Hems and bands.
void trim(const BodyOptions& options, Cloth& cloth)
{
    if (!options.stiffness_factor.empty())
        for (Spring& s : cloth.springs)
            s.stiffness *= std::max(options.stiffness_factor[s.a], options.stiffness_factor[s.b]);
    for (const auto& [edge, factor] : options.shortened)
        for (Spring& s : cloth.springs)
            if (s.kind == SpringKind::structural && std::minmax(s.a, s.b) == std::minmax(edge[0], edge[1]))
                s.rest_length *= factor;
}

} // namespace

Index WorldBuilder::add_cloth(const TriangleMesh& mesh, const ClothMaterial& material, const BodyOptions& options,
                              std::optional<GridShape> grid)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::cloth, options);
    body.sheet = true;
    Cloth cloth = options.texture_scale > 0 ? make_textured_cloth(mesh, options.texture_scale, material)
                  : grid                    ? make_grid_cloth(mesh, grid->nx, grid->nz, material)
                                            : make_cloth(mesh, material);
    add_particles(body, mesh.vertices, options, cloth.mass, material.drag);
    body.first_limit = count(model.length_limits);
    if (std::isfinite(material.max_strain))
        for (const Spring& s : cloth.springs) {
            const Index a = body.first_block + s.a, b = body.first_block + s.b;
            const bool scripted = model.is_prescribed(a) && model.is_prescribed(b); // nothing could keep a limit there
            if (s.kind != SpringKind::flexion && !scripted)
                model.length_limits.push_back({a, b, s.rest_length, 1 + material.max_strain});
        }
    trim(options, cloth); // a band is shorter than the cloth that it gathers, whose limits stay
    for (Spring& s : cloth.springs) s.a += body.first_block, s.b += body.first_block;
    body.limit_count = count(model.length_limits) - body.first_limit;
    model.batches.push_back(std::make_shared<SpringBatch>(std::move(cloth.springs), material.damping));
    add_surface(body, mesh.vertices, mesh.triangles, options.gap);
    for (Index i = 0; i < body.block_count; ++i) carry_by_block(model, body.first_block + i);
    return count(model.bodies) - 1;
}

void WorldBuilder::add_solid_particles(Body& body, const TetMesh& mesh, const SolidMaterial& material,
                                       const BodyOptions& options)
{
    body.stiff = true;
    const Solid solid = make_solid(mesh, material);
    add_particles(body, mesh.vertices, options, solid.mass, material.drag);
    body.tet_count = count(mesh.tets);
    for (const Tet& t : mesh.tets) {
        world_.model.tets.push_back(t);
        for (Index& node : world_.model.tets.back()) node += body.first_block;
    }
    for (auto& batch : solid_model(material.model).make(solid, body.first_block))
        world_.model.batches.push_back(std::move(batch));
}

Index WorldBuilder::add_solid(const TetMesh& mesh, const SolidMaterial& material, const BodyOptions& options)
{
    // The boundary as a surface embedded in its own nodes: one block a vertex.
    const std::vector<Triangle> boundary = boundary_of(mesh.tets);
    std::vector<Index> number(mesh.vertices.size(), none);
    std::vector<Index> node; // surface vertex -> node, in node order so that neighbours stay neighbours
    for (const Triangle& t : boundary)
        for (Index v : t) number[v] = 0;
    for (Index v = 0; v < count(number); ++v)
        if (number[v] == 0) {
            number[v] = count(node);
            node.push_back(v);
        }
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::solid, options);
    add_solid_particles(body, mesh, material, options);
    Vec3s rest;
    for (Index v : node) rest.push_back(mesh.vertices[v]);
    std::vector<Triangle> triangles;
    for (const Triangle& t : boundary) triangles.push_back({number[t[0]], number[t[1]], number[t[2]]});
    add_surface(body, rest, triangles, options.gap);
    for (Index v : node) carry_by_block(model, body.first_block + v);
    return count(model.bodies) - 1;
}

Index WorldBuilder::add_solid(const EmbeddedMesh& mesh, const SolidMaterial& material, const BodyOptions& options)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::solid, options);
    // The lattice is larger than the surface it carries; its density is lowered so that the mass is the surface's.
    SolidMaterial lattice_material = material;
    lattice_material.density = material.density / (1 + mesh.volume_error);
    add_solid_particles(body, mesh.tets, lattice_material, options);
    add_surface(body, mesh.surface.vertices, mesh.surface.triangles, options.gap);
    for (Index i = 0; i < body.vertex_count; ++i) {
        std::vector<Index> blocks;
        std::vector<Real> weights;
        for (int k = 0; k < 4; ++k) {
            if (mesh.weights[i][k] == 0) continue;
            blocks.push_back(body.first_block + mesh.tets.tets[mesh.tet[i]][k]);
            weights.push_back(mesh.weights[i][k]);
        }
        carry(model, blocks, weights);
    }
    return count(model.bodies) - 1;
}

Index WorldBuilder::add_lattice(std::shared_ptr<const LatticeMesh> mesh, const LatticeMaterial& material,
                                const BodyOptions& options)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::lattice, options);
    body.stiff = true;
    body.lattice = count(model.lattices);
    add_particles(body, mesh->nodes, options, lattice_mass(*mesh, material), material.drag);
    if (material.model == LatticeModel::springs)
        model.batches.push_back(
            std::make_shared<SpringBatch>(lattice_springs(*mesh, material.young, body.first_block), material.damping));
    add_surface(body, mesh->surface.vertices, mesh->surface.triangles, options.gap);
    for (Index v = 0; v < body.vertex_count; ++v) {
        std::array<Index, 8> blocks = mesh->corners[mesh->cell[v]];
        for (Index& node : blocks) node += body.first_block;
        carry(model, blocks, trilinear_weights(mesh->local[v]));
    }
    model.lattices.push_back({count(model.bodies) - 1, body.first_block, std::move(mesh), material});
    return count(model.bodies) - 1;
}

Index WorldBuilder::add_rigid(const TriangleMesh& mesh, const RigidMaterial& material, const BodyOptions& options)
{
    if (!is_closed(mesh.triangles))
        throw Error("body '" + options.name + "': a rigid body needs a closed mesh, because its mass is its volume");
    Model& model = world_.model;
    State& state = world_.state;
    Body& body = begin_body(BodyKind::rigid, options);
    const Index id = count(model.bodies) - 1;
    body.rotor = count(model.rotors);
    body.block_count = 2;
    const Rigid rigid = make_rigid(mesh, material);
    if (!(rigid.mass > 0))
        throw Error("body '" + options.name + "': its mesh encloses no positive volume; is it turned inside out?");
    model.rotors.push_back({body.first_block, rigid});
    model.frames.push_back({.rotor = body.rotor});
    model.surface.frame_spin.push_back(model.rotors.back().angular_block());
    model.mass.insert(model.mass.end(), {rigid.mass, 0});
    model.drag.insert(model.drag.end(), 2, 0);
    model.rest.insert(model.rest.end(), {rigid.rest_center, Vec3::Zero()});
    model.rotor_of_block.insert(model.rotor_of_block.end(), 2, body.rotor);
    state.position.push_back(options.place(rigid.rest_center));
    state.position.emplace_back(Vec3::Zero());
    state.velocity.push_back(options.velocity);
    state.velocity.push_back(options.angular_velocity);
    state.orientation.push_back(options.place.rotation.normalized());
    model.block_body.insert(model.block_body.end(), 2, id);
    model.pin_of_block.insert(model.pin_of_block.end(), 2, none);
    add_surface(body, mesh.vertices, mesh.triangles, options.gap);
    const Real weight = 1;
    for (const Vec3& x : mesh.vertices)
        carry(model, {&body.first_block, 1}, {&weight, 1}, count(model.frames) - 1, x - rigid.rest_center);
    return id;
}

Index WorldBuilder::add_obstacle(const TriangleMesh& mesh, const BodyOptions& options)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::obstacle, options);
    body.obstacle = count(model.obstacles);
    if (options.vertex_motion) {
        assert(options.vertex_motion->vertex_count() == count(mesh.vertices));
        model.obstacles.push_back({.motion = {}, .vertices = options.vertex_motion});
        add_surface(body, mesh.vertices, mesh.triangles, options.gap);
        for (Index i = 0; i < body.vertex_count; ++i) {
            carry(model, {}, {});
            model.surface.moved.push_back(body.first_vertex + i);
        }
        return count(model.bodies) - 1;
    }
    model.obstacles.push_back({.motion = options.motion});
    model.frames.push_back({.obstacle = body.obstacle});
    model.surface.frame_spin.push_back(none);
    add_surface(body, mesh.vertices, mesh.triangles, options.gap);
    for (const Vec3& x : mesh.vertices) carry(model, {}, {}, count(model.frames) - 1, options.place(x));
    return count(model.bodies) - 1;
}

Index WorldBuilder::add_plane(const Plane& plane, const BodyOptions& options)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::plane, options);
    body.obstacle = count(model.obstacles);
    body.plane = true;
    body.gap = options.gap.value_or(0);
    body.default_gap = !options.gap;
    Plane placed;
    placed.normal = (options.place.rotation * plane.normal).normalized();
    placed.offset = placed.normal.dot(options.place(plane.normal * plane.offset));
    model.obstacles.push_back({options.motion, placed});
    return count(model.bodies) - 1;
}

void WorldBuilder::add_seam(const std::string& name, Index body, const std::vector<Edge>& pairs, Real force, Real pull)
{
    Model& model = world_.model;
    const Body& b = model.bodies[body];
    assert(b.sheet && all_below(pairs, b.block_count));
    Surface& s = model.surface;
    for (Index v = count(s.weld); v < s.vertex_count(); ++v) s.weld.push_back(v);
    Seam seam{name, body, {}};
    for (const auto& [v, w] : pairs) {
        if (v == w) continue;
        seam.pairs.push_back({b.first_block + std::min(v, w), b.first_block + std::max(v, w)});
        const auto [from, to] = std::minmax(s.weld[b.first_vertex + v], s.weld[b.first_vertex + w]);
        for (Index i = b.first_vertex; i < b.first_vertex + b.vertex_count; ++i)
            if (s.weld[i] == to) s.weld[i] = from;
    }
    std::vector<Thread> threads;
    for (const auto& [a, c] : seam.pairs) threads.push_back({a, c, force});
    if (threads.empty()) return;
    model.batches.push_back(std::make_shared<SeamPull>(std::move(threads), b.gap / 10, pull));
    model.seams.push_back(std::move(seam));
}

void WorldBuilder::add_batch(std::shared_ptr<const ElementBatch> batch)
{
    for (Index e = 0; e < batch->element_count(); ++e)
        for (const Index block : batch->blocks(e))
            if (block < 0 || block >= world_.model.block_count())
                throw Error("an element refers to block " + std::to_string(block) + ", but there are " +
                            std::to_string(world_.model.block_count()));
    world_.model.batches.push_back(std::move(batch));
}

void WorldBuilder::exclude_contact(Index a, Index b)
{
    world_.model.no_contact.push_back({std::min(a, b), std::max(a, b)});
}

namespace {

[[maybe_unused]] bool is_valid(const Model& model)
{
    const Surface& s = model.surface;
    const Index n = s.vertex_count();
    return count(s.frame) == n && count(s.local) == n && count(s.prescribed) == n && count(s.map_begin) == n + 1 &&
           s.map_begin.back() == count(s.map_block) && s.map_weight.size() == s.map_block.size() &&
           s.frame_spin.size() == model.frames.size() &&
           all_below(std::array{std::span(s.map_block)}, model.block_count()) &&
           all_below(model.tets, model.block_count()) &&
           std::all_of(s.map_weight.begin(), s.map_weight.end(), [](Real w) { return std::isfinite(w); }) &&
           all_finite(s.rest) && all_finite(s.local) && strictly_sorted(model.pins, &Pin::block);
}

} // namespace

namespace {

/// One aid for all seams of a body. In its honey threads of the force F that pull at the mass m each close an opening
/// at the rate F / (m drag): the mean opening in the time `pull`.
void aid_sewing(World& world)
{
    struct Sewing {
        std::vector<Edge> pairs;
        Real opening = 0, force_times_pull = 0; ///< sums over the pairs
    };
    std::map<Index, Sewing> bodies;
    Model& model = world.model;
    const auto is_pull = [](const auto& batch) { return dynamic_cast<const SeamPull*>(batch.get()) != nullptr; };
    for (const auto& batch : model.batches) {
        if (!is_pull(batch)) continue;
        for (const Thread& t : dynamic_cast<const SeamPull&>(*batch).threads()) {
            Sewing& sewing = bodies[model.block_body[t.a]];
            sewing.pairs.push_back({t.a, t.b});
            sewing.opening += (world.state.position[t.a] - world.state.position[t.b]).norm();
            sewing.force_times_pull += t.force * batch->damping();
        }
    }
    for (auto& [number, sewing] : bodies) {
        const Body& body = model.bodies[number];
        std::vector<SewingAid::Load> loads;
        Real mass = 0;
        for (Index i = body.first_block; i < body.first_block + body.block_count; ++i) {
            loads.push_back({i, model.mass[i]});
            mass += model.mass[i];
        }
        const Real mean = std::max(sewing.opening / static_cast<Real>(sewing.pairs.size()), body.gap);
        model.batches.insert(std::ranges::find_if(model.batches, is_pull),
                             std::make_shared<SewingAid>(std::move(loads), std::move(sewing.pairs), model.gravity,
                                                         sewing.force_times_pull / (mass * mean)));
    }
}

} // namespace

World WorldBuilder::build()
{
    if (world_.model.surface.map_begin.empty()) world_.model.surface.map_begin.push_back(0);
    std::sort(world_.model.no_contact.begin(), world_.model.no_contact.end());
    if (std::vector<Index>& weld = world_.model.surface.weld; !weld.empty())
        for (Index v = count(weld); v < world_.model.surface.vertex_count(); ++v) weld.push_back(v);
    assert(is_valid(world_.model) && fits(world_.model, world_.state));
    World world = world_;
    aid_sewing(world);
    let_garments_slip(world.model, world.state.sewn);
    return world;
}

} // namespace pliant
