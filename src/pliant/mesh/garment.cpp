#include "pliant/mesh/garment.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/union_find.hpp"
#include "pliant/mesh/planar.hpp"
#include "pliant/mesh/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

constexpr Real most_difference = 0.2; ///< of the sides of a seam, over the longer one
constexpr int curve_samples = 200;    ///< for lengths along a curve

Real cross(const Vec2& a, const Vec2& b)
{
    return a.x() * b.y() - a.y() * b.x();
}

std::string length_words(Real metres)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.4g cm", 100 * metres);
    return text;
}

/// A cubic through each two points next to each other, smooth where they meet: its rates are those of parabolas through
/// three points at times that differ by the square roots of their distances (centripetal, so that it makes no loops),
/// and at its ends it does not bend.
class Spline {
public:
    explicit Spline(std::vector<Vec2> points) : points_(std::move(points))
    {
        constexpr Real shortest = 1e-9; // of points that are one
        for (std::size_t i = 0; i + 1 < points_.size(); ++i)
            span_.push_back(std::sqrt(std::max(shortest, (points_[i + 1] - points_[i]).norm())));
        const std::size_t n = span_.size();
        rate_.resize(points_.size());
        const auto slope = [&](std::size_t i) -> Vec2 { return (points_[i + 1] - points_[i]) / span_[i]; };
        for (std::size_t i = 1; i < n; ++i)
            rate_[i] = (span_[i] * slope(i - 1) + span_[i - 1] * slope(i)) / (span_[i - 1] + span_[i]);
        rate_[0] = n > 1 ? Vec2(1.5 * slope(0) - 0.5 * rate_[1]) : slope(0);
        rate_[n] = n > 1 ? Vec2(1.5 * slope(n - 1) - 0.5 * rate_[n - 1]) : slope(0);
    }
    /// u in [0, 1]; the points are at multiples of one over their number less one.
    Vec2 at(Real u) const
    {
        const Real place = u * static_cast<Real>(span_.size());
        const std::size_t i = std::min(static_cast<std::size_t>(place), span_.size() - 1);
        const Real s = place - static_cast<Real>(i), r = 1 - s;
        return r * r * (1 + 2 * s) * points_[i] + s * s * (1 + 2 * r) * points_[i + 1] +
               span_[i] * s * r * (r * rate_[i] - s * rate_[i + 1]);
    }

private:
    std::vector<Vec2> points_, rate_; ///< [m], per square root of a metre
    std::vector<Real> span_;          ///< between points
};

std::vector<Vec2> spline_points(const Vec2& from, const PanelSide& side)
{
    std::vector<Vec2> points{from};
    points.insert(points.end(), side.through.begin(), side.through.end());
    points.push_back(side.to);
    return points;
}

/// A side as a curve over [0, 1].
class SideCurve {
public:
    SideCurve(const Panel& panel, Index side)
        : from_(panel.outline[side == 0 ? panel.outline.size() - 1 : static_cast<std::size_t>(side) - 1].to),
          side_(panel.outline[side]), spline_(spline_points(from_, side_))
    {
        length_.push_back(0);
        for (int i = 1; i <= curve_samples; ++i)
            length_.push_back(length_.back() + (at(Real(i) / curve_samples) - at(Real(i - 1) / curve_samples)).norm());
    }

    Real length() const { return length_.back(); }
    /// n + 1 points at equal distances along the side, its ends among them.
    std::vector<Vec2> points(Index n) const
    {
        std::vector<Vec2> out{from_};
        std::size_t k = 1;
        for (Index i = 1; i < n; ++i) {
            const Real wanted = length() * i / n;
            while (length_[k] < wanted) ++k;
            const Real part = (wanted - length_[k - 1]) / (length_[k] - length_[k - 1]);
            out.push_back(at((static_cast<Real>(k) - 1 + part) / curve_samples));
        }
        out.push_back(side_.to);
        return out;
    }

private:
    Vec2 at(Real u) const
    {
        const Real v = 1 - u;
        if (!side_.through.empty()) return spline_.at(u);
        if (!side_.curve) return v * from_ + u * side_.to;
        return v * v * v * from_ + 3 * v * v * u * (*side_.curve)[0] + 3 * v * u * u * (*side_.curve)[1] +
               u * u * u * side_.to;
    }

    Vec2 from_;
    const PanelSide& side_;
    Spline spline_;
    std::vector<Real> length_; ///< up to each sample [m]
};

