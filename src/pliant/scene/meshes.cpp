#include "pliant/scene/meshes.hpp"

#include "pliant/mesh/blend.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/mesh/validate.hpp"
#include "pliant/scene/garments.hpp"
#include "pliant/scene/letters.hpp"

#include <cmath>
#include <filesystem>
#include <numbers>

namespace pliant {
namespace {

Real real(const Value& v, const char* key)
{
    return v.at(key).real();
}
/// Counts above what an Index holds were refused by the size estimate before anyone asks.
Index whole(const Value& v, const char* key)
{
    return static_cast<Index>(v.at(key).integer());
}
std::array<Index, 3> whole3(const Value& v, const char* key)
{
    const std::vector<Value>& n = v.at(key).items;
    return {static_cast<Index>(n[0].integer()), static_cast<Index>(n[1].integer()), static_cast<Index>(n[2].integer())};
}
Real radians(Real degrees)
{
    return degrees * std::numbers::pi / 180;
}

BodyMesh make_grid_mesh(const Value& v)
{
    const Vec2 size = v.at("size").vec2();
    const Index nx = static_cast<Index>(v.at("vertices").items[0].integer());
    const Index nz = static_cast<Index>(v.at("vertices").items[1].integer());
    const Diagonals diagonals = v.at("diagonals").scalar == "uniform" ? Diagonals::uniform : Diagonals::alternating;
    return {make_grid(size.x(), size.y(), nx, nz, diagonals), GridShape{nx, nz}};
}

TetSplit split_of(const Value& v)
{
    return v.at("split").scalar == "five" ? TetSplit::five : TetSplit::six;
}

BodyMesh make_turned_mesh(const Value& v)
{
    std::vector<Vec2> profile;
    for (const Value& point : v.at("profile").items) profile.push_back(point.vec2());
    return {make_tet_turned(profile, whole(v, "around"),
                            v.at("core").scalar == "bare" ? TurnedCore::bare : TurnedCore::axis),
            {}};
}

Real box_faces(const Vec3& n)
{
    return 4 * (n.x() * n.y() + n.y() * n.z() + n.z() * n.x());
}

/// Rings of a disc with n vertices on its rim: about n / (2 pi) of them, n / 2 vertices each on average.
Real disc_elements(Real n)
{
    return n * n / (2 * std::numbers::pi) + n;
}

BlendOptions blend_options(const Value& v);

BlendOptions teapot_options(const Value& v)
{
    const Real radius = real(v, "radius");
    return make_teapot(radius, v.at("edge").scalar == "auto" ? radius / 14 : real(v, "edge"));
}

struct Generator {
    std::string_view key;
    Real (*elements)(const Value&);
    BodyMesh (*make)(const Value&);
};

// clang-format off
constexpr Generator generators[] = {
    {"grid", [](const Value& v) { return 2 * v.at("vertices").vec2().prod(); }, make_grid_mesh},
    {"disc", [](const Value& v) { return disc_elements(real(v, "around")); },
     [](const Value& v) -> BodyMesh { return {make_disc(real(v, "radius"), whole(v, "around")), {}}; }},
    {"box", [](const Value& v) { return box_faces(v.at("cells").vec3()); },
     [](const Value& v) -> BodyMesh { return {make_box(v.at("size").vec3(), whole3(v, "cells")), {}}; }},
    {"sphere", [](const Value& v) { return 20 * std::pow(4, real(v, "subdivisions")); },
     [](const Value& v) -> BodyMesh { return {make_sphere(real(v, "radius"), whole(v, "subdivisions")), {}}; }},
    {"cylinder", [](const Value& v) { return 2 * real(v, "around") * real(v, "along") + 2 * disc_elements(real(v, "around")); },
     [](const Value& v) -> BodyMesh { return {make_cylinder(real(v, "radius"), real(v, "height"), whole(v, "around"), whole(v, "along")), {}}; }},
    {"cone", [](const Value& v) { return 2 * real(v, "around") * real(v, "along"); },
     [](const Value& v) -> BodyMesh { return {make_cone(real(v, "bottom"), real(v, "top"), real(v, "height"), whole(v, "around"), whole(v, "along")), {}}; }},
    {"torus", [](const Value& v) { return 2 * real(v, "around") * real(v, "section"); },
     [](const Value& v) -> BodyMesh { return {make_torus(real(v, "ring"), real(v, "tube"), whole(v, "around"), whole(v, "section")), {}}; }},
    {"capsule", [](const Value& v) { return 2 * real(v, "around") * real(v, "along") + 2 * disc_elements(real(v, "around")); },
     [](const Value& v) -> BodyMesh { return {make_capsule(real(v, "radius"), real(v, "length"), whole(v, "around"), whole(v, "along")), {}}; }},
    {"wedge", [](const Value& v) { return box_faces(v.at("cells").vec3()); },
     [](const Value& v) -> BodyMesh { return {make_wedge(real(v, "inner"), real(v, "outer"), radians(real(v, "angle")), real(v, "depth"), whole3(v, "cells")), {}}; }},
    {"teapot", [](const Value& v) { return blend_triangles(teapot_options(v)); },
     [](const Value& v) -> BodyMesh { return {make_blend(teapot_options(v)), {}}; }},
    {"blend", [](const Value& v) { return blend_triangles(blend_options(v)); },
     [](const Value& v) -> BodyMesh { return {make_blend(blend_options(v)), {}}; }},
    {"tet-box", [](const Value& v) { return 6 * v.at("cells").vec3().prod(); },
     [](const Value& v) -> BodyMesh { return {make_tet_box(v.at("size").vec3(), whole3(v, "cells"), split_of(v)), {}}; }},
    {"tet-bar", [](const Value& v) { return 6 * v.at("cells").vec3().prod(); },
     [](const Value& v) -> BodyMesh { return {make_tet_bar(real(v, "length"), real(v, "height"), real(v, "width"), whole3(v, "cells")), {}}; }},
    {"tet-sphere", [](const Value& v) { return 20 * std::pow(real(v, "layers"), 3); },
     [](const Value& v) -> BodyMesh { return {make_tet_sphere(real(v, "radius"), whole(v, "layers")), {}}; }},
    {"tet-torus", [](const Value& v) { return real(v, "around") * 3 * disc_elements(real(v, "section")); },
     [](const Value& v) -> BodyMesh { return {make_tet_torus(real(v, "ring"), real(v, "tube"), whole(v, "around"), whole(v, "section")), {}}; }},
    {"tet-wedge", [](const Value& v) { return 6 * v.at("cells").vec3().prod(); },
     [](const Value& v) -> BodyMesh { return {make_tet_wedge(real(v, "inner"), real(v, "outer"), radians(real(v, "angle")), real(v, "depth"), whole3(v, "cells"), split_of(v)), {}}; }},
    {"tet-turned", [](const Value& v) { return 3 * real(v, "around") * static_cast<Real>(v.at("profile").items.size()); }, make_turned_mesh},
};
// clang-format on

const Generator* generator_of(const Value& mesh)
{
    for (const Generator& g : generators)
        if (mesh.has(g.key)) return &g;
    return nullptr;
}

LetterOptions letter_options(const Value& v)
{
    LetterOptions options;
    options.height = real(v, "height");
    options.depth = real(v, "depth");
    options.edge_length = v.at("edge").scalar == "auto" ? options.height / 12 : real(v, "edge");
    options.spacing = real(v, "spacing");
    options.font = v.at("font").scalar;
    return options;
}

/// A letter is about as wide as high, inked on half of that; its rim is about six heights long.
Real letter_elements(const Value& v)
{
    const LetterOptions o = letter_options(v);
    const Real n = o.height / o.edge_length, depth = o.depth / o.edge_length + 1;
    return static_cast<Real>(v.at("text").scalar.size()) * (2 * n * n + 12 * n * depth + 50);
}

std::vector<BodyMesh> make_letter_meshes(const Value& v)
{
    std::vector<BodyMesh> meshes;
    for (TriangleMesh& letter : make_letters(v.at("text").scalar, letter_options(v)))
        meshes.push_back({std::move(letter), {}, true});
    return meshes;
}

Quat turn_of(const Value& part)
{
    return rotation_xyz(part.at("turn").vec3() * (std::numbers::pi / 180));
}

BlendPart blend_part(const Value& v)
{
    if (const Value* b = v.find("ball")) {
        const Vec3 at = b->at("at").vec3();
        const Real r = real(*b, "radius");
        return {BlendCapsule{at, at, r, r}, 0};
    }
    if (const Value* c = v.find("capsule")) {
        const Real r = real(*c, "radius");
        const Real end = c->at("end-radius").scalar == "auto" ? r : real(*c, "end-radius");
        return {BlendCapsule{c->at("from").vec3(), c->at("to").vec3(), r, end}, 0};
    }
    if (const Value* e = v.find("ellipsoid"))
        return {BlendEllipsoid{e->at("at").vec3(), e->at("radii").vec3(), turn_of(*e)}, 0};
    const Value& b = v.at("box");
    return {BlendBox{b.at("at").vec3(), b.at("size").vec3(), real(b, "round"), turn_of(b)}, 0};
}

/// Its image in the plane x = 0; the shapes themselves are symmetric.
BlendPart mirrored(BlendPart part)
{
    const auto flip = [](Vec3& x) { x.x() = -x.x(); };
    const auto turn = [](Quat& q) { q = Quat(q.w(), q.x(), -q.y(), -q.z()); };
    if (auto* c = std::get_if<BlendCapsule>(&part.shape)) {
        flip(c->from);
        flip(c->to);
    } else if (auto* e = std::get_if<BlendEllipsoid>(&part.shape)) {
        flip(e->at);
        turn(e->turn);
    } else if (auto* b = std::get_if<BlendBox>(&part.shape)) {
        flip(b->at);
        turn(b->turn);
    }
    return part;
}

BlendOptions blend_options(const Value& v)
{
    BlendOptions options;
    options.edge = real(v, "edge");
    options.triangles = whole(v, "triangles");
    if (v.at("shell").scalar != "none") options.shell = real(v, "shell");
    for (const Value& item : v.at("parts").items) {
        const Value& shape = item.entries.front().value;
        BlendPart part = blend_part(item);
        part.melt = shape.has("melt") ? real(shape, "melt") : real(v, "melt");
        options.parts.push_back(part);
        if (shape.at("mirror").boolean()) options.parts.push_back(mirrored(part));
    }
    return options;
}

BodyMesh read_mesh(const Value& file, MeshUse use)
{
    const std::filesystem::path path = file.scalar;
    BodyMesh mesh;
    mesh.generated = false;
    if (use == MeshUse::solid && path.extension() == ".msh") {
        TetMesh tets = read_tet_mesh(path);
        validate(tets, path.string());
        mesh.shape = std::move(tets);
    } else {
        TriangleMesh triangles = read_triangle_mesh(path);
        if (use == MeshUse::lattice) drop_unused_vertices(triangles); // it takes meshes as they are found
        validate(triangles, path.string());
        mesh.shape = std::move(triangles);
    }
    return mesh;
}

Real file_elements(const Value& file)
{
    constexpr Real bytes_per_triangle = 20; // the least of all formats: binary PLY, half a vertex and a face
    std::error_code status;
    const auto bytes = std::filesystem::file_size(file.scalar, status);
    return status ? 0 : static_cast<Real>(bytes) / bytes_per_triangle;
}

} // namespace

Vec3s& BodyMesh::vertices()
{
    return has_tets() ? std::get<TetMesh>(shape).vertices : std::get<TriangleMesh>(shape).vertices;
}

Real estimate_elements(const Value& mesh)
{
    if (const Value* letters = mesh.find("letters")) return letter_elements(*letters);
    if (const Value* file = mesh.find("file")) return file_elements(*file);
    if (const Value* garment = mesh.find("garment")) return garment_triangles(garment_pattern(*garment));
    const Generator* g = generator_of(mesh);
    return g ? g->elements(mesh.at(g->key)) : 0;
}

std::vector<BodyMesh> make_meshes(const Value& mesh, MeshUse use)
{
    if (const Value* letters = mesh.find("letters")) return make_letter_meshes(*letters);
    std::vector<BodyMesh> meshes;
    if (const Value* file = mesh.find("file")) {
        meshes.push_back(read_mesh(*file, use));
        return meshes;
    }
    if (const Value* garment = mesh.find("garment")) {
        auto made = std::make_shared<Garment>(make_garment(garment_pattern(*garment)));
        meshes.push_back({made->flat, {}, false, made});
        return meshes;
    }
    const Generator* g = generator_of(mesh);
    if (!g) fail(mesh.mark, "no generator for this mesh");
    meshes.push_back(g->make(mesh.at(g->key)));
    return meshes;
}

TriangleMesh surface_of(const BodyMesh& mesh)
{
    if (!mesh.has_tets()) return std::get<TriangleMesh>(mesh.shape);
    const TetMesh& tets = std::get<TetMesh>(mesh.shape);
    TriangleMesh surface;
    surface.triangles = boundary_of(tets.tets);
    std::vector<Index> number(tets.vertices.size(), none);
    for (const Triangle& t : surface.triangles)
        for (Index v : t) number[v] = 0;
    for (Index v = 0; v < count(number); ++v) {
        if (number[v] == none) continue;
        number[v] = count(surface.vertices);
        surface.vertices.push_back(tets.vertices[v]);
    }
    for (Triangle& t : surface.triangles)
        for (Index& v : t) v = number[v];
    return surface;
}

} // namespace pliant
