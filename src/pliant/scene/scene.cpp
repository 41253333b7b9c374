#include "pliant/scene/scene.hpp"

#include "pliant/core/hash.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/scene/animation.hpp"
#include "pliant/scene/layers.hpp"
#include "pliant/scene/schema.hpp"
#include "pliant/scene/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

constexpr Real max_steps = 1e9; ///< a run of more steps is a mistake in the units

std::vector<std::string> names_of(const Value& map)
{
    std::vector<std::string> names;
    for (const Value::Entry& e : map.entries) names.push_back(e.key);
    return names;
}

std::optional<Eigen::AlignedBox<Real, 3>> box_of(const Value* box, const std::string& path)
{
    if (!box) return {};
    const Vec3 low = box->at("min").vec3(), high = box->at("max").vec3();
    if ((low.array() > high.array()).any()) fail(box->mark, path + " is empty: min is greater than max");
    return Eigen::AlignedBox<Real, 3>(low, high);
}

void check_time(Scene& scene)
{
    const Value& time = scene.document.at("time");
    scene.step = time.at("step").real();
    scene.end = time.at("end").real();
    scene.fps = time.at("fps").real();
    if (scene.end / scene.step > max_steps)
        fail(time.at("end").mark, "time.end is more than a billion steps away; is a unit missing?");
}

/// The value of an option's key; all of them have a default.
const Value& option_value(const Value& document, std::string_view path)
{
    const Value* value = &document;
    while (!path.empty()) {
        const std::size_t n = std::min(path.find('.'), path.size());
        value = &value->at(path.substr(0, n));
        path.remove_prefix(std::min(n + 1, path.size()));
    }
    return *value;
}

void check_method(Scene& scene)
{
    const MethodInfo& method = method_info(scene.document.at("contact").at("method").scalar);
    scene.method.method = method.name;
    scene.method.own = method.default_options();
    for (const MethodOption& option : method.options) {
        const Value& value = option_value(scene.document, option.path);
        const bool number = option.kind == OptionKind::number || option.kind == OptionKind::integer;
        option.set(scene.method.own, {number ? value.real() : 0, value.scalar});
    }
    for (const MethodInfo& other : methods())
        for (const MethodOption& option : other.options) {
            const auto same = [&](const MethodOption& own) { return own.path == option.path; };
            if (option.elsewhere != Elsewhere::refused || std::ranges::any_of(method.options, same)) continue;
            assert(option.kind == OptionKind::choice); // of a number, equal values may have other texts
            const Value& value = option_value(scene.document, option.path);
            if (value.scalar == option.fallback) continue;
            fail(value.mark, fmt::format("{} can be chosen with contact.method {} only; {} has its own", option.path,
                                         other.name, method.name));
        }
}

void check_name(const Value& name, const Value& bodies)
{
    if (bodies.has(name.scalar)) return;
    fail(name.mark, "unknown body '" + name.scalar + "'" + did_you_mean(name.scalar, names_of(bodies)));
}

void check_motion(const Value& motion, const std::string& path)
{
    const std::vector<Value>& keyframes = motion.at("keyframes").items;
    if (keyframes.empty()) fail(motion.at("keyframes").mark, path + ".keyframes is empty");
    for (std::size_t i = 1; i < keyframes.size(); ++i)
        if (!(keyframes[i].at("time").real() > keyframes[i - 1].at("time").real()))
            fail(keyframes[i].at("time").mark, path + ".keyframes must have increasing times");
}

void check_pins(const Value& body, const std::string& path)
{
    const Value* pins = body.find("pin");
    if (!pins) return;
    for (const Value& pin : pins->items) {
        if (!pin.has("box") && !pin.has("vertices") && !pin.has("sides"))
            fail(pin.mark, path + ".pin needs a box or vertices");
        box_of(pin.find("box"), path + ".pin.box");
        if (const Value* motion = pin.find("motion")) check_motion(*motion, path + ".pin.motion");
    }
}

