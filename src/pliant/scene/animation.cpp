#include "pliant/scene/animation.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/mesh/io.hpp"
#include "pliant/mesh/validate.hpp"
#include "pliant/scene/suggest.hpp"
#include "pliant/world/motion.hpp"
#include "pliant/world/skeleton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// A name in two parts, around the place of the numbers.
struct Pattern {
    std::string before, after;
    bool digits_only = false;
};

std::optional<Pattern> pattern_of(const std::string& name)
{
    if (const std::size_t star = name.find('*'); star != std::string::npos)
        return Pattern{name.substr(0, star), name.substr(star + 1), false};
    const std::size_t percent = name.find('%');
    if (percent == std::string::npos) return {};
    const std::size_t d = name.find_first_not_of("0123456789", percent + 1);
    if (d == std::string::npos || name[d] != 'd') return {};
    return Pattern{name.substr(0, percent), name.substr(d + 1), true};
}

bool is_number(const std::string& s)
{
    return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos;
}

/// Numbers by their value, everything else by its letters.
bool comes_before(const std::string& a, const std::string& b)
{
    if (!is_number(a) || !is_number(b)) return a < b;
    const auto value = [](const std::string& s) { return s.substr(std::min(s.find_first_not_of('0'), s.size())); };
    const std::string x = value(a), y = value(b);
    return x.size() != y.size() ? x.size() < y.size() : x != y ? x < y : a < b;
}

SequenceTiming timing_of(const Value& sequence)
{
    SequenceTiming timing;
    timing.start = sequence.at("start").real();
    if (sequence.at("fps").scalar != "auto") timing.interval = 1 / sequence.at("fps").real();
    timing.after = sequence.at("repeat").scalar == "loop" ? AfterLast::loop : AfterLast::hold;
    return timing;
}

/// Says what makes a frame another mesh than the first one; empty: nothing does.
std::string difference(const TriangleMesh& first, const TriangleMesh& frame)
{
    if (frame.vertices.size() != first.vertices.size()) return fmt::format("has {} vertices", frame.vertices.size());
    if (frame.triangles.size() != first.triangles.size())
        return fmt::format("has {} triangles", frame.triangles.size());
    for (std::size_t t = 0; t < first.triangles.size(); ++t)
        if (frame.triangles[t] != first.triangles[t]) return fmt::format("has another triangle {}", t);
    return "";
}

void read_frames(const Value& files, MeshSequence& sequence)
{
    const auto name = [&](std::size_t i) { return files.items[i].scalar; };
    const std::size_t n = files.items.size();
    sequence.mesh = read_triangle_mesh(name(0));
    validate(sequence.mesh, name(0));
    sequence.frames.resize(n);
    sequence.frames[0] = sequence.mesh.vertices;
    std::vector<std::string> faults(n);
    parallel_for(
        static_cast<Index>(n - 1),
        [&](Index k) {
            const std::size_t i = static_cast<std::size_t>(k) + 1;
            try {
                TriangleMesh frame = read_triangle_mesh(name(i));
                const std::string other = difference(sequence.mesh, frame);
                if (!other.empty())
                    faults[i] = fmt::format("{}: frame {} of the sequence {}, but the first frame, {}, has {} vertices "
                                            "and {} triangles; all frames need the same triangles",
                                            name(i), i, other, name(0), sequence.mesh.vertices.size(),
                                            sequence.mesh.triangles.size());
                sequence.frames[i] = std::move(frame.vertices);
            } catch (const Error& e) {
                faults[i] = e.what();
            }
        },
        1);
    for (const std::string& fault : faults)
        if (!fault.empty()) throw Error(fault);
}

void read_cache(const Value& sequence, MeshSequence& out)
{
    const std::string &mesh = sequence.at("mesh").scalar, &file = sequence.at("cache").scalar;
    out.mesh = read_triangle_mesh(mesh);
    validate(out.mesh, mesh);
    PointCache cache = read_point_cache(file);
    if (cache.samples[0].size() != out.mesh.vertices.size())
        throw Error(fmt::format("{}: has {} points, but {} has {} vertices; the cache belongs to another mesh", file,
                                cache.samples[0].size(), mesh, out.mesh.vertices.size()));
    if (cache.times.size() > 1 && sequence.at("fps").scalar == "auto") {
        const Real n = static_cast<Real>(cache.times.size() - 1);
        out.timing.interval = (cache.times.back() - cache.times.front()) / n;
        for (std::size_t i = 1; i < cache.times.size(); ++i)
            if (std::abs(cache.times[i] - cache.times[i - 1] - out.timing.interval) > 0.01 * out.timing.interval)
                throw Error(fmt::format("{}: its samples are not at equal distances in time (sample {} comes {:.4g} s "
                                        "after the one before, {:.4g} s on average); give `fps`",
                                        file, i, cache.times[i] - cache.times[i - 1], out.timing.interval));
    } else {
        out.timing.interval *= cache.frame_step;
    }
    out.mesh.vertices = cache.samples[0];
    out.frames = std::move(cache.samples);
}

} // namespace

