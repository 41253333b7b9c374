#include "pliant/run/frame.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/error.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/world/strain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

constexpr std::uint32_t frame_version = 2;

std::vector<Plane> planes_at(const Model& model, Real time)
{
    std::vector<Plane> planes;
    for (const Body& body : model.bodies)
        if (body.plane) planes.push_back(plane_at(model, body.obstacle, time));
    return planes;
}

// How a file spells things, as numbers one after the other.

constexpr int plane_size = 4, pose_size = 7;

void append(std::vector<Real>& flat, const Plane& p)
{
    flat.insert(flat.end(), {p.normal.x(), p.normal.y(), p.normal.z(), p.offset});
}
void append(std::vector<Real>& flat, const Pose& p)
{
    const Vec3& t = p.translation;
    const Quat& q = p.rotation;
    flat.insert(flat.end(), {t.x(), t.y(), t.z(), q.x(), q.y(), q.z(), q.w()});
}
template <class T>
std::vector<Real> flatten(const std::vector<T>& items)
{
    std::vector<Real> flat;
    for (const T& item : items) append(flat, item);
    return flat;
}

void read(const Real* flat, Plane& p)
{
    p = {{flat[0], flat[1], flat[2]}, flat[3]};
}
void read(const Real* flat, Pose& p)
{
    p.translation = {flat[0], flat[1], flat[2]};
    p.rotation = Quat(flat[6], flat[3], flat[4], flat[5]);
}

/// Adds states one after the other under names with a prefix.
void add_states(ArrayFile& file, const std::string& prefix, std::span<const StoredState> states)
{
    std::vector<Real> times;
    StoredState all;
    const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (const StoredState& s : states) {
        times.push_back(s.time);
        join(all.position, s.position);
        join(all.carriers.poses, s.carriers.poses);
        join(all.carriers.moved, s.carriers.moved);
        join(all.planes, s.planes);
    }
    file.add(prefix + "time", times);
    file.add(prefix + "positions", all.position);
    file.add(prefix + "poses", flatten(all.carriers.poses), pose_size);
    if (!all.carriers.moved.empty()) file.add(prefix + "moved", all.carriers.moved);
    file.add(prefix + "planes", flatten(all.planes), plane_size);
}

/// The arrays of a frame file, each of the size that the mesh asks for.
class FrameArrays {
public:
    FrameArrays(const RunMesh& mesh, const std::filesystem::path& path)
        : mesh_(mesh), path_(path.string()), file_(ArrayFile::load(path, "frame", frame_version))
    {
        if (file_.version() < frame_version)
            throw Error(path_ + ": was written by an earlier Pliant, whose runs this one does not read; "
                                "run the scene again");
    }

    const ArrayFile& file() const { return file_; }
    void check(bool good) const
    {
        if (!good) throw Error(path_ + ": its arrays do not fit together or to the run's mesh");
    }

    std::vector<Real> reals(const std::string& name) const
    {
        std::vector<Real> out = file_.reals(name);
        if (!std::all_of(out.begin(), out.end(), [](Real x) { return std::isfinite(x); }))
            throw Error(path_ + ": array '" + name + "' has a number that is not finite");
        return out;
    }
    Vec3s any_vectors(const std::string& name) const
    {
        Vec3s out = file_.vectors(name);
        if (!all_finite(out)) throw Error(path_ + ": array '" + name + "' has a number that is not finite");
        return out;
    }
    /// Per block and state.
    Vec3s vectors(const std::string& name, std::size_t states = 1) const
    {
        Vec3s out = any_vectors(name);
        check(out.size() == states * static_cast<std::size_t>(mesh_.block_count));
        return out;
    }
    template <class T>
    std::vector<T> items(const std::string& name, int size, std::size_t wanted) const
    {
        const std::vector<Real> flat = reals(name);
        check(flat.size() == wanted * static_cast<std::size_t>(size));
        std::vector<T> out(wanted);
        for (std::size_t i = 0; i < wanted; ++i) read(flat.data() + i * static_cast<std::size_t>(size), out[i]);
        return out;
    }
    /// Per frame that carries vertices, and state.
    std::vector<Pose> poses(const std::string& name, std::size_t states = 1) const
    {
        return items<Pose>(name, pose_size, states * mesh_.map.frame_spin.size());
    }

    /// Per vertex that a script moves by itself, and state; frames of runs without such vertices have no such array.
    Vec3s moved(const std::string& name, std::size_t states = 1) const
    {
        if (mesh_.map.moved.empty()) return {};
        Vec3s out = any_vectors(name);
        check(out.size() == states * mesh_.map.moved.size());
        return out;
    }

    std::vector<StoredState> states(const std::string& prefix) const
    {
        const std::vector<Real> times = reals(prefix + "time");
        const std::size_t n = times.size();
        const Vec3s position = vectors(prefix + "positions", n);
        const auto all_poses = poses(prefix + "poses", n);
        const Vec3s all_moved = moved(prefix + "moved", n);
        const auto planes =
            items<Plane>(prefix + "planes", plane_size, n * static_cast<std::size_t>(mesh_.plane_count));
        std::vector<StoredState> out(n);
        const auto part = [&](const auto& all, std::size_t i, auto& to) {
            const std::size_t size = all.size() / n;
            to.assign(all.data() + i * size, all.data() + (i + 1) * size);
        };
        for (std::size_t i = 0; i < n; ++i) {
            out[i].time = times[i];
            part(position, i, out[i].position);
            part(all_poses, i, out[i].carriers.poses);
            part(all_moved, i, out[i].carriers.moved);
            part(planes, i, out[i].planes);
        }
        return out;
    }

