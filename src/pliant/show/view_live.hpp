#pragma once
// A scene that is simulated while it is looked at.

#include "pliant/show/view_source.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace pliant {

/// Simulates into a run directory of its own, a frame for every step, and shows that. Pausing stops the run with its
/// state saved and playing resumes it, which gives the same bits as an undisturbed run.
class LiveViewSource final : public ViewSource {
public:
    /// Stores the start; control("play") goes on from there.
    LiveViewSource(const Scene& scene, World world);
    ~LiveViewSource() override; ///< stops and removes the directory

    nlohmann::json description() override;
    std::string topology() override { return shown()->source->topology(); }
    std::string frame(Index number) override { return shown()->source->frame(number); }
    std::string stats(std::size_t first_row) override { return shown()->source->stats(first_row); }
    bool control(const std::string& action) override;

private:
    /// Exists as long as this object.
    class TemporaryDirectory {
    public:
        TemporaryDirectory();
        TemporaryDirectory(const TemporaryDirectory&) = delete;
        TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
        ~TemporaryDirectory();
        const std::filesystem::path& path() const { return path_; }

    private:
        std::filesystem::path path_;
    };

    /// One run from its start. A reset begins another one in a directory of its own, so that nobody reads a directory
    /// that is half removed; this one is there as long as somebody reads it.
    struct Shown {
        TemporaryDirectory directory;
        std::unique_ptr<RunViewSource> source;
    };

    std::shared_ptr<const Shown> shown() const;
    void show_start();
    void start(std::int64_t steps);
    void stop();

    const Scene scene_;
    World world_;                ///< the worker's while it runs
    mutable std::mutex showing_; ///< for shown_
    std::shared_ptr<const Shown> shown_;
    std::mutex control_; ///< one action at a time
    std::thread worker_;
    std::atomic<bool> stop_ = false, running_ = false;
};

} // namespace pliant
