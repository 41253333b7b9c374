#include "pliant/world/builder.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/error.hpp"
#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <cmath>

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
    model.bodies.push_back(body);
    return model.bodies.back();
}

void WorldBuilder::add_particles(Body& body, const Vec3s& rest, const BodyOptions& options,
                                 const std::vector<Real>& mass)
{
    State& state = world_.state;
    const Index id = count(world_.model.bodies) - 1;
    body.block_count = count(rest);
    Real total = 0;
    Vec3 center = Vec3::Zero();
    for (std::size_t i = 0; i < rest.size(); ++i) {
        total += mass[i];
        center += mass[i] * options.place(rest[i]);
    }
    center /= total;
    for (const Vec3& X : rest) {
        const Vec3 x = options.place(X);
        state.position.push_back(x);
        state.velocity.push_back(options.velocity + options.angular_velocity.cross(x - center));
        world_.model.block_body.push_back(id);
        world_.model.pin_of_block.push_back(none);
    }
    pin(body, options);
}

void WorldBuilder::pin(Body& body, const BodyOptions& options)
{
    Model& model = world_.model;
    std::vector<Pin> pins;
    const auto add_group = [&](const std::vector<Index>& particles, const Motion& motion) {
        if (particles.empty()) return;
        if (!motion.empty()) model.motions.push_back(motion);
        const Index script = motion.empty() ? none : count(model.motions) - 1;
        for (Index p : particles) {
            if (p < 0 || p >= body.block_count)
                throw Error("body '" + body.name + "': pinned vertex " + std::to_string(p) +
                            " does not exist; it has " + std::to_string(body.block_count));
            const Index block = body.first_block + p;
            pins.push_back({block, world_.state.position[block], script});
        }
    };
    add_group(options.pinned, options.motion);
    for (const PinGroup& group : options.pin_groups) add_group(group.particles, group.motion);
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
    if (gap) {
        body.gap = *gap;
    } else if (body.kind != BodyKind::obstacle) {
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

void carry_by_frame(Surface& s, Carrier carrier, Index frame, const Vec3s& local)
{
    for (const Vec3& x : local) {
        s.carrier.push_back(carrier);
        s.frame.push_back(frame);
        s.local.push_back(x);
        s.map_begin.push_back(s.map_begin.back());
        s.prescribed.push_back(carrier == Carrier::obstacle);
    }
}

/// The next vertex sits on one block.
void carry_by_block(Model& model, Index block)
{
    Surface& s = model.surface;
    s.carrier.push_back(Carrier::blocks);
    s.frame.push_back(none);
    s.local.emplace_back(Vec3::Zero());
    s.map_block.push_back(block);
    s.map_weight.push_back(1);
    s.map_begin.push_back(count(s.map_block));
    s.prescribed.push_back(model.is_prescribed(block));
}

} // namespace

Index WorldBuilder::add_cloth(const TriangleMesh& mesh, const ClothMaterial& material, const BodyOptions& options,
                              std::optional<GridShape> grid)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::cloth, options);
    body.model = count(model.cloths);
    model.cloths.push_back(grid ? make_grid_cloth(mesh, grid->nx, grid->nz, material) : make_cloth(mesh, material));
    add_particles(body, mesh.vertices, options, model.cloths.back().mass);
    add_surface(body, mesh.vertices, mesh.triangles, options.gap);
    for (Index i = 0; i < body.block_count; ++i) carry_by_block(model, body.first_block + i);
    return count(model.bodies) - 1;
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
    body.model = count(model.solids);
    model.solids.push_back(make_solid(mesh, material));
    add_particles(body, mesh.vertices, options, model.solids.back().mass);
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
    body.model = count(model.solids);
    // The lattice is larger than the surface it carries; its density is lowered so that the mass is the surface's.
    SolidMaterial lattice_material = material;
    lattice_material.density = material.density / (1 + mesh.volume_error);
    model.solids.push_back(make_solid(mesh.tets, lattice_material));
    add_particles(body, mesh.tets.vertices, options, model.solids.back().mass);
    add_surface(body, mesh.surface.vertices, mesh.surface.triangles, options.gap);
    Surface& s = model.surface;
    for (Index i = 0; i < body.vertex_count; ++i) {
        s.carrier.push_back(Carrier::blocks);
        s.frame.push_back(none);
        s.local.emplace_back(Vec3::Zero());
        bool all_pinned = true;
        for (int k = 0; k < 4; ++k) {
            if (mesh.weights[i][k] == 0) continue;
            const Index block = body.first_block + mesh.tets.tets[mesh.tet[i]][k];
            s.map_block.push_back(block);
            s.map_weight.push_back(mesh.weights[i][k]);
            all_pinned = all_pinned && model.is_prescribed(block);
        }
        s.map_begin.push_back(count(s.map_block));
        s.prescribed.push_back(all_pinned);
    }
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
    body.model = count(model.rigids);
    body.block_count = 2;
    const Rigid rigid = make_rigid(mesh, material);
    if (!(rigid.mass > 0))
        throw Error("body '" + options.name + "': its mesh encloses no positive volume; is it turned inside out?");
    model.rigids.push_back(rigid);
    model.surface.rigid_block.push_back(body.first_block);
    state.position.push_back(options.place(rigid.rest_center));
    state.position.emplace_back(Vec3::Zero());
    state.velocity.push_back(options.velocity);
    state.velocity.push_back(options.angular_velocity);
    state.orientation.push_back(options.place.rotation.normalized());
    model.block_body.insert(model.block_body.end(), 2, id);
    model.pin_of_block.insert(model.pin_of_block.end(), 2, none);
    add_surface(body, mesh.vertices, mesh.triangles, options.gap);
    Vec3s local = mesh.vertices;
    for (Vec3& x : local) x -= rigid.rest_center;
    carry_by_frame(model.surface, Carrier::rigid, body.model, local);
    return id;
}