void check_plane(const Value& plane, const std::string& path)
{
    const int axes = plane.has("x") + plane.has("y") + plane.has("z");
    const bool general = plane.has("normal") || plane.has("point");
    if (axes + general != 1 || plane.has("normal") != plane.has("point"))
        fail(plane.mark, path + " takes one of x, y or z, or a normal and a point");
    if (general && plane.at("normal").vec3().norm() == 0) fail(plane.at("normal").mark, path + ".normal is zero");
}

/// `fallback`: what the key may say after all, because everybody has it.
void forbid(const Value& body, const char* key, const std::string& path, const std::string& why,
            const std::string& fallback = "")
{
    const auto entry =
        std::find_if(body.entries.begin(), body.entries.end(), [&](const Value::Entry& e) { return e.key == key; });
    if (entry != body.entries.end() && (fallback.empty() || entry->value.scalar != fallback))
        fail(entry->mark, path + "." + key + ": " + why);
}

void check_sequence(const Value& body, const Value& sequence, const std::string& path)
{
    const bool cache = sequence.has("cache");
    if (sequence.has("files") == cache || sequence.has("mesh") != cache)
        fail(sequence.mark, path + ".obstacle.sequence takes files, or a mesh and its cache");
    if (const Value* files = sequence.find("files"); files && files->is_list() && files->items.empty())
        fail(files->mark, path + ".obstacle.sequence.files is empty");
    forbid(body, "motion", path, "its sequence moves it already");
}

void check_obstacle(const Value& body, const std::string& path)
{
    const Value& obstacle = body.at("obstacle");
    forbid(body, "material", path, "an obstacle has no material");
    forbid(body, "mesh", path, "the mesh of an obstacle stands inside 'obstacle'");
    forbid(body, "pin", path, "an obstacle is moved by 'motion', it has no pins");
    forbid(body, "embed", path, "an obstacle is not embedded");
    forbid(body, "lattice", path, "an obstacle does not deform");
    forbid(body, "scatter", path, "an obstacle starts where it is placed");
    for (const char* key : {"velocity", "spin"})
        if (body.at(key).vec3().norm() > 0)
            fail(body.at(key).mark, path + "." + key + ": an obstacle moves by its 'motion' only");
    forbid(body, "rest", path, "an obstacle has no rest shape of its own", "mesh");
    if (const Value* sequence = obstacle.find("sequence")) check_sequence(body, *sequence, path);
    if (body.has("skeleton")) {
        if (!obstacle.has("mesh"))
            fail(body.at("skeleton").mark,
                 path + ".skeleton moves a mesh, not a " + (obstacle.has("plane") ? "plane" : "sequence"));
        forbid(body, "motion", path, "its skeleton moves it already");
    }
    if (const Value* plane = obstacle.find("plane")) {
        check_plane(*plane, path + ".obstacle.plane");
        forbid(body, "copies", path, "a plane is not copied");
    }
}

void check_material(const Value& body, const Value& document, const std::string& path)
{
    if (!body.has("material")) fail(body.mark, path + " needs a material and a mesh, or an obstacle");
    if (!body.has("mesh")) fail(body.mark, "missing key 'mesh' in " + path);
    forbid(body, "skeleton", path, "only an obstacle has a skeleton");
    const Value &name = body.at("material"), &materials = document.at("materials");
    const Value* material = materials.find(name.scalar);
    if (!material)
        fail(name.mark, "unknown material '" + name.scalar + "'" + did_you_mean(name.scalar, names_of(materials)));
    const std::string& type = material->at("type").scalar;
    if (type != "solid") forbid(body, "embed", path, "only a solid is embedded, but '" + name.scalar + "' is " + type);
    if (type != "lattice")
        forbid(body, "lattice", path,
               "only a body whose material is a lattice has one, but '" + name.scalar + "' is " + type);
    if (const Value* lattice = body.find("lattice"); lattice && lattice->has("cells") && lattice->has("size"))
        fail(lattice->at("size").mark, path + ".lattice takes cells or size, not both");
    if (type != "cloth") {
        forbid(body, "rest", path, "only cloth can be at rest in its texture, but '" + name.scalar + "' is " + type,
               "mesh");
        if (body.at("mesh").has("garment"))
            fail(body.at("mesh").mark,
                 path + ".mesh: a garment is made of cloth, but '" + name.scalar + "' is " + type);
    }
    if (type == "rigid") forbid(body, "pin", path, "a rigid body has no vertices of its own to pin");
    const Value* pins = body.find("pin");
    if (!pins || pins->items.empty())
        forbid(body, "motion", path, "a motion moves pins or an obstacle, but there is no pin");
}

