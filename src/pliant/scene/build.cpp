#include "pliant/core/random.hpp"
#include "pliant/mesh/embed.hpp"
#include "pliant/mesh/lattice.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/methods/start.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/scene/animation.hpp"
#include "pliant/scene/build_parts.hpp"
#include "pliant/scene/copies.hpp"
#include "pliant/scene/garment_start.hpp"
#include "pliant/scene/garments.hpp"
#include "pliant/scene/meshes.hpp"
#include "pliant/scene/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>

namespace pliant {
namespace {

constexpr Real smallest_size = 1e-30, largest_size = 1e30; ///< [m]; beyond, inertias leave the range of numbers

class SceneBuilder {
public:
    explicit SceneBuilder(const Scene& scene) : scene_(scene), document_(scene.document) {}

    World build()
    {
        check_size();
        builder_.set_gravity(scene_.gravity);
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
        if (promise_of(scene_.method).no_crossing) {
            fit_gaps(world);
            open_touching(world);
            check_panels(world);
        }
        return world;
    }

private:
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
            const Value* obstacle = e.value.find("obstacle");
            const Value* sequence = obstacle ? obstacle->find("sequence") : nullptr;
            if (!mesh && !sequence) continue;
            const Real copies = copy_count(e.value.find("copies"));
            total += (mesh ? estimate_elements(*mesh) : estimate_sequence(*sequence)) * copies;
            if (!(total <= max_elements))
                fail(mesh ? mesh->mark : sequence->mark, "bodies." + e.key + " brings the scene to about " +
                                                             fmt::format("{:.3g}", total) + " elements; the limit is " +
                                                             fmt::format("{:.3g}", max_elements));
        }
    }

    std::vector<Piece> make_pieces(const std::string& name, const Value& body, const Value& mesh) const
    {
        const Real scale = body.at("place").at("scale").real();
        std::vector<Piece> pieces;
        const MeshUse use = is_of(body, "solid")     ? MeshUse::solid
                            : is_of(body, "lattice") ? MeshUse::lattice
                                                     : MeshUse::surface;
        for (BodyMesh& shape : make_meshes(mesh, use)) {
            Piece piece{std::move(shape), {}, {}, {}, {}};
            if (scene_.z_up && piece.shape.generated) turn_to_z(piece.shape.vertices());
            for (Vec3& x : piece.shape.vertices()) x *= scale;
            if (const auto& garment = piece.shape.garment) {
                piece.start = garment->start;
                for (Vec3& x : piece.start) x *= scale;
            }
            if (const Value* embed_options = body.find("embed")) embed_piece(name, *embed_options, mesh, piece);
            if (is_of(body, "lattice")) put_in_lattice(name, body, mesh, piece);
            pieces.push_back(std::move(piece));
        }
        if (pieces.empty()) fail(mesh.mark, "the mesh of bodies." + name + " is empty");
        select_pins(name, body, scale, pieces);
        return pieces;
    }

    /// Whether its material is of a type.
    bool is_of(const Value& body, std::string_view type) const
    {
        const Value* material = body.find("material");
        return material && document_.at("materials").at(material->scalar).at("type").scalar == type;
    }

    void add(const std::string& name, const Value& body)
    {
        BodyOptions options;
        options.velocity = body.at("velocity").vec3();
        options.angular_velocity = body.at("spin").vec3();
        options.gap = length_or_auto(body.at("gap"));
        if (!options.gap) options.gap = length_or_auto(document_.at("contact").at("gap"));
        if (const Value* obstacle = body.find("obstacle"); obstacle && obstacle->has("sequence")) {
            add_sequence(name, body, options);
            return;
        }
        const Value* mesh = mesh_of(body);
        if (!mesh) {
            add_plane(name, body, options);
            return;
        }
        const std::vector<Piece> pieces = make_pieces(name, body, *mesh);
        Real radius = 0;
        for (const Piece& piece : pieces)
            for (const Vec3& x : piece.shape.vertices()) radius = std::max(radius, x.stableNorm());
        if (!(radius > smallest_size && radius < largest_size))
            fail(mesh->mark,
                 "bodies." + name + " measures " + fmt::format("{:.3g}", radius) + " m, which is out of reach");
        const std::vector<Pose> poses =
            copy_poses(body.find("copies"), place_of(body), radius, scene_.z_up ? Vec3::UnitZ() : Vec3::UnitY());
        const bool numbered = body.has("copies") || pieces.size() > 1;
        const Value* scatter = body.find("scatter");
        const BodyOptions all = options;
        Random random(scatter ? static_cast<std::uint64_t>(scatter->at("seed").integer()) : 0);
        for (const Pose& pose : poses)
            for (const Piece& piece : pieces) {
                std::vector<Index>& numbers = numbers_[name];
                options.name = numbered ? name + "#" + std::to_string(numbers.size() + 1) : name;
                options.place = pose;
                options.velocity = all.velocity;
                options.angular_velocity = all.angular_velocity;
                if (scatter) set_scatter(*scatter, piece, random, options);
                set_motions(body, piece.pins, options);
                options.start = piece.start;
                if (const Value* skeleton = body.find("skeleton"))
                    options.vertex_motion = skeleton_motion(*skeleton, body, piece, pose);
                numbers.push_back(add_one(name, body, *mesh, piece, options));
            }
    }