std::vector<fs::path> expand_files(const fs::path& name)
{
    const std::optional<Pattern> pattern = pattern_of(name.filename().string());
    if (!pattern) return {name};
    std::vector<std::pair<std::string, fs::path>> found;
    std::error_code status;
    const fs::path folder = name.parent_path().empty() ? "." : name.parent_path();
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, status)) {
        const std::string file = entry.path().filename().string();
        if (file.size() < pattern->before.size() + pattern->after.size() || !file.starts_with(pattern->before) ||
            !file.ends_with(pattern->after))
            continue;
        std::string middle =
            file.substr(pattern->before.size(), file.size() - pattern->before.size() - pattern->after.size());
        if (pattern->digits_only && !is_number(middle)) continue;
        found.emplace_back(std::move(middle), name.parent_path() / file);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return comes_before(a.first, b.first); });
    std::vector<fs::path> files;
    for (auto& [middle, path] : found) files.push_back(std::move(path));
    return files;
}

MeshSequence read_sequence(const Value& sequence, Real scale)
{
    MeshSequence out;
    out.timing = timing_of(sequence);
    if (const Value* files = sequence.find("files"))
        read_frames(*files, out);
    else
        read_cache(sequence, out);
    for (Vec3s& frame : out.frames)
        for (Vec3& x : frame) x *= scale;
    out.mesh.vertices = out.frames[0];
    return out;
}

Real estimate_sequence(const Value& sequence)
{
    const Value* files = sequence.find("files");
    const std::string& first = files ? files->items[0].scalar : sequence.at("mesh").scalar;
    std::error_code status;
    const auto bytes = fs::file_size(first, status);
    return status ? 0 : static_cast<Real>(bytes) / 20; // as for mesh files
}

namespace {

std::vector<Bone> bones_of(const Value& bones, Real scale)
{
    std::vector<Bone> out;
    std::vector<std::string> names;
    for (const Value::Entry& e : bones.entries) {
        Bone bone;
        bone.name = e.key;
        if (const Value* parent = e.value.find("parent")) {
            const auto found = std::ranges::find(names, parent->scalar);
            if (found == names.end())
                fail(parent->mark, "there is no bone '" + parent->scalar + "' before '" + e.key + "'" +
                                       did_you_mean(parent->scalar, names));
            bone.parent = static_cast<Index>(found - names.begin());
        }
        bone.from = scale * e.value.at("from").vec3();
        bone.to = scale * e.value.at("to").vec3();
        bone.radius = scale * e.value.at("radius").real();
        out.push_back(bone);
        names.push_back(e.key);
    }
    if (out.empty()) fail(bones.mark, "skeleton.bones is empty");
    return out;
}

SkeletonScript script_of(const Value& skeleton, const std::vector<Bone>& bones, Real scale)
{
    SkeletonScript script;
    script.turns.resize(bones.size());
    script.smooth = skeleton.at("ease").scalar == "smooth";
    script.after = skeleton.at("repeat").scalar == "loop" ? AfterLast::loop : AfterLast::hold;
    std::vector<std::string> names;
    for (const Bone& bone : bones) names.push_back(bone.name);
    Real before = -1;
    for (const Value& pose : skeleton.at("poses").items) {
        const Real time = pose.at("time").real();
        if (!(time > before)) fail(pose.at("time").mark, "skeleton.poses must have increasing times");
        before = time;
        if (const Value* move = pose.find("move"))
            script.moves.push_back({time, Quat::Identity(), scale * move->vec3()});
        const Value* turn = pose.find("turn");
        if (!turn) continue;
        for (const Value::Entry& e : turn->entries) {
            const auto found = std::ranges::find(names, e.key);
            if (found == names.end()) fail(e.mark, "there is no bone '" + e.key + "'" + did_you_mean(e.key, names));
            script.turns[static_cast<std::size_t>(found - names.begin())].push_back(
                {time, rotation_xyz(e.value.vec3() * (std::numbers::pi / 180)), Vec3::Zero()});
        }
    }
    return script;
}

} // namespace

std::shared_ptr<const VertexMotion> make_skeleton(const Value& skeleton, const TriangleMesh& mesh, Real scale,
                                                  const Pose& place)
{
    std::vector<Bone> bones = bones_of(skeleton.at("bones"), scale);
    SkinWeights weights = skin_weights(mesh, bones, scale * skeleton.at("smooth").real());
    SkeletonScript script = script_of(skeleton, bones, scale);
    return std::make_shared<SkeletonMotion>(mesh.vertices, std::move(bones), std::move(weights), std::move(script),
                                            place);
}

} // namespace pliant
