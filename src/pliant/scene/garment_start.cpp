#include "pliant/scene/garment_start.hpp"

#include "pliant/core/error.hpp"
#include "pliant/geometry/closest.hpp"
#include "pliant/geometry/predicates.hpp"
#include "pliant/methods/start.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pliant {
namespace {

std::string place_words(const Vec3& x)
{
    return fmt::format("({:.3g}, {:.3g}, {:.3g}) m", x.x(), x.y(), x.z());
}

/// Panels of a garment by their distance from a point.
std::vector<std::pair<Real, Index>> nearest_panels(const World& world, const PlacedGarment& g, const Vec3& x)
{
    const Body& body = world.model.bodies[g.body];
    std::vector<std::pair<Real, Index>> panels;
    for (Index p = 0; p < count(g.panels); ++p) panels.push_back({std::numeric_limits<Real>::infinity(), p});
    for (const Triangle& t : g.garment->flat.triangles) {
        const auto at = [&](int k) -> const Vec3& { return world.state.position[body.first_block + t[k]]; };
        const Index p = static_cast<Index>(std::ranges::upper_bound(g.garment->panel_begin, t[0]) -
                                           g.garment->panel_begin.begin()) -
                        1;
        panels[p].first = std::min(panels[p].first, closest_point_triangle(x, at(0), at(1), at(2)).distance);
    }
    std::sort(panels.begin(), panels.end());
    return panels;
}

void refuse_crossing(const World& world, const std::vector<PlacedGarment>& garments, const StartCrossing& c)
{
    const auto name = [&](Index body, std::size_t rank) {
        const std::string& own = world.model.bodies[body].name;
        const auto g = std::ranges::find(garments, body, &PlacedGarment::body);
        if (g == garments.end()) return "'" + own + "'";
        const auto panels = nearest_panels(world, *g, c.position);
        return "panel '" + g->panels[panels[std::min(rank, panels.size() - 1)].second] + "' of '" + own + "'";
    };
    throw Error(name(c.body_a, 0) + " starts in " + name(c.body_b, c.body_a == c.body_b ? 1 : 0) + " at " +
                place_words(c.position) + "; move them apart");
}

bool is_inside(const Model& model, const Vec3s& x, const Body& body, const Vec3& p)
{
    int winding = 0;
    for (Index t = body.first_triangle; t < body.first_triangle + body.triangle_count; ++t) {
        const Triangle& f = model.surface.triangles[t];
        winding += ray_crossing(p, x[f[0]], x[f[1]], x[f[2]]);
    }
    return winding != 0;
}

} // namespace

void require_free_panels(const World& world, const std::vector<PlacedGarment>& garments)
{
    const auto is_garment = [&](Index b) {
        return std::ranges::find(garments, b, &PlacedGarment::body) != garments.end();
    };
    for (const StartCrossing& c : start_crossings(world))
        if (is_garment(c.body_a) || is_garment(c.body_b)) refuse_crossing(world, garments, c);
    Vec3s x;
    surface_positions(world.model, world.state, x);
    for (const PlacedGarment& g : garments)
        for (const Body& body : world.model.bodies) {
            if (!body.closed) continue;
            for (Index p = 0; p < count(g.panels); ++p) {
                const Index v = world.model.bodies[g.body].first_vertex + g.garment->panel_begin[p];
                if (is_inside(world.model, x, body, x[v]))
                    throw Error("panel '" + g.panels[p] + "' of '" + world.model.bodies[g.body].name +
                                "' starts inside of '" + body.name + "'; move it out");
            }
        }
}

} // namespace pliant