    static void set_scatter(const Value& scatter, const Piece& piece, Random& random, BodyOptions& options)
    {
        if (scatter.at("turn").boolean()) {
            Eigen::AlignedBox<Real, 3> box;
            for (const Vec3& x : piece.shape.vertices()) box.extend(x);
            const Quat turn = random.rotation();
            const Pose about_middle = {box.center() - turn * box.center(), turn};
            options.place = {options.place(about_middle.translation), options.place.rotation * turn};
        }
        const Vec3 axis = random.on_sphere(), way = random.on_sphere(); // drawn also where there is nothing to add
        options.angular_velocity += scatter.at("spin").real() * random.uniform() * axis;
        options.velocity += scatter.at("speed").real() * random.uniform() * way;
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
        options.place = place_of(body);
        set_motions(body, {}, options);
        numbers_[name].push_back(builder_.add_plane(plane, options));
    }

    /// Each copy has its own.
    void add_sequence(const std::string& name, const Value& body, BodyOptions& options)
    {
        const Value& sequence = body.at("obstacle").at("sequence");
        const MeshSequence read = read_sequence(sequence, body.at("place").at("scale").real());
        Real radius = 0;
        for (const Vec3& x : read.mesh.vertices) radius = std::max(radius, x.stableNorm());
        for (const Pose& pose :
             copy_poses(body.find("copies"), place_of(body), radius, scene_.z_up ? Vec3::UnitZ() : Vec3::UnitY())) {
            std::vector<Index>& numbers = numbers_[name];
            options.name = body.has("copies") ? name + "#" + std::to_string(numbers.size() + 1) : name;
            std::vector<Vec3s> frames = read.frames;
            for (Vec3s& frame : frames)
                for (Vec3& x : frame) x = pose(x);
            options.vertex_motion = std::make_shared<SequenceMotion>(std::move(frames), read.timing);
            numbers.push_back(builder_.add_obstacle(read.mesh, options));
        }
    }

    /// Bones are given as the generator made the mesh, which `up: z` has turned since.
    std::shared_ptr<const VertexMotion> skeleton_motion(const Value& skeleton, const Value& body, const Piece& piece,
                                                        const Pose& place) const
    {
        TriangleMesh mesh = surface_of(piece.shape);
        Pose upright = place;
        if (scene_.z_up && piece.shape.generated) {
            const Quat turn = rotation_xyz({std::numbers::pi / 2, 0, 0});
            for (Vec3& x : mesh.vertices) x = Vec3(x.x(), x.z(), -x.y());
            upright.rotation = place.rotation * turn;
        }
        return make_skeleton(skeleton, mesh, body.at("place").at("scale").real(), upright);
    }

    /// Scripts turn about the body's place unless they say otherwise, so each copy has its own.
    void set_motions(const Value& body, const std::vector<std::vector<Index>>& pins, BodyOptions& options)
    {
        const Value* motion = body.find("motion");
        const Vec3& place = options.place.translation;
        if (motion) options.motion = motion_of(*motion, place);
        options.pin_groups.clear();
        for (std::size_t i = 0; i < pins.size(); ++i) {
            const Value& pin = body.at("pin").items[i];
            const Value* own = pin.find("motion");
            options.pin_groups.push_back({pins[i], own ? motion_of(*own, place) : options.motion, leader_of(pin)});
        }
    }

