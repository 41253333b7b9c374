#include "pliant/run/stats.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/world/strain.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace pliant {
namespace {

struct Line {
    const State& state;
    const StepReport& report;
    const StepSums& sums;
    Real seconds;
};

struct Column {
    const char* name;
    std::string (*text)(const Line&);
};

template <class T>
std::string number(T x)
{
    return fmt::format("{}", x);
}
std::string timing(Real seconds)
{
    return fmt::format("{:.6g}", seconds);
}

// clang-format off
constexpr Column columns[] = {
    {"step", [](const Line& l) { return number(l.state.step); }},
    {"time", [](const Line& l) { return number(l.state.time); }},
    {"seconds", [](const Line& l) { return timing(l.seconds); }},
    {"substeps", [](const Line& l) { return number(l.report.substeps); }},
    {"contacts", [](const Line& l) { return number(l.report.contact_count); }},
    {"active_contacts", [](const Line& l) { return number(l.report.active_contacts); }},
    {"rung", [](const Line& l) { return std::string(to_string(l.report.rung)); }},
    {"limiting_a", [](const Line& l) { return number(l.report.limiting_a); }},
    {"limiting_b", [](const Line& l) { return number(l.report.limiting_b); }},
    {"kinetic_energy", [](const Line& l) { return number(l.sums.energy.kinetic); }},
    {"elastic_energy", [](const Line& l) { return number(l.sums.energy.elastic); }},
    {"gravity_energy", [](const Line& l) { return number(l.sums.energy.gravity); }},
    {"max_speed", [](const Line& l) { return number(l.sums.max_speed); }},
    {"max_elongation", [](const Line& l) { return number(l.sums.max_elongation); }},
    {"strain_excess", [](const Line& l) { return number(l.sums.strain_excess.amount); }},
    {"strain_body", [](const Line& l) { return number(l.sums.strain_excess.body); }},
    {"inverted", [](const Line& l) { return number(l.sums.inverted.count); }},
    {"inverted_body", [](const Line& l) { return number(l.sums.inverted.body); }},
    {"momentum_x", [](const Line& l) { return number(l.sums.momentum.x()); }},
    {"momentum_y", [](const Line& l) { return number(l.sums.momentum.y()); }},
    {"momentum_z", [](const Line& l) { return number(l.sums.momentum.z()); }},
    {"momentum_error", [](const Line& l) { return l.sums.momentum_error ? number(*l.sums.momentum_error) : ""; }},
};
// clang-format on

/// The method's own numbers of a step, as cells.
class OwnCells final : public RecordVisitor {
public:
    void visit(const std::string&, std::vector<Real>& values, int) override { add(values); }
    void visit(const std::string&, std::vector<std::int64_t>& values, int) override { add(values); }
    std::vector<std::string> cells;

private:
    template <class T>
    void add(const std::vector<T>& values)
    {
        assert(values.size() == 1); // a column holds one number
        cells.push_back(number(values[0]));
    }
};

constexpr char stage_prefix[] = "s:"; ///< "s:solve": seconds of stage solve

void append_to_file(const std::filesystem::path& path, std::string_view text)
{
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const auto give_up = [&](int reason) {
        if (file >= 0) ::close(file);
        throw StorageError("cannot write " + path.string() + ": " + std::strerror(reason));
    };
    if (file < 0) give_up(errno);
    while (!text.empty()) {
        const ssize_t n = ::write(file, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) give_up(errno);
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::close(file) != 0) throw StorageError("cannot write " + path.string() + ": " + std::strerror(errno));
}

/// Whole lines of a file; a last line without its end was cut short and is left out.
std::vector<std::string> read_lines(const std::filesystem::path& path)
{
    std::vector<std::string> lines;
    std::ifstream stream(path);
    for (std::string line; std::getline(stream, line) && !stream.eof();) lines.push_back(line);
    return lines;
}

} // namespace

StepSums step_sums(const World& world)
{
    StepSums sums;
    sums.energy = energy(world.model, world.state);
    const Real speed_sq = parallel_max(count(world.state.velocity), 0, [&](Index i) {
        const Vec3& v = world.state.velocity[i];
        // max() would drop a NaN, so it is turned into the largest value
        if (!v.allFinite() || !world.state.position[i].allFinite()) return std::numeric_limits<Real>::infinity();
        return world.model.mass[i] > 0 ? v.squaredNorm() : Real(0); // an angular velocity is no speed
    });
    sums.max_speed = std::sqrt(speed_sq);
    sums.max_elongation = max_elongation(world.model, world.state);
    sums.strain_excess = strain_excess(world.model, world.state.position);
    sums.inverted = inverted_elements(world.model, world.state.position);
    sums.momentum = linear_momentum(world.model, world.state);
    sums.finite = std::isfinite(sums.max_speed) && std::isfinite(sums.energy.total());
    return sums;
}

