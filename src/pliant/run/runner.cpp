#include "pliant/run/runner.hpp"

#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/checkpoint.hpp"
#include "pliant/run/directory.hpp"
#include "pliant/run/files.hpp"
#include "pliant/run/frame.hpp"
#include "pliant/run/machine.hpp"
#include "pliant/run/reader.hpp"
#include "pliant/run/stats.hpp"
#include "pliant/world/sewing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace pliant {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

Real seconds_since(Clock::time_point start)
{
    return std::chrono::duration<Real>(Clock::now() - start).count();
}

/// Why a state cannot be continued, and what to change; empty if its numbers are no reason.
std::string describe_explosion(const World& world)
{
    constexpr Real fastest = 1e9; // more than light [m/s]
    const auto exploded = [&](Index block, const std::string& what) {
        return fmt::format("body '{}' {}: the motion has exploded; set a shorter time.step",
                           world.model.bodies[world.model.block_body[block]].name, what);
    };
    for (Index i = 0; i < count(world.state.position); ++i) {
        const Vec3& v = world.state.velocity[i];
        if (!world.state.position[i].allFinite() || !v.allFinite())
            return exploded(i, "has a position or velocity that is not a finite number");
        if (const Real speed = v.stableNorm(); speed > fastest)
            return exploded(i, fmt::format("moves at {:.3g} m/s", speed));
    }
    return {};
}

class Runner {
public:
    Runner(const Scene& scene, World& world, const RunOptions& options)
        : scene_(scene), world_(world), options_(options),
          directory_(options.directory), owner_{identity_hash(scene_identity(scene)), scene.method.method},
          steps_(scene.step_count())
    {}

    RunResult run()
    {
        check_directory(scene_, directory_, options_.resume, options_.force);
        create();
        const DirectoryLock lock(directory_);
        try {
            prepare();
            return loop();
        } catch (const std::exception& e) {
            note_failure(e.what());
            throw;
        }
    }

private:
    void create() const
    {
        std::error_code status;
        fs::create_directories(directory_ / run_file::frames, status);
        if (status) throw Error(directory_.string() + ": cannot create the directory: " + status.message());
    }

    /// Brings the directory to the state of the checkpoint, or to an empty run.
    void prepare()
    {
        remove_temporary_files(directory_);
        const bool resumes = options_.resume && fs::exists(directory_ / run_file::checkpoint);
        if (resumes) {
            load_checkpoint(world_, owner_, directory_ / run_file::checkpoint);
            read_previous();
        } else {
            fs::remove(directory_ / run_file::checkpoint);
        }
        if (resumes && options_.every_step && !every_step_before_ && world_.state.step > 0)
            throw Error(directory_.string() + ": the run was started without --every-step and cannot change");
        first_step_ = world_.state.step;
        save_scene(scene_, directory_);
        ours_ = true;
        write_info("running");
        // The start of a run that goes on is written again, but never missing for those who look on.
        remove_frames(directory_, std::max<Index>(resumes ? 1 : 0, next_frame(first_step_)));
        stats_ = StatsWriter(directory_ / run_file::stats, method_info(scene_.method.method), first_step_);
        forces_ = ForcesWriter(directory_ / run_file::forces, first_step_);
        for (const char* stale : {run_file::report, run_file::certificate}) fs::remove(directory_ / stale);
        save_mesh(make_run_mesh(unsewn_model(world_.model)), directory_ / run_file::mesh);
        frame_ = next_frame(first_step_);
        if (first_step_ == 0) store_frame({});
    }

    /// What earlier parts of a resumed run have left in run.json.
    void read_previous()
    {
        Json info;
        try {
            info = read_run_info(directory_);
        } catch (const Error&) { // nothing of it decides how the run goes on
            return;
        }
        if (info.contains("started")) started_ = info["started"];
        if (info.contains("settings")) every_step_before_ = info["settings"].value("every_step", false);
        if (info.contains("summary")) {
            seconds_before_ = info["summary"].value("seconds", 0.0);
            max_contacts_ = info["summary"].value("max_contacts", Index(0));
        }
        if (info.contains("released") && info["released"].is_array())
            for (const Json& pair : info["released"])
                if (pair.is_object() && pair.contains("step") && pair["step"].is_number_integer() &&
                    pair["step"] <= world_.state.step)
                    released_.push_back(pair);
    }

    bool every_step() const { return options_.every_step || every_step_before_; }
    /// The first frame that a state after `step` steps has not yet given.
    Index next_frame(std::int64_t step) const
    {
        if (step == 0) return 0;
        Index low = 0, high = 1; // frame_step grows with the frame's number
        while (frame_step(scene_, every_step(), high) <= step) high *= 2;
        while (low + 1 < high) {
            const Index middle = low + (high - low) / 2;
            (frame_step(scene_, every_step(), middle) <= step ? low : high) = middle;
        }
        return high;
    }