    /// The obstacle that a pin follows, or none.
    Index leader_of(const Value& pin) const
    {
        const Value* follow = pin.find("follow");
        if (!follow) return none;
        const auto found = numbers_.find(follow->scalar);
        if (found == numbers_.end())
            fail(follow->mark,
                 "a pin follows an obstacle that stands before it, but there is no '" + follow->scalar + "' yet");
        const Index leader = found->second.front();
        if (!builder_.is_obstacle(leader)) fail(follow->mark, "'" + follow->scalar + "' is not an obstacle");
        return leader;
    }

    Index add_one(const std::string& name, const Value& body, const Value& mesh, const Piece& piece,
                  const BodyOptions& options)
    {
        const BodyMesh& shape = piece.shape;
        if (body.has("obstacle")) {
            return builder_.add_obstacle(surface_of(shape), options);
        }
        const Value& material = document_.at("materials").at(body.at("material").scalar);
        const std::string& type = material.at("type").scalar;
        if (type == "rigid") return builder_.add_rigid(surface_of(shape), {material.at("density").real()}, options);
        if (type == "cloth") {
            if (shape.has_tets())
                fail(mesh.mark, "bodies." + name + ": cloth needs a triangle mesh, not a tetrahedral one");
            return add_cloth(name, body, mesh, shape, options);
        }
        if (piece.lattice) return builder_.add_lattice(piece.lattice, lattice_material(material), options);
        if (piece.embedded) return builder_.add_solid(*piece.embedded, solid_material(material), options);
        if (!shape.has_tets())
            fail(mesh.mark, "bodies." + name + ": a solid needs tetrahedra; take a tet- mesh, or add 'embed'");
        return builder_.add_solid(std::get<TetMesh>(shape.shape), solid_material(material), options);
    }

    Index add_cloth(const std::string& name, const Value& body, const Value& mesh, const BodyMesh& shape,
                    BodyOptions options)
    {
        const TriangleMesh& surface = std::get<TriangleMesh>(shape.shape);
        const ClothMaterial material = cloth_material(document_.at("materials").at(body.at("material").scalar));
        if (body.at("rest").scalar == "texture") {
            if (surface.texture.empty())
                fail(body.at("rest").mark, "bodies." + name + ".rest: the mesh has no texture coordinates");
            const Real least = texture_scale(surface);
            if (!(least > 0)) fail(mesh.mark, "bodies." + name + ".rest: the texture of the mesh has no area");
            const Value& scale = body.at("texture-scale");
            options.texture_scale = scale.scalar == "auto" ? least : scale.real();
        }
        if (!shape.garment) return builder_.add_cloth(surface, material, options, shape.grid);
        const Value& garment = mesh.at("garment");
        const Pattern pattern = garment_pattern(garment);
        set_trim(garment_trim(garment, pattern), *shape.garment, options);
        const Index number = builder_.add_cloth(surface, material, options);
        const Value& thread = garment.at("thread");
        const Real force = thread.scalar == "auto" ? 0.1 * material.stretch * pattern.edge : thread.real();
        for (const GarmentSeam& seam : shape.garment->seams)
            builder_.add_seam(seam.name, number, seam.pairs, force, garment.at("pull").real());
        PlacedGarment& placed = garments_.emplace_back(PlacedGarment{number, shape.garment, {}});
        for (const Panel& panel : pattern.panels) placed.panels.push_back(panel.name);
        return number;
    }

    void check_panels(const World& world) const
    {
        if (garments_.empty()) return;
        try {
            require_free_panels(world, garments_);
        } catch (const Error& e) {
            fail(document_.at("bodies").mark, e.what());
        }
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
        const std::string refusal = describe_refusal(method_info(scene_.method.method), world.model);
        if (refusal.empty()) return;
        fail(document_.at("contact").at("method").mark, "contact.method '" + scene_.method.method + "' " + refusal);
    }

    const Scene& scene_;
    const Value& document_;
    WorldBuilder builder_;
    std::map<std::string, std::vector<Index>> numbers_; ///< bodies of each scene name
    std::vector<PlacedGarment> garments_;
};

} // namespace

World build_world(const Scene& scene)
{
    return SceneBuilder(scene).build();
}

} // namespace pliant
