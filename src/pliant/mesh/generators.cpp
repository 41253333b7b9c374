#include "pliant/mesh/generators.hpp"

#include <cmath>
#include <map>

namespace pliant {

TriangleMesh make_grid(Real size_x, Real size_z, Index nx, Index nz, Diagonals diagonals)
{
    TriangleMesh mesh;
    for (Index j = 0; j < nz; ++j)
        for (Index i = 0; i < nx; ++i)
            mesh.vertices.emplace_back(size_x * (Real(i) / (nx - 1) - 0.5), 0, size_z * (Real(j) / (nz - 1) - 0.5));
    for (Index j = 0; j + 1 < nz; ++j)
        for (Index i = 0; i + 1 < nx; ++i) {
            const Index a = j * nx + i, b = a + 1, c = a + nx, d = c + 1; // a b along x, c d the next row
            if (diagonals == Diagonals::uniform || (i + j) % 2 == 0) {
                mesh.triangles.push_back({a, c, d});
                mesh.triangles.push_back({a, d, b});
            } else {
                mesh.triangles.push_back({a, c, b});
                mesh.triangles.push_back({b, c, d});
            }
        }
    return mesh;
}

TriangleMesh make_box(const Vec3& size, const std::array<Index, 3>& cells)
{
    TriangleMesh mesh;
    std::map<std::array<Index, 3>, Index> ids; // lattice point -> vertex; the faces share the box's edges
    const auto vertex = [&](const std::array<Index, 3>& p) {
        const auto [it, inserted] = ids.try_emplace(p, count(mesh.vertices));
        if (inserted)
            mesh.vertices.emplace_back(size.x() * (Real(p[0]) / cells[0] - 0.5), size.y() * (Real(p[1]) / cells[1] - 0.5),
                                       size.z() * (Real(p[2]) / cells[2] - 0.5));
        return it->second;
    };
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3; // u x v = axis
            for (Index j = 0; j < cells[v]; ++j)
                for (Index i = 0; i < cells[u]; ++i) {
                    const auto corner = [&](Index di, Index dj) {
                        std::array<Index, 3> p{};
                        p[axis] = side ? cells[axis] : 0;
                        p[u] = i + di;
                        p[v] = j + dj;
                        return vertex(p);
                    };
                    const Index a = corner(0, 0), b = corner(1, 0), c = corner(1, 1), d = corner(0, 1);
                    if (side) {
                        mesh.triangles.push_back({a, b, c});
                        mesh.triangles.push_back({a, c, d});
                    } else {
                        mesh.triangles.push_back({a, c, b});
                        mesh.triangles.push_back({a, d, c});
                    }
                }
        }
    return mesh;
}

TriangleMesh make_sphere(Real radius, Index subdivisions)
{
    const Real phi = (1 + std::sqrt(5.0)) / 2;
    TriangleMesh mesh;
    mesh.vertices = {{-1, phi, 0}, {1, phi, 0}, {-1, -phi, 0}, {1, -phi, 0}, {0, -1, phi}, {0, 1, phi},
                     {0, -1, -phi}, {0, 1, -phi}, {phi, 0, -1}, {phi, 0, 1}, {-phi, 0, -1}, {-phi, 0, 1}};
    mesh.triangles = {{0, 11, 5}, {0, 5, 1}, {0, 1, 7}, {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                      {11, 10, 2}, {10, 7, 6}, {7, 1, 8}, {3, 9, 4}, {3, 4, 2}, {3, 2, 6}, {3, 6, 8},
                      {3, 8, 9}, {4, 9, 5}, {2, 4, 11}, {6, 2, 10}, {8, 6, 7}, {9, 8, 1}};
    for (Index level = 0; level < subdivisions; ++level) {
        std::map<Edge, Index> middle;
        const auto midpoint = [&](Index a, Index b) {
            const auto [it, inserted] = middle.try_emplace(a < b ? Edge{a, b} : Edge{b, a}, count(mesh.vertices));
            if (inserted) mesh.vertices.push_back((mesh.vertices[a] + mesh.vertices[b]) / 2);
            return it->second;
        };
        std::vector<Triangle> finer;
        finer.reserve(4 * mesh.triangles.size());
        for (const auto [a, b, c] : mesh.triangles) {
            const Index ab = midpoint(a, b), bc = midpoint(b, c), ca = midpoint(c, a);
            finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
        }
        mesh.triangles = std::move(finer);
        for (Vec3& x : mesh.vertices) x.normalize();
    }
    for (Vec3& x : mesh.vertices) x = radius * x.normalized();
    return mesh;
}

TetMesh make_tet_box(const Vec3& size, const std::array<Index, 3>& cells)
{
    TetMesh mesh;
    const auto [nx, ny, nz] = cells;
    for (Index k = 0; k <= nz; ++k)
        for (Index j = 0; j <= ny; ++j)
            for (Index i = 0; i <= nx; ++i)
                mesh.vertices.emplace_back(size.x() * (Real(i) / nx - 0.5), size.y() * (Real(j) / ny - 0.5),
                                           size.z() * (Real(k) / nz - 0.5));
    const auto vertex = [&](Index i, Index j, Index k) { return (k * (ny + 1) + j) * (nx + 1) + i; };
    // Kuhn: one tetrahedron for each of the six monotone paths from corner 000 to corner 111.
    constexpr std::array<std::array<int, 3>, 6> paths = {{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
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

} // namespace pliant
