#include "pliant/methods/tet_contact.hpp"

#include "pliant/geometry/tetrahedron.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <limits>

namespace pliant {
namespace {

constexpr Real infinite_mass = std::numeric_limits<Real>::infinity();

/// It collides as a closed surface.
bool is_shell(const Body& body)
{
    return !body.plane && (body.obstacle != none || body.rotor != none);
}

/// Vertices of mesh obstacles and rigid bodies, in the order of the bodies.
std::vector<Index> shell_vertices(const Model& model)
{
    std::vector<Index> vertices;
    for (const Body& body : model.bodies)
        if (is_shell(body))
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
    for (Index b = 0; b < model.block_count(); ++b)
        if (model.rotor_of_block[b] != none) input.no_points.push_back(b); // velocities, not places
    std::vector<Index> node_of(static_cast<std::size_t>(model.surface.vertex_count()), none);
    for (const Index v : vertices) {
        node_of[v] = count(input.rest);
        input.rest.push_back(model.surface.rest[v]);
        input.node_body.push_back(model.surface.vertex_body[v]);
    }
    for (Index b = 0; b < input.bodies; ++b) {
        const Body& body = model.bodies[b];
        std::fill_n(input.tet_body.begin() + body.first_tet, body.tet_count, b);
        if (body.obstacle != none) input.still.push_back(b);
        if (!is_shell(body)) continue;
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

std::vector<Pose> poses_of(const Model& model, const State& s)
{
    return frame_poses(model, s.time, s.position, s.orientation);
}

} // namespace

std::string why_no_tet_contact(const Model& model, const Body& body)
{
    if (body.plane) return "";
    if (body.obstacle != none && model.obstacles[body.obstacle].vertices)
        return "its vertices move one by one, and this method knows obstacles that keep their shape only";
    if (body.obstacle != none)
        return body.closed ? "" : "its mesh is open, and only a closed one has an inside to be kept out of";
    if (body.rotor != none) return "";
    if (body.tet_count == 0) return "it has no tetrahedra";
    for (Index t = body.first_tet; t < body.first_tet + body.tet_count; ++t) {
        const Tet& c = model.tets[t];
        if (!(TetFrame(model.rest[c[0]], model.rest[c[1]], model.rest[c[2]], model.rest[c[3]]).det > 0))
            return "its tetrahedron " + std::to_string(t - body.first_tet) + " is flat or inverted in the rest shape";
    }
    return "";
}

TetContact::TetContact(const Model& model, DepthMeasure measure, SelfCollision self_collision)
    : blocks_(model.block_count()), vertices_(shell_vertices(model)), mass_(model.mass), measure_(measure),
      mesh_(collision_mesh(model, vertices_)), tree_(mesh_), finder_(mesh_, tree_, {.self_collision = self_collision}),
      depth_(mesh_, tree_)
{
    for (const Pin& pin : model.pins) mass_[pin.block] = infinite_mass;
    rotor_frame_.resize(model.rotors.size());
    for (Index f = 0; f < count(model.frames); ++f)
        if (model.frames[f].rotor != none) rotor_frame_[model.frames[f].rotor] = f;
    for (const Index v : vertices_) {
        const Rotor* rotor = model.rotor_of_vertex(v);
        mass_.push_back(rotor ? rotor->rigid.mass : infinite_mass);
    }
}

void TetContact::detect(const Model& model, const State& at, Profile& profile)
{
    {
        const ScopedTimer timer(profile, "detect");
        x_ = at.position;
        poses_ = poses_of(model, at);
        for (const Index v : vertices_) x_.push_back(model.surface.position(v, at.position, poses_));
        half_spaces_.clear();
        for (Index b = 0; b < count(model.bodies); ++b) {
            if (!model.bodies[b].plane) continue;
            const Plane plane = plane_at(model, model.bodies[b].obstacle, at.time);
            half_spaces_.push_back({b, plane.normal, plane.offset});
        }
        points_ = finder_.find(x_, half_spaces_);
        if (!model.no_contact.empty())
            std::erase_if(points_, [&](const PointInBody& p) {
                const auto [a, b] = std::minmax(mesh_.node_body[p.node], p.body);
                return std::binary_search(model.no_contact.begin(), model.no_contact.end(), std::array<Index, 2>{a, b});
            });
    }
    const ScopedTimer timer(profile, "depth");
    depths_ = measure_ == DepthMeasure::consistent ? &depth_.consistent(x_, half_spaces_, points_)
                                                   : &depth_.closest_feature(x_, half_spaces_, points_);
}

// A rigid body answers a force at a place along a direction n like a mass m with 1/m = 1/M + n.(I^-1 (r x n) x r).
Real TetContact::mass_of_rotor(const Model& model, Index rotor, const Vec3& at, const Vec3& direction) const
{
    const Rotor& r = model.rotors[rotor];
    const Pose& pose = poses_[rotor_frame_[rotor]];
    const Vec3 moment = pose.rotation.conjugate() * (at - pose.translation).cross(direction); // in the body
    return 1 / (1 / r.rigid.mass + moment.dot(r.rigid.inertia_inv * moment));
}

void TetContact::make_contacts(const Model& model, const State& start, const State& end, std::vector<PointContact>& out)
{
    rotor_contacts_.assign(model.rotors.size(), 0);
    if (!model.rotors.empty())
        for (const PointInBody& p : points_)
            for (const Index body : {mesh_.node_body[p.node], p.body})
                if (const Index r = rotor_of(model, body); r != none) ++rotor_contacts_[r];
    const std::vector<Pose> before = poses_of(model, start), after = poses_of(model, end);
    out.resize(points_.size());
    for (Index i = 0; i < count(points_); ++i) {
        const PointInBody& point = points_[i];
        PointContact& contact = out[i] = {};
        const Index own = mesh_.node_body[point.node];
        contact.point = point.node;
        contact.depth = depths()[i].vector();
        contact.friction = model.friction.between(own, point.body);
        const Vec3& p = x_[point.node];
        if (const Index r = rotor_of(model, own); r != none) {
            contact.point_mass = mass_of_rotor(model, r, p, depths()[i].direction);
            contact.point_contacts = rotor_contacts_[r];
        }
        if (const Index r = rotor_of(model, point.body); r != none) {
            contact.partner_mass = mass_of_rotor(model, r, p, depths()[i].direction);
            contact.partner_contacts = rotor_contacts_[r];
        }
        const Body& partner = model.bodies[point.body];
        if (is_shell(partner)) {
            const auto frame = static_cast<std::size_t>(model.surface.frame[partner.first_vertex]);
            const Vec3 local = poses_[frame].rotation.conjugate() * (p - poses_[frame].translation);
            contact.motion = after[frame](local) - before[frame](local);
        } else if (partner.plane) {
            contact.motion =
                scripted_displacement(model.obstacles[partner.obstacle], p, end.time, start.time, end.time);
        }
    }
}

void TetContact::displacements(const Model& model, const State& start, const State& end, Real time,
                               std::span<const PointContact> contacts, Vec3s& out) const
{
    out.resize(x_.size());
    const std::vector<Pose> before = poses_of(model, start), after = poses_of(model, end);
    const auto displacement = [&](Index node) -> Vec3 {
        if (node < blocks_) return end.position[node] - start.position[node];
        const Index vertex = vertices_[node - blocks_], frame = model.surface.frame[vertex];
        const Vec3& local = model.surface.local[vertex];
        return after[frame](local) - before[frame](local);
    };
    for (const PointContact& contact : contacts)
        contact.for_each_node([&](Index node) { out[node] = displacement(node) / time; });
}

void TetContact::push_rotors(const Model& model, const State& start, const Vec3s& local_force, Real dt,
                             Vec3s& path) const
{
    if (model.rotors.empty()) return;
    Vec3s force(model.rotors.size(), Vec3::Zero()), moment = force;
    const auto push = [&](Index body, const Vec3& at, const Vec3& f) {
        const Index r = rotor_of(model, body);
        if (r == none) return;
        force[r] += f;
        moment[r] += (at - start.position[model.rotors[r].block]).cross(f);
    };
    for (Index i = 0; i < count(points_); ++i) {
        const Vec3& at = x_[points_[i].node];
        push(mesh_.node_body[points_[i].node], at, local_force[i]);
        push(points_[i].body, at, -local_force[i]);
    }
    for (Index r = 0; r < count(model.rotors); ++r) {
        const Rotor& rotor = model.rotors[r];
        path[rotor.block] += dt / rotor.rigid.mass * force[r];
        path[rotor.angular_block()] += dt * (world_inertia(rotor.rigid, start.orientation[r]).inverse() * moment[r]);
    }
}

void TetContact::report(const Model& model, const Vec3s& local_force, Real dt, StepReport& report) const
{
    report.contacts.clear();
    for (PairForce& pair : report.pair_forces) pair.contacts = 0;
    for (Index i = 0; i < count(points_); ++i) {
        if (local_force[i].isZero(0)) continue;
        const Index a = mesh_.node_body[points_[i].node], b = points_[i].body;
        const Vec3& normal = depths()[i].direction;
        report.contacts.push_back({x_[points_[i].node], normal, local_force[i], a, b});
        add_impulse(report.pair_forces, normal, dt * local_force[i], a, b);
        if (!report.outer_impulse) continue;
        if (model.is_scripted(b)) *report.outer_impulse += dt * local_force[i];
        if (model.is_scripted(a)) *report.outer_impulse -= dt * local_force[i];
    }
    report.contact_count = count(points_);
    report.active_contacts = count(report.contacts);
    Index points = 0; // entries of one node follow each other
    for (Index i = 0; i < count(points_); ++i) points += i == 0 || points_[i].node != points_[i - 1].node;
    for (const EnclosedPoints& e : depths_->enclosed) {
        const std::array<Index, 2> pair = {e.body, e.inside};
        if (e.whole && !model.is_scripted(e.body) && std::ranges::find(report.enclosed, pair) == report.enclosed.end())
            report.enclosed.push_back(pair);
    }
    TetContactReport& own = report.own.use<TetContactReport>();
    own.colliding_points = points;
    own.enclosed_bodies = static_cast<int>(report.enclosed.size());
}

void TetContact::report_end(const Model& model, const State& state, Real dt, StepReport& report)
{
    make_means(report.pair_forces, dt);
    const ScopedTimer timer(report.profile, "measure");
    Profile ignored;
    detect(model, state, ignored);
    TetContactReport& own = report.own.use<TetContactReport>();
    for (Index i = 0; i < count(points_); ++i) {
        const Real depth = depths()[i].depth;
        if (!(depth > own.deepest_penetration)) continue;
        own.deepest_penetration = depth;
        Real edge = mesh_.edge[mesh_.node_body[points_[i].node]];
        if (const Real other = mesh_.edge[points_[i].body]; other > 0) edge = std::min(edge, other);
        own.penetration_edges = edge > 0 ? depth / edge : 0;
    }
}

void take_substeps(const Model& model, State& state, Real dt, const SubSteps& substeps, ExplicitStepper& stepper,
                   const Correction& correction, TetContact& contact, StepReport& report)
{
    using Clock = std::chrono::steady_clock;
    const auto seconds_in_contact = [&] {
        return report.profile.seconds("detect") + report.profile.seconds("depth") + report.profile.seconds("respond");
    };
    state.memory = {};
    report.own.use<TetContactReport>();
    report.outer_impulse = Vec3::Zero();
    const Real end = state.time + dt, contact_before = seconds_in_contact();
    const Clock::time_point start = Clock::now();
    report.substeps = take_stable_substeps(model, state, dt, substeps.finer, [&](Real h, bool last) {
        stepper.substep(model, state, h, correction);
        *report.outer_impulse += stepper.outer_impulse();
        if (substeps.inner == InnerStates::kept && !last)
            report.inner.push_back({state.time, state.position, state.orientation});
    });
    const Real all = std::chrono::duration<Real>(Clock::now() - start).count();
    report.profile.add("integrate", std::max(0.0, all - (seconds_in_contact() - contact_before)));
    state.time = end; // the sum of the sub-steps up to rounding
    ++state.step;
    contact.report_end(model, state, dt, report);
}

} // namespace pliant
