#include "pliant/world/world.hpp"

#include "pliant/core/hash.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>

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

std::vector<Pose> frame_poses(const Model& model, const State& state)
{
    std::vector<Pose> poses(model.frames.size());
    for (std::size_t i = 0; i < poses.size(); ++i) {
        const CarrierFrame& frame = model.frames[i];
        if (frame.rotor != none)
            poses[i] = {state.position[model.rotors[frame.rotor].block], state.orientation[frame.rotor]};
        else
            poses[i] = obstacle_pose(model, frame.obstacle, state.time);
    }
    return poses;
}

void surface_positions(const Model& model, const State& state, Vec3s& out)
{
    const Surface& s = model.surface;
    const std::vector<Pose> frames = frame_poses(model, state);
    out.resize(s.vertex_body.size());
    parallel_for(s.vertex_count(), [&](Index v) { out[v] = s.position(v, state.position, frames); });
}

void surface_velocities(const Model& model, const State& state, Real dt, Vec3s& out)
{
    const Surface& s = model.surface;
    State before = State();
    before.time = state.time - dt;
    before.position = state.position;
    before.orientation = state.orientation;
    const std::vector<Pose> old_frames = frame_poses(model, before), frames = frame_poses(model, state);
    out.resize(s.vertex_body.size());
    parallel_for(s.vertex_count(), [&](Index v) {
        if (model.is_scripted_vertex(v)) {
            const Index f = s.frame[v];
            out[v] = dt > 0 ? Vec3((frames[f](s.local[v]) - old_frames[f](s.local[v])) / dt) : Vec3::Zero();
            return;
        }
        Vec3 u = Vec3::Zero();
        for (Index k = s.map_begin[v]; k < s.map_begin[v + 1]; ++k)
            u += s.map_weight[k] * state.velocity[s.map_block[k]];
        if (const Rotor* rotor = model.rotor_of_vertex(v))
            u += Vec3(state.velocity[rotor->angular_block()]).cross(frames[s.frame[v]].rotation * s.local[v]);
        out[v] = u;
    });
}

Energy energy(const Model& model, const State& state)
{
    Energy e;
    for (Index i = 0; i < model.block_count(); ++i) {
        e.kinetic += model.mass[i] * state.velocity[i].squaredNorm() / 2;
        e.gravity -= model.mass[i] * model.gravity.dot(state.position[i]);
    }
    for (std::size_t r = 0; r < model.rotors.size(); ++r) {
        const Vec3& w = state.velocity[model.rotors[r].angular_block()];
        e.kinetic += w.dot(world_inertia(model.rotors[r].rigid, state.orientation[r]) * w) / 2;
    }
    for (const auto& batch : model.batches) e.elastic += batch->energy(state.position);
    return e;
}

Real moving_mass(const Model& model)
{
    Real sum = 0;
    for (const Real m : model.mass) sum += m;
    return sum;
}

Vec3 linear_momentum(const Model& model, const State& state)
{
    Vec3 p = Vec3::Zero();
    for (Index i = 0; i < model.block_count(); ++i) p += model.mass[i] * state.velocity[i];
    return p;
}

Vec3 angular_momentum(const Model& model, const State& state)
{
    Vec3 L = Vec3::Zero();
    for (Index i = 0; i < model.block_count(); ++i) L += model.mass[i] * state.position[i].cross(state.velocity[i]);
    for (std::size_t r = 0; r < model.rotors.size(); ++r)
        L += world_inertia(model.rotors[r].rigid, state.orientation[r]) *
             state.velocity[model.rotors[r].angular_block()];
    return L;
}

} // namespace pliant
