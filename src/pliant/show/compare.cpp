#include "pliant/show/compare.hpp"

#include "pliant/run/runner.hpp"
#include "pliant/show/report.hpp"
#include "pliant/show/report_parts.hpp"
#include "pliant/show/run_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace pliant {
namespace {

using Json = nlohmann::json;

Real mean(const std::vector<Real>& values)
{
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<Real>(values.size());
}

Real largest(const std::vector<Real>& values)
{
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::vector<Real> sum_of(const Stats& stats, const std::vector<const char*>& columns)
{
    std::vector<Real> sum(stats.rows.size(), 0);
    for (const char* column : columns) {
        const std::vector<Real> values = stats.values(column);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    return sum;
}

const std::vector<const char*> energy_columns = {"kinetic_energy", "elastic_energy", "gravity_energy"};

std::optional<Spread> spread_of(const Stats& stats, const char* column)
{
    if (stats.column(column) == none) return {};
    const std::vector<Real> values = stats.values(column);
    return Spread{mean(values), largest(values)};
}

/// A variant with all that the page takes from its run.
struct Variant {
    const CompareVariant& about;
    RunReader reader;
    Stats stats;
    std::vector<Real> time;        ///< of the lines of `stats` [s]
    std::vector<Real> frame_times; ///< [s]
    CompareSummary summary;
    std::unique_ptr<RunPictures> pictures;

    explicit Variant(const CompareVariant& v)
        : about(v), reader(v.directory), stats(reader.stats()), time(stats.values("time")), summary(summarise(reader))
    {
        const Scene scene = reader.scene();
        const bool every_step = reader.info().value("settings", Json::object()).value("every_step", false);
        for (Index k = 0, n = reader.frame_count(); k < n; ++k)
            frame_times.push_back(static_cast<Real>(frame_step(scene, every_step, k)) * scene.step);
    }

    Index frame_nearest(Real t) const
    {
        const auto later = std::lower_bound(frame_times.begin(), frame_times.end(), t);
        if (later == frame_times.begin()) return 0;
        const auto k = static_cast<Index>(later - frame_times.begin());
        return later == frame_times.end() || t - frame_times[k - 1] <= *later - t ? k - 1 : k;
    }
};
using Variants = std::vector<std::unique_ptr<Variant>>;

std::string chip(std::size_t i, const std::string& name)
{
    return fmt::format("<span class=\"chip\" style=\"background:{}\"></span>{}", plot_colour(i), html_escape(name));
}

std::string percent(Real part, Real whole)
{
    return whole > 0 ? fmt::format(" ({:.3g} %)", 100 * part / whole) : "";
}

std::string outcome(const Variant& v)
{
    if (!v.about.failure.empty())
        return fmt::format("<span class=\"bad\">stopped at {:.4g} s</span>: {}", v.summary.time,
                           html_escape(v.about.failure));
    const CompareSummary& s = v.summary;
    if (!s.intersections) return "finished, not checked";
    if (*s.intersections == 0 && *s.enclosures == 0)
        return "<span class=\"good\">finished, free of intersections</span>";
    return std::string("<span class=\"bad\">finished, bodies intersect</span>") +
           (s.promised ? "" : ", which the method does not rule out");
}

std::string table(const Variants& variants)
{
    std::string head = "<tr><th></th>";
    for (std::size_t i = 0; i < variants.size(); ++i) head += "<th>" + chip(i, variants[i]->about.name) + "</th>";
    std::string out = "<table class=\"compare\">" + head + "</tr>\n";
    const auto row = [&](const char* name, const auto& cell) {
        out += std::string("<tr><th>") + name + "</th>";
        for (const auto& v : variants) out += "<td>" + cell(*v) + "</td>";
        out += "</tr>\n";
    };
    const auto number = [&](const char* name, const char* format, const auto& values) {
        row(name, [&](const Variant& v) {
            const std::array<Real, 2> pair = values(v.summary);
            return fmt::format(fmt::runtime(format), pair[0], pair[1]);
        });
    };
    using S = const CompareSummary&;
    using Pair = std::array<Real, 2>;
    row("outcome", outcome);
    row("steps", [](const Variant& v) { return fmt::format("{} of {}", v.summary.steps, v.summary.asked_steps); });
    row("time of all steps [s]", [](const Variant& v) {
        return fmt::format("{:.3g}", v.summary.mean_ms * static_cast<Real>(v.summary.steps) / 1000);
    });
    number("time a step [ms]", "{:.3g}, at most {:.3g}", [](S s) { return Pair{s.mean_ms, s.max_ms}; });
    number("contacts", "{:.3g}, at most {:.6g}", [](S s) { return Pair{s.mean_contacts, s.max_contacts}; });
    const auto spread = [&](const char* name, std::optional<Spread> CompareSummary::*member) {
        row(name, [&](const Variant& v) {
            const std::optional<Spread>& s = v.summary.*member;
            return s ? fmt::format("{:.3g}, at most {:.6g}", s->mean, s->max) : std::string("-");
        });
    };
    spread("rounds of refinement", &CompareSummary::rounds);
    spread("iterations of the contact solver", &CompareSummary::iterations);
    row("steps that needed a fail-safe", [](const Variant& v) { return std::to_string(v.summary.failsafes); });
    row("intersecting pairs, tunnelled vertices", [](const Variant& v) {
        return v.summary.intersections ? fmt::format("{}, {}", *v.summary.intersections, *v.summary.enclosures) : "?";
    });
    row("deepest penetration [m]",
        [](const Variant& v) { return v.summary.intersections ? fmt::format("{:.3g}", v.summary.deepest) : "?"; });
    row("energy at the start and at the end [J]",
        [](const Variant& v) { return fmt::format("{:.4g}, {:.4g}", v.summary.start_energy, v.summary.end_energy); });
    row("energy drift [J]", [](const Variant& v) {
        const Real drift = v.summary.end_energy - v.summary.start_energy;
        return fmt::format("{:.4g}", drift) + percent(drift, v.summary.max_kinetic);
    });
    row("greatest rise of energy [J]", [](const Variant& v) {
        return fmt::format("{:.3g}", v.summary.energy_rise) + percent(v.summary.energy_rise, v.summary.max_kinetic);
    });
    row("momentum error of a step [N s]", [](const Variant& v) {
        const CompareSummary& s = v.summary;
        if (s.momentum_steps == 0) return std::string("not known");
        std::string text = fmt::format("{:.2g}", s.momentum_error) + percent(s.momentum_error, s.momentum_scale);
        if (s.momentum_steps < s.steps) text += fmt::format(", in {} of {} steps", s.momentum_steps, s.steps);
        return text;
    });
    row("largest elongation", [](const Variant& v) { return fmt::format("{:.2f} %", 100 * v.summary.max_elongation); });
    row("", [](const Variant& v) {
        const std::string name = html_escape(v.about.directory.filename().string());
        return fmt::format("<a href=\"{0}/report.html\">{0}</a>", name);
    });
    return out + "</table>\n";
}

/// All variants are seen from the same place: where the one that stays closest together is seen whole. Without contact
/// bodies fall for ever, and would make the others tiny.
void choose_camera(const Variants& variants, const CompareOptions& options)
{
    // One that stopped early has seen only a part of the motion, so it counts last.
    const auto& best = *std::min_element(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
        const bool stopped_a = !a->about.failure.empty(), stopped_b = !b->about.failure.empty();
        return stopped_a != stopped_b ? stopped_b : a->pictures->extent() < b->pictures->extent();
    });
    const Camera camera = best->pictures->camera(Real(options.tile_width) / options.tile_height);
    for (const auto& v : variants) v->pictures->set_camera(camera);
}

std::string pictures(const Variants& variants, const CompareOptions& options)
{
    PictureOptions look;
    look.width = options.tile_width;
    look.height = options.tile_height;
    look.samples = options.samples;
    look.label = true;
    const Variant* longest = variants.front().get();
    for (const auto& v : variants) {
        v->pictures = std::make_unique<RunPictures>(v->reader, look);
        if (v->frame_times.back() > longest->frame_times.back()) longest = v.get();
    }
    choose_camera(variants, options);
    std::string out = "<table class=\"pictures\"><tr><th></th>";
    for (std::size_t i = 0; i < variants.size(); ++i) out += "<th>" + chip(i, variants[i]->about.name) + "</th>";
    out += "</tr>\n";
    for (const Index k : RunPictures::spread(count(longest->frame_times), options.instants)) {
        const Real t = longest->frame_times[k];
        out += fmt::format("<tr><th>{:.3f} s</th>", t);
        for (const auto& v : variants) {
            const Index frame = v->frame_nearest(t);
            // A picture of another instant would be no comparison.
            const Real tolerance = v->frame_times.size() > 1 ? v->frame_times[1] : 0;
            if (t > v->frame_times.back() + tolerance) {
                out += fmt::format("<td class=\"small\">stopped at {:.4g} s</td>", v->summary.time);
                continue;
            }
            out += "<td><img alt=\"" + html_escape(v->about.name) + "\" src=\"data:image/png;base64," +
                   base64(encode_png(v->pictures->picture(frame))) + "\"></td>";
        }
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

std::string plots(const Variants& variants)
{
    const auto plot = [&](const std::string& title, const char* unit, const auto& values) {
        std::vector<PlotSeries> series;
        for (const auto& v : variants) {
            series.push_back({"", {}, values(v->stats)});
            if (!series.back().values.empty()) series.back().x = v->time;
        }
        return svg_plot(title, unit, series);
    };
    // A variant whose method has no such column keeps its place, and so its colour, without a line.
    const auto column = [](const std::string& name) {
        return [name](const Stats& s) { return s.column(name) == none ? std::vector<Real>() : s.values(name); };
    };
    std::string out = plot("Total energy", "J", [](const Stats& s) { return sum_of(s, energy_columns); });
    out += plot("Kinetic energy", "J", column("kinetic_energy"));
    out += plot("Elastic energy", "J", column("elastic_energy"));
    out += plot("Contacts", "", column("contacts"));
    out += plot("Rounds of refinement", "", column("rounds"));
    out += plot("Iterations of the contact solver", "", column("contact_iterations"));
    out += plot("Iterations of the linear solver", "", column("linear_iterations"));
    out += plot("Largest elongation", "", column("max_elongation"));
    const auto milliseconds = [&](const std::string& name) {
        return [values_of = column(name)](const Stats& s) {
            std::vector<Real> values = values_of(s);
            for (Real& v : values) v *= 1000;
            return values;
        };
    };
    out += plot("Time a step", "ms", milliseconds("seconds"));
    std::vector<std::string> stages;
    for (const auto& v : variants)
        for (const std::string& name : v->stats.columns)
            if (name.starts_with("s:") && std::find(stages.begin(), stages.end(), name) == stages.end())
                stages.push_back(name);
    for (const std::string& stage : stages) out += plot("Time of stage " + stage.substr(2), "ms", milliseconds(stage));
    return out;
}

constexpr char more_style[] = R"css(
body { max-width: none; margin: 2em; } .compare td, .compare th { border-bottom: 1px solid #eaecee; max-width: 320px; }
.chip { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.pictures td, .pictures th { padding: 2px 6px 2px 0; vertical-align: middle; } .legend span { margin-left: 14px; }
)css";

} // namespace

CompareSummary summarise(const RunReader& reader)
{
    CompareSummary out;
    const Stats stats = reader.stats();
    const Scene scene = reader.scene();
    out.steps = static_cast<std::int64_t>(stats.rows.size());
    out.asked_steps = scene.step_count();
    const std::vector<Real> time = stats.values("time"), seconds = stats.values("seconds"),
                            contacts = stats.values("contacts"), kinetic = stats.values("kinetic_energy"),
                            energy_sum = sum_of(stats, energy_columns), errors = stats.values("momentum_error");
    out.time = time.empty() ? 0 : time.back();
    out.mean_ms = 1000 * mean(seconds), out.max_ms = 1000 * largest(seconds);
    out.mean_contacts = mean(contacts), out.max_contacts = largest(contacts);
    out.rounds = spread_of(stats, "rounds");
    out.iterations = spread_of(stats, "contact_iterations");
    out.max_elongation = largest(stats.values("max_elongation"));

    const World start = build_world(scene);
    const Energy at_start = energy(start.model, start.state);
    out.start_energy = at_start.total();
    out.end_energy = energy_sum.empty() ? out.start_energy : energy_sum.back();
    Real lowest = out.start_energy;
    for (const Real e : energy_sum) {
        out.energy_rise = std::max(out.energy_rise, e - lowest);
        lowest = std::min(lowest, e);
    }
    out.max_kinetic = std::max(at_start.kinetic, largest(kinetic));
    out.momentum_scale = std::sqrt(2 * moving_mass(start.model) * out.max_kinetic);
    const Index error = stats.column("momentum_error"), rung = stats.column("rung");
    for (std::size_t i = 0; i < stats.rows.size(); ++i) {
        const std::vector<std::string>& row = stats.rows[i];
        if (error != none && error < count(row) && !row[error].empty()) {
            ++out.momentum_steps;
            out.momentum_error = std::max(out.momentum_error, errors[i]);
        }
        if (rung != none && rung < count(row) && row[rung] != "free" && row[rung] != "refinement") ++out.failsafes;
    }
    const Json certificate = read_certificate(reader.directory());
    if (certificate.is_object() && certificate.contains("intersections")) {
        out.intersections = certificate.value("intersections", std::int64_t(0));
        out.enclosures = certificate.value("enclosures", std::int64_t(0));
        out.deepest = certificate.value("deepest", 0.0);
        out.promised = certificate.value("promised", true);
    }
    return out;
}

std::string compare_html(const std::string& title, const std::vector<CompareVariant>& about, const std::string& command,
                         const CompareOptions& options)
{
    Variants variants;
    for (const CompareVariant& v : about) variants.push_back(std::make_unique<Variant>(v));
    const std::string name = html_escape(title);
    std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + name +
                      ": comparison</title>\n<link rel=\"icon\" href=\"data:,\"><style>" + page_style + more_style +
                      "</style></head><body>\n<h1>" + name + "</h1>\n<p><code>" + html_escape(command) +
                      "</code></p>\n";
    out += table(variants);
    out += "<p class=\"small\">Means over the steps. Percentages of energy are of the greatest kinetic energy, those "
           "of momentum of the greatest sqrt(2 m T). Energy drift is the end minus the start: friction, damping and "
           "the time integration take energy, scripted motion brings it. Times are of this machine while the "
           "variants ran one after the other.</p>\n";
    out += "<h2>Pictures</h2>\n" + pictures(variants, options);
    out += "<h2>Plots</h2>\n<p class=\"legend\">";
    for (std::size_t i = 0; i < variants.size(); ++i) out += "<span>" + chip(i, variants[i]->about.name) + "</span>";
    out += "</p>\n<div class=\"plots\">\n" + plots(variants) + "</div>\n";
    const Json machine = variants.front()->reader.info().value("machine", Json::object());
    out += "<h2>Machine</h2>\n<table>";
    for (const auto& [key, value] : machine.items())
        out += "<tr><th>" + html_escape(key) + "</th><td>" +
               html_escape(value.is_string() ? value.get<std::string>() : value.dump()) + "</td></tr>";
    return out + "</table>\n</body></html>\n";
}

} // namespace pliant
