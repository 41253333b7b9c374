// Tetrahedral solids: bent boxes and turned profiles.

#include "pliant/mesh/generators.hpp"

#include "pliant/mesh/arguments.hpp"

#include <algorithm>
#include <numbers>

namespace pliant {
namespace {

/// A prism between two triangles whose corners are numbered a < b < c below and above, or a pyramid or a tetrahedron
/// where corners fall together. All diagonals start at the smaller corner below, so neighbouring prisms agree.
void add_prism(TetMesh& mesh, const std::array<Index, 3>& low, const std::array<Index, 3>& high)
{
    const std::array<Tet, 3> parts = {
        {{low[0], low[1], low[2], high[2]}, {low[0], low[1], high[1], high[2]}, {low[0], high[0], high[1], high[2]}}};
    for (Tet t : parts) {
        Tet sorted = t;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) continue; // has fallen together
        const Vec3s& x = mesh.vertices;
        if ((x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).dot(x[t[3]] - x[t[0]]) < 0) std::swap(t[2], t[3]);
        mesh.tets.push_back(t);
    }
}

/// A polygon cut into triangles without a new vertex, from side to side so that none is thinner than it must be.
std::vector<Triangle> zigzag(Index around)
{
    std::vector<Triangle> triangles;
    Index left = 0, right = around - 1;
    for (bool from_left = true; right - left >= 2; from_left = !from_left) {
        const Index middle = from_left ? left + 1 : right - 1;
        Triangle t = {left, middle, right};
        std::sort(t.begin(), t.end());
        triangles.push_back(t);
        (from_left ? left : right) = middle;
    }
    return triangles;
}

std::vector<Triangle> fan(Index around)
{
    std::vector<Triangle> triangles; // the axis is the last vertex of a ring
    for (Index i = 0; i < around; ++i) {
        const Index next = (i + 1) % around;
        triangles.push_back({std::min(i, next), std::max(i, next), around});
    }
    return triangles;
}

} // namespace

TetMesh make_tet_wedge(Real inner_radius, Real outer_radius, Real angle, Real depth, const std::array<Index, 3>& cells,
                       TetSplit split)
{
    require_positive("tetrahedral wedge", "the inner radius", inner_radius);
    require_positive("tetrahedral wedge", "the depth", depth);
    if (!(std::isfinite(outer_radius) && outer_radius > inner_radius))
        throw Error("tetrahedral wedge: the outer radius must be larger than the inner radius.");
    if (!(angle > 0 && angle < std::numbers::pi))
        throw Error("tetrahedral wedge: the angle must be between 0 and 180 degrees.");
    TetMesh mesh = make_tet_box({1, 1, 1}, cells, split); // bent around the z axis
    for (Vec3& x : mesh.vertices) {
        const Real theta = angle * x.x(), r = inner_radius + (x.y() + 0.5) * (outer_radius - inner_radius);
        x = {r * std::sin(theta), r * std::cos(theta), depth * x.z()};
    }
    return mesh;
}

TetMesh make_tet_turned(const std::vector<Vec2>& profile, Index around, TurnedCore core)
{
    require_at_least("turned solid", "vertices around", around, 3);
    require_at_least("turned solid", "points of the profile", count(profile), 2);
    require_countable("turned solid", 3.0 * around * static_cast<Real>(profile.size()));
    for (std::size_t i = 0; i < profile.size(); ++i) {
        const bool end = i == 0 || i + 1 == profile.size();
        if (!(end && profile[i].x() == 0))
            require_positive("turned solid", "a radius between the ends", profile[i].x());
        if (!std::isfinite(profile[i].y()) || (i > 0 && !(profile[i].y() > profile[i - 1].y())))
            throw Error("turned solid: the heights of the profile must increase, and those of points " +
                        std::to_string(i - (i > 0)) + " and " + std::to_string(i) + " do not.");
    }
    if (profile.size() == 2 && profile[0].x() == 0 && profile[1].x() == 0)
        throw Error("turned solid: a profile of two points on the axis has no volume.");

    TetMesh mesh;
    const bool axis = core == TurnedCore::axis;
    const Index ring = around + (axis ? 1 : 0);
    std::vector<std::vector<Index>> rings; // per point of the profile: its vertices
    for (const Vec2& p : profile) {
        std::vector<Index> row(static_cast<std::size_t>(ring), count(mesh.vertices)); // all the same at a tip
        if (p.x() == 0) {
            mesh.vertices.emplace_back(0, p.y(), 0);
        } else {
            for (Index i = 0; i < around; ++i) {
                const Real phi = 2 * std::numbers::pi * i / around;
                row[i] = count(mesh.vertices);
                mesh.vertices.emplace_back(p.x() * std::cos(phi), p.y(), -p.x() * std::sin(phi));
            }
            if (axis) {
                row[around] = count(mesh.vertices);
                mesh.vertices.emplace_back(0, p.y(), 0);
            }
        }
        rings.push_back(std::move(row));
    }
    const std::vector<Triangle> section = axis ? fan(around) : zigzag(around);
    for (std::size_t r = 0; r + 1 < rings.size(); ++r)
        for (const Triangle& t : section)
            add_prism(mesh, {rings[r][t[0]], rings[r][t[1]], rings[r][t[2]]},
                      {rings[r + 1][t[0]], rings[r + 1][t[1]], rings[r + 1][t[2]]});
    return mesh;
}

} // namespace pliant
