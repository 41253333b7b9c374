#include "pliant/run/reader.hpp"

#include "pliant/core/error.hpp"
#include "pliant/run/files.hpp"
#include "pliant/scene/suggest.hpp"
#include "pliant/scene/units.hpp"

#include <cmath>
#include <fstream>
#include <limits>

namespace pliant {

Index Stats::column(const std::string& name) const
{
    for (Index i = 0; i < count(columns); ++i)
        if (columns[i] == name) return i;
    return none;
}

std::vector<Real> Stats::values(const std::string& name) const
{
    std::vector<Real> out(rows.size(), 0);
    const Index c = column(name);
    if (c == none) return out;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (c < count(rows[i])) parse_number(rows[i][c], out[i]);
    return out;
}

namespace {

using Json = nlohmann::json;

/// Whether a member, if it is there, is what `good` says.
bool has_kind(const Json& object, const char* name, bool (*good)(const Json&))
{
    const auto it = object.find(name);
    return it == object.end() || good(*it);
}

bool is_text(const Json& j)
{
    return j.is_string();
}
bool is_count(const Json& j)
{
    return j.is_number_integer() && j >= 0 && j <= std::numeric_limits<Index>::max();
}
bool is_step(const Json& j)
{
    return j.is_number_integer() && j >= 0 && j <= std::numeric_limits<std::int64_t>::max();
}
bool is_number(const Json& j)
{
    return j.is_number() && std::isfinite(j.get<Real>());
}
bool is_object(const Json& j)
{
    return j.is_object();
}
bool is_yes_or_no(const Json& j)
{
    return j.is_boolean();
}

} // namespace

Json read_run_info(const std::filesystem::path& directory)
{
    std::ifstream stream(directory / run_file::info);
    Json info = Json::parse(stream, nullptr, false);
    bool good = info.is_object();
    for (const char* part : {"settings", "summary", "machine", "model"}) good = good && has_kind(info, part, is_object);
    if (good) {
        const Json settings = info.value("settings", Json::object()), summary = info.value("summary", Json::object());
        good = has_kind(info, "started", is_text) && has_kind(settings, "method", is_text) &&
               has_kind(settings, "every_step", is_yes_or_no) && has_kind(settings, "steps", is_step);
        for (const char* number : {"step", "end", "fps"}) good = good && has_kind(settings, number, is_number);
        for (const char* number : {"time", "seconds"}) good = good && has_kind(summary, number, is_number);
        for (const char* number : {"frames", "max_contacts"}) good = good && has_kind(summary, number, is_count);
        for (const char* text : {"status", "message", "hash"}) good = good && has_kind(summary, text, is_text);
        good = good && has_kind(summary, "step", is_step);
    }
    if (!good) throw Error((directory / run_file::info).string() + ": the file is damaged");
    return info;
}

RunReader::RunReader(const std::filesystem::path& directory) : directory_(directory)
{
    std::error_code status;
    if (!std::filesystem::is_directory(directory, status)) throw Error(directory.string() + ": no such run directory");
    if (!std::filesystem::exists(directory / run_file::info, status))
        throw Error(directory.string() + ": not a run directory (there is no run.json)");
    info_ = read_run_info(directory);
    mesh_ = load_mesh(directory / run_file::mesh);
}

Index RunReader::find_body(const std::string& name) const
{
    std::vector<std::string> names;
    for (Index i = 0; i < count(mesh_.bodies); ++i) {
        if (mesh_.bodies[i].name == name) return i;
        names.push_back(mesh_.bodies[i].name);
    }
    throw Error(directory_.string() + ": unknown body '" + name + "'" + did_you_mean(name, names));
}

Index RunReader::frame_count() const
{
    return count_frames(directory_);
}

std::filesystem::path RunReader::frame_path(Index number) const
{
    return run_file::frame(directory_, number);
}

StoredFrame RunReader::stored_frame(Index number) const
{
    return load_frame(mesh_, frame_path(number));
}

Stats RunReader::stats() const
{
    Stats stats;
    std::ifstream stream(directory_ / run_file::stats);
    const auto split = [](const std::string& line) {
        std::vector<std::string> cells(1);
        for (const char c : line) {
            if (c == ',')
                cells.emplace_back();
            else
                cells.back() += c;
        }
        return cells;
    };
    std::string line;
    if (!std::getline(stream, line)) return stats;
    stats.columns = split(line);
    while (std::getline(stream, line)) {
        if (stream.eof()) break; // a line without its end is still being written
        stats.rows.push_back(split(line));
    }
    return stats;
}

Scene RunReader::scene() const
{
    return load_scene(directory_ / run_file::scene);
}

} // namespace pliant
