#include "pliant/mesh/topology.hpp"
#include "pliant/scene/copies.hpp"
#include "pliant/scene/meshes.hpp"
#include "pliant/scene/scene.hpp"
#include "pliant/scene/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>

namespace pliant {
namespace {

constexpr Real smallest_size = 1e-30, largest_size = 1e30; ///< [m]; beyond, inertias leave the range of numbers

Vec3 radians(const Value& degrees)
{
    return degrees.vec3() * (std::numbers::pi / 180);
}

Pose place_of(const Value& body)
{
    const Value& place = body.at("place");
    return {place.at("at").vec3(), rotation_xyz(radians(place.at("turn")))};
}

std::optional<Real> length_or_auto(const Value& value)
{
    if (value.scalar == "auto") return {};
    return value.real();
}

Motion motion_of(const Value& motion, const Vec3& place)
{
    std::vector<Keyframe> keyframes;
    for (const Value& k : motion.at("keyframes").items)
        keyframes.push_back({k.at("time").real(), k.at("move").vec3(), radians(k.at("turn"))});
    const Value& pivot = motion.at("pivot");
    return Motion(std::move(keyframes), pivot.is_scalar() ? place : pivot.vec3(), motion.at("ease").scalar == "smooth");
}

ClothMaterial cloth_material(const Value& m)
{
    ClothMaterial c;
    c.density = m.at("density").real();
    c.stretch = m.at("stretch").real();
    c.shear = m.at("shear").real();
    c.bend = m.at("bend").real();
    c.damping = m.at("damping").real();
    c.drag = m.at("drag").real();
    if (m.at("max-strain").scalar != "none") c.max_strain = m.at("max-strain").real();
    return c;
}

SolidMaterial solid_material(const Value& m)
{
    return {m.at("density").real(), m.at("young").real(), m.at("poisson").real(), m.at("damping").real(),
            m.at("drag").real()};
}

/// Selected particles of one pin entry, sorted; in the coordinates of the mesh before `place`.
std::vector<Index> select(const Value& pin, const Vec3s& vertices, const std::string& path)
{
    std::vector<Index> selected;
    if (const Value* list = pin.find("vertices"))
        for (const Value& item : list->items) {
            const std::int64_t v = item.integer();
            if (v >= count(vertices))
                fail(item.mark, path + ".vertices: there is no vertex " + std::to_string(v) + ", the last is " +
                                    std::to_string(count(vertices) - 1));
            selected.push_back(static_cast<Index>(v));
        }
    if (const Value* box = pin.find("box")) {
        const Eigen::AlignedBox<Real, 3> inside(box->at("min").vec3(), box->at("max").vec3());
        for (Index v = 0; v < count(vertices); ++v)
            if (inside.contains(vertices[v])) selected.push_back(v);
    }
    if (selected.empty()) fail(pin.mark, path + " selects no vertex");
    std::sort(selected.begin(), selected.end());
    selected.erase(std::unique(selected.begin(), selected.end()), selected.end());
    return selected;
}

/// `up: z`: what was made with y up is turned about x.
void turn_to_z(Vec3s& vertices)
{
    for (Vec3& x : vertices) x = Vec3(x.x(), -x.z(), x.y());
}

class SceneBuilder {
public:
    explicit SceneBuilder(const Scene& scene) : scene_(scene), document_(scene.document) {}

    World build()
    {
        check_size();
        const Value& gravity = document_.at("gravity");
        builder_.set_gravity(gravity.is_list() ? gravity.vec3() : z_up() ? Vec3(0, 0, -9.81) : Vec3(0, -9.81, 0));
        for (const Value::Entry& e : document_.at("bodies").entries) {
            try {
                add(e.key, e.value);
            } catch (const SceneError&) {
                throw;
            } catch (const Error& error) {
                fail(e.mark, error.what());
            } catch (const std::bad_alloc&) {
                fail(e.mark, "bodies." + e.key + " needs more memory than there is");
            }
        }
        add_pairs();
        World world = builder_.build();
        check_finite(world);
        check_method(world);
        return world;
    }

private:
    bool z_up() const { return document_.at("up").scalar == "z"; }

