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
    case BodyKind::lattice:
        return "lattice";
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
    hash.add(s.sewn);
}

class HashVisitor final : public RecordVisitor {
public:
    explicit HashVisitor(Hash& hash) : hash_(hash) {}
    void visit(const std::string&, std::vector<Real>& values, int) override { add(values); }
    void visit(const std::string&, std::vector<std::int64_t>& values, int) override { add(values); }

private:
    template <class T>
    void add(const std::vector<T>& values)
    {
        hash_.add(values.size()); // or a number could move from one array to the next
        hash_.add(values);
    }
    Hash& hash_;
};

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
    HashVisitor visitor(hash);
    memory.visit(visitor);
    return hash.value();
}

bool fits(const Model& model, const State& state)
{
    return count(state.position) == model.block_count() && count(state.velocity) == model.block_count() &&
           state.orientation.size() == model.rotors.size();
}

PairLengths contact_gaps(const Model& model, Real part)
{
    std::vector<Real> of_body;
    for (const Body& body : model.bodies) of_body.push_back(part * body.gap);
    std::vector<PairLengths::Exception> exceptions = model.pair_gaps;
    for (PairLengths::Exception& e : exceptions) e.length *= part;
    return {std::move(of_body), std::move(exceptions)};
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

Vec3s pin_positions(const Model& model, Real time)
{
    std::vector<Pose> poses;
    for (const Motion& m : model.motions) poses.push_back(m.pose(time));
    std::vector<Vec3s> followed(model.followed.size());
    for (std::size_t i = 0; i < followed.size(); ++i) {
        followed[i].resize(static_cast<std::size_t>(model.followed[i]->vertex_count()));
        model.followed[i]->positions(time, followed[i]);
    }
    Vec3s positions;
    positions.reserve(model.pins.size());
    for (const Pin& pin : model.pins)
        positions.push_back(pin.follows != none  ? followed[pin.follows][pin.follower]
                            : pin.motion != none ? poses[pin.motion](pin.start)
                                                 : pin.start);
    return positions;
}

std::vector<Pose> frame_poses(const Model& model, Real time, const Vec3s& position,
                              const std::vector<Quat>& orientation)
{
    assert(count(position) == model.block_count() && orientation.size() == model.rotors.size());
    std::vector<Pose> poses(model.frames.size());
    for (std::size_t i = 0; i < poses.size(); ++i) {
        const CarrierFrame& frame = model.frames[i];
        if (frame.rotor != none)
            poses[i] = {position[model.rotors[frame.rotor].block], orientation[frame.rotor]};
        else
            poses[i] = obstacle_pose(model, frame.obstacle, time);
    }
    return poses;
}

Carriers carriers_at(const Model& model, Real time, const Vec3s& position, const std::vector<Quat>& orientation)
{
    Carriers carriers{frame_poses(model, time, position, orientation), Vec3s(model.surface.moved.size())};
    std::size_t first = 0;
    for (const Body& body : model.bodies) {
        if (body.obstacle == none || !model.obstacles[body.obstacle].vertices) continue;
        const std::size_t n = static_cast<std::size_t>(body.vertex_count);
        model.obstacles[body.obstacle].vertices->positions(time, std::span(carriers.moved).subspan(first, n));
        first += n;
    }
    return carriers;
}

void surface_positions(const Model& model, const State& state, Vec3s& out)
{
    assert(count(state.position) == model.block_count() && state.orientation.size() == model.rotors.size());
    surface_positions(model.surface, state.position, carriers_at(model, state), out);
}

void surface_velocities(const Model& model, const State& state, Real dt, Vec3s& out)
{
    assert(fits(model, state));
    const Carriers now = carriers_at(model, state),
                   earlier = carriers_at(model, state.time - dt, state.position, state.orientation);
    surface_velocities(model.surface, {state.velocity, now, earlier, dt}, out);
}

Energy energy(const Model& model, const State& state)
{
    assert(fits(model, state));
    Energy e;
    for (Index i = 0; i < model.block_count(); ++i) {
        e.kinetic += model.mass[i] * state.velocity[i].squaredNorm() / 2;
        e.gravity -= model.mass[i] * model.gravity.dot(state.position[i]);
    }
    for (std::size_t r = 0; r < model.rotors.size(); ++r) {
        const Vec3& w = state.velocity[model.rotors[r].angular_block()];
        e.kinetic += w.dot(world_inertia(model.rotors[r].rigid, state.orientation[r]) * w) / 2;
    }
    std::vector<Real> elastic(model.batches.size()); // at the same time, summed in their order
    parallel_for(
        count(elastic), [&](Index b) { elastic[b] = model.batches[b]->energy(state.position); }, 1);
    for (const Real part : elastic) e.elastic += part;
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
