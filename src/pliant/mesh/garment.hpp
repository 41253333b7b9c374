#pragma once
// Garments from flat pattern pieces: outlines cut into edges of one length, filled with triangles, placed in space,
// with the pairs of vertices that seams will join.

#include "pliant/mesh/mesh.hpp"

#include <optional>
#include <string>

namespace pliant {

/// One side of a panel's outline: from where the one before it ends, straight, along a cubic Bezier curve, or along a
/// smooth curve through points.
struct PanelSide {
    std::string name;                              ///< may be empty
    Vec2 to = Vec2::Zero();                        ///< [m]
    std::optional<std::array<Vec2, 2>> curve = {}; ///< the two inner control points [m]
    std::vector<Vec2> through = {};                ///< between its ends, instead of `curve` [m]
};

/// Where a panel starts: in its own plane (x to the right, y up, z towards the eye), bent about a vertical axis, then
/// turned, then moved.
struct PanelPlace {
    Real bend = 0; ///< radius of the bend, the axis behind the panel; negative: in front of it; 0: flat [m]
    Pose pose;
    bool mirror = false; ///< in the plane x = 0, after everything else
};

struct Panel {
    std::string name;
    std::vector<PanelSide> outline; ///< closed; either way round
    PanelPlace place;
};

/// A side by the numbers of its panel and within it.
struct SideNumber {
    Index panel = none, side = none;
    auto operator<=>(const SideNumber&) const = default;
};

struct PanelSeam {
    std::string name;
    SideNumber a, b;
};

struct Pattern {
    std::vector<Panel> panels;
    std::vector<PanelSeam> seams;
    Real edge = 0.02; ///< wanted length of the triangles' edges [m]
};

/// Length of a side [m].
Real side_length(const Panel& panel, Index side);

struct GarmentSeam {
    std::string name;
    std::vector<Edge> pairs;         ///< vertices, from one end to the other
    Real length_a = 0, length_b = 0; ///< of the two sides [m]
};

struct Garment {
    TriangleMesh flat;                                  ///< the panels in one plane, beside each other: the rest shape
    Vec3s start;                                        ///< per vertex, in space [m]
    std::vector<Index> panel_begin;                     ///< per panel + 1: range of vertices
    std::vector<std::vector<std::vector<Index>>> sides; ///< per panel and side: its vertices from end to end
    std::vector<GarmentSeam> seams;
};

/// Partners are joined in the order that brings them nearer at the start. Throws Error for an outline that crosses
/// itself or has no area, and for a seam whose sides differ by more than a fifth of the longer one.
Garment make_garment(const Pattern& pattern);

/// Triangles that make_garment() will make, roughly.
Real garment_triangles(const Pattern& pattern);

} // namespace pliant
