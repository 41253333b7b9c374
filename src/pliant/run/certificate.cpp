#include "pliant/run/certificate.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/mesh/topology.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>

namespace pliant {
namespace {

/// What the check of one frame, and of the step that led to it, has found.
struct FrameResult {
    Real time = 0;
    FrameCheck check;
    std::vector<CertificateEnclosure> enclosed;
    CertificatePenetration penetration;
    bool has_path = false;
    bool path_certain = true;
    std::int64_t path_pairs = 0, path_impacts = 0;
    std::vector<std::pair<Real, PathImpact>> path_listed; ///< with their times
};

std::vector<CertificateEnclosure> new_enclosures(const FrameChecker& checker, const Frame& frame,
                                                 const std::vector<Enclosure>& now, const std::vector<Enclosure>& start)
{
    std::vector<Enclosure> fresh;
    std::set_difference(now.begin(), now.end(), start.begin(), start.end(), std::back_inserter(fresh));
    std::map<std::array<Index, 2>, CertificateEnclosure> groups;
    for (const Enclosure& e : fresh) {
        const Index body = checker.body_of_vertex(e.vertex);
        CertificateEnclosure& group = groups[{e.container, body}];
        if (group.vertices++ == 0)
            group = {frame.number, frame.time, body, e.container, 1, e.vertex, 0, frame.positions[e.vertex]};
        group.depth = std::max(group.depth, e.depth);
    }
    std::vector<CertificateEnclosure> out;
    for (const auto& entry : groups) out.push_back(entry.second);
    return out;
}

/// Median length of the edges of each body's triangles in the rest shape [m]; 0 without triangles.
std::vector<Real> edge_lengths(const RunMesh& mesh)
{
    std::vector<Real> lengths;
    for (const RunBody& body : mesh.bodies) {
        const auto first = mesh.triangles.begin() + body.first_triangle;
        const std::vector<Triangle> triangles(first, first + body.triangle_count);
        lengths.push_back(median_edge_length(mesh.rest, edges_of(triangles)));
    }
    return lengths;
}

CertificatePenetration deepest_of(const FrameChecker& checker, const Frame& frame, const std::vector<Enclosure>& now,
                                  const std::vector<Real>& edge_length)
{
    const auto deepest = std::max_element(now.begin(), now.end(),
                                          [](const Enclosure& a, const Enclosure& b) { return a.depth < b.depth; });
    if (deepest == now.end()) return {};
    const Index body = checker.body_of_vertex(deepest->vertex);
    Real edge = edge_length[body];
    if (edge_length[deepest->container] > 0) edge = std::min(edge, edge_length[deepest->container]);
    const std::vector<RunBody>& bodies = checker.mesh().bodies;
    return {deepest->depth,    edge > 0 ? deepest->depth / edge : 0, frame.number, frame.time,
            bodies[body].name, bodies[deepest->container].name};
}

/// Sub-steps of each step, from stats.csv; a step that is not listed counts as whole.
std::map<std::int64_t, int> substeps_of(const RunReader& reader)
{
    const Stats stats = reader.stats();
    std::map<std::int64_t, int> out;
    const std::vector<Real> steps = stats.values("step"), substeps = stats.values("substeps");
    constexpr Real most = 1e9; // of either: more is no file of ours
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (steps[i] >= 0 && steps[i] <= most && substeps[i] >= 0 && substeps[i] <= most)
            out[static_cast<std::int64_t>(steps[i])] = static_cast<int>(substeps[i]);
    return out;
}

/// What the statistics say about limits that steps did not keep, and about solves above their tolerance.
std::vector<std::string> not_reached(const RunReader& reader)
{
    constexpr Real negligible = 1e-3; // of the allowed length
    std::vector<std::string> out;
    const Stats stats = reader.stats();
    const std::vector<Real> unconverged = stats.values("unconverged"), residual = stats.values("worst_residual");
    const auto failed = std::count_if(unconverged.begin(), unconverged.end(), [](Real n) { return n > 0; });
    if (failed > 0) {
        const auto at = std::max_element(residual.begin(), residual.end()) - residual.begin();
        out.push_back(fmt::format("the solver's tolerance in {} of {} steps, the worst residual was {:.3g} times the "
                                  "tolerance in step {:.0f} ({:.6g} s)",
                                  failed, unconverged.size(), residual[at], stats.values("step")[at],
                                  stats.values("time")[at]));
    }
    const std::vector<Real> excess = stats.values("strain_excess"), body = stats.values("strain_body"),
                            step = stats.values("step"), time = stats.values("time");
    std::size_t steps = 0, worst = 0;
    for (std::size_t i = 0; i < std::min(excess.size(), body.size()); ++i) {
        steps += excess[i] > negligible;
        if (excess[i] > excess[worst]) worst = i;
    }
    if (steps > 0) {
        const auto number = static_cast<Index>(std::clamp(body[worst], -1.0, 1e9));
        const bool known = number >= 0 && number < count(reader.bodies());
        out.push_back(fmt::format("max-strain in {} of {} steps, most in step {:.0f} ({:.6g} s), where {} was {:.3g} % "
                                  "longer than allowed",
                                  steps, excess.size(), step[worst], time[worst],
                                  known ? "'" + reader.bodies()[number].name + "'" : "a body", 100 * excess[worst]));
    }
    const std::vector<Real> inverted = stats.values("inverted"), inverted_body = stats.values("inverted_body");
    const auto turned = std::count_if(inverted.begin(), inverted.end(), [](Real n) { return n > 0; });
    if (turned > 0) {
        const auto at = std::max_element(inverted.begin(), inverted.end()) - inverted.begin();
        const auto number = static_cast<Index>(std::clamp(inverted_body[at], -1.0, 1e9));
        const bool known = number >= 0 && number < count(reader.bodies());
        out.push_back(fmt::format("tetrahedra the right way round in {} of {} steps, at most {:.0f} were inside out in "
                                  "step {:.0f} ({:.6g} s), most of them in {}",
                                  turned, inverted.size(), inverted[at], step[at], time[at],
                                  known ? "'" + reader.bodies()[number].name + "'" : "a body"));
    }
    return out;
}

/// Whether an entry of run.json names two bodies.
bool is_release(const nlohmann::json& pair)
{
    if (!pair.is_object() || !pair.contains("bodies")) return false;
    const nlohmann::json& bodies = pair["bodies"];
    return bodies.is_array() && bodies.size() == 2 && bodies[0].is_string() && bodies[1].is_string();
}

/// The path from one frame to the next, straight between the ends of the sub-steps.
void check_pieces(const FrameChecker& checker, const StoredFrame& before, const StoredFrame& frame, FrameResult& out)
{
    PathState from = make_path_state(checker.mesh(), before.state);
    const auto go_to = [&](const StoredState& end) { // two surfaces at a time, however many sub-steps there are
        PathState to = make_path_state(checker.mesh(), end);
        const PathCheck piece = check_path(checker, from, to);
        out.path_pairs += piece.pairs_tested;
        out.path_impacts += piece.impacts;
        for (const PathImpact& impact : piece.listed)
            out.path_listed.push_back({from.time + impact.fraction * (to.time - from.time), impact});
        from = std::move(to);
    };
    for (const StoredState& end : frame.inner) go_to(end);
    go_to(frame.state);
}

void add(Certificate& c, Index number, const FrameResult& r)
{
    c.pairs_tested += r.check.pairs_tested;
    c.intersections += r.check.intersections;
    c.frames_intersecting += r.check.intersections > 0;
    c.deepest = std::max(c.deepest, r.check.deepest);
    c.most_in_a_frame = std::max(c.most_in_a_frame, r.check.intersections);
    for (const TriangleCrossing& crossing : r.check.crossings)
        if (c.crossings.size() < Certificate::max_listed) c.crossings.push_back({number, r.time, crossing});
    for (const CertificateEnclosure& e : r.enclosed) {
        c.enclosures += e.vertices;
        c.deepest = std::max(c.deepest, e.depth);
        if (c.enclosed.size() < Certificate::max_listed) c.enclosed.push_back(e);
    }
    if (r.penetration.depth > c.penetration.depth) c.penetration = r.penetration;
    if (!r.has_path) return;
    ++c.steps_checked;
    c.path_pairs += r.path_pairs;
    (r.path_certain ? c.path_impacts : c.uncertain_impacts) += r.path_impacts;
    for (const auto& [time, impact] : r.path_listed)
        if (c.impacts.size() < Certificate::max_listed) c.impacts.push_back({number, time, r.path_certain, impact});
}

std::array<Real, 3> list(const Vec3& x)
{
    return {x.x(), x.y(), x.z()};
}

/// By the method's own measure.
void measure_frames(const RunReader& reader, const Scene& scene, const std::function<void(Index, Index)>& on_frame,
                    Certificate& c)
{
    const World world = build_world(scene);
    const auto measure = method_info(c.method).make_measure(world.model, scene.method);
    c.measure.what = measure->what();
    for (Index i = 0; i < c.frames; ++i) {
        const StoredFrame frame = reader.stored_frame(i);
        c.measure.last = measure->at(frame.state.position, frame.state.time);
        if (on_frame) on_frame(i + 1, c.frames);
        if (i > 0 && c.measure.last <= c.measure.worst) continue;
        c.measure.worst = c.measure.last;
        c.measure.frame = i;
        c.measure.time = frame.state.time;
    }
}

/// Every triangle, exactly.
void check_frames(const RunReader& reader, const std::function<void(Index, Index)>& on_frame, Certificate& c)
{
    const FrameChecker checker(reader.mesh());
    const std::vector<Real> edge_length = edge_lengths(reader.mesh());
    const std::map<std::int64_t, int> substeps = substeps_of(reader);
    std::vector<FrameResult> results(static_cast<std::size_t>(c.frames));
    std::atomic<Index> done = 0;
    const auto check_frame = [&](Index i, const std::vector<Enclosure>& start) {
        const StoredFrame stored = reader.stored_frame(i);
        const Frame frame = make_frame(reader.mesh(), stored);
        FrameResult& r = results[static_cast<std::size_t>(i)];
        r.time = frame.time;
        r.check = checker.check(frame);
        r.penetration = deepest_of(checker, frame, r.check.enclosed, edge_length);
        if (i > 0) {
            r.enclosed = new_enclosures(checker, frame, r.check.enclosed, start);
            r.check.enclosed = {};
            const StoredFrame before = reader.stored_frame(i - 1);
            r.has_path = before.step + 1 == frame.step;
            if (r.has_path) {
                const auto step = substeps.find(frame.step);
                r.path_certain = step == substeps.end() || step->second <= static_cast<int>(stored.inner.size()) + 1;
                check_pieces(checker, before, stored, r);
            }
        }
        if (on_frame) on_frame(++done, c.frames);
    };
    check_frame(0, {});
    const std::vector<Enclosure> start = results[0].check.enclosed;
    parallel_for(
        c.frames - 1, [&](Index i) { check_frame(i + 1, start); }, 1);
    for (Index i = 0; i < c.frames; ++i) add(c, i, results[static_cast<std::size_t>(i)]);
}

void add_expectations(const RunReader& reader, const Scene& scene, Certificate& c)
{
    const auto at_most = [&](const char* name, const std::optional<Real>& wanted, Real found) {
        if (wanted && !c.measure.what.empty())
            c.expectations.push_back(
                {name, found <= *wanted, fmt::format("{:.3g} cells, at most {:.3g} expected", found, *wanted)});
    };
    at_most("overlap", scene.expect.overlap, c.measure.worst);
    at_most("final-overlap", scene.expect.final_overlap, c.measure.last);
    if (scene.expect.intersections && c.exact)
        c.expectations.push_back({"intersections", c.most_in_a_frame <= *scene.expect.intersections,
                                  fmt::format("{} in the worst frame, at most {} expected", c.most_in_a_frame,
                                              *scene.expect.intersections)});
    if (scene.expect.penetration && c.exact)
        c.expectations.push_back({"penetration", c.penetration.depth <= *scene.expect.penetration,
                                  fmt::format("{:.3g} m at the deepest, at most {:.3g} m expected", c.penetration.depth,
                                              *scene.expect.penetration)});
    for (ExpectationResult& e : check_expectations(reader)) c.expectations.push_back(std::move(e));
    c.not_reached = not_reached(reader);
    if (const auto& info = reader.info(); info.contains("released") && info["released"].is_array())
        for (const auto& pair : info["released"])
            if (is_release(pair)) c.released.push_back(nlohmann::ordered_json(pair));
}

std::string many(std::int64_t n, const char* one, const char* more)
{
    return n == 0 ? fmt::format("no {}", more) : fmt::format("{} {}", n, n == 1 ? one : more);
}

/// What it means.
std::string outcome(const Certificate& c)
{
    std::string words;
    const bool expected =
        std::all_of(c.expectations.begin(), c.expectations.end(), [](const ExpectationResult& e) { return e.met; });
    if (c.promise.no_crossing)
        words += fmt::format("The promise of method {} is {}.", c.method, c.clean() ? "kept" : "BROKEN");
    else
        words += fmt::format("Method {} promises nothing about {}.", c.method, c.exact ? "this" : "them");
    if (const CertificatePenetration& p = c.penetration; p.depth > 0)
        words += fmt::format(" The deepest penetration is {:.3g} m, {:.2g} of an edge: '{}' in '{}' at {:.4g} s.",
                             p.depth, p.edges, p.body, p.container, p.time);
    if (!expected) words += " The scene expects something else.";
    for (const std::string& what : c.not_reached) words += " Not reached: " + what + ".";
    if (!c.released.empty()) {
        const auto bodies = c.released[0].value("bodies", std::vector<std::string>{});
        words += fmt::format(" {} let through as the scene asks (pinch: release), the first between '{}'.",
                             many(static_cast<std::int64_t>(c.released.size()), "pair was", "pairs were"),
                             fmt::join(bodies, "' and '"));
    }
    if (!c.finished) words += " The run is not finished.";
    return words;
}

} // namespace

bool Certificate::kept() const
{
    return (!promise.no_crossing || clean()) &&
           std::all_of(expectations.begin(), expectations.end(), [](const ExpectationResult& e) { return e.met; });
}

Certificate certify_run(const RunReader& reader, const std::function<void(Index, Index)>& on_frame, ExactTest exact)
{
    const auto begin = std::chrono::steady_clock::now();
    const Scene scene = reader.scene();
    Certificate c;
    c.method = scene.method.method;
    c.promise = promise_of(scene.method);
    c.frames = reader.frame_count();
    c.triangles = count(reader.triangles());
    if (c.frames == 0) throw Error(reader.directory().string() + ": the run has no frames");
    const nlohmann::json summary = reader.info().value("summary", nlohmann::json::object());
    c.finished = summary.value("status", "") == "finished";
    if (c.finished && c.frames < summary.value("frames", Index(0)))
        throw Error(reader.frame_path(c.frames).string() + ": the frame is missing");

    const bool has_measure = method_info(c.method).make_measure != nullptr;
    c.exact = !has_measure || exact == ExactTest::always;
    if (has_measure) measure_frames(reader, scene, on_frame, c);
    if (c.exact) check_frames(reader, on_frame, c);
    add_expectations(reader, scene, c);
    c.seconds = std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count();
    return c;
}

std::string certificate_words(const Certificate& c)
{
    std::string words = many(c.frames, "frame", "frames");
    if (!c.measure.what.empty())
        words += fmt::format(", {} at most {:.3g} (at {:.4g} s), {:.3g} at the end", c.measure.what, c.measure.worst,
                             c.measure.time, c.measure.last);
    if (!c.exact) return words + "; triangles were not tested (`pliant check --exact` does). " + outcome(c);
    words += fmt::format(", {} triangle pairs tested exactly: ", c.pairs_tested);
    words += many(c.intersections, "intersection", "intersections") + ", " +
             many(c.enclosures, "tunnelled vertex", "tunnelled vertices");
    if (c.steps_checked > 0)
        words += fmt::format("; {} of steps checked, {}", many(c.steps_checked, "path", "paths"),
                             many(c.path_impacts, "crossing", "crossings"));
    if (c.uncertain_impacts > 0) words += fmt::format(" and {} undecided within sub-steps", c.uncertain_impacts);
    return words + ". " + outcome(c);
}

nlohmann::ordered_json certificate_json(const Certificate& c, const RunMesh& mesh)
{
    using Json = nlohmann::ordered_json;
    const auto name = [&](Index body) { return mesh.bodies[body].name; };
    const auto triangle = [&](Index body, Index t) { return t - mesh.bodies[body].first_triangle; };
    Json crossings = Json::array(), enclosed = Json::array(), impacts = Json::array(), expectations = Json::array();
    for (const auto& [frame, time, x] : c.crossings)
        crossings.push_back({{"frame", frame},
                             {"time", time},
                             {"bodies", {name(x.body_a), name(x.body_b)}},
                             {"triangles", {triangle(x.body_a, x.triangle_a), triangle(x.body_b, x.triangle_b)}},
                             {"position", list(x.position)},
                             {"depth", x.depth}});
    for (const CertificateEnclosure& e : c.enclosed)
        enclosed.push_back({{"frame", e.frame},
                            {"time", e.time},
                            {"body", name(e.body)},
                            {mesh.bodies[e.container].plane == none ? "inside" : "behind", name(e.container)},
                            {"vertices", e.vertices},
                            {"first_vertex", e.first_vertex - mesh.bodies[e.body].first_vertex},
                            {"position", list(e.position)}});
    for (const auto& [frame, time, certain, x] : c.impacts) {
        const bool plane = x.kind == PathKind::vertex_plane;
        Json impact = {{"frame", frame},
                       {"time", time},
                       {"certain", certain},
                       {"kind", plane                           ? "vertex-plane"
                                : x.kind == PathKind::edge_edge ? "edge-edge"
                                                                : "vertex-face"},
                       {"bodies", {name(x.body_a), name(x.body_b)}},
                       {"vertex", x.vertex - mesh.bodies[x.body_a].first_vertex}};
        if (!plane) impact["triangles"] = {triangle(x.body_a, x.triangle_a), triangle(x.body_b, x.triangle_b)};
        impact["position"] = list(x.position);
        impacts.push_back(std::move(impact));
    }
    Json penetration = {{"depth", c.penetration.depth}, {"edges", c.penetration.edges}};
    if (c.penetration.depth > 0) {
        penetration["frame"] = c.penetration.frame;
        penetration["time"] = c.penetration.time;
        penetration["bodies"] = {c.penetration.body, c.penetration.container};
    }
    for (const ExpectationResult& e : c.expectations)
        expectations.push_back({{"name", e.name}, {"met", e.met}, {"detail", e.detail}});
    Json measure; // null: there is none
    if (!c.measure.what.empty())
        measure = {{"what", c.measure.what},
                   {"worst", c.measure.worst},
                   {"frame", c.measure.frame},
                   {"time", c.measure.time},
                   {"last", c.measure.last}};
    return {{"format", 1},
            {"version", PLIANT_VERSION},
            {"checked", utc_now()},
            {"method", c.method},
            {"promised", c.promise.no_crossing},
            {"clean", c.clean()},
            {"kept", c.kept()},
            {"finished", c.finished},
            {"frames", c.frames},
            {"triangles", c.triangles},
            {"measure", measure},
            {"exact", c.exact},
            {"pairs_tested", c.pairs_tested},
            {"intersections", c.intersections},
            {"frames_intersecting", c.frames_intersecting},
            {"most_in_a_frame", c.most_in_a_frame},
            {"enclosures", c.enclosures},
            {"deepest", c.deepest},
            {"penetration", penetration},
            {"steps_checked", c.steps_checked},
            {"path_pairs", c.path_pairs},
            {"path_impacts", c.path_impacts},
            {"uncertain_impacts", c.uncertain_impacts},
            {"expect", expectations},
            {"not_reached", c.not_reached},
            {"released", c.released},
            {"crossings", crossings},
            {"enclosed", enclosed},
            {"impacts", impacts},
            {"seconds", c.seconds}};
}

void save_certificate(const Certificate& certificate, const RunReader& reader)
{
    write_atomically(reader.directory() / run_file::certificate,
                     certificate_json(certificate, reader.mesh()).dump(2) + "\n");
}

} // namespace pliant
