#include "pliant/mesh/validate.hpp"

#include "pliant/core/error.hpp"
#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Real flat = 1e-12; ///< relative to the longest edge, to the power of the element's dimension

template <class Element>
void validate_indices(const Vec3s& vertices, const std::vector<Element>& elements, const std::string& name,
                      const char* kind)
{
    if (elements.empty()) throw Error(name + ": the mesh has no " + kind + ".");
    for (std::size_t v = 0; v < vertices.size(); ++v)
        if (!vertices[v].allFinite())
            throw Error(name + ": vertex " + std::to_string(v) + " has a coordinate that is not finite.");
    std::vector<char> used(vertices.size(), 0);
    for (std::size_t e = 0; e < elements.size(); ++e) {
        for (const Index v : elements[e]) {
            if (v < 0 || v >= count(vertices))
                throw Error(name + ": " + kind + " " + std::to_string(e) + " uses vertex " + std::to_string(v) +
                            ", but there are only " + std::to_string(vertices.size()) + " vertices.");
            used[static_cast<std::size_t>(v)] = 1;
        }
        Element sorted = elements[e];
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
            throw Error(name + ": " + kind + " " + std::to_string(e) + " uses a vertex twice.");
    }
    const auto unused = std::find(used.begin(), used.end(), 0);
    if (unused != used.end())
        throw Error(name + ": vertex " + std::to_string(unused - used.begin()) + " is used by no " + kind + ".");
}

template <class Element>
Real longest_edge(const Vec3s& x, const Element& e)
{
    Real longest = 0;
    for (std::size_t i = 0; i < e.size(); ++i)
        for (std::size_t j = i + 1; j < e.size(); ++j) longest = std::max(longest, (x[e[i]] - x[e[j]]).norm());
    return longest;
}

} // namespace

void drop_unused_vertices(TriangleMesh& mesh)
{
    std::vector<Index> number(mesh.vertices.size(), none);
    const auto known = [&](Index v) { return v >= 0 && v < count(mesh.vertices); };
    for (const Triangle& t : mesh.triangles)
        for (const Index v : t)
            if (known(v)) number[v] = 0;
    Index kept = 0;
    for (std::size_t v = 0; v < number.size(); ++v) {
        if (number[v] == none) continue;
        mesh.vertices[kept] = mesh.vertices[v];
        number[v] = kept++;
    }
    for (Triangle& t : mesh.triangles)
        for (Index& v : t)
            if (known(v)) v = number[v]; // others are validate()'s
    mesh.vertices.resize(static_cast<std::size_t>(kept));
}

void validate(const TriangleMesh& mesh, const std::string& name)
{
    validate_indices(mesh.vertices, mesh.triangles, name, "triangle");
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Real longest = longest_edge(mesh.vertices, mesh.triangles[t]);
        const auto [a, b, c] = mesh.triangles[t];
        const Vec3 u = (mesh.vertices[b] - mesh.vertices[a]) / longest,
                   v = (mesh.vertices[c] - mesh.vertices[a]) / longest;
        if (!(longest > 0) || !(u.cross(v).norm() > flat))
            throw Error(name + ": triangle " + std::to_string(t) + " is degenerate: its corners lie on a line.");
    }
}

void validate(const TetMesh& mesh, const std::string& name)
{
    validate_indices(mesh.vertices, mesh.tets, name, "tetrahedron");
    for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
        const Real longest = longest_edge(mesh.vertices, mesh.tets[t]);
        const Vec3& a = mesh.vertices[mesh.tets[t][0]];
        const auto edge = [&](int k) -> Vec3 { return (mesh.vertices[mesh.tets[t][k]] - a) / longest; };
        const Real volume = longest > 0 ? edge(1).cross(edge(2)).dot(edge(3)) : 0;
        if (volume < -flat)
            throw Error(name + ": tetrahedron " + std::to_string(t) + " is inverted: swap two of its vertices.");
        if (!(volume > flat))
            throw Error(name + ": tetrahedron " + std::to_string(t) + " is degenerate: its corners lie in a plane.");
    }
}

void require_closed(const TriangleMesh& surface, const std::string& name)
{
    validate(surface, name);
    if (is_closed(surface.triangles)) return;
    Index open = 0;
    const std::vector<Hinge> hinges = hinges_of(surface.triangles);
    const Hinge* first = nullptr;
    for (const Hinge& h : hinges)
        if (h.triangle[1] == none && open++ == 0) first = &h;
    if (first)
        throw Error(name + ": the surface is not closed: " + std::to_string(open) +
                    " edges have a triangle on one side only, the first between vertices " +
                    std::to_string(first->edge[0]) + " and " + std::to_string(first->edge[1]) + "; close its holes.");
    throw Error(name + ": the surface is not closed: some edges have more than two triangles, or neighbours that face "
                       "opposite ways; repair it.");
}

} // namespace pliant
