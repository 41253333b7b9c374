#include "pliant/show/view_live.hpp"

#include "pliant/core/error.hpp"
#include "pliant/run/runner.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace pliant {
namespace {

namespace fs = std::filesystem;

RunOptions options_for(const fs::path& directory, bool resume)
{
    RunOptions options;
    options.directory = directory;
    options.resume = resume;
    options.force = true;
    options.every_step = true;
    options.flush_stats = true;
    options.checkpoint_every = 1;
    return options;
}

} // namespace

LiveViewSource::TemporaryDirectory::TemporaryDirectory()
{
    std::string name = (fs::temp_directory_path() / "pliant-view-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error("cannot create " + name + ": " + std::strerror(errno));
    path_ = name;
}

LiveViewSource::TemporaryDirectory::~TemporaryDirectory()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

LiveViewSource::LiveViewSource(const Scene& scene, World world) : scene_(scene), world_(std::move(world))
{
    show_start();
}

LiveViewSource::~LiveViewSource()
{
    stop();
}

std::shared_ptr<const LiveViewSource::Shown> LiveViewSource::shown() const
{
    const std::lock_guard lock(showing_);
    return shown_;
}

void LiveViewSource::show_start()
{
    auto fresh = std::make_shared<Shown>();
    RunOptions options = options_for(fresh->directory.path(), false);
    options.most_steps = 0;
    run_scene(scene_, world_, options);
    fresh->source = std::make_unique<RunViewSource>(fresh->directory.path());
    const std::lock_guard lock(showing_);
    shown_ = std::move(fresh);
}

void LiveViewSource::start(std::int64_t steps)
{
    stop_ = false;
    running_ = true;
    worker_ = std::thread([this, steps, shown = shown()] {
        RunOptions options = options_for(shown->directory.path(), true);
        options.most_steps = steps;
        options.interrupted = [this] { return stop_.load(); };
        try {
            run_scene(scene_, world_, options);
        } catch (const std::exception&) {
            // The reason is in run.json, where description() finds it.
        }
        running_ = false;
    });
}

void LiveViewSource::stop()
{
    stop_ = true;
    if (worker_.joinable()) worker_.join();
}

nlohmann::json LiveViewSource::description()
{
    const bool running = running_; // before the frames are counted: what is counted after the end is all of them
    nlohmann::json out = shown()->source->description();
    out["live"] = true;
    out["steps"] = scene_.step_count();
    const bool at_end = static_cast<std::int64_t>(out["frameSteps"].size()) > scene_.step_count();
    if (running)
        out["status"] = "running";
    else if (out["status"] != "failed")
        out["status"] = at_end ? "finished" : "paused";
    return out;
}

bool LiveViewSource::control(const std::string& action)
{
    const std::lock_guard lock(control_);
    if (action != "play" && action != "pause" && action != "step" && action != "reset") return false;
    if (action == "play" && running_) return true;
    stop();
    if (action == "play") start(std::numeric_limits<std::int64_t>::max());
    if (action == "step") start(1);
    if (action == "reset") {
        world_ = build_world(scene_);
        show_start();
    }
    return true;
}

} // namespace pliant
