#include "pliant/show/report_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr int width = 560, height = 230, left = 64, right = 12, top = 34, bottom = 34;
constexpr const char* colours[] = {"#c0392b", "#2471a3", "#1e8449", "#b7950b", "#7d3c98",
                                   "#566573", "#d35400", "#148f77", "#34495e", "#e67e22"};

/// The largest of 1, 2, 5 times a power of ten that gives at least `wanted` intervals.
Real tick_step(Real range, int wanted)
{
    const Real raw = range / wanted, power = std::pow(10, std::floor(std::log10(raw)));
    for (const Real factor : {5.0, 2.0})
        if (factor * power <= raw) return factor * power;
    return power;
}

struct Axis {
    Real low, high;
    int from, to; ///< pixels
    Real pixel(Real value) const { return from + (value - low) / (high - low) * (to - from); }
};

std::string polyline(const std::vector<Real>& x, const std::vector<Real>& y, const Axis& ax, const Axis& ay)
{
    std::string points;
    const auto add = [&](std::size_t i) { points += fmt::format("{:.1f},{:.1f} ", ax.pixel(x[i]), ay.pixel(y[i])); };
    const std::size_t n = x.size(), columns = static_cast<std::size_t>(width - left - right);
    const std::size_t stride = std::max<std::size_t>(1, n / columns);
    for (std::size_t begin = 0; begin < n; begin += stride) {
        const std::size_t end = std::min(n, begin + stride);
        const auto [low, high] = std::minmax_element(y.begin() + static_cast<std::ptrdiff_t>(begin),
                                                     y.begin() + static_cast<std::ptrdiff_t>(end));
        const auto first = static_cast<std::size_t>(std::min(low, high) - y.begin()),
                   second = static_cast<std::size_t>(std::max(low, high) - y.begin());
        add(first);
        if (second != first) add(second);
    }
    return points;
}

std::string circles(const PlotSeries& series, const char* colour, const Axis& ax, const Axis& ay)
{
    std::string svg;
    for (std::size_t i = 0; i < series.x.size(); ++i)
        if (std::isfinite(series.values[i]))
            svg += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="{}"/>)", ax.pixel(series.x[i]),
                               ay.pixel(series.values[i]), colour);
    return svg;
}

/// What the contact forces of a sub-step take against the number of contacts, over each fiftieth of the run (the
/// median, because other programs may have been in the way), with a line through them [Spillmann07, fig. 6]. Nothing
/// for methods and runs without such numbers.
std::string forces_over_contacts(const Stats& stats)
{
    if (stats.column("colliding_points") == none || stats.column("s:respond") == none) return "";
    const std::vector<Real> contacts = stats.values("contacts"), seconds = stats.values("s:respond"),
                            substeps = stats.values("substeps");
    constexpr std::size_t windows = 50;
    PlotSeries points{"", {}, {}, true};
    for (std::size_t w = 0; w < windows; ++w) {
        const std::size_t begin = w * contacts.size() / windows, end = (w + 1) * contacts.size() / windows;
        Real number = 0;
        std::vector<Real> ms;
        for (std::size_t i = begin; i < end; ++i) {
            number += contacts[i];
            ms.push_back(1000 * seconds[i] / std::max(substeps[i], 1.0));
        }
        if (!(number > 0)) continue;
        const auto median = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
        std::nth_element(ms.begin(), median, ms.end());
        points.x.push_back(number / static_cast<Real>(end - begin));
        points.values.push_back(*median);
    }
    if (points.x.size() < 3) return "";
    const FittedLine line = fit_line(points.x, points.values);
    const Real most = *std::max_element(points.x.begin(), points.x.end());
    const std::string name = fmt::format("{:.3g} ms + {:.3g} us a contact, correlation {:.3f}", line.at_zero,
                                         1000 * line.slope, line.correlation);
    return svg_plot("Contact forces of a sub-step", "ms",
                    {points, {name, {0, most}, {line.at_zero, line.at_zero + line.slope * most}}}, "contacts");
}

} // namespace

FittedLine fit_line(std::span<const Real> x, std::span<const Real> y)
{
    const Real n = static_cast<Real>(std::min(x.size(), y.size()));
    if (n == 0) return {};
    Real mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const Real dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    const Real slope = xx > 0 ? xy / xx : 0;
    return {mean_y - slope * mean_x, slope, xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0};
}

const char* plot_colour(std::size_t i)
{
    return colours[i % std::size(colours)];
}

