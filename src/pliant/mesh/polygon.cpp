#include "pliant/mesh/polygon.hpp"

namespace pliant {
namespace {

/// Newell's normal: well defined for any closed polygon, planar or not.
Vec3 polygon_normal(const Vec3s& x, std::span<const Index> polygon)
{
    Vec3 normal = Vec3::Zero();
    const Vec3& origin = x[polygon[0]];
    for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
        normal += (x[polygon[i]] - origin).cross(x[polygon[i + 1]] - origin);
    return normal;
}

/// The corner is an ear when it is convex and no other corner lies in its triangle.
bool is_ear(const Vec3s& x, const std::vector<Index>& corners, std::size_t i, const Vec3& normal)
{
    const std::size_t n = corners.size();
    const Index ia = corners[(i + n - 1) % n], ib = corners[i], ic = corners[(i + 1) % n];
    const Vec3 &a = x[ia], &b = x[ib], &c = x[ic];
    const auto side = [&](const Vec3& p, const Vec3& q, const Vec3& r) { return (q - p).cross(r - p).dot(normal); };
    if (side(a, b, c) <= 0) return false;
    for (const Index v : corners) {
        if (v == ia || v == ib || v == ic) continue;
        const Vec3& p = x[v];
        if (side(a, b, p) >= 0 && side(b, c, p) >= 0 && side(c, a, p) >= 0) return false;
    }
    return true;
}

} // namespace

void triangulate_polygon(const Vec3s& vertices, std::span<const Index> polygon, std::vector<Triangle>& out)
{
    if (polygon.size() < 3) return;
    if (polygon.size() == 3) {
        out.push_back({polygon[0], polygon[1], polygon[2]});
        return;
    }
    const Vec3 normal = polygon_normal(vertices, polygon);
    std::vector<Index> corners(polygon.begin(), polygon.end());
    if (corners.size() == 4) { // the shorter diagonal first, where both are possible
        const Real d02 = (vertices[corners[0]] - vertices[corners[2]]).squaredNorm();
        const Real d13 = (vertices[corners[1]] - vertices[corners[3]]).squaredNorm();
        if (d02 <= d13) corners = {corners[1], corners[2], corners[3], corners[0]};
    }
    std::size_t i = 0;
    while (corners.size() > 3) {
        const std::size_t n = corners.size();
        std::size_t tries = 0;
        while (tries < n && !is_ear(vertices, corners, i % n, normal)) ++tries, ++i;
        i %= n; // without any ear (a degenerate polygon) the corner at hand is cut all the same
        out.push_back({corners[(i + n - 1) % n], corners[i], corners[(i + 1) % n]});
        corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(i));
    }
    out.push_back({corners[0], corners[1], corners[2]});
}

} // namespace pliant
