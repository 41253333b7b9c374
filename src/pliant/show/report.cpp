#include "pliant/show/report.hpp"

#include "pliant/core/error.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/files.hpp"
#include "pliant/show/report_parts.hpp"
#include "pliant/show/run_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace pliant {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& value)
{
    return html_escape(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string table(const Json& object)
{
    std::string out = "<table>";
    for (const auto& [key, value] : object.items())
        out += "<tr><th>" + html_escape(key) + "</th><td>" + text_of(value) + "</td></tr>";
    return out + "</table>\n";
}

std::string summary(const RunReader& reader, const Scene& scene)
{
    const Json &info = reader.info(), run = info.value("summary", Json::object()),
               settings = info.value("settings", Json::object());
    const auto steps = run.value("step", std::int64_t(0));
    const Real seconds = run.value("seconds", 0.0);
    std::string out = fmt::format(
        "<p>{} bodies with {} triangles were simulated for {:.4g} s in {} steps of {:g} s, with method {}. "
        "It took {:.1f} s, {:.2f} ms a step; at most {} contacts at once; {} frames are stored.</p>\n",
        reader.bodies().size(), reader.triangles().size(), run.value("time", 0.0), steps, settings.value("step", 0.0),
        html_escape(settings.value("method", "?")), seconds, steps > 0 ? 1000 * seconds / static_cast<Real>(steps) : 0,
        run.value("max_contacts", 0), reader.frame_count());
    const std::string status = run.value("status", "?");
    if (status != "finished")
        out += fmt::format("<p class=\"bad\">The run is not finished: {}{}</p>\n", html_escape(status),
                           run.contains("message") ? ". " + text_of(run["message"]) : ".");
    if (!scene.about.empty()) out = "<p>" + html_escape(scene.about) + "</p>\n" + out;
    return out;
}

std::string finding(const Json& f)
{
    const auto bodies = [&] {
        return "'" + text_of(f["bodies"][0]) + "' triangle " + text_of(f["triangles"][0]) + " and '" +
               text_of(f["bodies"][1]) + "' triangle " + text_of(f["triangles"][1]);
    };
    const std::string when = fmt::format("frame {} ({:.4g} s): ", f.value("frame", 0), f.value("time", 0.0));
    if (f.contains("depth")) return when + bodies() + fmt::format(" intersect, depth {:.3g} m", f.value("depth", 0.0));
    if (f.contains("kind") && !f.contains("triangles"))
        return when + "vertex " + text_of(f["vertex"]) + " of '" + text_of(f["bodies"][0]) + "' crosses the plane '" +
               text_of(f["bodies"][1]) + "' on the way";
    if (f.contains("kind")) return when + bodies() + " cross on the way (" + text_of(f["kind"]) + ")";
    const bool inside = f.contains("inside");
    return when + text_of(f["vertices"]) + " vertices of '" + text_of(f["body"]) +
           (inside ? "' inside '" : "' behind '") + text_of(f[inside ? "inside" : "behind"]) + "'";
}

std::string expected_part(const Json& c)
{
    if (c.at("expect").empty()) return "";
    std::string out = "<table><tr><th>expected</th><th></th><th>found</th></tr>";
    for (const Json& e : c.at("expect"))
        out += fmt::format("<tr><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>", text_of(e.at("name")),
                           e.at("met").get<bool>() ? "good" : "bad", e.at("met").get<bool>() ? "ok" : "failed",
                           text_of(e.at("detail")));
    return out + "</table>\n";
}

/// Of a run that was checked by its method's own measure.
std::string measured_part(const Json& c, const Json& m)
{
    const bool kept = c.at("kept");
    return fmt::format("<p class=\"{}\">{}</p>\n<p>{} frames, {}: at most {:.3g} (frame {}), {:.3g} at the end. "
                       "Triangles were not tested.</p>\n",
                       kept ? "" : "bad", kept ? "What was expected has come out." : "What was expected is broken.",
                       c.at("frames").get<Index>(), text_of(m.at("what")), m.at("worst").get<Real>(),
                       m.at("frame").get<Index>(), m.at("last").get<Real>()) +
           expected_part(c);
}

/// Pairs that a pinch let through.
std::string released_part(const Json& released)
{
    if (!released.is_array() || released.empty()) return "";
    constexpr std::size_t listed = 50;
    std::string list;
    for (std::size_t i = 0; i < std::min(listed, released.size()); ++i) {
        const Json& r = released[i];
        list += fmt::format("<li>step {} ({:.4g} s): ", r.value("step", 0), r.value("time", 0.0));
        for (const Json& vertex : r.at("vertices"))
            list += "'" + text_of(vertex.at(0)) + "' vertex " + text_of(vertex.at(1)) + " ";
        list += "between '" + text_of(r.at("bodies").at(0)) + "' and '" + text_of(r.at("bodies").at(1)) + "'</li>";
    }
    return fmt::format(
        "<p class=\"bad\">{} pairs were let through each other, as the scene asks (pinch: release).</p>\n"
        "<details><summary>Pairs</summary><ul>{}</ul></details>\n",
        released.size(), list);
}

std::string certificate_part(const Json& c)
{
    if (!c.is_object()) return "<p>Not checked: run <code>pliant check</code>, then write the report again.</p>\n";
    try {
        const bool kept = c.at("kept"), clean = c.at("clean"), promised = c.at("promised");
        if (const Json& m = c.value("measure", Json()); m.is_object() && !c.value("exact", true))
            return measured_part(c, m);
        std::string out = fmt::format(
            "<p class=\"{}\">{}</p>\n<p>{} frames and {} triangle pairs were tested with exact arithmetic: {} "
            "intersections, {} tunnelled vertices.",
            !kept   ? "bad"
            : clean ? "good"
                    : "",
            !kept   ? "What was promised or expected is broken."
            : clean ? "Nothing passes through anything."
                    : "Bodies intersect; the method does not promise that they do not.",
            c.at("frames").get<Index>(), c.at("pairs_tested").get<std::int64_t>(),
            c.at("intersections").get<std::int64_t>(), c.at("enclosures").get<std::int64_t>());
        if (c.at("steps_checked").get<Index>() > 0)
            out += fmt::format(" The paths of {} steps were checked: {} crossings, {} undecided within sub-steps.",
                               c.at("steps_checked").get<Index>(), c.at("path_impacts").get<std::int64_t>(),
                               c.at("uncertain_impacts").get<std::int64_t>());
        out += fmt::format(" Method {} {}.</p>\n", text_of(c.at("method")),
                           promised ? "promises that there are none" : "promises nothing about this");
        out += expected_part(c);
        for (const Json& what : c.value("not_reached", Json::array()))
            out += "<p class=\"bad\">Not reached: " + text_of(what) + ".</p>\n";
        out += released_part(c.value("released", Json::array()));
        std::string list;
        Index listed = 0;
        for (const char* kind : {"crossings", "enclosed", "impacts"})
            for (const Json& f : c.at(kind))
                if (listed++ < 50) list += "<li>" + finding(f) + "</li>";
        if (!list.empty()) out += "<details><summary>Findings</summary><ul>" + list + "</ul></details>\n";
        return out;
    } catch (const Json::exception&) {
        return "<p>certificate.json is damaged: run <code>pliant check</code> again.</p>\n";
    }
}

std::string contact_sheet_part(const RunReader& reader, const ReportOptions& options)
{
    PictureOptions pictures;
    pictures.width = options.sheet_columns * options.tile_width;
    pictures.height = options.sheet_rows * options.tile_height;
    pictures.samples = options.samples;
    pictures.label = true;
    const Image sheet = RunPictures(reader, pictures).sheet(options.sheet_columns, options.sheet_rows);
    return "<img alt=\"Pictures of the run\" src=\"data:image/png;base64," + base64(encode_png(sheet)) + "\">\n";
}

} // namespace

const char page_style[] = R"css(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 2em auto; padding: 0 1em; color: #1c2833; }
h1 { margin-bottom: 0; } h2 { margin-top: 1.6em; border-bottom: 1px solid #d5d8dc; }
table { border-collapse: collapse; } td, th { padding: 2px 14px 2px 0; text-align: left; vertical-align: top; }
.good { color: #1e8449; } .bad { color: #c0392b; font-weight: bold; } .small { color: #566573; font-size: 13px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(460px, 1fr)); gap: 10px; }
.plot { width: 100%; background: #fbfcfc; } .plot .title { font-size: 14px; font-weight: bold; }
.plot .tick { font-size: 11px; } .plot .grid { stroke: #d5d8dc; stroke-width: 0.7; }
#view { width: 100%; height: 480px; background: #edeff1; touch-action: none; cursor: grab; }
.controls { display: flex; gap: 12px; align-items: center; } #slider { flex: 1; }
img { max-width: 100%; } pre { background: #f4f6f7; padding: 10px; overflow: auto; font-size: 12px; }
)css";

std::string html_escape(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::string report_html(const RunReader& reader, const Json& certificate, const ReportOptions& options)
{
    if (reader.frame_count() == 0) throw Error(reader.directory().string() + ": the run has no frames");
    const Scene scene = reader.scene();
    const std::string title = html_escape(scene.title);
    std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title +
                      "</title>\n<link rel=\"icon\" href=\"data:,\"><style>" + page_style +
                      "</style></head><body>\n<h1>" + title + "</h1>\n";
    out += summary(reader, scene);
    out += "<h2>Playback</h2>\n" + report_playback(reader, options.playback_bytes);
    out += "<h2>Certificate</h2>\n" + certificate_part(certificate);
    out += "<h2>Pictures</h2>\n" + contact_sheet_part(reader, options);
    out += "<h2>Statistics</h2>\n<div class=\"plots\">\n" + report_plots(reader.stats()) + "</div>\n";
    out += "<h2>Settings</h2>\n" + table(reader.info().value("settings", Json::object()));
    out += "<details><summary>The scene, with everything resolved</summary><pre>" +
           html_escape(read_file(reader.directory() / run_file::scene)) + "</pre></details>\n";
    out += "<h2>Machine</h2>\n" + table(reader.info().value("machine", Json::object()));
    out += "<p class=\"small\">Pliant " + text_of(reader.info().value("version", Json("?"))) + ", started " +
           text_of(reader.info().value("started", Json("?"))) + "</p>\n</body></html>\n";
    return out;
}

void write_report(const RunReader& reader, const Json& certificate, const ReportOptions& options)
{
    write_atomically(reader.directory() / run_file::report, report_html(reader, certificate, options));
}

Json read_certificate(const std::filesystem::path& directory)
{
    std::ifstream stream(directory / run_file::certificate);
    const Json json = Json::parse(stream, nullptr, false);
    return json.is_object() ? json : Json();
}

} // namespace pliant
