#include "pliant/mesh/generators.hpp"

#include "pliant/mesh/arguments.hpp"

#include <algorithm>
#include <map>
#include <numbers>

namespace pliant {
namespace {

Real signed_volume(const Vec3s& x, const Tet& t)
{
    return (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).dot(x[t[3]] - x[t[0]]) / 6;
}

void add_oriented(TetMesh& mesh, Tet t)
{
    if (signed_volume(mesh.vertices, t) < 0) std::swap(t[2], t[3]);
    mesh.tets.push_back(t);
}

} // namespace

TetMesh make_tet_box(const Vec3& size, const std::array<Index, 3>& cells, TetSplit split)
{
    for (int k = 0; k < 3; ++k) {
        require_positive("tetrahedral box", "the size", size[k]);
        require_at_least("tetrahedral box", "cells per axis", cells[k], 1);
    }
    require_countable("tetrahedral box", 6.0 * cells[0] * cells[1] * cells[2]);
    TetMesh mesh;
    const Index nx = cells[0], ny = cells[1], nz = cells[2];
    for (Index k = 0; k <= nz; ++k)
        for (Index j = 0; j <= ny; ++j)
            for (Index i = 0; i <= nx; ++i)
                mesh.vertices.emplace_back(size.x() * (Real(i) / nx - 0.5), size.y() * (Real(j) / ny - 0.5),
                                           size.z() * (Real(k) / nz - 0.5));
    const auto vertex = [&](Index i, Index j, Index k) { return (k * (ny + 1) + j) * (nx + 1) + i; };
    if (split == TetSplit::five) {
        // Corners of the cube as bits x, y, z. In a cube of even i + j + k the corners 1, 2, 4, 7 are cut off; in its
        // neighbours the other four, so that the diagonals of a common face are the same.
        constexpr std::array<std::array<int, 4>, 5> even = {
            {{1, 0, 3, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 5, 6}, {0, 3, 5, 6}}};
        for (Index k = 0; k < nz; ++k)
            for (Index j = 0; j < ny; ++j)
                for (Index i = 0; i < nx; ++i)
                    for (const auto& corners : even) {
                        Tet tet;
                        for (int c = 0; c < 4; ++c) {
                            const int bits = (i + j + k) % 2 == 0 ? corners[c] : 7 - corners[c];
                            tet[c] = vertex(i + (bits & 1), j + ((bits >> 1) & 1), k + (bits >> 2));
                        }
                        add_oriented(mesh, tet);
                    }
        return mesh;
    }
    // Kuhn: one tetrahedron for each of the six monotone paths from corner 000 to corner 111.
    constexpr std::array<std::array<int, 3>, 6> paths = {
        {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
    for (Index k = 0; k < nz; ++k)
        for (Index j = 0; j < ny; ++j)
            for (Index i = 0; i < nx; ++i)
                for (std::size_t p = 0; p < paths.size(); ++p) {
                    std::array<Index, 3> at = {i, j, k};
                    Tet tet = {vertex(i, j, k), 0, 0, 0};
                    for (int s = 0; s < 3; ++s) {
                        ++at[paths[p][s]];
                        tet[s + 1] = vertex(at[0], at[1], at[2]);
                    }
                    if (p >= 3) std::swap(tet[1], tet[2]); // odd permutations are mirror images
                    mesh.tets.push_back(tet);
                }
    return mesh;
}

TetMesh make_tet_sphere(Real radius, Index layers)
{
    require_positive("tetrahedral sphere", "the radius", radius);
    require_at_least("tetrahedral sphere", "layers", layers, 1);
    require_countable("tetrahedral sphere", 20.0 * layers * layers * layers);
    const TriangleMesh icosahedron = make_sphere(1, 0);
    TetMesh mesh;
    // A lattice point of a sector has integer weights on the icosahedron's corners; their sum is its layer. Points that
    // two sectors share have the same weights on the same corners, whatever the sector.
    using Key = std::array<std::pair<Index, Index>, 3>; // (corner, weight), absent corners last
    std::map<Key, Index> ids;
    const auto vertex = [&](const Triangle& corners, const std::array<Index, 3>& w) {
        Key key;
        for (int k = 0; k < 3; ++k) key[k] = w[k] > 0 ? std::pair(corners[k], w[k]) : std::pair(Index(12), Index(0));
        std::sort(key.begin(), key.end());
        const auto [it, inserted] = ids.try_emplace(key, count(mesh.vertices));
        if (inserted) {
            Vec3 x = Vec3::Zero();
            for (const auto& [corner, weight] : key)
                if (weight > 0) x += Real(weight) * icosahedron.vertices[corner];
            const Index layer = w[0] + w[1] + w[2];
            mesh.vertices.push_back(layer > 0 ? Vec3(x.normalized() * (radius * layer / layers)) : Vec3(Vec3::Zero()));
        }
        return it->second;
    };
    for (const Triangle& corners : icosahedron.triangles)
        for (Index a = 0; a < layers; ++a)
            for (Index b = 0; a + b < layers; ++b)
                for (Index c = 0; a + b + c < layers; ++c) {
                    const auto at = [&](Index i, Index j, Index k) { return vertex(corners, {a + i, b + j, c + k}); };
                    const Index x = at(1, 0, 0), y = at(0, 1, 0), z = at(0, 0, 1);
                    add_oriented(mesh, {at(0, 0, 0), x, y, z});
                    if (a + b + c + 2 > layers) continue;
                    // The octahedron beside it, cut into four around its shortest diagonal.
                    const Index xy = at(1, 1, 0), yz = at(0, 1, 1), zx = at(1, 0, 1);
                    const std::array<std::array<Index, 6>, 3> cuts = {
                        {{x, yz, y, xy, zx, z}, {y, zx, z, yz, xy, x}, {z, xy, x, zx, yz, y}}}; // p, q, ring around pq
                    const auto length = [&](const auto& cut) {
                        return (mesh.vertices[cut[0]] - mesh.vertices[cut[1]]).norm();
                    };
                    std::size_t best = 0; // the first of those that are shortest up to rounding
                    for (std::size_t k = 1; k < 3; ++k)
                        if (length(cuts[k]) < length(cuts[best]) * (1 - 1e-9)) best = k;
                    const auto& [p, q, r0, r1, r2, r3] = cuts[best];
                    for (const auto& [r, s] : {std::pair(r0, r1), {r1, r2}, {r2, r3}, {r3, r0}})
                        add_oriented(mesh, {p, q, r, s});
                    if (a + b + c + 3 > layers) continue;
                    add_oriented(mesh, {xy, yz, zx, at(1, 1, 1)});
                }
    return mesh;
}

TetMesh make_tet_torus(Real ring_radius, Real tube_radius, Index around, Index section)
{
    require_positive("tetrahedral torus", "the ring radius", ring_radius);
    require_positive("tetrahedral torus", "the tube radius", tube_radius);
    if (tube_radius >= ring_radius)
        throw Error("tetrahedral torus: the tube radius must be smaller than the ring radius.");
    require_at_least("tetrahedral torus", "slices around the ring", around, 3);
    require_at_least("tetrahedral torus", "vertices around the tube", section, 3);
    require_countable("tetrahedral torus", 0.5 * section * section * around);
    const TriangleMesh disc = make_disc(tube_radius, section);
    const Index n = count(disc.vertices);
    TetMesh mesh;
    for (Index i = 0; i < around; ++i) {
        const Real phi = 2 * std::numbers::pi * i / around;
        for (const Vec3& x : disc.vertices) {
            const Real r = ring_radius + x.x();
            mesh.vertices.emplace_back(r * std::cos(phi), x.z(), -r * std::sin(phi));
        }
    }
    for (Index i = 0; i < around; ++i)
        for (Triangle t : disc.triangles) {
            // A prism between two slices, cut so that every diagonal runs from the smaller index of this slice to the
            // larger index of the next: neighbouring prisms agree, and the ring closes.
            std::sort(t.begin(), t.end());
            const Index low = i * n, high = ((i + 1) % around) * n;
            const auto [a, b, c] = t;
            add_oriented(mesh, {low + a, low + b, low + c, high + c});
            add_oriented(mesh, {low + a, low + b, high + b, high + c});
            add_oriented(mesh, {low + a, high + a, high + b, high + c});
        }
    return mesh;
}

} // namespace pliant
