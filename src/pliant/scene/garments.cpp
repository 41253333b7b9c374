#include "pliant/scene/garments.hpp"

#include "pliant/scene/suggest.hpp"
#include "pliant/world/motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

Real unit_of(const std::string& unit)
{
    return unit == "cm" ? 0.01 : unit == "mm" ? 0.001 : unit == "in" ? 0.0254 : 1;
}

PanelSide side_of(const Value& v, Real unit)
{
    PanelSide side;
    side.name = v.at("name").scalar;
    side.to = unit * v.at("to").vec2();
    if (const Value* curve = v.find("curve")) {
        if (curve->items.size() != 2)
            fail(curve->mark, fmt::format("a curve has two inner control points, not {}", curve->items.size()));
        side.curve = {{unit * curve->items[0].vec2(), unit * curve->items[1].vec2()}};
    }
    if (const Value* through = v.find("through")) {
        if (side.curve) fail(through->mark, "a side has a curve, or points that it goes through, not both");
        for (const Value& point : through->items) side.through.push_back(unit * point.vec2());
    }
    return side;
}

Panel panel_of(const std::string& name, const Value& v, Real unit)
{
    Panel panel;
    panel.name = name;
    std::vector<std::string> names;
    for (const Value& side : v.at("outline").items) {
        panel.outline.push_back(side_of(side, unit));
        const std::string& own = panel.outline.back().name;
        if (own.empty()) continue;
        if (std::ranges::find(names, own) != names.end())
            fail(side.mark, fmt::format("panel '{}' has two sides called '{}'", name, own));
        names.push_back(own);
    }
    if (panel.outline.size() < 2) fail(v.at("outline").mark, fmt::format("panel '{}' needs at least two sides", name));
    panel.place.pose = {v.at("at").vec3(), rotation_xyz(v.at("turn").vec3() * (std::numbers::pi / 180))};
    if (v.at("bend").scalar != "none") panel.place.bend = v.at("bend").real();
    return panel;
}

/// A name that other words would be unclear in.
std::vector<std::string> side_names(const Pattern& pattern)
{
    std::vector<std::string> names;
    for (const Panel& panel : pattern.panels)
        for (const PanelSide& side : panel.outline)
            if (!side.name.empty()) names.push_back(panel.name + "." + side.name);
    return names;
}

} // namespace

SideNumber find_side(const Pattern& pattern, const Value& name)
{
    for (Index p = 0; p < count(pattern.panels); ++p) {
        const Panel& panel = pattern.panels[p];
        for (Index s = 0; s < count(panel.outline); ++s)
            if (!panel.outline[s].name.empty() && panel.name + "." + panel.outline[s].name == name.scalar)
                return {p, s};
    }
    fail(name.mark, fmt::format("there is no side '{}' in the garment{}", name.scalar,
                                did_you_mean(name.scalar, side_names(pattern))));
}

Pattern garment_pattern(const Value& garment)
{
    Pattern pattern;
    pattern.edge = garment.at("edge").real();
    const Real unit = unit_of(garment.at("unit").scalar);
    const auto add = [&](const Mark& mark, Panel panel) {
        if (std::ranges::find(pattern.panels, panel.name, &Panel::name) != pattern.panels.end())
            fail(mark, fmt::format("the garment has two panels called '{}'", panel.name));
        pattern.panels.push_back(std::move(panel));
    };
    for (const Value::Entry& e : garment.at("panels").entries) {
        add(e.mark, panel_of(e.key, e.value, unit));
        const Value* mirror = e.value.find("mirror");
        if (!mirror) continue;
        Panel image = pattern.panels.back();
        image.name = mirror->scalar;
        image.place.mirror = true;
        add(mirror->mark, std::move(image));
    }
    if (pattern.panels.empty()) fail(garment.at("panels").mark, "the garment has no panels");
    for (const Value& seam : garment.at("seams").items) {
        const SideNumber a = find_side(pattern, seam.items[0]), b = find_side(pattern, seam.items[1]);
        if (a == b) fail(seam.mark, fmt::format("'{}' cannot be sewn to itself", seam.items[0].scalar));
        pattern.seams.push_back({seam.items[0].scalar + " to " + seam.items[1].scalar, a, b});
    }
    return pattern;
}

GarmentTrim garment_trim(const Value& garment, const Pattern& pattern)
{
    GarmentTrim trim;
    if (const Value* hems = garment.find("hems"))
        for (const Value& hem : hems->items) trim.hems.push_back(find_side(pattern, hem));
    if (const Value* bands = garment.find("elastic"))
        for (const Value& band : bands->items)
            trim.bands.push_back({find_side(pattern, band.at("side")), band.at("length").real()});
    return trim;
}