std::optional<Real> momentum_error(const World& world, const Vec3& momentum_before, Real dt, const StepReport& report)
{
    const Model& model = world.model;
    if (report.outer_impulse)
        return (linear_momentum(model, world.state) - momentum_before - *report.outer_impulse).norm();
    if (world.state.sewn.size() < model.seams.size()) return std::nullopt; // something carries what is being sewn
    if (!model.pins.empty() || (report.rung != Rung::free && report.rung != Rung::refinement)) return std::nullopt;
    Vec3 force = moving_mass(model) * model.gravity;
    for (const ContactPoint& c : report.contacts) {
        if (model.is_scripted(c.body_b)) force += c.force;
        if (model.is_scripted(c.body_a)) force -= c.force;
    }
    bool drag = false;
    for (Index i = 0; i < model.block_count(); ++i) {
        if (model.drag[i] == 0) continue;
        drag = true;
        force -= model.drag[i] * model.mass[i] * world.state.velocity[i];
    }
    if (report.substeps > 1 && (drag || !report.contacts.empty())) return std::nullopt;
    return (linear_momentum(model, world.state) - momentum_before - dt * force).norm();
}

StatsWriter::StatsWriter(const std::filesystem::path& path, const MethodInfo& method, std::int64_t keep_steps)
    : path_(path), own_columns_(method.columns.begin(), method.columns.end())
{
    std::string text;
    const std::vector<std::string> lines = keep_steps > 0 ? read_lines(path) : std::vector<std::string>();
    if (!lines.empty()) {
        const std::string fixed = fixed_header();
        if (!lines[0].starts_with(fixed)) throw Error(path.string() + ": was written by another version of Pliant");
        std::string rest = lines[0].substr(fixed.size());
        for (std::size_t at = rest.find(stage_prefix); at != std::string::npos; at = rest.find(stage_prefix, at + 1)) {
            const std::size_t begin = at + sizeof stage_prefix - 1;
            stages_.push_back(rest.substr(begin, std::min(rest.find(',', begin), rest.size()) - begin));
        }
        for (std::size_t i = 1; i < lines.size() && static_cast<std::int64_t>(i) <= keep_steps; ++i)
            text += lines[i] + "\n";
    }
    write_atomically(path_, header() + "\n" + text);
}

std::string StatsWriter::fixed_header() const
{
    std::string text;
    for (const Column& c : columns) text += (text.empty() ? "" : ",") + std::string(c.name);
    for (const std::string& c : own_columns_) text += "," + c;
    return text;
}

std::string StatsWriter::header() const
{
    std::string text = fixed_header();
    for (const std::string& s : stages_) text += "," + std::string(stage_prefix) + s;
    return text;
}

void StatsWriter::add_stage(const std::string& stage)
{
    // A stage that runs for the first time late in a run gets a column at the end; earlier lines get a zero.
    flush();
    stages_.push_back(stage);
    std::string text = header() + "\n";
    const std::vector<std::string> lines = read_lines(path_);
    for (std::size_t i = 1; i < lines.size(); ++i) text += lines[i] + ",0\n";
    write_atomically(path_, text);
}

void StatsWriter::add(const State& state, const StepReport& report, const StepSums& sums, Real seconds)
{
    for (const auto& [stage, time] : report.profile.stages())
        if (std::find(stages_.begin(), stages_.end(), stage) == stages_.end()) add_stage(stage);
    const Line line{state, report, sums, seconds};
    for (const Column& c : columns) pending_ += (&c == columns ? "" : ",") + c.text(line);
    OwnCells own;
    report.own.visit(own);
    own.cells.resize(own_columns_.size()); // a step that reports nothing of its own leaves them empty
    for (const std::string& cell : own.cells) pending_ += "," + cell;
    for (const std::string& stage : stages_) pending_ += "," + timing(report.profile.seconds(stage));
    pending_ += "\n";
}

void StatsWriter::flush()
{
    if (pending_.empty()) return;
    std::string text;
    text.swap(pending_);
    append_to_file(path_, text);
}

ForcesWriter::ForcesWriter(const std::filesystem::path& path, std::int64_t keep_steps) : path_(path)
{
    std::string text = "step,time,body_a,body_b,contacts,normal_x,normal_y,normal_z,friction_x,friction_y,friction_z\n";
    if (keep_steps > 0) {
        const std::vector<std::string> lines = read_lines(path);
        for (std::size_t i = 1; i < lines.size(); ++i)
            if (std::strtoll(lines[i].c_str(), nullptr, 10) <= keep_steps) text += lines[i] + "\n";
    }
    write_atomically(path_, text);
}

void ForcesWriter::add(const World& world, const StepReport& report)
{
    for (const PairForce& f : report.pair_forces)
        pending_ +=
            fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", world.state.step, world.state.time,
                        world.model.bodies[f.body_a].name, world.model.bodies[f.body_b].name, f.contacts, f.normal.x(),
                        f.normal.y(), f.normal.z(), f.friction.x(), f.friction.y(), f.friction.z());
}

void ForcesWriter::flush()
{
    if (pending_.empty()) return;
    std::string text;
    text.swap(pending_);
    append_to_file(path_, text);
}

} // namespace pliant