    RunResult loop()
    {
        const std::unique_ptr<Method> method = make_method(world_, scene_.method);
        method->inner_states = every_step() ? InnerStates::kept : InnerStates::dropped;
        start_ = last_checkpoint_ = Clock::now();
        bool stop = false;
        Vec3 momentum = linear_momentum(world_.model, world_.state);
        while (world_.state.step < steps_ && world_.state.step - first_step_ < options_.most_steps && !stop) {
            const Clock::time_point begin = Clock::now();
            StepReport report;
            if (!take_step(*method, report)) break;
            StepSums sums = step_sums(world_);
            sums.momentum_error = momentum_error(world_, momentum, scene_.step, report);
            momentum = sums.momentum;
            if (!sums.finite) {
                const std::string exploded = describe_explosion(world_);
                throw RunFailure(fmt::format("step {}: {}", world_.state.step,
                                             exploded.empty() ? "the energy is not a finite number" : exploded));
            }
            stats_.add(world_.state, report, sums, seconds_since(begin));
            forces_.add(world_, report);
            max_contacts_ = std::max<Index>(max_contacts_, report.contact_count);
            note_limits(report, sums);
            if (options_.flush_stats) stats_.flush();
            if (frame_step(scene_, every_step(), frame_) == world_.state.step)
                store_frame(report.contacts, std::move(report.inner));
            if (options_.on_step)
                options_.on_step({world_.state.step, steps_, world_.state.time, seconds_since(start_), first_step_,
                                  report.contact_count});
            stop = options_.interrupted && options_.interrupted();
            if (!stop && seconds_since(last_checkpoint_) >= options_.checkpoint_every) checkpoint("running");
        }
        const bool finished = world_.state.step >= steps_;
        checkpoint(finished ? "finished" : "interrupted");
        return {finished, world_.state.step, steps_, world_.state.time, frame_, seconds(), world_.state.hash()};
    }

    /// A step is taken as a whole or not at all: false when it was interrupted.
    bool take_step(Method& method, StepReport& report)
    {
        State before = world_.state;
        const InterruptScope scope(options_.interrupted);
        try {
            report = method.step(world_, scene_.step);
            return true;
        } catch (const Interrupted&) {
            world_.state = std::move(before);
            return false;
        } catch (const std::exception& e) {
            const Real time = world_.state.time;
            const std::string exploded = describe_explosion(world_);
            world_.state = std::move(before);
            throw RunFailure(fmt::format("step {} (time {:.6g} s): {}", world_.state.step + 1, time,
                                         exploded.empty() ? e.what() : exploded));
        }
    }

    /// What this step did not keep goes into run.json, or is said once, and again when it has become much worse.
    void note_limits(const StepReport& report, const StepSums& sums)
    {
        const auto note = [&](const std::string& what) {
            if (options_.on_note)
                options_.on_note(fmt::format("step {} ({:.6g} s): {}", world_.state.step, world_.state.time, what));
        };
        const auto name = [&](Index body) { return "'" + world_.model.bodies[body].name + "'"; };
        if (const auto [excess, body] = sums.strain_excess; body != none && excess > noted_excess_) {
            note(fmt::format("{} is {:.3g} % longer than max-strain allows", name(body), 100 * excess));
            noted_excess_ = 2 * excess;
        }
        if (const auto [inverted, body] = sums.inverted; inverted > noted_inverted_) {
            note(fmt::format("{} of the tetrahedra, most of them in {}, {} turned inside out", inverted, name(body),
                             inverted == 1 ? "is" : "are"));
            noted_inverted_ = 2 * inverted;
        }
        if (report.enclosed.size() > noted_enclosed_) {
            const auto [body, inside] = report.enclosed.front();
            note(fmt::format("{} is wholly inside {}{}: no edge shows a way out, and the nearest surface is taken",
                             name(body), name(inside),
                             report.enclosed.size() > 1 ? fmt::format(" (and {} more)", report.enclosed.size() - 1)
                                                        : ""));
            noted_enclosed_ = report.enclosed.size();
        }
        if (report.rung == Rung::free && report.substeps > noted_substeps_) {
            note(fmt::format("a step is cut into {} sub-steps", report.substeps));
            noted_substeps_ = 2 * report.substeps;
        }
        if (report.residual_over_tolerance > noted_residual_) {
            note(fmt::format("a solve ended at {:.3g} times its tolerance", report.residual_over_tolerance));
            noted_residual_ = 2 * report.residual_over_tolerance;
        }
        for (const Release& r : report.releases) {
            Json vertices = Json::array();
            for (const Index v : r.vertices)
                if (v != none) {
                    const Body& body = world_.model.bodies[world_.model.surface.vertex_body[v]];
                    vertices.push_back({body.name, v - body.first_vertex});
                }
            released_.push_back({{"step", world_.state.step},
                                 {"time", r.time},
                                 {"bodies", {world_.model.bodies[r.body_a].name, world_.model.bodies[r.body_b].name}},
                                 {"vertices", std::move(vertices)}});
        }
        if (!report.releases.empty()) {
            const Release& r = report.releases.front();
            note(fmt::format("{} pairs of features pinched between {} and {} are let through", report.releases.size(),
                             name(r.body_a), name(r.body_b)));
        }
    }

