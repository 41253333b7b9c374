#include "pliant/methods/tet_contact.hpp"

#include "pliant/geometry/tetrahedron.hpp"

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

constexpr Real infinite_mass = std::numeric_limits<Real>::infinity();

/// Vertices of mesh obstacles, in the order of the bodies.
std::vector<Index> obstacle_vertices(const Model& model)
{
    std::vector<Index> vertices;
    for (const Body& body : model.bodies)
        if (body.obstacle != none)
            for (Index v = 0; v < body.vertex_count; ++v) vertices.push_back(body.first_vertex + v);
    return vertices;
}

CollisionMesh collision_mesh(const Model& model, const std::vector<Index>& vertices)
{
    CollisionInput input;
    input.bodies = count(model.bodies);
    input.rest = model.rest;
    input.node_body = model.block_body;
    input.tets = model.tets;
    input.tet_body.resize(model.tets.size());
    std::vector<Index> node_of(static_cast<std::size_t>(model.surface.vertex_count()), none);
    for (const Index v : vertices) {
        node_of[v] = count(input.rest);
        input.rest.push_back(model.surface.rest[v]);
        input.node_body.push_back(model.surface.vertex_body[v]);
    }
    for (Index b = 0; b < input.bodies; ++b) {
        const Body& body = model.bodies[b];
        std::fill_n(input.tet_body.begin() + body.first_tet, body.tet_count, b);
        if (body.obstacle == none) continue;
        for (Index t = 0; t < body.triangle_count; ++t) {
            Triangle triangle = model.surface.triangles[body.first_triangle + t];
            for (Index& v : triangle) v = node_of[v];
            input.shells.push_back(triangle);
            input.shell_body.push_back(b);
        }
    }
    return make_collision_mesh(std::move(input));
}

/// How far a script moves what is at p at a time.
Vec3 scripted_displacement(const Obstacle& obstacle, const Vec3& p, Real time, Real from, Real to)
{
    if (obstacle.motion.empty()) return Vec3::Zero();
    const Pose now = obstacle.motion.pose(time);
    const Vec3 local = now.rotation.conjugate() * (p - now.translation);
    return obstacle.motion.pose(to)(local) - obstacle.motion.pose(from)(local);
}

} // namespace

std::string why_no_tet_contact(const Model& model, const Body& body)
{
    if (body.plane) return "";
    if (body.obstacle != none)
        return body.closed ? "" : "its mesh is open, and only a closed one has an inside to be kept out of";
    if (body.rotor != none) return "it is rigid, and the method moves nodes of tetrahedra only";
    if (body.tet_count == 0) return "it has no tetrahedra";
    for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v)
        if (model.surface.blocks(v).size() != 1)
            return "its surface hangs in a lattice of tetrahedra that is larger than it, and those would collide";
    for (Index t = body.first_tet; t < body.first_tet + body.tet_count; ++t) {
        const Tet& c = model.tets[t];
        if (!(TetFrame(model.rest[c[0]], model.rest[c[1]], model.rest[c[2]], model.rest[c[3]]).det > 0))
            return "its tetrahedron " + std::to_string(t - body.first_tet) + " is flat or inverted in the rest shape";
    }
    return "";
}

TetContact::TetContact(const Model& model, DepthMeasure measure)
    : blocks_(model.block_count()), vertices_(obstacle_vertices(model)), mass_(model.mass), measure_(measure),
      mesh_(collision_mesh(model, vertices_)), tree_(mesh_), finder_(mesh_, tree_), depth_(mesh_, tree_)
{
    for (const Pin& pin : model.pins) mass_[pin.block] = infinite_mass;
    mass_.resize(static_cast<std::size_t>(mesh_.node_count()), infinite_mass);
}

