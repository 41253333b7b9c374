#include "pliant/world/world.hpp"

#include "pliant/core/hash.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {

const char* to_string(BodyKind kind)
{
    switch (kind) {
    case BodyKind::cloth:
        return "cloth";
    case BodyKind::solid:
        return "solid";
    case BodyKind::rigid:
        return "rigid";
    case BodyKind::obstacle:
        return "obstacle";
    case BodyKind::plane:
        return "plane";
    }
    return "?";
}

Real FrictionTable::between(Index a, Index b) const
{
    for (const Exception& e : exceptions)
        if ((e.a == a && e.b == b) || (e.a == b && e.b == a)) return e.value;
    return value;
}

namespace {

void add_visible(Hash& hash, const State& s)
{
    hash.add(s.time);
    hash.add(s.step);
    hash.add(s.position);
    hash.add(s.velocity);
    for (const Quat& q : s.orientation) hash.bytes(q.coeffs().data(), 4 * sizeof(Real));
}

} // namespace

std::uint64_t State::visible_hash() const
{
    Hash hash;
    add_visible(hash, *this);
    return hash.value();
}

std::uint64_t State::hash() const
{
    Hash hash;
    add_visible(hash, *this);
    for (const ContactMemory& c : contacts) {
        hash.add(c.key_a);
        hash.add(c.key_b);
        hash.bytes(c.impulse.data(), sizeof c.impulse);
    }
    hash.add(released);
    hash.add(last_substep);
    hash.add(free_change);
    hash.add(contact_change);
    return hash.value();
}

bool fits(const Model& model, const State& state)
{
    return count(state.position) == model.block_count() && count(state.velocity) == model.block_count() &&
           state.orientation.size() == model.rigids.size();
}

Real pair_gap(const Model& model, Index body_a, Index body_b)
{
    const Real a = model.bodies[body_a].gap, b = model.bodies[body_b].gap;
    if (a == 0 || b == 0) return std::max(a, b);
    return std::min(a, b);
}

Plane plane_at(const Model& model, Index obstacle, Real time)
{
    const Obstacle& o = model.obstacles[obstacle];
    if (o.motion.empty()) return o.plane;
    const Pose pose = o.motion.pose(time);
    Plane plane;
    plane.normal = pose.rotation * o.plane.normal;
    plane.offset = plane.normal.dot(pose(o.plane.normal * o.plane.offset));
    return plane;
}

Vec3 pin_position(const Model& model, const Pin& pin, Real time)
{
    return pin.motion == none ? pin.start : model.motions[pin.motion].pose(time)(pin.start);
}

std::vector<Pose> obstacle_poses(const Model& model, Real time)
{
    std::vector<Pose> poses(model.obstacles.size());
    for (Index i = 0; i < count(poses); ++i) poses[i] = obstacle_pose(model, i, time);
    return poses;
}

SurfaceFrames surface_frames(const Model& model, const State& state)
{
    assert(fits(model, state));
    SurfaceFrames frames;
    for (std::size_t i = 0; i < state.orientation.size(); ++i)
        frames.rigid.push_back({state.position[model.surface.rigid_block[i]], state.orientation[i]});
    frames.scripted = obstacle_poses(model, state.time);
    return frames;
}

void surface_positions(const Model& model, const State& state, Vec3s& out)
{
    surface_positions(model.surface, state.position, surface_frames(model, state), out);
}

void surface_velocities(const Model& model, const State& state, Real dt, Vec3s& out)
{
    surface_velocities(model.surface, state.velocity, surface_frames(model, state),
                       obstacle_poses(model, state.time - dt), dt, out);
}

namespace {

/// Calls visit(mass, position, velocity) for every particle of cloth and solids.
template <class Visit>
void for_each_particle(const Model& model, const State& state, Visit&& visit)
{
    for (const Body& body : model.bodies) {
        if (body.kind != BodyKind::cloth && body.kind != BodyKind::solid) continue;
        const std::vector<Real>& mass =
            body.kind == BodyKind::cloth ? model.cloths[body.model].mass : model.solids[body.model].mass;
        for (Index i = 0; i < body.block_count; ++i)
            visit(mass[i], state.position[body.first_block + i], state.velocity[body.first_block + i]);
    }
}

} // namespace

Energy energy(const Model& model, const State& state)
{
    assert(fits(model, state));
    Energy e;
    for_each_particle(model, state, [&](Real m, const Vec3& x, const Vec3& v) {
        e.kinetic += m * v.squaredNorm() / 2;
        e.gravity -= m * model.gravity.dot(x);
    });
    for (const Body& body : model.bodies) {
        const Vec3* x = state.position.data() + body.first_block;
        if (body.kind == BodyKind::cloth) {
            const Cloth& cloth = model.cloths[body.model];
            e.elastic += parallel_sum(count(cloth.springs), 0.0, [&](Index i) {
                const Spring& s = cloth.springs[i];
                return spring_energy(s, x[s.a], x[s.b]);
            });
        } else if (body.kind == BodyKind::solid) {
            const Solid& solid = model.solids[body.model];
            e.elastic += parallel_sum(count(solid.elements), 0.0, [&](Index i) {
                const SolidElement& el = solid.elements[i];
                return element_energy(solid, el, {x[el.nodes[0]], x[el.nodes[1]], x[el.nodes[2]], x[el.nodes[3]]});
            });
        } else if (body.kind == BodyKind::rigid) {
            const Rigid& rigid = model.rigids[body.model];
            const Vec3 &v = state.velocity[body.first_block], &w = state.velocity[body.first_block + 1];
            e.kinetic +=
                rigid.mass * v.squaredNorm() / 2 + w.dot(world_inertia(rigid, state.orientation[body.model]) * w) / 2;
            e.gravity -= rigid.mass * model.gravity.dot(x[0]);
        }
    }
    return e;
}

Real moving_mass(const Model& model)
{
    Real mass = 0;
    for (const Cloth& cloth : model.cloths)
        for (const Real m : cloth.mass) mass += m;
    for (const Solid& solid : model.solids)
        for (const Real m : solid.mass) mass += m;
    for (const Rigid& rigid : model.rigids) mass += rigid.mass;
    return mass;
}

Vec3 linear_momentum(const Model& model, const State& state)
{
    Vec3 p = Vec3::Zero();
    for_each_particle(model, state, [&](Real m, const Vec3&, const Vec3& v) { p += m * v; });
    for (const Body& body : model.bodies)
        if (body.kind == BodyKind::rigid) p += model.rigids[body.model].mass * state.velocity[body.first_block];
    return p;
}

Vec3 angular_momentum(const Model& model, const State& state)
{
    Vec3 L = Vec3::Zero();
    for_each_particle(model, state, [&](Real m, const Vec3& x, const Vec3& v) { L += m * x.cross(v); });
    for (const Body& body : model.bodies) {
        if (body.kind != BodyKind::rigid) continue;
        const Rigid& rigid = model.rigids[body.model];
        const Index b = body.first_block;
        L += rigid.mass * state.position[b].cross(state.velocity[b]) +
             world_inertia(rigid, state.orientation[body.model]) * state.velocity[b + 1];
    }
    return L;
}

} // namespace pliant
