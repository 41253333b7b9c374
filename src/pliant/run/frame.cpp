#include "pliant/run/frame.hpp"

#include "pliant/core/error.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/world/strain.hpp"

namespace pliant {
namespace {

constexpr std::uint32_t frame_version = 1, mesh_version = 1;

template <class T, std::size_t n>
std::vector<T> flatten(const std::vector<std::array<T, n>>& items)
{
    std::vector<T> flat;
    flat.reserve(n * items.size());
    for (const auto& item : items) flat.insert(flat.end(), item.begin(), item.end());
    return flat;
}
template <std::size_t n>
std::vector<std::array<Index, n>> group(const std::vector<Index>& flat)
{
    std::vector<std::array<Index, n>> items(flat.size() / n);
    for (std::size_t i = 0; i < items.size(); ++i)
        for (std::size_t k = 0; k < n; ++k) items[i][k] = flat[n * i + k];
    return items;
}

std::vector<Plane> planes_at(const Model& model, Real time)
{
    std::vector<Plane> planes;
    for (const Body& body : model.bodies)
        if (body.plane) planes.push_back(plane_at(model, body.obstacle, time));
    return planes;
}

void append(std::vector<Real>& flat, const std::vector<Plane>& planes)
{
    for (const Plane& p : planes) flat.insert(flat.end(), {p.normal.x(), p.normal.y(), p.normal.z(), p.offset});
}
std::vector<Plane> planes_of(const std::vector<Real>& flat)
{
    std::vector<Plane> planes;
    for (std::size_t i = 0; i + 3 < flat.size(); i += 4)
        planes.push_back({{flat[i], flat[i + 1], flat[i + 2]}, flat[i + 3]});
    return planes;
}

void check(bool good, const std::filesystem::path& path)
{
    if (!good) throw Error(path.string() + ": its arrays do not fit together");
}

} // namespace

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

std::vector<PathState> make_inner_states(const Model& model, std::vector<InnerState> inner)
{
    std::vector<PathState> states;
    for (InnerState& i : inner) states.push_back({i.time, std::move(i.surface), planes_at(model, i.time)});
    return states;
}

void save_frame(const Frame& frame, const std::filesystem::path& path)
{
    ArrayFile file("frame", frame_version);
    file.add("number_step", std::vector<std::int64_t>{frame.number, frame.step});
    file.add("time", std::vector<Real>{frame.time});
    file.add("positions", frame.positions);
    file.add("velocities", frame.velocities);
    file.add("stress", frame.stress);
    std::vector<Real> planes;
    append(planes, frame.planes);
    file.add("planes", planes, 4);
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
    if (!frame.inner.empty()) {
        std::vector<Real> times, inner_planes;
        Vec3s positions;
        for (const PathState& s : frame.inner) {
            times.push_back(s.time);
            positions.insert(positions.end(), s.positions.begin(), s.positions.end());
            append(inner_planes, s.planes);
        }
        file.add("inner_time", times);
        file.add("inner_positions", positions);
        file.add("inner_planes", inner_planes, 4);
    }
    file.save(path);
}

Frame load_frame(const std::filesystem::path& path)
{
    const ArrayFile file = ArrayFile::load(path, "frame", frame_version);
    Frame frame;
    const std::vector<std::int64_t> number_step = file.integers("number_step");
    const std::vector<Real> time = file.reals("time");
    check(number_step.size() == 2 && time.size() == 1, path);
    frame.number = static_cast<Index>(number_step[0]);
    frame.step = number_step[1];
    frame.time = time[0];
    frame.positions = file.vectors("positions");
    frame.velocities = file.vectors("velocities");
    if (file.has("stress")) frame.stress = file.reals("stress");
    frame.planes = planes_of(file.reals("planes"));
    const Vec3s position = file.vectors("contact_position"), normal = file.vectors("contact_normal"),
                force = file.vectors("contact_force");
    const std::vector<Index> bodies = file.indices("contact_bodies");
    check(frame.velocities.size() == frame.positions.size() &&
              (frame.stress.empty() || frame.stress.size() == frame.positions.size()) &&
              normal.size() == position.size() && force.size() == position.size() &&
              bodies.size() == 2 * position.size(),
          path);
    for (std::size_t i = 0; i < position.size(); ++i)
        frame.contacts.push_back({position[i], normal[i], force[i], bodies[2 * i], bodies[2 * i + 1]});
    if (file.has("inner_time")) {
        const std::vector<Real> times = file.reals("inner_time");
        const Vec3s positions = file.vectors("inner_positions");
        const std::vector<Plane> all = planes_of(file.reals("inner_planes"));
        const std::size_t n = frame.positions.size(), p = frame.planes.size();
        check(positions.size() == n * times.size() && all.size() == p * times.size(), path);
        for (std::size_t i = 0; i < times.size(); ++i)
            frame.inner.push_back({times[i],
                                   {positions.data() + i * n, positions.data() + (i + 1) * n},
                                   {all.data() + i * p, all.data() + (i + 1) * p}});
    }
    return frame;
}

RunMesh make_run_mesh(const Model& model)
{
    RunMesh mesh;
    Index planes = 0;
    for (const Body& b : model.bodies)
        mesh.bodies.push_back({b.name, b.kind, b.first_vertex, b.vertex_count, b.first_triangle, b.triangle_count,
                               b.closed, b.gap, b.plane ? planes++ : none});
    mesh.triangles = model.surface.triangles;
    mesh.rest = model.surface.rest;
    mesh.prescribed = model.surface.prescribed;
    mesh.no_contact = model.no_contact;
    return mesh;
}

void save_mesh(const RunMesh& mesh, const std::filesystem::path& path)
{
    ArrayFile file("mesh", mesh_version);
    std::string names;
    std::vector<Index> ranges;
    std::vector<Real> gaps;
    for (const RunBody& b : mesh.bodies) {
        names += b.name + "\n";
        ranges.insert(ranges.end(), {static_cast<Index>(b.kind), b.first_vertex, b.vertex_count, b.first_triangle,
                                     b.triangle_count, b.closed, b.plane});
        gaps.push_back(b.gap);
    }
    file.add("body_names", names);
    file.add("bodies", ranges, 7);
    file.add("body_gaps", gaps);
    file.add("triangles", flatten(mesh.triangles), 3);
    file.add("rest", mesh.rest);
    file.add("prescribed", std::string(mesh.prescribed.begin(), mesh.prescribed.end()));
    file.add("no_contact", flatten(mesh.no_contact), 2);
    file.save(path);
}

RunMesh load_mesh(const std::filesystem::path& path)
{
    const ArrayFile file = ArrayFile::load(path, "mesh", mesh_version);
    RunMesh mesh;
    const std::string names = file.text("body_names");
    const std::vector<Index> ranges = file.indices("bodies");
    const std::vector<Real> gaps = file.reals("body_gaps");
    mesh.triangles = group<3>(file.indices("triangles"));
    mesh.rest = file.vectors("rest");
    const std::string prescribed = file.text("prescribed");
    mesh.prescribed.assign(prescribed.begin(), prescribed.end());
    mesh.no_contact = group<2>(file.indices("no_contact"));
    check(ranges.size() == 7 * gaps.size() && mesh.prescribed.size() == mesh.rest.size(), path);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        const std::size_t end = names.find('\n', begin);
        const Index* r = ranges.data() + 7 * i;
        check(end != std::string::npos && r[0] >= 0 && r[0] <= static_cast<Index>(BodyKind::plane) && r[1] >= 0 &&
                  r[2] >= 0 && r[2] <= count(mesh.rest) - r[1] && r[3] >= 0 && r[4] >= 0 &&
                  r[4] <= count(mesh.triangles) - r[3],
              path);
        mesh.bodies.push_back({names.substr(begin, end - begin), static_cast<BodyKind>(r[0]), r[1], r[2], r[3], r[4],
                               r[5] != 0, gaps[i], r[6]});
        begin = end + 1;
    }
    for (const Triangle& t : mesh.triangles)
        for (Index v : t) check(v >= 0 && v < count(mesh.rest), path);
    return mesh;
}

} // namespace pliant