    std::vector<ContactPoint> contacts() const
    {
        const Vec3s position = any_vectors("contact_position"), normal = any_vectors("contact_normal"),
                    force = any_vectors("contact_force");
        const std::vector<Index> bodies = file_.indices("contact_bodies");
        check(normal.size() == position.size() && force.size() == position.size() &&
              bodies.size() == 2 * position.size() && all_below(std::array{std::span(bodies)}, count(mesh_.bodies)));
        std::vector<ContactPoint> out;
        for (std::size_t i = 0; i < position.size(); ++i)
            out.push_back({position[i], normal[i], force[i], bodies[2 * i], bodies[2 * i + 1]});
        return out;
    }

private:
    const RunMesh& mesh_;
    std::string path_;
    ArrayFile file_;
};

} // namespace

StoredState store_state(const Model& model, InnerState state)
{
    Carriers carriers = carriers_at(model, state.time, state.position, state.orientation);
    return {state.time, std::move(state.position), std::move(carriers), planes_at(model, state.time)};
}

StoredFrame store_frame(const World& world, Index number, Real dt, const std::vector<ContactPoint>& contacts)
{
    const State& s = world.state;
    StoredFrame frame;
    frame.number = number;
    frame.step = s.step;
    frame.state = store_state(world.model, {s.time, s.position, s.orientation});
    frame.velocity = s.velocity;
    frame.dt = dt;
    frame.earlier = carriers_at(world.model, s.time - dt, s.position, s.orientation);
    block_stress(world.model, s, frame.stress);
    frame.contacts = contacts;
    return frame;
}

void save_frame(const StoredFrame& frame, const std::filesystem::path& path)
{
    ArrayFile file("frame", frame_version);
    file.add("number_step", std::vector<std::int64_t>{frame.number, frame.step});
    add_states(file, "", {&frame.state, 1});
    file.add("velocities", frame.velocity);
    file.add("step_length", std::vector<Real>{frame.dt});
    file.add("earlier_poses", flatten(frame.earlier.poses), pose_size);
    if (!frame.earlier.moved.empty()) file.add("earlier_moved", frame.earlier.moved);
    file.add("stress", frame.stress);
    Vec3s position, normal, force;
    std::vector<Index> bodies;
    for (const ContactPoint& c : frame.contacts) {
        position.push_back(c.position);
        normal.push_back(c.normal);
        force.push_back(c.force);
        bodies.insert(bodies.end(), {c.body_a, c.body_b});
    }
    file.add("contact_position", position);
    file.add("contact_normal", normal);
    file.add("contact_force", force);
    file.add("contact_bodies", bodies, 2);
    if (!frame.inner.empty()) add_states(file, "inner_", frame.inner);
    file.save(path);
}

StoredFrame load_frame(const RunMesh& mesh, const std::filesystem::path& path)
{
    const FrameArrays arrays(mesh, path);
    const std::vector<std::int64_t> number_step = arrays.file().integers("number_step");
    const std::vector<Real> dt = arrays.reals("step_length");
    std::vector<StoredState> states = arrays.states("");
    arrays.check(number_step.size() == 2 && number_step[0] >= 0 &&
                 number_step[0] <= std::numeric_limits<Index>::max() && dt.size() == 1 && states.size() == 1);
    StoredFrame frame;
    frame.number = static_cast<Index>(number_step[0]);
    frame.step = number_step[1];
    frame.state = std::move(states[0]);
    frame.velocity = arrays.vectors("velocities");
    frame.dt = dt[0];
    frame.earlier = {arrays.poses("earlier_poses"), arrays.moved("earlier_moved")};
    frame.stress = arrays.reals("stress");
    arrays.check(count(frame.stress) == mesh.block_count);
    frame.contacts = arrays.contacts();
    if (arrays.file().has("inner_time")) frame.inner = arrays.states("inner_");
    return frame;
}

Frame make_frame(const RunMesh& mesh, const StoredFrame& stored)
{
    Frame frame;
    frame.number = stored.number;
    frame.step = stored.step;
    frame.time = stored.state.time;
    const StoredState& state = stored.state;
    surface_positions(mesh.map, state.position, state.carriers, frame.positions);
    surface_velocities(mesh.map, {stored.velocity, state.carriers, stored.earlier, stored.dt}, frame.velocities);
    surface_values(mesh.map, stored.stress, frame.stress);
    frame.planes = stored.state.planes;
    frame.contacts = stored.contacts;
    return frame;
}

Frame make_frame(const World& world, Index number, Real dt, const std::vector<ContactPoint>& contacts)
{
    Frame frame;
    frame.number = number;
    frame.step = world.state.step;
    frame.time = world.state.time;
    surface_positions(world.model, world.state, frame.positions);
    surface_velocities(world.model, world.state, dt, frame.velocities);
    surface_stress(world.model, world.state, frame.stress);
    frame.planes = planes_at(world.model, world.state.time);
    frame.contacts = contacts;
    return frame;
}

PathState make_path_state(const RunMesh& mesh, const StoredState& stored)
{
    PathState out{stored.time, {}, stored.planes};
    surface_positions(mesh.map, stored.position, stored.carriers, out.positions);
    return out;
}

} // namespace pliant
