#include "pliant/detection/collision_mesh.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/geometry/tetrahedron.hpp"
#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Numbers name nodes and bodies that there are, and the rest shape is finite.
[[maybe_unused]] bool is_sound(const CollisionInput& input)
{
    const Index nodes = count(input.rest);
    const auto are_bodies = [&](const std::vector<Index>& list, std::size_t size) {
        return list.size() == size && std::ranges::all_of(list, [&](Index b) { return b >= 0 && b < input.bodies; });
    };
    return all_finite(input.rest) && all_below(input.tets, nodes) && all_below(input.shells, nodes) &&
           are_bodies(input.node_body, input.rest.size()) && are_bodies(input.tet_body, input.tets.size()) &&
           are_bodies(input.shell_body, input.shells.size()) && are_bodies(input.still, input.still.size());
}

/// Lists per element from pairs (element, item) that come sorted.
IndexLists lists_of(Index elements, const std::vector<Edge>& pairs)
{
    IndexLists lists;
    lists.begin.assign(static_cast<std::size_t>(elements) + 1, 0);
    for (const auto& [element, item] : pairs) {
        ++lists.begin[element + 1];
        lists.items.push_back(item);
    }
    for (Index i = 0; i < elements; ++i) lists.begin[i + 1] += lists.begin[i];
    return lists;
}

/// Triangles of a positively oriented tetrahedron, each seen from outside, face k opposite to corner k.
constexpr std::array<std::array<int, 3>, 4> tet_faces = {{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

struct Side {
    std::array<Index, 3> key; ///< the face's nodes, ascending
    Index tet;
    int face;
};

/// Pairs up the faces of the tetrahedra, and gives those without a partner to the body's boundary.
void add_boundary(CollisionMesh& mesh, std::vector<std::pair<Index, Triangle>>& boundary)
{
    std::vector<Side> sides;
    sides.reserve(4 * mesh.tets.size());
    for (Index t = 0; t < count(mesh.tets); ++t)
        for (int f = 0; f < 4; ++f) {
            Side side = {{}, t, f};
            for (int k = 0; k < 3; ++k) side.key[k] = mesh.tets[t][tet_faces[f][k]];
            std::sort(side.key.begin(), side.key.end());
            sides.push_back(side);
        }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return a.key != b.key ? a.key < b.key : std::pair(a.tet, a.face) < std::pair(b.tet, b.face);
    });
    mesh.tet_out.resize(mesh.tets.size());
    for (auto& out : mesh.tet_out) out.fill(none);
    for (std::size_t i = 0; i + 1 < sides.size(); ++i)
        if (sides[i].key == sides[i + 1].key) {
            mesh.tet_out[sides[i].tet][sides[i].face] = sides[i + 1].tet;
            mesh.tet_out[sides[i + 1].tet][sides[i + 1].face] = sides[i].tet;
        }
    for (Index t = 0; t < count(mesh.tets); ++t)
        for (int f = 0; f < 4; ++f) {
            if (mesh.tet_out[t][f] != none) continue;
            mesh.tet_out[t][f] = -1 - count(boundary);
            Triangle face;
            for (int k = 0; k < 3; ++k) face[k] = mesh.tets[t][tet_faces[f][k]];
            boundary.emplace_back(mesh.tet_body[t], face);
        }
}

/// Faces body by body; those of one body keep their order.
void group_faces(CollisionMesh& mesh, const std::vector<std::pair<Index, Triangle>>& boundary)
{
    mesh.face_begin.assign(static_cast<std::size_t>(mesh.bodies) + 1, 0);
    for (const auto& [body, face] : boundary) ++mesh.face_begin[body + 1];
    for (Index b = 0; b < mesh.bodies; ++b) mesh.face_begin[b + 1] += mesh.face_begin[b];
    std::vector<Index> next(mesh.face_begin.begin(), mesh.face_begin.end() - 1), place;
    mesh.faces.resize(boundary.size());
    for (const auto& [body, face] : boundary) {
        place.push_back(next[body]);
        mesh.faces[next[body]++] = face;
    }
    for (auto& out : mesh.tet_out)
        for (Index& o : out)
            if (o < 0) o = -1 - place[-1 - o];
}

} // namespace

CollisionMesh make_collision_mesh(CollisionInput input)
{
    assert(is_sound(input));
    CollisionMesh mesh;
    mesh.bodies = input.bodies;
    mesh.rest = std::move(input.rest);
    mesh.node_body = std::move(input.node_body);
    mesh.tets = std::move(input.tets);
    mesh.tet_body = std::move(input.tet_body);
    for (const Tet& t : mesh.tets)
        mesh.rest_det.push_back(TetFrame(mesh.rest[t[0]], mesh.rest[t[1]], mesh.rest[t[2]], mesh.rest[t[3]]).det);

    std::vector<std::pair<Index, Triangle>> boundary;
    add_boundary(mesh, boundary);
    mesh.is_shell.assign(static_cast<std::size_t>(mesh.bodies), 0);
    for (Index f = 0; f < count(input.shells); ++f) {
        boundary.emplace_back(input.shell_body[f], input.shells[f]);
        mesh.is_shell[input.shell_body[f]] = 1;
    }
    group_faces(mesh, boundary);
    mesh.is_still.assign(static_cast<std::size_t>(mesh.bodies), 0);
    for (const Index b : input.still) mesh.is_still[b] = 1;
    std::sort(input.no_points.begin(), input.no_points.end());
    for (Index i = 0; i < mesh.node_count(); ++i)
        if (!std::binary_search(input.no_points.begin(), input.no_points.end(), i)) mesh.points.push_back(i);

    std::vector<Edge> around;
    for (Index f = 0; f < count(mesh.faces); ++f)
        for (Index v : mesh.faces[f]) around.push_back({v, f});
    std::sort(around.begin(), around.end());
    mesh.node_faces = lists_of(mesh.node_count(), around);
    for (const auto& [node, f] : around) {
        const Triangle& v = mesh.faces[f];
        const int k = v[0] == node ? 0 : v[1] == node ? 1 : 2;
        const Vec3 a = mesh.rest[v[(k + 1) % 3]] - mesh.rest[node], b = mesh.rest[v[(k + 2) % 3]] - mesh.rest[node];
        mesh.face_angle.push_back(std::atan2(a.cross(b).norm(), a.dot(b)));
    }

    std::vector<Edge> edges = edges_of(mesh.tets);
    const std::vector<Edge> shell_edges = edges_of(input.shells);
    edges.insert(edges.end(), shell_edges.begin(), shell_edges.end());
    std::vector<std::vector<Edge>> body_edges(static_cast<std::size_t>(mesh.bodies));
    for (const Edge& e : edges) body_edges[mesh.node_body[e[0]]].push_back(e);
    for (const auto& list : body_edges) mesh.edge.push_back(median_edge_length(mesh.rest, list));
    const std::size_t n = edges.size();
    for (std::size_t i = 0; i < n; ++i) edges.push_back({edges[i][1], edges[i][0]});
    std::sort(edges.begin(), edges.end());
    mesh.neighbours = lists_of(mesh.node_count(), edges);
    return mesh;
}

} // namespace pliant