namespace {

constexpr const char* seam_colours[] = {"#c0392b", "#2471a3", "#1e8449", "#b9770e",
                                        "#7d3c98", "#148f77", "#a04000", "#5d6d7e"};
constexpr Real pixels_a_metre = 800;

class PanelDrawing {
public:
    explicit PanelDrawing(const Pattern& pattern) : pattern_(pattern), garment_(make_garment(pattern))
    {
        for (const Vec3& x : garment_.flat.vertices) box_.extend(Vec2(x.x(), x.y()));
    }

    std::string draw() const
    {
        const Real margin = 60, legend = 22 * static_cast<Real>(garment_.seams.size()) + 40;
        const Vec2 size = pixels_a_metre * box_.sizes() + Vec2::Constant(2 * margin);
        std::string out =
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{:.1f} {:.1f} {:.1f} {:.1f}\" "
                        "font-family=\"sans-serif\" font-size=\"14\">\n",
                        -margin, -margin, std::max(size.x(), 700.0), size.y() + legend);
        for (Index p = 0; p < count(pattern_.panels); ++p) draw_panel(p, out);
        for (std::size_t s = 0; s < garment_.seams.size(); ++s) draw_seam(s, pixels_a_metre * box_.sizes().y(), out);
        return out + "</svg>\n";
    }

private:
    std::string point(Index v) const
    {
        const Vec3& x = garment_.flat.vertices[v];
        return fmt::format("{:.1f},{:.1f}", pixels_a_metre * (x.x() - box_.min().x()),
                           pixels_a_metre * (box_.max().y() - x.y()));
    }
    std::string line(const std::vector<Index>& side) const
    {
        std::string points;
        for (const Index v : side) points += point(v) + " ";
        return points;
    }
    static std::string escaped(const std::string& text)
    {
        std::string out;
        for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
        return out;
    }
    void text_at(Index v, const std::string& text, const char* style, std::string& out) const
    {
        const std::string p = point(v);
        const std::size_t comma = p.find(',');
        out += fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", p.substr(0, comma), p.substr(comma + 1), style,
                           escaped(text));
    }

    void draw_panel(Index p, std::string& out) const
    {
        const Panel& panel = pattern_.panels[p];
        std::string outline;
        for (const auto& side : garment_.sides[p]) outline += line(side);
        out += fmt::format("<polygon points=\"{}\" fill=\"#f4ecdf\" stroke=\"#555\" stroke-width=\"1\"/>\n", outline);
        for (Index s = 0; s < count(panel.outline); ++s) {
            const std::vector<Index>& side = garment_.sides[p][s];
            if (!panel.outline[s].name.empty())
                text_at(side[side.size() / 2], panel.outline[s].name, "fill=\"#777\" font-size=\"11\"", out);
        }
        Vec2 middle = Vec2::Zero();
        const Index begin = garment_.panel_begin[p], end = garment_.panel_begin[p + 1];
        for (Index v = begin; v < end; ++v)
            middle += Vec2(garment_.flat.vertices[v].x(), garment_.flat.vertices[v].y()) / (end - begin);
        out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n",
                           pixels_a_metre * (middle.x() - box_.min().x()),
                           pixels_a_metre * (box_.max().y() - middle.y()), escaped(panel.name));
    }

    void draw_seam(std::size_t s, Real bottom, std::string& out) const
    {
        const PanelSeam& seam = pattern_.seams[s];
        const GarmentSeam& g = garment_.seams[s];
        const char* colour = seam_colours[s % std::size(seam_colours)];
        for (const SideNumber& side : {seam.a, seam.b}) {
            const std::vector<Index>& vertices = garment_.sides[side.panel][side.side];
            out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"4\"/>\n",
                               line(vertices), colour);
            text_at(vertices[vertices.size() / 2], std::to_string(s + 1),
                    fmt::format("fill=\"{}\" font-weight=\"bold\" dy=\"16\"", colour).c_str(), out);
        }
        const Real longer = std::max(g.length_a, g.length_b);
        out += fmt::format("<text x=\"0\" y=\"{:.1f}\" fill=\"{}\">{}: {}, {:.1f} cm and {:.1f} cm, {:.1f} % apart, {} "
                           "edges</text>\n",
                           bottom + 40 + 22 * static_cast<Real>(s), colour, s + 1, escaped(g.name), 100 * g.length_a,
                           100 * g.length_b, 100 * std::abs(g.length_a - g.length_b) / longer, g.pairs.size() - 1);
    }

    const Pattern& pattern_;
    const Garment garment_;
    Eigen::AlignedBox<Real, 2> box_;
};

} // namespace

std::string draw_panels(const Pattern& pattern)
{
    return PanelDrawing(pattern).draw();
}

} // namespace pliant