    void store_frame(const std::vector<ContactPoint>& contacts, std::vector<InnerState> inner = {})
    {
        StoredFrame frame = pliant::store_frame(world_, frame_, scene_.step, contacts);
        if (every_step())
            for (InnerState& state : inner) frame.inner.push_back(store_state(world_.model, std::move(state)));
        save_frame(frame, run_file::frame(directory_, frame_));
        ++frame_;
    }

    /// Statistics and frames first: a checkpoint never runs ahead of them.
    void checkpoint(const char* status)
    {
        stats_.flush();
        forces_.flush();
        save_checkpoint(world_.state, owner_, directory_ / run_file::checkpoint);
        write_info(status);
        last_checkpoint_ = Clock::now();
    }

    Real seconds() const { return seconds_before_ + seconds_since(start_); }

    void write_info(const char* status, const std::string& message = "")
    {
        Json info = {{"format", 1},          {"version", PLIANT_VERSION}, {"title", scene_.title},
                     {"scene", scene_.path}, {"started", started_},       {"machine", machine_description()}};
        info["settings"] = {{"method", scene_.method.method},
                            {"step", scene_.step},
                            {"end", scene_.end},
                            {"fps", scene_.fps},
                            {"steps", steps_},
                            {"every_step", every_step()},
                            {"threads", thread_count()}};
        const Model& model = world_.model;
        info["model"] = {{"bodies", model.bodies.size()},
                         {"vertices", model.surface.vertex_body.size()},
                         {"triangles", model.surface.triangles.size()},
                         {"blocks", model.block_count()}};
        info["summary"] = {{"status", status},
                           {"step", world_.state.step},
                           {"time", world_.state.time},
                           {"frames", frame_},
                           {"seconds", seconds()},
                           {"max_contacts", max_contacts_},
                           {"hash", fmt::format("{:016x}", world_.state.hash())},
                           {"updated", utc_now()}};
        if (!message.empty()) info["summary"]["message"] = message;
        if (!released_.empty()) info["released"] = released_;
        write_atomically(directory_ / run_file::info, info.dump(2) + "\n");
    }

    /// The reason goes into run.json if the disk still takes it; the state stays that of the last checkpoint.
    void note_failure(const std::string& message)
    {
        if (!ours_) return;
        try {
            stats_.flush();
            forces_.flush();
        } catch (const std::exception&) {
        }
        try {
            write_info("failed", message);
        } catch (const std::exception&) {
        }
    }

    const Scene& scene_;
    World& world_;
    const RunOptions& options_;
    const fs::path directory_;
    const CheckpointOwner owner_;
    const std::int64_t steps_;

    bool ours_ = false; ///< the directory holds our scene
    std::int64_t first_step_ = 0;
    Index frame_ = 0; ///< next to store
    Index max_contacts_ = 0;
    Json released_ = Json::array();  ///< pairs that were let through
    Real noted_excess_ = 0.01;       ///< of a limit of strain: a larger one is said
    int noted_substeps_ = 1;         ///< of a step, said
    Index noted_inverted_ = 0;       ///< tetrahedra, said to be inside out
    std::size_t noted_enclosed_ = 0; ///< bodies, said to be inside others
    Real noted_residual_ = 1;        ///< over its tolerance: a larger one is said
    bool every_step_before_ = false;
    Real seconds_before_ = 0;
    std::string started_ = utc_now();
    Clock::time_point start_ = Clock::now(), last_checkpoint_ = start_;
    StatsWriter stats_;
    ForcesWriter forces_;
};

} // namespace

std::int64_t frame_step(const Scene& scene, bool every_step, Index k)
{
    const Real steps_per_frame = 1 / (scene.fps * scene.step);
    if (every_step || steps_per_frame <= 1) return k;
    return std::llround(k * steps_per_frame);
}

RunResult run_scene(const Scene& scene, World& world, const RunOptions& options)
{
    return Runner(scene, world, options).run();
}

} // namespace pliant