Index WorldBuilder::add_obstacle(const TriangleMesh& mesh, const BodyOptions& options)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::obstacle, options);
    body.model = count(model.obstacles);
    model.obstacles.push_back({options.motion, {}});
    add_surface(body, mesh.vertices, mesh.triangles, options.gap);
    Vec3s start;
    for (const Vec3& x : mesh.vertices) start.push_back(options.place(x));
    carry_by_frame(model.surface, Carrier::obstacle, body.model, start);
    return count(model.bodies) - 1;
}

Index WorldBuilder::add_plane(const Plane& plane, const BodyOptions& options)
{
    Model& model = world_.model;
    Body& body = begin_body(BodyKind::plane, options);
    body.model = count(model.obstacles);
    body.gap = options.gap.value_or(0);
    Plane placed;
    placed.normal = (options.place.rotation * plane.normal).normalized();
    placed.offset = placed.normal.dot(options.place(plane.normal * plane.offset));
    model.obstacles.push_back({options.motion, placed});
    return count(model.bodies) - 1;
}

void WorldBuilder::exclude_contact(Index a, Index b)
{
    world_.model.no_contact.push_back({std::min(a, b), std::max(a, b)});
}

namespace {

[[maybe_unused]] bool is_valid(const Surface& s, Index blocks)
{
    const Index n = s.vertex_count();
    return count(s.carrier) == n && count(s.frame) == n && count(s.local) == n && count(s.prescribed) == n &&
           count(s.map_begin) == n + 1 && s.map_begin.back() == count(s.map_block) &&
           s.map_weight.size() == s.map_block.size() && all_below(std::array{std::span(s.map_block)}, blocks) &&
           std::all_of(s.map_weight.begin(), s.map_weight.end(), [](Real w) { return std::isfinite(w); }) &&
           all_finite(s.rest) && all_finite(s.local);
}

} // namespace

World WorldBuilder::build()
{
    if (world_.model.surface.map_begin.empty()) world_.model.surface.map_begin.push_back(0);
    std::sort(world_.model.no_contact.begin(), world_.model.no_contact.end());
    assert(is_valid(world_.model.surface, world_.model.block_count()) && fits(world_.model, world_.state));
    assert(strictly_sorted(world_.model.pins, &Pin::block));
    return world_;
}

} // namespace pliant
