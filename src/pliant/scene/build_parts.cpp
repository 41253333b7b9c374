#include "pliant/scene/build_parts.hpp"

#include "pliant/mesh/embed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace pliant {

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
    return {m.at("density").real(), m.at("young").real(), m.at("poisson").real(),
            m.at("damping").real(), m.at("drag").real(),  m.at("model").scalar};
}

LatticeMaterial lattice_material(const Value& m)
{
    LatticeMaterial l;
    l.model = m.at("model").scalar == "shape-matching" ? LatticeModel::shape_matching : LatticeModel::springs;
    l.density = m.at("density").real();
    l.areal_density = m.at("areal-density").real();
    l.drag = m.at("drag").real();
    l.young = m.at("young").real();
    l.damping = m.at("damping").real();
    l.width = static_cast<Index>(m.at("width").integer());
    l.rigidity = m.at("rigidity").real();
    l.region_damping = m.at("region-damping").real();
    return l;
}

void turn_to_z(Vec3s& vertices)
{
    for (Vec3& x : vertices) x = Vec3(x.x(), -x.z(), x.y());
}

void put_in_lattice(const std::string& name, const Value& body, const Value& mesh, Piece& piece)
{
    if (piece.shape.has_tets())
        fail(mesh.mark, "bodies." + name + ": a lattice carries a triangle mesh, not a tetrahedral one");
    LatticeOptions options;
    const Value* wanted = body.find("lattice");
    if (wanted) {
        if (const Value* cells = wanted->find("cells")) options.cells = static_cast<Index>(cells->integer());
        if (const Value* size = wanted->find("size")) options.cell_size = size->real();
        options.filled = wanted->at("fill").boolean();
    }
    const TriangleMesh& surface = std::get<TriangleMesh>(piece.shape.shape);
    const Mark& mark = wanted ? wanted->mark : mesh.mark;
    if (const Real cells = lattice_grid_cells(surface, options); !(cells <= max_elements))
        fail(mark, "bodies." + name + ".lattice needs a grid of about " + fmt::format("{:.3g}", cells) +
                       " cells; the limit is " + fmt::format("{:.3g}", max_elements) +
                       ": ask for fewer or larger cells");
    try {
        piece.lattice = std::make_shared<LatticeMesh>(make_lattice(surface, options, "bodies." + name));
    } catch (const Error& e) {
        fail(mark, e.what());
    }
}

void embed_piece(const std::string& name, const Value& options, const Value& mesh, Piece& piece)
{
    if (piece.shape.has_tets()) fail(options.mark, "bodies." + name + ".embed: the mesh is made of tetrahedra already");
    const TriangleMesh& surface = std::get<TriangleMesh>(piece.shape.shape);
    EmbedOptions embed_options;
    if (const Value* cells = options.find("cells")) embed_options.cells = static_cast<Index>(cells->integer());
    if (const Value* size = options.find("size")) embed_options.cell_size = size->real();
    Eigen::AlignedBox<Real, 3> box;
    for (const Vec3& x : surface.vertices) box.extend(x);
    const Real cell =
        embed_options.cell_size > 0 ? embed_options.cell_size : box.sizes().maxCoeff() / embed_options.cells;
    const Real tets = 6 * (box.sizes() / cell).cwiseMax(1).prod();
    if (!(tets <= max_elements))
        fail(options.mark, "bodies." + name + ".embed needs about " + fmt::format("{:.3g}", tets) +
                               " tetrahedra; the limit is " + fmt::format("{:.3g}", max_elements));
    try {
        piece.embedded = embed(surface, embed_options, "bodies." + name);
    } catch (const Error& e) {
        fail(mesh.mark, e.what());
    }
}

namespace {

/// Selected particles of one pin entry, sorted. Vertices are scaled already, the box is not.
std::vector<Index> select(const Value& pin, const Vec3s& vertices, Real scale, const std::string& path)
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
            if (inside.contains(vertices[v] / scale)) selected.push_back(v);
    }
    std::sort(selected.begin(), selected.end());
    selected.erase(std::unique(selected.begin(), selected.end()), selected.end());
    return selected;
}

/// Adds the vertices of sides of a garment to the last selection.
void select_sides(const Value& body, const Value& sides, Piece& piece, const std::string& path)
{
    if (!piece.shape.garment) fail(sides.mark, path + ".sides: only a garment has sides");
    const Pattern pattern = garment_pattern(body.at("mesh").at("garment"));
    std::vector<Index>& selected = piece.pins.back();
    for (const Value& name : sides.items) {
        const SideNumber s = find_side(pattern, name);
        const std::vector<Index>& side = piece.shape.garment->sides[s.panel][s.side];
        selected.insert(selected.end(), side.begin(), side.end());
    }
    std::sort(selected.begin(), selected.end());
    selected.erase(std::unique(selected.begin(), selected.end()), selected.end());
}

} // namespace

void select_pins(const std::string& name, const Value& body, Real scale, std::vector<Piece>& pieces)
{
    const Value* pins = body.find("pin");
    if (!pins) return;
    const std::string path = "bodies." + name + ".pin";
    for (const Value& pin : pins->items) {
        std::size_t selected = 0;
        for (Piece& piece : pieces) {
            const Vec3s& x = piece.embedded         ? piece.embedded->tets.vertices
                             : piece.lattice        ? piece.lattice->nodes
                             : !piece.start.empty() ? piece.start
                                                    : piece.shape.vertices();
            piece.pins.push_back(select(pin, x, scale, path));
            if (const Value* sides = pin.find("sides")) select_sides(body, *sides, piece, path);
            selected += piece.pins.back().size();
        }
        if (selected == 0) fail(pin.mark, path + " selects no vertex");
    }
}

void set_trim(const GarmentTrim& trim, const Garment& garment, BodyOptions& options)
{
    options.stiffness_factor.assign(garment.start.size(), 1);
    for (const SideNumber& s : trim.hems)
        for (const Index v : garment.sides[s.panel][s.side]) options.stiffness_factor[v] = 2;
    for (const GarmentTrim::Band& band : trim.bands) {
        const std::vector<Index>& side = garment.sides[band.side.panel][band.side.side];
        for (std::size_t i = 0; i + 1 < side.size(); ++i)
            options.shortened.push_back({Edge{side[i], side[i + 1]}, band.length});
    }
}

} // namespace pliant
