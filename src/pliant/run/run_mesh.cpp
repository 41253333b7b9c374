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

/// In the file rigid bodies and obstacles are one list of frames, rigid bodies first.
std::vector<Index> file_frames(const SurfaceMap& map)
{
    std::vector<Index> frames = map.frame;
    for (std::size_t v = 0; v < frames.size(); ++v)
        if (map.carrier[v] == Carrier::obstacle) frames[v] += count(map.rigid_block);
    return frames;
}
void set_frames(SurfaceMap& map, const std::vector<Index>& frames)
{
    const Index rigid = count(map.rigid_block);
    map.frame = frames;
    map.carrier.reserve(frames.size());
    for (Index& f : map.frame) {
        map.carrier.push_back(f == none ? Carrier::blocks : f < rigid ? Carrier::rigid : Carrier::obstacle);
        if (f >= rigid) f -= rigid;
    }
}

/// Each body's part follows that of the body before, and together they are `total` items.
bool cover(const std::vector<RunBody>& bodies, Index RunBody::*first, Index RunBody::*size, std::size_t total)
{
    std::size_t next = 0;
    for (const RunBody& b : bodies) {
        if (b.*first < 0 || static_cast<std::size_t>(b.*first) != next || b.*size < 0) return false;
        next += static_cast<std::size_t>(b.*size);
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

bool bodies_are_good(const RunMesh& mesh)
{
    return cover(mesh.bodies, &RunBody::first_vertex, &RunBody::vertex_count, mesh.rest.size()) &&
           cover(mesh.bodies, &RunBody::first_triangle, &RunBody::triangle_count, mesh.triangles.size()) &&
           cover(mesh.bodies, &RunBody::first_block, &RunBody::block_count,
                 static_cast<std::size_t>(mesh.block_count)) &&
           cover(mesh.bodies, &RunBody::first_tet, &RunBody::tet_count, mesh.tets.size()) &&
           all_below(mesh.no_contact, count(mesh.bodies)) && parts_are_apart(mesh);
}

/// `frames` as the file has them.
bool map_is_good(const RunMesh& mesh, const std::vector<Index>& frames)
{
    const SurfaceMap& m = mesh.map;
    const Index n = count(mesh.rest);
    if (count(m.map_begin) != n + 1 || m.map_begin.front() != 0 || m.map_begin.back() != count(m.map_block) ||
        !std::is_sorted(m.map_begin.begin(), m.map_begin.end()) || m.map_weight.size() != m.map_block.size() ||
        count(frames) != n || count(m.local) != n || mesh.scripted_count < 0)
        return false;
    for (Index v = 0; v < n; ++v) // each vertex hangs on blocks or in a frame
        if (m.blocks(v).empty() != (frames[v] != none)) return false;
    return all_in(m.map_block, 0, mesh.block_count) &&
           all_in(m.rigid_block, 0, mesh.block_count - 1) && // the first of two
           all_in(frames, none, std::int64_t(1) + count(m.rigid_block) + mesh.scripted_count) && all_finite(m.local) &&
           std::all_of(m.map_weight.begin(), m.map_weight.end(), [](Real w) { return std::isfinite(w); });
}

/// Bodies from their rows in the file; the plane's number must be the next one.
bool read_bodies(const std::string& names, const std::vector<Index>& rows, const std::vector<Real>& gaps, RunMesh& mesh)
{
    if (rows.size() != body_columns * gaps.size()) return false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        const std::size_t end = names.find('\n', begin);
        const Index* r = rows.data() + body_columns * i;
        if (end == std::string::npos || r[0] < 0 || r[0] > static_cast<Index>(BodyKind::plane)) return false;
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
    for (const Body& b : model.bodies) {
        RunBody body{b.name,   b.kind, b.first_vertex, b.vertex_count, b.first_triangle, b.triangle_count,
                     b.closed, b.gap,  none,           b.first_block,  b.block_count,    count(mesh.tets),
                     0};
        if (b.kind == BodyKind::plane) body.plane = mesh.plane_count++;
        if (b.kind == BodyKind::solid)
            for (const SolidElement& e : model.solids[b.model].elements) {
                const Tet& n = e.nodes;
                mesh.tets.push_back(
                    {b.first_block + n[0], b.first_block + n[1], b.first_block + n[2], b.first_block + n[3]});
                ++body.tet_count;
            }
        mesh.bodies.push_back(std::move(body));
    }
    mesh.triangles = model.surface.triangles;
    mesh.rest = model.surface.rest;
    mesh.prescribed = model.surface.prescribed;
    mesh.no_contact = model.no_contact;
    mesh.map = model.surface;
    mesh.block_count = model.block_count();
    mesh.scripted_count = count(model.obstacles);
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
    file.add("vertex_frames", file_frames(mesh.map));
    file.add("vertex_places", mesh.map.local);
    file.add("rigid_blocks", mesh.map.rigid_block);
    file.add("counts", std::vector<Index>{mesh.block_count, mesh.scripted_count}, 2);
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
    const std::vector<Index> counts = file.indices("counts");
    check(counts.size() == 2);
    mesh.block_count = counts[0];
    mesh.scripted_count = counts[1];
    check(read_bodies(file.text("body_names"), file.indices("bodies"), file.reals("body_gaps"), mesh));
    mesh.triangles = group<3>(file.indices("triangles"));
    mesh.rest = file.vectors("rest");
    const std::string prescribed = file.text("prescribed");
    mesh.prescribed.assign(prescribed.begin(), prescribed.end());
    mesh.no_contact = group<2>(file.indices("no_contact"));
    mesh.tets = group<4>(file.indices("tets"));
    check(mesh.block_count >= 0 && mesh.prescribed.size() == mesh.rest.size() && bodies_are_good(mesh));

    mesh.map.map_begin = file.indices("map_begin");
    mesh.map.map_block = file.indices("map_blocks");
    mesh.map.map_weight = file.reals("map_weights");
    mesh.map.local = file.vectors("vertex_places");
    mesh.map.rigid_block = file.indices("rigid_blocks");
    const std::vector<Index> frames = file.indices("vertex_frames");
    check(map_is_good(mesh, frames));
    set_frames(mesh.map, frames);
    return mesh;
}

} // namespace pliant
