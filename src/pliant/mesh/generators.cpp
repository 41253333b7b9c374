#include "pliant/mesh/generators.hpp"

#include "pliant/mesh/arguments.hpp"

#include <cmath>
#include <map>
#include <numbers>

namespace pliant {

TriangleMesh make_grid(Real size_x, Real size_z, Index nx, Index nz, Diagonals diagonals)
{
    require_positive("grid", "the size", size_x);
    require_positive("grid", "the size", size_z);
    require_at_least("grid", "vertices along x", nx, 2);
    require_at_least("grid", "vertices along z", nz, 2);
    require_countable("grid", 2.0 * nx * nz);
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
    for (int k = 0; k < 3; ++k) {
        require_positive("box", "the size", size[k]);
        require_at_least("box", "cells per axis", cells[k], 1);
        require_countable("box", 12.0 * cells[k] * cells[(k + 1) % 3]);
    }
    TriangleMesh mesh;
    std::map<std::array<Index, 3>, Index> ids; // lattice point -> vertex; the faces share the box's edges
    const auto vertex = [&](const std::array<Index, 3>& p) {
        const auto [it, inserted] = ids.try_emplace(p, count(mesh.vertices));
        if (inserted)
            mesh.vertices.emplace_back(size.x() * (Real(p[0]) / cells[0] - 0.5),
                                       size.y() * (Real(p[1]) / cells[1] - 0.5),
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
    require_positive("sphere", "the radius", radius);
    require_at_least("sphere", "subdivisions", subdivisions, 0);
    require_countable("sphere", 20 * std::pow(4.0, subdivisions));
    const Real phi = (1 + std::sqrt(5.0)) / 2;
    TriangleMesh mesh;
    mesh.vertices = {{-1, phi, 0},  {1, phi, 0},  {-1, -phi, 0}, {1, -phi, 0}, {0, -1, phi},  {0, 1, phi},
                     {0, -1, -phi}, {0, 1, -phi}, {phi, 0, -1},  {phi, 0, 1},  {-phi, 0, -1}, {-phi, 0, 1}};
    mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                      {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                      {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
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

TriangleMesh make_torus(Real ring_radius, Real tube_radius, Index around, Index section)
{
    require_positive("torus", "the ring radius", ring_radius);
    require_positive("torus", "the tube radius", tube_radius);
    if (tube_radius >= ring_radius) throw Error("torus: the tube radius must be smaller than the ring radius.");
    require_at_least("torus", "vertices around the ring", around, 3);
    require_at_least("torus", "vertices around the tube", section, 3);
    require_countable("torus", 2.0 * around * section);
    TriangleMesh mesh;
    for (Index i = 0; i < around; ++i) {
        const Real phi = 2 * std::numbers::pi * i / around;
        for (Index j = 0; j < section; ++j) {
            const Real theta = 2 * std::numbers::pi * j / section;
            const Real r = ring_radius + tube_radius * std::cos(theta);
            mesh.vertices.emplace_back(r * std::cos(phi), tube_radius * std::sin(theta), -r * std::sin(phi));
        }
    }
    for (Index i = 0; i < around; ++i)
        for (Index j = 0; j < section; ++j) {
            const Index i1 = (i + 1) % around, j1 = (j + 1) % section;
            const Index a = i * section + j, b = i1 * section + j, c = i1 * section + j1, d = i * section + j1;
            if ((i + j) % 2 == 0)
                mesh.triangles.insert(mesh.triangles.end(), {{a, b, c}, {a, c, d}});
            else
                mesh.triangles.insert(mesh.triangles.end(), {{a, b, d}, {b, c, d}});
        }
    return mesh;
}

TriangleMesh make_wedge(Real inner_radius, Real outer_radius, Real angle, Real depth, const std::array<Index, 3>& cells)
{
    require_positive("wedge", "the inner radius", inner_radius);
    require_positive("wedge", "the depth", depth);
    if (!(std::isfinite(outer_radius) && outer_radius > inner_radius))
        throw Error("wedge: the outer radius must be larger than the inner radius.");
    if (!(angle > 0 && angle < std::numbers::pi)) throw Error("wedge: the angle must be between 0 and 180 degrees.");
    TriangleMesh mesh = make_box({1, 1, 1}, cells); // a box bent around the z axis
    for (Vec3& x : mesh.vertices) {
        const Real theta = angle * x.x(), r = inner_radius + (x.y() + 0.5) * (outer_radius - inner_radius);
        x = {r * std::sin(theta), r * std::cos(theta), depth * x.z()};
    }
    return mesh;
}

} // namespace pliant
