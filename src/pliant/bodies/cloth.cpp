#include "pliant/bodies/cloth.hpp"

#include "pliant/mesh/topology.hpp"

#include <algorithm>

namespace pliant {
namespace {

/// A third of each triangle's mass to each of its corners.
std::vector<Real> lumped_mass(const TriangleMesh& mesh, Real density)
{
    std::vector<Real> mass(mesh.vertices.size(), 0);
    for (const Triangle& t : mesh.triangles) {
        const Vec3& a = mesh.vertices[t[0]];
        const Real area = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).norm() / 2;
        for (Index v : t) mass[v] += density * area / 3;
    }
    return mass;
}

void add_spring(Cloth& cloth, const Vec3s& x, Index a, Index b, SpringKind kind)
{
    const Real length = (x[a] - x[b]).norm();
    const ClothMaterial& m = cloth.material;
    const Real stiffness = kind == SpringKind::structural ? m.stretch
                           : kind == SpringKind::shear    ? m.shear
                                                          : 4 * m.bend / (length * length);
    if (stiffness > 0) cloth.springs.push_back({a, b, length, stiffness, kind});
}

} // namespace

Cloth make_grid_cloth(const TriangleMesh& mesh, Index nx, Index nz, const ClothMaterial& material)
{
    Cloth cloth{material, lumped_mass(mesh, material.density), {}};
    const Vec3s& x = mesh.vertices;
    const auto id = [nx](Index i, Index j) { return j * nx + i; };
    const auto add_along = [&](Index stride, SpringKind kind) {
        for (Index j = 0; j < nz; ++j)
            for (Index i = 0; i < nx; ++i) {
                if (i + stride < nx) add_spring(cloth, x, id(i, j), id(i + stride, j), kind);
                if (j + stride < nz) add_spring(cloth, x, id(i, j), id(i, j + stride), kind);
            }
    };
    add_along(1, SpringKind::structural);
    for (Index j = 0; j + 1 < nz; ++j)
        for (Index i = 0; i + 1 < nx; ++i) {
            add_spring(cloth, x, id(i, j), id(i + 1, j + 1), SpringKind::shear);
            add_spring(cloth, x, id(i + 1, j), id(i, j + 1), SpringKind::shear);
        }
    add_along(2, SpringKind::flexion);
    return cloth;
}

Cloth make_cloth(const TriangleMesh& mesh, const ClothMaterial& material)
{
    Cloth cloth{material, lumped_mass(mesh, material.density), {}};
    const std::vector<Hinge> hinges = hinges_of(mesh.triangles);
    for (const Hinge& h : hinges) add_spring(cloth, mesh.vertices, h.edge[0], h.edge[1], SpringKind::structural);
    for (const Hinge& h : hinges)
        if (h.opposite[1] != none && h.opposite[0] != h.opposite[1])
            add_spring(cloth, mesh.vertices, h.opposite[0], h.opposite[1], SpringKind::flexion);
    return cloth;
}

} // namespace pliant