    static const Value* mesh_of(const Value& body)
    {
        const Value* obstacle = body.find("obstacle");
        return (obstacle ? *obstacle : body).find("mesh");
    }

    /// Refuses absurd sizes before anything is allocated.
    void check_size() const
    {
        Real total = 0;
        for (const Value::Entry& e : document_.at("bodies").entries) {
            const Value* mesh = mesh_of(e.value);
            if (!mesh) continue;
            const Real copies = copy_count(e.value.find("copies"));
            total += estimate_elements(*mesh) * copies;
            if (!(total <= max_elements))
                fail(mesh->mark, "bodies." + e.key + " brings the scene to about " + fmt::format("{:.3g}", total) +
                                     " elements; the limit is " + fmt::format("{:.3g}", max_elements));
        }
    }

    BodyMesh load_mesh(const Value& mesh, const std::string& name) const
    {
        BodyMesh made = make_mesh(mesh);
        if (made.vertices().empty() || (!made.has_tets() && std::get<TriangleMesh>(made.shape).triangles.empty()))
            fail(mesh.mark, "the mesh of bodies." + name + " is empty");
        if (z_up() && made.generated) turn_to_z(made.vertices());
        return made;
    }

    void add(const std::string& name, const Value& body)
    {
        BodyOptions options;
        options.place = place_of(body);
        options.velocity = body.at("velocity").vec3();
        options.angular_velocity = body.at("spin").vec3();
        options.gap = length_or_auto(body.at("gap"));
        if (!options.gap) options.gap = length_or_auto(document_.at("contact").at("gap"));
        const Value* mesh = mesh_of(body);
        if (!mesh) {
            add_plane(name, body, options);
            return;
        }
        BodyMesh shape = load_mesh(*mesh, name);
        if (const Value* pins = body.find("pin"); pins && body.has("material"))
            select_pins(*pins, shape, name, options);
        const Real scale = body.at("place").at("scale").real();
        Real radius = 0;
        for (Vec3& x : shape.vertices()) {
            x *= scale;
            radius = std::max(radius, x.stableNorm());
        }
        if (!(radius > smallest_size && radius < largest_size))
            fail(mesh->mark,
                 "bodies." + name + " measures " + fmt::format("{:.3g}", radius) + " m, which is out of reach");
        const std::vector<Pose> poses = copy_poses(body.find("copies"), options.place, radius);
        for (std::size_t i = 0; i < poses.size(); ++i) {
            options.name = body.has("copies") ? name + "#" + std::to_string(i + 1) : name;
            options.place = poses[i];
            set_motions(body, options);
            const Index id = add_one(name, body, *mesh, shape, options);
            numbers_[name].push_back(id);
        }
    }

    void add_plane(const std::string& name, const Value& body, BodyOptions& options)
    {
        const Value& v = body.at("obstacle").at("plane");
        Plane plane;
        for (int axis = 0; axis < 3; ++axis)
            if (const Value* coordinate = v.find(std::string_view("xyz").substr(static_cast<std::size_t>(axis), 1)))
                plane = {Vec3::Unit(axis), coordinate->real()};
        if (v.has("normal")) {
            plane.normal = v.at("normal").vec3().normalized();
            plane.offset = plane.normal.dot(v.at("point").vec3());
        }
        options.name = name;
        set_motions(body, options);
        numbers_[name].push_back(builder_.add_plane(plane, options));
    }

    void select_pins(const Value& pins, const BodyMesh& shape, const std::string& name, BodyOptions& options) const
    {
        for (const Value& pin : pins.items)
            options.pin_groups.push_back({select(pin, shape.vertices(), "bodies." + name + ".pin"), {}});
    }

