#include "pliant/mesh/generators.hpp"

#include "pliant/mesh/arguments.hpp"

#include <algorithm>
#include <cstdlib>
#include <numbers>

namespace pliant {
namespace {

/// One circle of vertices of a surface of revolution around y; a single vertex on the axis when vertices == 1.
struct Ring {
    Real radius, y;
    Index vertices;
};

/// Surface of revolution through rings listed from the bottom up, seen from outside. Neighbouring rings may have
/// different numbers of vertices: the band between them is walked with the diagonal of smaller angle.
TriangleMesh revolve(const std::vector<Ring>& rings)
{
    TriangleMesh mesh;
    std::vector<Index> first;
    for (const Ring& ring : rings) {
        first.push_back(count(mesh.vertices));
        for (Index i = 0; i < ring.vertices; ++i) {
            const Real phi = 2 * std::numbers::pi * i / ring.vertices;
            mesh.vertices.emplace_back(ring.radius * std::cos(phi), ring.y, -ring.radius * std::sin(phi));
        }
    }
    for (std::size_t row = 0; row + 1 < rings.size(); ++row) {
        const std::int64_t n = rings[row].vertices, m = rings[row + 1].vertices;
        const auto low = [&](std::int64_t i) { return first[row] + static_cast<Index>(i % n); };
        const auto high = [&](std::int64_t j) { return first[row + 1] + static_cast<Index>(j % m); };
        const std::int64_t low_steps = n > 1 ? n : 0, high_steps = m > 1 ? m : 0;
        for (std::int64_t i = 0, j = 0; i < low_steps || j < high_steps;) {
            const std::int64_t if_low = std::abs((i + 1) * m - j * n), if_high = std::abs((j + 1) * n - i * m);
            const bool prefer_low = if_low != if_high ? if_low < if_high : (i + std::int64_t(row)) % 2 == 0;
            if (j == high_steps || (i < low_steps && prefer_low)) {
                mesh.triangles.push_back({low(i), low(i + 1), high(j)});
                ++i;
            } else {
                mesh.triangles.push_back({low(i), high(j + 1), high(j)});
                ++j;
            }
        }
    }
    return mesh;
}

/// Vertices of a ring that keep the spacing of a rim of the given radius; never so few that the ring collapses.
Index ring_vertices(Real radius, Real rim_radius, Index around)
{
    return std::max<Index>(3, static_cast<Index>(std::lround(around * radius / rim_radius)));
}

/// Rings inside a disc from the centre to just before the rim.
std::vector<Ring> inner_rings(Real radius, Real y, Index around)
{
    const auto steps = std::max<Index>(1, static_cast<Index>(std::lround(around / (2 * std::numbers::pi))));
    std::vector<Ring> rings = {{0, y, 1}};
    for (Index k = 1; k < steps; ++k) {
        const Real r = radius * k / steps;
        rings.push_back({r, y, ring_vertices(r, radius, around)});
    }
    return rings;
}

void require_circle(const char* shape, Real radius, Index around)
{
    require_positive(shape, "the radius", radius);
    require_at_least(shape, "vertices around", around, 3);
}

} // namespace

TriangleMesh make_disc(Real radius, Index around)
{
    require_circle("disc", radius, around);
    require_countable("disc", 0.2 * around * around);
    std::vector<Ring> rings = inner_rings(radius, 0, around);
    rings.push_back({radius, 0, around});
    std::reverse(rings.begin(), rings.end()); // from the rim up to the axis: it faces up
    return revolve(rings);
}

TriangleMesh make_cylinder(Real radius, Real height, Index around, Index along)
{
    require_circle("cylinder", radius, around);
    require_positive("cylinder", "the height", height);
    require_at_least("cylinder", "rows of vertices along", along, 2);
    require_countable("cylinder", 0.4 * around * around + 2.0 * around * along);
    std::vector<Ring> rings = inner_rings(radius, -height / 2, around);
    for (Index k = 0; k < along; ++k) rings.push_back({radius, height * (Real(k) / (along - 1) - 0.5), around});
    const std::vector<Ring> top = inner_rings(radius, height / 2, around);
    rings.insert(rings.end(), top.rbegin(), top.rend());
    return revolve(rings);
}

TriangleMesh make_cone(Real bottom_radius, Real top_radius, Real height, Index around, Index along)
{
    require_positive("cone", "the bottom radius", bottom_radius);
    if (top_radius != 0) require_positive("cone", "the top radius", top_radius);
    require_positive("cone", "the height", height);
    require_at_least("cone", "vertices around", around, 3);
    require_at_least("cone", "rows of vertices along", along, 2);
    require_countable("cone", 2.0 * around * along);
    std::vector<Ring> rings;
    for (Index k = 0; k < along; ++k) {
        const Real s = Real(k) / (along - 1);
        const bool apex = k == along - 1 && top_radius == 0;
        rings.push_back({bottom_radius + s * (top_radius - bottom_radius), height * (s - 0.5), apex ? 1 : around});
    }
    return revolve(rings);
}

TriangleMesh make_capsule(Real radius, Real length, Index around, Index along)
{
    require_circle("capsule", radius, around);
    require_positive("capsule", "the length", length);
    require_at_least("capsule", "rows of vertices along", along, 2);
    require_countable("capsule", 0.7 * around * around + 2.0 * around * along);
    const Index steps = std::max<Index>(1, static_cast<Index>(std::lround(around / 4.0)));
    std::vector<Ring> cap = {{0, radius, 1}}; // half sphere from the pole to just before the equator
    for (Index k = 1; k < steps; ++k) {
        const Real angle = std::numbers::pi / 2 * k / steps, r = radius * std::sin(angle);
        cap.push_back({r, radius * std::cos(angle), ring_vertices(r, radius, around)});
    }
    std::vector<Ring> rings;
    for (const Ring& c : cap) rings.push_back({c.radius, -length / 2 - c.y, c.vertices});
    for (Index k = 0; k < along; ++k) rings.push_back({radius, length * (Real(k) / (along - 1) - 0.5), around});
    for (auto c = cap.rbegin(); c != cap.rend(); ++c) rings.push_back({c->radius, length / 2 + c->y, c->vertices});
    return revolve(rings);
}

} // namespace pliant
