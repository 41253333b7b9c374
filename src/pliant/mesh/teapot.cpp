#include "pliant/mesh/blend.hpp"

#include <cmath>
#include <numbers>

namespace pliant {
namespace {

/// Tubes along a line of points, each with its radius.
struct TubePoint {
    Vec3 at;
    Real radius;
};

void add_tube(BlendOptions& out, const std::vector<TubePoint>& line, Real melt)
{
    for (std::size_t i = 0; i + 1 < line.size(); ++i)
        out.parts.push_back({BlendCapsule{line[i].at, line[i + 1].at, line[i].radius, line[i + 1].radius}, melt});
}

/// A ring around the y axis.
void add_ring(BlendOptions& out, Real radius, Real height, Real tube, Real melt)
{
    constexpr int pieces = 24;
    std::vector<TubePoint> line;
    for (int i = 0; i <= pieces; ++i) {
        const Real a = 2 * std::numbers::pi * i / pieces;
        line.push_back({{radius * std::cos(a), height, radius * std::sin(a)}, tube});
    }
    add_tube(out, line, melt);
}

} // namespace

BlendOptions make_teapot(Real radius, Real edge)
{
    BlendOptions out;
    out.edge = edge;
    // In units of the body's radius. The underside is hollow above the foot, so that a lid's knob fits under it.
    out.parts.push_back({BlendEllipsoid{{0, 0.95, 0}, {1, 0.75, 1}, Quat::Identity()}, 0.05});
    // Foot and rim are rings of one radius, so that teapots stand on each other.
    add_ring(out, 0.68, 0.10, 0.10, 0.06);
    add_ring(out, 0.68, 0.26, 0.12, 0.10);
    add_ring(out, 0.68, 1.50, 0.11, 0.04);                                             // rim of the lid
    out.parts.push_back({BlendCapsule{{0, 1.66, 0}, {0, 1.66, 0}, 0.12, 0.12}, 0.03}); // knob
    add_tube(out, {{{0.80, 0.70, 0}, 0.28}, {{1.20, 0.88, 0}, 0.20}, {{1.42, 1.15, 0}, 0.15}, {{1.68, 1.45, 0}, 0.12}},
             0.10);
    add_tube(out,
             {{{-0.80, 1.38, 0}, 0.11},
              {{-1.25, 1.42, 0}, 0.10},
              {{-1.52, 1.25, 0}, 0.10},
              {{-1.55, 0.98, 0}, 0.10},
              {{-1.35, 0.72, 0}, 0.10},
              {{-0.85, 0.58, 0}, 0.11}},
             0.06);
    for (BlendPart& part : out.parts) {
        part.melt *= radius;
        if (auto* c = std::get_if<BlendCapsule>(&part.shape)) {
            c->from *= radius;
            c->to *= radius;
            c->radius *= radius;
            c->end_radius *= radius;
        } else if (auto* e = std::get_if<BlendEllipsoid>(&part.shape)) {
            e->at *= radius;
            e->radii *= radius;
        }
    }
    return out;
}

} // namespace pliant
