#pragma once
// A scene's run into a directory: frames, statistics and checkpoints, resumable to the same bits.

#include "pliant/scene/scene.hpp"

#include <functional>
#include <limits>

namespace pliant {

struct RunProgress {
    std::int64_t step = 0, steps = 0; ///< taken so far, in all
    Real time = 0;                    ///< simulated [s]
    Real seconds = 0;                 ///< of this process [s]
    std::int64_t first_step = 0;      ///< where this process started
    Index contacts = 0;               ///< of the last step
};

struct RunOptions {
    std::filesystem::path directory;
    bool resume = false;        ///< continue from the checkpoint, if there is one
    bool force = false;         ///< write into a directory that holds something else
    bool every_step = false;    ///< a frame for every step
    bool flush_stats = false;   ///< a step's line is on the disk before its frame is, for those who look on
    Real checkpoint_every = 10; ///< seconds of computing between checkpoints; 0: after every step
    std::int64_t most_steps = std::numeric_limits<std::int64_t>::max(); ///< to take now; 0 stores the start only
    std::function<void(const RunProgress&)> on_step;
    /// Of what a step did not reach, as it happens: one sentence.
    std::function<void(const std::string&)> on_note;
    /// Asked after every step and often within one; true saves the state of the last whole step and stops.
    std::function<bool()> interrupted;
};

struct RunResult {
    bool finished = false; ///< false: interrupted, state saved
    std::int64_t step = 0, steps = 0;
    Real time = 0; ///< simulated [s]
    Index frames = 0;
    Real seconds = 0; ///< of computing, over all resumed parts [s]
    std::uint64_t hash = 0;
};

/// The run stopped because it could not keep a promise; what() says where and why.
class RunFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Runs the world of a scene. Throws Error (bad input, the directory belongs to something else), StorageError (the
/// disk refuses; the run so far can be resumed) or RunFailure.
RunResult run_scene(const Scene& scene, World& world, const RunOptions& options);

/// The step whose state is frame k: the nearest to time k / fps, each step at most once.
std::int64_t frame_step(const Scene& scene, bool every_step, Index k);

} // namespace pliant
