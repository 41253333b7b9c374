#pragma once
// The parts of report.html, each a piece of HTML.

#include "pliant/run/reader.hpp"

#include <span>
#include <string>
#include <string_view>

namespace pliant {

std::string html_escape(std::string_view text);
std::string base64(std::span<const std::byte> bytes);
std::string base64(std::string_view bytes);

struct PlotSeries {
    std::string name;            ///< in the legend; without a name it is left out there
    std::vector<Real> x, values; ///< time [s], or what the axis says, and what is plotted over it
    bool dots = false;           ///< instead of a line
};

/// A plot as inline SVG. Lines of many points are thinned to the extremes of each pixel column, so that peaks stay.
std::string svg_plot(const std::string& title, const std::string& unit, const std::vector<PlotSeries>& series,
                     const std::string& axis = "time [s]");
/// The colour of a plot's i-th series, "#c0392b".
const char* plot_colour(std::size_t i);

/// The style sheet of the pages.
extern const char page_style[];

/// The line through points by least squares.
struct FittedLine {
    Real at_zero = 0, slope = 0;
    Real correlation = 0; ///< of x and y, from -1 to 1; 0 where either of them is constant
};
FittedLine fit_line(std::span<const Real> x, std::span<const Real> y);

/// Energy, contacts, rounds, iterations, speed and milliseconds a stage over the time of the run; with the methods on
/// tetrahedra also the time of the contact forces over the number of contacts.
std::string report_plots(const Stats& stats);

/// A canvas with the moving surface (WebGL), its controls, data and script.
std::string report_playback(const RunReader& reader, std::size_t most_bytes);

} // namespace pliant