    /// Scripts turn about the body's place unless they say otherwise, so each copy has its own.
    void set_motions(const Value& body, BodyOptions& options) const
    {
        const Value* motion = body.find("motion");
        const Vec3& place = options.place.translation;
        if (motion) options.motion = motion_of(*motion, place);
        for (std::size_t i = 0; i < options.pin_groups.size(); ++i) {
            const Value* own = body.at("pin").items[i].find("motion");
            options.pin_groups[i].motion = own ? motion_of(*own, place) : options.motion;
        }
    }

    Index add_one(const std::string& name, const Value& body, const Value& mesh, const BodyMesh& shape,
                  const BodyOptions& options)
    {
        if (body.has("obstacle")) {
            const TriangleMesh surface = surface_of(shape);
            if (!is_closed(surface.triangles))
                fail(mesh.mark, "bodies." + name + ": the mesh of an obstacle must be closed");
            return builder_.add_obstacle(surface, options);
        }
        const Value& material = document_.at("materials").at(body.at("material").scalar);
        const std::string& type = material.at("type").scalar;
        if (type == "rigid") return builder_.add_rigid(surface_of(shape), {material.at("density").real()}, options);
        if (type == "cloth") {
            if (shape.has_tets())
                fail(mesh.mark, "bodies." + name + ": cloth needs a triangle mesh, not a tetrahedral one");
            return builder_.add_cloth(std::get<TriangleMesh>(shape.shape), cloth_material(material), options,
                                      shape.grid);
        }
        if (!shape.has_tets())
            fail(mesh.mark, "bodies." + name + ": a solid needs tetrahedra; take a tet- mesh, or add 'embed'");
        return builder_.add_solid(std::get<TetMesh>(shape.shape), solid_material(material), options);
    }

    void add_pairs()
    {
        FrictionTable table;
        table.value = document_.at("contact").at("friction").real();
        const auto for_each_pair = [&](const Value& names, auto&& visit) {
            for (Index a : numbers_.at(names.items[0].scalar))
                for (Index b : numbers_.at(names.items[1].scalar)) visit(a, b);
        };
        if (const Value* friction = document_.find("friction"))
            for (const Value& pair : friction->items)
                for_each_pair(pair.at("between"), [&](Index a, Index b) {
                    table.exceptions.push_back({a, b, pair.at("value").real()});
                });
        builder_.set_friction(std::move(table));
        if (const Value* excluded = document_.find("no-contact"))
            for (const Value& pair : excluded->items)
                for_each_pair(pair, [&](Index a, Index b) { builder_.exclude_contact(a, b); });
    }

    void check_finite(const World& world) const
    {
        Vec3s positions;
        surface_positions(world.model, world.state, positions);
        const auto report = [&](const std::string& name) {
            const std::string base = name.substr(0, name.find('#'));
            fail(document_.at("bodies").at(base).mark,
                 "body '" + name + "' has a vertex that is not finite; its place is out of reach");
        };
        for (Index v = 0; v < count(positions); ++v)
            if (!positions[v].allFinite()) report(world.model.bodies[world.model.surface.vertex_body[v]].name);
        for (Index b = 0; b < count(world.state.position); ++b)
            if (!world.state.position[b].allFinite() || !world.state.velocity[b].allFinite())
                report(world.model.bodies[world.model.block_body[b]].name);
    }

    void check_method(const World& world) const
    {
        const std::string& method = scene_.method.method;
        for (const Body& body : world.model.bodies) {
            if (can_handle(method, body.kind)) continue;
            std::vector<std::string> able;
            for (const std::string& m : method_names())
                if (can_handle(m, body.kind)) able.push_back(m);
            fail(document_.at("contact").at("method").mark, "contact.method '" + method + "' cannot simulate " +
                                                                to_string(body.kind) + " ('" + body.name +
                                                                "'); methods that can: " + join_or(able));
        }
    }

    const Scene& scene_;
    const Value& document_;
    WorldBuilder builder_;
    std::map<std::string, std::vector<Index>> numbers_; ///< bodies of each scene name
};

} // namespace

World build_world(const Scene& scene)
{
    return SceneBuilder(scene).build();
}

} // namespace pliant
