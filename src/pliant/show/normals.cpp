#include "pliant/show/normals.hpp"

#include "pliant/core/parallel.hpp"

#include <cmath>

namespace pliant {

Vec3s corner_normals(const Vec3s& positions, const std::vector<Triangle>& triangles, Real crease_angle)
{
    const Index n = count(triangles);
    Vec3s face(triangles.size()), corners(3 * triangles.size());
    std::vector<Real> angle(3 * triangles.size());
    std::vector<Index> start(positions.size() + 1, 0), around(3 * triangles.size());
    for (const Triangle& t : triangles)
        for (const Index v : t) ++start[v + 1];
    for (std::size_t v = 0; v < positions.size(); ++v) start[v + 1] += start[v];
    std::vector<Index> cursor(start.begin(), start.end() - 1);
    for (Index t = 0; t < n; ++t)
        for (int k = 0; k < 3; ++k) around[cursor[triangles[t][k]]++] = 3 * t + k;
    parallel_for(n, [&](Index t) {
        const auto& [a, b, c] = triangles[t];
        const Vec3 normal = (positions[b] - positions[a]).cross(positions[c] - positions[a]);
        const Real length = normal.norm();
        face[t] = length > 0 ? Vec3(normal / length) : Vec3(Vec3::Zero());
        for (int k = 0; k < 3; ++k) {
            const Vec3& x = positions[triangles[t][k]];
            const Vec3 u = positions[triangles[t][(k + 1) % 3]] - x, v = positions[triangles[t][(k + 2) % 3]] - x;
            angle[3 * t + k] = std::atan2(u.cross(v).norm(), u.dot(v));
        }
    });
    const Real limit = std::cos(crease_angle);
    parallel_for(n, [&](Index t) {
        for (int k = 0; k < 3; ++k) {
            Vec3 sum = Vec3::Zero();
            const Index v = triangles[t][k];
            for (Index i = start[v]; i < start[v + 1]; ++i)
                if (const Vec3& other = face[around[i] / 3]; other.dot(face[t]) >= limit || around[i] / 3 == t)
                    sum += angle[around[i]] * other;
            const Real length = sum.norm();
            corners[3 * t + k] = length > 0 ? Vec3(sum / length) : face[t];
        }
    });
    return corners;
}

} // namespace pliant