void TetContact::detect(const Model& model, const Vec3s& position, Real time)
{
    x_ = position;
    const std::vector<Pose> poses = frame_poses(model, time, position, {});
    for (const Index v : vertices_) x_.push_back(model.surface.position(v, position, poses));
    half_spaces_.clear();
    for (Index b = 0; b < count(model.bodies); ++b) {
        if (!model.bodies[b].plane) continue;
        const Plane plane = plane_at(model, model.bodies[b].obstacle, time);
        half_spaces_.push_back({b, plane.normal, plane.offset});
    }
    points_ = finder_.find(x_, half_spaces_);
    if (!model.no_contact.empty())
        std::erase_if(points_, [&](const PointInBody& p) {
            const auto [a, b] = std::minmax(mesh_.node_body[p.node], p.body);
            return std::ranges::find(model.no_contact, std::array<Index, 2>{a, b}) != model.no_contact.end();
        });
    depths_ = measure_ == DepthMeasure::consistent ? &depth_.consistent(x_, half_spaces_, points_)
                                                   : &depth_.closest_feature(x_, half_spaces_, points_);
}

Real TetContact::deepest() const
{
    Real deepest = 0;
    for (const PointDepth& d : depths_->points) deepest = std::max(deepest, d.depth);
    return deepest;
}

PointContact TetContact::contact(const Model& model, Index i, Real time, Real from, Real to) const
{
    const PointInBody& point = points_[i];
    PointContact contact;
    contact.point = point.node;
    contact.depth = depths()[i].vector();
    contact.friction = model.friction.between(mesh_.node_body[point.node], point.body);
    const Index obstacle = model.bodies[point.body].obstacle;
    if (obstacle != none)
        contact.motion = scripted_displacement(model.obstacles[obstacle], x_[point.node], time, from, to);
    return contact;
}

void TetContact::displacements(const Model& model, const Vec3s& path, Real from, Real to, Vec3s& out) const
{
    out.resize(x_.size());
    for (Index i = 0; i < blocks_; ++i) out[i] = (to - from) * path[i];
    const std::vector<Pose> start = frame_poses(model, from, path, {}), end = frame_poses(model, to, path, {});
    for (Index i = 0; i < count(vertices_); ++i) {
        const Index frame = model.surface.frame[vertices_[i]];
        const Vec3& local = model.surface.local[vertices_[i]];
        out[blocks_ + i] = end[frame](local) - start[frame](local);
    }
}

void TetContact::report(const std::vector<PointContact>& contacts, const Vec3s& local_force, Real dt,
                        StepReport& report) const
{
    report.contacts.clear();
    for (PairForce& pair : report.pair_forces) pair.contacts = 0;
    for (Index i = 0; i < count(contacts); ++i) {
        if (local_force[i].isZero(0)) continue;
        const Index a = mesh_.node_body[contacts[i].point], b = points_[i].body;
        const Vec3& normal = depths()[i].direction;
        report.contacts.push_back({x_[contacts[i].point], normal, local_force[i], a, b});
        add_impulse(report.pair_forces, normal, dt * local_force[i], a, b);
    }
    report.contact_count = count(contacts);
    report.active_contacts = count(report.contacts);
    Index points = 0; // entries of one node follow each other
    for (Index i = 0; i < count(points_); ++i) points += i == 0 || points_[i].node != points_[i - 1].node;
    report.own.use<TetContactReport>().colliding_points = points;
}

void take_substeps(const Model& model, State& state, Real dt, const SubSteps& substeps, ExplicitStepper& stepper,
                   const Correction& correction, TetContact& contact, StepReport& report)
{
    state.memory = {};
    report.own.use<TetContactReport>();
    report.substeps = substeps.number;
    const Real end = state.time + dt;
    {
        const ScopedTimer timer(report.profile, "integrate");
        for (int i = 0; i < substeps.number; ++i) {
            stepper.substep(model, state, dt / substeps.number, correction);
            if (substeps.inner == InnerStates::kept && i + 1 < substeps.number)
                report.inner.push_back({state.time, state.position, state.orientation});
        }
    }
    state.time = end; // the sum of the sub-steps up to rounding
    ++state.step;
    for (PairForce& pair : report.pair_forces) {
        pair.normal /= dt;
        pair.friction /= dt;
    }
    const ScopedTimer timer(report.profile, "measure");
    contact.detect(model, state.position, state.time);
    report.own.use<TetContactReport>().deepest_penetration = contact.deepest();
}

} // namespace pliant