/// Whether two closed segments have a point in common; ends count unless they are one point.
bool segments_cross(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d)
{
    const Real ab_c = cross(b - a, c - a), ab_d = cross(b - a, d - a), cd_a = cross(d - c, a - c),
               cd_b = cross(d - c, b - c);
    return ab_c * ab_d < 0 && cd_a * cd_b < 0;
}

/// The outline as a polygon, counter-clockwise, and which of its corners are on each side.
struct Outline {
    std::vector<Vec2> points;
    std::vector<std::vector<Index>> sides; ///< from end to end, as the panel gives them
};

void require_simple(const Panel& panel, const Outline& outline)
{
    const std::vector<Vec2>& p = outline.points;
    const std::size_t n = p.size();
    const auto side_name = [&](std::size_t segment) {
        for (std::size_t s = 0; s < outline.sides.size(); ++s) {
            const std::vector<Index>& side = outline.sides[s];
            for (std::size_t k = 0; k + 1 < side.size(); ++k) {
                const auto [low, high] = std::minmax(side[k], side[k + 1]);
                const bool wraps = low == 0 && high == count(p) - 1 && n > 2;
                if (static_cast<std::size_t>(wraps ? high : low) == segment)
                    return panel.outline[s].name.empty() ? std::to_string(s + 1) : "'" + panel.outline[s].name + "'";
            }
        }
        return std::string("?");
    };
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 2; j < n; ++j) {
            if (i == 0 && j + 1 == n) continue;
            if (segments_cross(p[i], p[i + 1], p[j], p[(j + 1) % n]))
                throw Error("panel '" + panel.name + "': its outline crosses itself, side " + side_name(i) +
                            " and side " + side_name(j) + "; move their points apart");
        }
}

Outline make_outline(const Panel& panel, const std::vector<Index>& segments)
{
    Outline outline;
    for (Index s = 0; s < count(panel.outline); ++s) {
        const std::vector<Vec2> points = SideCurve(panel, s).points(segments[s]);
        std::vector<Index>& side = outline.sides.emplace_back();
        for (std::size_t k = 0; k + 1 < points.size(); ++k) {
            side.push_back(count(outline.points));
            outline.points.push_back(points[k]);
        }
        side.push_back(count(outline.points)); // the first one of the next side
    }
    const Index n = count(outline.points);
    outline.sides.back().back() = 0;
    Real area = 0;
    for (Index i = 0; i < n; ++i) area += cross(outline.points[i], outline.points[(i + 1) % n]) / 2;
    require_simple(panel, outline);
    Eigen::AlignedBox<Real, 2> box;
    for (const Vec2& x : outline.points) box.extend(x);
    if (!(std::abs(area) > 1e-9 * box.sizes().squaredNorm()))
        throw Error("panel '" + panel.name + "': its outline encloses no area; give it at least three corners");
    if (area < 0) {
        std::reverse(outline.points.begin(), outline.points.end());
        for (auto& side : outline.sides)
            for (Index& v : side) v = n - 1 - v;
    }
    return outline;
}

PlanarMesh fill(const Outline& outline, Real edge)
{
    PlanarMesh mesh;
    mesh.vertices = outline.points;
    Vec3s corners;
    std::vector<Index> polygon;
    for (const Vec2& p : outline.points) {
        polygon.push_back(count(corners));
        corners.emplace_back(p.x(), p.y(), 0);
    }
    triangulate_polygon(corners, polygon, mesh.triangles);
    make_delaunay(mesh);
    fill_with_vertices(mesh, edge);
    return mesh;
}

Vec3 placed(const PanelPlace& place, const Vec2& p)
{
    Vec3 x(p.x(), p.y(), 0);
    if (place.bend != 0) {
        const Real angle = p.x() / place.bend;
        x = {place.bend * std::sin(angle), p.y(), place.bend * (std::cos(angle) - 1)};
    }
    x = place.pose(x);
    if (place.mirror) x.x() = -x.x();
    return x;
}

std::string side_words(const Pattern& pattern, const SideNumber& s)
{
    const Panel& panel = pattern.panels[s.panel];
    return "'" + panel.name + "." + panel.outline[s.side].name + "'";
}

void require_like_lengths(const Pattern& pattern)
{
    for (const PanelSeam& seam : pattern.seams) {
        const Real a = side_length(pattern.panels[seam.a.panel], seam.a.side),
                   b = side_length(pattern.panels[seam.b.panel], seam.b.side);
        if (std::abs(a - b) > most_difference * std::max(a, b))
            throw Error("seam between " + side_words(pattern, seam.a) + " of " + length_words(a) + " and " +
                        side_words(pattern, seam.b) + " of " + length_words(b) +
                        ": the lengths differ by more than 20 %; change an outline");
    }
}

