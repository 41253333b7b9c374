#include "pliant/run/run_mesh.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/error.hpp"
#include "pliant/run/array_file.hpp"

#include <cmath>

namespace pliant {
namespace {

constexpr std::uint32_t mesh_version = 2;
constexpr std::size_t body_columns = 11;

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

/// Each body's part follows that of the body before, and together they are `total` items.
bool cover(const std::vector<RunBody>& bodies, Index RunBody::*first, Index RunBody::*size, std::int64_t total)
{
    std::int64_t next = 0;
    for (const RunBody& b : bodies) {
        if (b.*first != next || b.*size < 0) return false;
        next += b.*size;
    }
    return next == total;
}

/// Every number lies in [first, first + size).
bool all_in(const auto& numbers, std::int64_t first, std::int64_t size)
{
    return std::ranges::all_of(numbers, [&](std::int64_t i) { return i >= first && i < first + size; });
}

/// Triangles and tetrahedra stay within their body.
bool parts_are_apart(const RunMesh& mesh)
{
    for (const RunBody& b : mesh.bodies) {
        for (Index t = b.first_triangle; t < b.first_triangle + b.triangle_count; ++t)
            if (!all_in(mesh.triangles[t], b.first_vertex, b.vertex_count)) return false;
        for (Index t = b.first_tet; t < b.first_tet + b.tet_count; ++t)
            if (!all_in(mesh.tets[t], b.first_block, b.block_count)) return false;
    }
    return true;
}

/// A class is named by its first vertex.
bool welds_are_good(const RunMesh& mesh)
{
    if (mesh.weld.empty()) return true;
    if (mesh.weld.size() != mesh.rest.size()) return false;
    for (Index v = 0; v < count(mesh.weld); ++v)
        if (mesh.weld[v] < 0 || mesh.weld[v] > v || mesh.weld[mesh.weld[v]] != mesh.weld[v]) return false;
    return true;
}

bool bodies_are_good(const RunMesh& mesh)
{
    return cover(mesh.bodies, &RunBody::first_vertex, &RunBody::vertex_count, count(mesh.rest)) &&
           cover(mesh.bodies, &RunBody::first_triangle, &RunBody::triangle_count, count(mesh.triangles)) &&
           cover(mesh.bodies, &RunBody::first_block, &RunBody::block_count, mesh.block_count) &&
           cover(mesh.bodies, &RunBody::first_tet, &RunBody::tet_count, count(mesh.tets)) &&
           count(mesh.prescribed) == count(mesh.rest) && welds_are_good(mesh) &&
           all_below(mesh.no_contact, count(mesh.bodies)) && parts_are_apart(mesh);
}

bool map_is_good(const RunMesh& mesh)
{
    const SurfaceMap& m = mesh.map;
    const Index n = count(mesh.rest), blocks = mesh.block_count;
    if (count(m.map_begin) != n + 1 || m.map_begin.front() != 0 || m.map_begin.back() != count(m.map_block) ||
        !std::is_sorted(m.map_begin.begin(), m.map_begin.end()) || m.map_weight.size() != m.map_block.size() ||
        count(m.frame) != n || count(m.local) != n)
        return false;
    if (!all_in(m.map_block, 0, blocks) || !all_in(m.frame_spin, none, std::int64_t(1) + blocks) ||
        !all_in(m.frame, none, std::int64_t(1) + count(m.frame_spin)) || !all_finite(m.local) ||
        !std::all_of(m.map_weight.begin(), m.map_weight.end(), [](Real w) { return std::isfinite(w); }))
        return false;
    if (!all_in(m.moved, 0, n) || std::ranges::adjacent_find(m.moved, std::greater_equal<>()) != m.moved.end())
        return false;
    for (Index v = 0; v < n; ++v) { // only a script moves a vertex without blocks
        const bool in_script = m.frame[v] != none && m.frame_spin[m.frame[v]] == none;
        const bool alone = std::ranges::binary_search(m.moved, v);
        if (m.blocks(v).empty() != (in_script || alone) || (alone && m.frame[v] != none)) return false;
    }
    return true;
}

/// Bodies from their rows in the file. Planes are numbered in the order of the bodies.
bool read_bodies(const std::string& names, const std::vector<Index>& rows, const std::vector<Real>& gaps, RunMesh& mesh)
{
    if (rows.size() != body_columns * gaps.size()) return false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        const std::size_t end = names.find('\n', begin);
        const Index* r = rows.data() + body_columns * i;
        if (end == std::string::npos || r[0] < 0 || r[0] > static_cast<Index>(BodyKind::lattice)) return false;
        const auto kind = static_cast<BodyKind>(r[0]);
        if (r[6] != (kind == BodyKind::plane ? mesh.plane_count++ : none)) return false;
        mesh.bodies.push_back({names.substr(begin, end - begin), kind, r[1], r[2], r[3], r[4], r[5] != 0, gaps[i], r[6],
                               r[7], r[8], r[9], r[10]});
        begin = end + 1;
    }
    return true;
}

} // namespace