void check_bodies(const Scene& scene)
{
    const Value& bodies = scene.document.at("bodies");
    if (bodies.entries.empty()) fail(bodies.mark, "bodies is empty");
    for (const Value::Entry& e : bodies.entries) {
        const std::string path = "bodies." + e.key;
        if (e.value.has("obstacle"))
            check_obstacle(e.value, path);
        else
            check_material(e.value, scene.document, path);
        check_pins(e.value, path);
        if (const Value* motion = e.value.find("motion")) check_motion(*motion, path + ".motion");
        if (const Value* copies = e.value.find("copies"))
            if (const Value* random = copies->find("random")) box_of(&random->at("box"), path + ".copies.random.box");
    }
    if (const Value* friction = scene.document.find("friction"))
        for (const Value& pair : friction->items)
            for (const Value& name : pair.at("between").items) check_name(name, bodies);
    if (const Value* pairs = scene.document.find("no-contact"))
        for (const Value& pair : pairs->items)
            for (const Value& name : pair.items) check_name(name, bodies);
}

namespace fs = std::filesystem;

/// A file name is relative to the file in which it is written.
fs::path path_of(const Value& file)
{
    return (file.mark.line > 0 ? fs::path(*file.mark.file).parent_path() : fs::path()) / file.scalar;
}

/// Names that stand for several files become all of them.
void expand_sequences(Value& body)
{
    Value* obstacle = body.find("obstacle");
    Value* sequence = obstacle ? obstacle->find("sequence") : nullptr;
    Value* files = sequence ? sequence->find("files") : nullptr;
    if (!files) return;
    std::vector<Value> found;
    for (const Value& name : files->items) {
        const fs::path pattern = path_of(name), folder = fs::path(name.scalar).parent_path();
        const std::vector<fs::path> paths = expand_files(pattern);
        if (paths.empty()) fail(name.mark, "no file is called like '" + pattern.string() + "'");
        for (const fs::path& path : paths) // relative, as those that are written out
            found.push_back(make_scalar((folder / path.filename()).string(), name.mark));
    }
    *files = make_list(std::move(found), files->mark);
}

/// The names of mesh files that a body has.
std::vector<Value*> file_names(Value& body)
{
    std::vector<Value*> names;
    Value* obstacle = body.find("obstacle");
    if (Value* mesh = (obstacle ? *obstacle : body).find("mesh"))
        if (Value* file = mesh->find("file")) names.push_back(file);
    if (Value* sequence = obstacle ? obstacle->find("sequence") : nullptr) {
        if (Value* files = sequence->find("files"))
            for (Value& file : files->items) names.push_back(&file);
        for (const char* key : {"mesh", "cache"})
            if (Value* file = sequence->find(key)) names.push_back(file);
    }
    return names;
}

/// The resolved scene holds the paths of files from here.
void find_files(Scene& scene)
{
    for (Value::Entry& e : scene.document.find("bodies")->entries) {
        expand_sequences(e.value);
        for (Value* file : file_names(e.value)) {
            const fs::path path = path_of(*file);
            std::error_code status;
            if (!fs::is_regular_file(path, status))
                fail(file->mark, "cannot find the mesh file '" + path.string() + "'");
            Hash hash;
            const std::string bytes = read_file(path);
            hash.bytes(bytes.data(), bytes.size());
            const std::string digest = fmt::format("{:016x}-", hash.value());
            std::string name = path.filename().string();
            if (name.starts_with(digest)) name.erase(0, digest.size()); // already a copy in a run directory
            scene.files.push_back({path, "meshes/" + digest + name});
            file->scalar = path.string();
        }
    }
}