/// Per panel and side: edges along it; sides that seams join, directly or not, have as many as the one that needs most.
std::vector<std::vector<Index>> segment_counts(const Pattern& pattern)
{
    std::vector<std::vector<Index>> number, segments;
    Index sides = 0;
    std::vector<Index> wanted;
    for (const Panel& panel : pattern.panels) {
        number.emplace_back();
        for (Index s = 0; s < count(panel.outline); ++s) {
            number.back().push_back(sides++);
            wanted.push_back(std::max<Index>(1, static_cast<Index>(std::lround(side_length(panel, s) / pattern.edge))));
        }
    }
    UnionFind joined(sides);
    for (const PanelSeam& seam : pattern.seams)
        joined.join(number[seam.a.panel][seam.a.side], number[seam.b.panel][seam.b.side]);
    std::vector<Index> most(wanted.size(), 0);
    for (Index i = 0; i < sides; ++i) most[joined.find(i)] = std::max(most[joined.find(i)], wanted[i]);
    for (const auto& panel : number) {
        segments.emplace_back();
        for (const Index i : panel) segments.back().push_back(most[joined.find(i)]);
    }
    return segments;
}

GarmentSeam join_sides(const Pattern& pattern, const PanelSeam& seam, const Garment& garment)
{
    const std::vector<Index>& a = garment.sides[seam.a.panel][seam.a.side];
    std::vector<Index> b = garment.sides[seam.b.panel][seam.b.side];
    const auto& x = garment.start;
    const Real same = (x[a.front()] - x[b.front()]).norm() + (x[a.back()] - x[b.back()]).norm(),
               turned = (x[a.front()] - x[b.back()]).norm() + (x[a.back()] - x[b.front()]).norm();
    if (turned < same) std::reverse(b.begin(), b.end());
    GarmentSeam out;
    out.name = seam.name;
    out.length_a = side_length(pattern.panels[seam.a.panel], seam.a.side);
    out.length_b = side_length(pattern.panels[seam.b.panel], seam.b.side);
    for (std::size_t i = 0; i < a.size(); ++i) out.pairs.push_back({a[i], b[i]});
    return out;
}

} // namespace

Real side_length(const Panel& panel, Index side)
{
    return SideCurve(panel, side).length();
}

Garment make_garment(const Pattern& pattern)
{
    require_like_lengths(pattern);
    const std::vector<std::vector<Index>> segments = segment_counts(pattern);
    Garment garment;
    garment.panel_begin.push_back(0);
    Real right = 0; // of the panels so far, in the flat layout
    for (Index p = 0; p < count(pattern.panels); ++p) {
        const Panel& panel = pattern.panels[p];
        const Outline outline = make_outline(panel, segments[p]);
        const PlanarMesh mesh = fill(outline, pattern.edge);
        Eigen::AlignedBox<Real, 2> box;
        for (const Vec2& x : mesh.vertices) box.extend(x);
        const Index first = count(garment.start);
        for (const Vec2& x : mesh.vertices) {
            garment.flat.vertices.emplace_back(x.x() - box.min().x() + right, x.y(), 0);
            garment.start.push_back(placed(panel.place, x));
        }
        right += box.sizes().x() + 5 * pattern.edge;
        for (const Triangle& t : mesh.triangles)
            garment.flat.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
        garment.sides.push_back(outline.sides);
        for (auto& side : garment.sides.back())
            for (Index& v : side) v += first;
        garment.panel_begin.push_back(count(garment.start));
    }
    for (const PanelSeam& seam : pattern.seams) garment.seams.push_back(join_sides(pattern, seam, garment));
    return garment;
}

Real garment_triangles(const Pattern& pattern)
{
    Real area = 0;
    for (const Panel& panel : pattern.panels) {
        Eigen::AlignedBox<Real, 2> box;
        for (const PanelSide& side : panel.outline) {
            box.extend(side.to);
            if (side.curve) box.extend((*side.curve)[0]), box.extend((*side.curve)[1]);
            for (const Vec2& point : side.through) box.extend(point);
        }
        if (!box.isEmpty()) area += box.sizes().prod();
    }
    return area / (pattern.edge * pattern.edge) * 2 / std::sqrt(3.0) * 2;
}

} // namespace pliant