RunMesh make_run_mesh(const Model& model)
{
    RunMesh mesh;
    for (const Body& b : model.bodies)
        mesh.bodies.push_back({b.name, b.kind, b.first_vertex, b.vertex_count, b.first_triangle, b.triangle_count,
                               b.closed, b.gap, b.plane ? mesh.plane_count++ : none, b.first_block, b.block_count,
                               b.first_tet, b.tet_count});
    mesh.triangles = model.surface.triangles;
    mesh.rest = model.surface.rest;
    mesh.prescribed = model.surface.prescribed;
    mesh.no_contact = model.no_contact;
    mesh.tets = model.tets;
    mesh.block_count = model.block_count();
    mesh.map = model.surface;
    mesh.weld = model.surface.weld;
    return mesh;
}

void save_mesh(const RunMesh& mesh, const std::filesystem::path& path)
{
    ArrayFile file("mesh", mesh_version);
    std::string names;
    std::vector<Index> rows;
    std::vector<Real> gaps;
    for (const RunBody& b : mesh.bodies) {
        names += b.name + "\n";
        rows.insert(rows.end(),
                    {static_cast<Index>(b.kind), b.first_vertex, b.vertex_count, b.first_triangle, b.triangle_count,
                     b.closed, b.plane, b.first_block, b.block_count, b.first_tet, b.tet_count});
        gaps.push_back(b.gap);
    }
    file.add("body_names", names);
    file.add("bodies", rows, body_columns);
    file.add("body_gaps", gaps);
    file.add("triangles", flatten(mesh.triangles), 3);
    file.add("rest", mesh.rest);
    file.add("prescribed", std::string(mesh.prescribed.begin(), mesh.prescribed.end()));
    file.add("no_contact", flatten(mesh.no_contact), 2);
    file.add("tets", flatten(mesh.tets), 4);
    file.add("map_begin", mesh.map.map_begin);
    file.add("map_blocks", mesh.map.map_block);
    file.add("map_weights", mesh.map.map_weight);
    file.add("vertex_poses", mesh.map.frame);
    file.add("vertex_places", mesh.map.local);
    file.add("pose_spins", mesh.map.frame_spin);
    file.add("block_count", std::vector<Index>{mesh.block_count});
    if (!mesh.weld.empty()) file.add("welds", mesh.weld);
    if (!mesh.map.moved.empty()) file.add("moved_vertices", mesh.map.moved);
    file.save(path);
}

RunMesh load_mesh(const std::filesystem::path& path)
{
    const ArrayFile file = ArrayFile::load(path, "mesh", mesh_version);
    if (file.version() < mesh_version)
        throw Error(path.string() + ": was written by an earlier Pliant, whose runs this one does not read; "
                                    "run the scene again");
    const auto check = [&](bool good) {
        if (!good) throw Error(path.string() + ": its arrays do not fit together");
    };
    RunMesh mesh;
    check(read_bodies(file.text("body_names"), file.indices("bodies"), file.reals("body_gaps"), mesh));
    mesh.triangles = group<3>(file.indices("triangles"));
    mesh.rest = file.vectors("rest");
    const std::string prescribed = file.text("prescribed");
    mesh.prescribed.assign(prescribed.begin(), prescribed.end());
    mesh.no_contact = group<2>(file.indices("no_contact"));
    mesh.tets = group<4>(file.indices("tets"));
    const std::vector<Index> blocks = file.indices("block_count");
    check(blocks.size() == 1);
    mesh.block_count = blocks[0];
    if (file.has("welds")) mesh.weld = file.indices("welds");
    check(bodies_are_good(mesh));

    mesh.map.map_begin = file.indices("map_begin");
    mesh.map.map_block = file.indices("map_blocks");
    mesh.map.map_weight = file.reals("map_weights");
    mesh.map.frame = file.indices("vertex_poses");
    mesh.map.local = file.vectors("vertex_places");
    mesh.map.frame_spin = file.indices("pose_spins");
    if (file.has("moved_vertices")) mesh.map.moved = file.indices("moved_vertices");
    check(map_is_good(mesh));
    return mesh;
}

} // namespace pliant