Expectation read_expectation(const Value& expect, const std::string& path)
{
    Expectation e;
    if (const Value* v = expect.find("intersections")) e.intersections = v->integer();
    if (const Value* v = expect.find("penetration")) e.penetration = v->real();
    if (const Value* v = expect.find("at-rest-by")) e.at_rest_by = v->real();
    if (const Value* v = expect.find("rest-speed")) e.rest_speed = v->real();
    if (const Value* v = expect.find("contacts")) e.contacts = v->integer();
    if (const Value* v = expect.find("layers")) e.layers = v->integer();
    if (const Value* v = expect.find("sewn")) e.sewn = v->boolean();
    if (const Value* v = expect.find("strain-excess")) e.strain_excess = v->real();
    if (const Value* v = expect.find("rounds")) e.rounds = {v->at("most").integer(), v->at("part").real()};
    if (const Value* v = expect.find("overlap")) e.overlap = v->real();
    if (const Value* v = expect.find("final-overlap")) e.final_overlap = v->real();
    if (const Value* v = expect.find("energy-gain")) e.energy_gain = v->real();
    e.bounds = box_of(expect.find("bounds"), path + ".bounds");
    return e;
}

/// What a run with the scene's method must show.
void check_expectations(Scene& scene)
{
    const Value& expect = scene.document.at("expect");
    scene.expect = read_expectation(expect, "expect");
    const Value* by_method = expect.find("methods");
    if (!by_method) return;
    for (const Value::Entry& e : by_method->entries) {
        if (!find_method(e.key))
            fail(e.mark, "unknown method '" + e.key + "' in expect.methods; the methods are " +
                             join_or(method_names()) + did_you_mean(e.key, method_names()));
        const Expectation own = read_expectation(e.value, "expect.methods." + e.key);
        if (e.key == scene.method.method) scene.expect = own;
    }
}

Scene finish(Value document, const std::string& path, const std::vector<std::string>& overrides)
{
    for (const std::string& o : overrides) apply_override(document, o);
    validate(document);
    Scene scene;
    scene.path = path;
    scene.document = std::move(document);
    scene.title = scene.document.at("title").scalar;
    if (const Value* about = scene.document.find("about")) scene.about = about->scalar;
    scene.z_up = scene.document.at("up").scalar == "z";
    const Value& gravity = scene.document.at("gravity");
    scene.gravity = gravity.is_list() ? gravity.vec3() : scene.z_up ? Vec3(0, 0, -9.81) : Vec3(0, -9.81, 0);
    check_time(scene);
    check_bodies(scene);
    find_files(scene);
    check_method(scene);
    check_expectations(scene);
    return scene;
}

} // namespace

std::int64_t Scene::step_count() const
{
    // An end that is a whole number of steps up to rounding must not gain one more.
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(end / step * (1 - 1e-12) - 1e-9)));
}

Scene load_scene(const std::filesystem::path& path, const std::vector<std::string>& overrides)
{
    return finish(read_layers(path), path.string(), overrides);
}

Scene parse_scene(const std::string& text, const std::string& name, const std::vector<std::string>& overrides)
{
    return finish(read_layers(text, name), name, overrides);
}

std::string to_yaml(const Scene& scene)
{
    Value document = scene.document;
    std::size_t next = 0; // files are in the order of the bodies
    for (Value::Entry& e : document.find("bodies")->entries)
        for (Value* file : file_names(e.value)) file->scalar = scene.files[next++].stored;
    return to_yaml(document);
}

} // namespace pliant