std::string svg_plot(const std::string& title, const std::string& unit, const std::vector<PlotSeries>& series,
                     const std::string& axis)
{
    Real low = 0, high = 0, begin = 0, end = 0;
    bool empty = true;
    for (const PlotSeries& s : series) {
        for (const Real v : s.values)
            if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
        for (const Real x : s.x) begin = std::min(begin, x), end = std::max(end, x), empty = false;
    }
    if (!(high > low)) high = low + 1;
    if (empty) return "";
    const Axis ax{begin, end > begin ? end : begin + 1, left, width - right};
    const Axis ay{low, high, height - bottom, top};
    std::string svg = fmt::format(R"(<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}"><text x="{}" )"
                                  R"(y="14" class="title">{}{}</text>)",
                                  width, height, html_escape(title), left, html_escape(title),
                                  unit.empty() ? "" : " [" + html_escape(unit) + "]");
    const Real step_y = tick_step(high - low, 3), step_x = tick_step(ax.high - ax.low, 5);
    for (Real v = std::ceil(low / step_y) * step_y; v <= high * (1 + 1e-9) + 1e-300; v += step_y) {
        const Real clean = std::abs(v) < 1e-9 * step_y ? 0 : v;
        svg += fmt::format(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="grid"/><text x="{}" y="{:.1f}" )"
                           R"(class="tick" text-anchor="end">{:.4g}</text>)",
                           left, width - right, ay.pixel(v), ay.pixel(v), left - 6, ay.pixel(v) + 4, clean);
    }
    for (Real v = std::ceil(ax.low / step_x) * step_x; v <= ax.high * (1 + 1e-9); v += step_x)
        svg += fmt::format(R"(<text x="{:.1f}" y="{}" class="tick" text-anchor="middle">{:.4g}</text>)", ax.pixel(v),
                           height - bottom + 16, v);
    svg += fmt::format(R"(<text x="{}" y="{}" class="tick" text-anchor="end">{}</text>)", width - right, height - 4,
                       html_escape(axis));
    int legend = left;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const char* colour = plot_colour(i);
        std::vector<Real> finite = series[i].values;
        finite.resize(series[i].x.size(), 0);
        for (Real& v : finite)
            if (!std::isfinite(v)) v = high;
        if (series[i].dots)
            svg += circles(series[i], colour, ax, ay);
        else
            svg += fmt::format(R"(<polyline fill="none" stroke="{}" stroke-width="1.4" points="{}"/>)", colour,
                               polyline(series[i].x, finite, ax, ay));
        if (series[i].name.empty()) continue;
        svg += fmt::format(R"(<text x="{}" y="28" class="tick" fill="{}">{}</text>)", legend, colour,
                           html_escape(series[i].name));
        legend += 14 + 7 * static_cast<int>(series[i].name.size());
    }
    return svg + "</svg>\n";
}

std::string report_plots(const Stats& stats)
{
    const std::vector<Real> time = stats.values("time");
    if (time.empty()) return "<p>No step has been recorded.</p>";
    /// Some columns belong to a method: what the run does not have is left out.
    const auto plot = [&](const char* title, const char* unit,
                          std::initializer_list<std::pair<const char*, const char*>> columns) {
        std::vector<PlotSeries> series;
        for (const auto& [name, label] : columns)
            if (stats.column(name) != none) series.push_back({label, time, stats.values(name)});
        return svg_plot(title, unit, series);
    };
    const auto column = [&](const char* name, const char* label) {
        return PlotSeries{label, time, stats.values(name)};
    };
    PlotSeries total{"total", time, stats.values("kinetic_energy")};
    const std::vector<Real> elastic = stats.values("elastic_energy"), gravity = stats.values("gravity_energy");
    for (std::size_t i = 0; i < total.values.size(); ++i) total.values[i] += elastic[i] + gravity[i];
    std::string out = svg_plot("Energy", "J",
                               {column("kinetic_energy", "kinetic"), column("elastic_energy", "elastic"),
                                column("gravity_energy", "gravity"), total});
    out += plot("Contacts", "",
                {{"contacts", "all"},
                 {"active_contacts", "with a force"},
                 {"contacts_vertex_face", "vertex-face"},
                 {"contacts_edge_edge", "edge-edge"},
                 {"contacts_plane", "plane"}});
    out += plot("Rounds of refinement and sub-steps", "", {{"rounds", "rounds"}, {"substeps", "sub-steps"}});
    out += plot("Iterations", "", {{"contact_iterations", "contact solver"}, {"linear_iterations", "linear solver"}});
    out += plot("Greatest speed", "m/s", {{"max_speed", "of any vertex"}});
    out += plot("Deepest penetration", "m", {{"deepest_penetration", "of any point"}});
    const std::vector<Real> inverted = stats.values("inverted");
    if (std::any_of(inverted.begin(), inverted.end(), [](Real n) { return n > 0; }))
        out += plot("Tetrahedra that are inside out", "", {{"inverted", "in all bodies"}});
    std::vector<PlotSeries> stages;
    for (const std::string& name : stats.columns)
        if (name.starts_with("s:")) {
            stages.push_back({name.substr(2), time, stats.values(name)});
            for (Real& v : stages.back().values) v *= 1000;
        }
    if (!stages.empty()) out += svg_plot("Time a stage", "ms", stages);
    return out + forces_over_contacts(stats);
}

} // namespace pliant
