#include "pliant/bodies/cloth.hpp"

#include "pliant/mesh/topology.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

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

void add_spring(Cloth& cloth, Index a, Index b, Real length, SpringKind kind)
{
    const ClothMaterial& m = cloth.material;
    const Real stiffness = kind == SpringKind::structural ? m.stretch
                           : kind == SpringKind::shear    ? m.shear
                                                          : 4 * m.bend / (length * length);
    if (stiffness > 0) cloth.springs.push_back({a, b, length, stiffness, kind});
}
void add_spring(Cloth& cloth, const Vec3s& x, Index a, Index b, SpringKind kind)
{
    add_spring(cloth, a, b, (x[a] - x[b]).norm(), kind);
}

/// A triangle in its texture, seen from one of its edges.
struct FlatTriangle {
    std::array<Vec2, 2> edge; ///< ends, in the order asked for
    Vec2 opposite;

    Real length() const { return (edge[1] - edge[0]).norm(); }
    /// The opposite corner along and across the edge, from its first end.
    Vec2 from_edge() const
    {
        const Vec2 along = (edge[1] - edge[0]).normalized(), d = opposite - edge[0];
        return {along.dot(d), std::abs(along.x() * d.y() - along.y() * d.x())};
    }
};

FlatTriangle flat_triangle(const TriangleMesh& mesh, Index f, const Edge& edge)
{
    FlatTriangle flat;
    for (std::size_t k = 0; k < 3; ++k) {
        const Index v = mesh.triangles[f][k];
        (v == edge[0] ? flat.edge[0] : v == edge[1] ? flat.edge[1] : flat.opposite) = mesh.texture[f][k];
    }
    return flat;
}

Real texture_area(const std::array<Vec2, 3>& t)
{
    const Vec2 a = t[1] - t[0], b = t[2] - t[0];
    return std::abs(a.x() * b.y() - a.y() * b.x()) / 2;
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

Real texture_scale(const TriangleMesh& mesh)
{
    Real area = 0, flat = 0;
    for (std::size_t f = 0; f < mesh.triangles.size(); ++f) {
        const Triangle& t = mesh.triangles[f];
        const Vec3& a = mesh.vertices[t[0]];
        area += (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).norm() / 2;
        flat += texture_area(mesh.texture[f]);
    }
    return flat > 0 ? std::sqrt(area / flat) : 0;
}

Cloth make_textured_cloth(const TriangleMesh& mesh, Real scale, const ClothMaterial& material)
{
    assert(mesh.texture.size() == mesh.triangles.size());
    Cloth cloth{material, std::vector<Real>(mesh.vertices.size(), 0), {}};
    for (std::size_t f = 0; f < mesh.triangles.size(); ++f)
        for (const Index v : mesh.triangles[f])
            cloth.mass[v] += material.density * scale * scale * texture_area(mesh.texture[f]) / 3;
    const std::vector<Hinge> hinges = hinges_of(mesh.triangles);
    for (const Hinge& h : hinges) {
        Real length = flat_triangle(mesh, h.triangle[0], h.edge).length();
        if (h.triangle[1] != none) length = (length + flat_triangle(mesh, h.triangle[1], h.edge).length()) / 2;
        add_spring(cloth, h.edge[0], h.edge[1], scale * length, SpringKind::structural);
    }
    for (const Hinge& h : hinges) {
        if (h.opposite[1] == none || h.opposite[0] == h.opposite[1]) continue;
        // Both triangles unfolded into one plane along their common edge.
        const Vec2 a = flat_triangle(mesh, h.triangle[0], h.edge).from_edge(),
                   b = flat_triangle(mesh, h.triangle[1], h.edge).from_edge();
        const Real length = Vec2(a.x() - b.x(), a.y() + b.y()).norm();
        add_spring(cloth, h.opposite[0], h.opposite[1], scale * length, SpringKind::flexion);
    }
    return cloth;
}

} // namespace pliant
