#pragma once
#include "pliant/run/runner.hpp"

#include <chrono>
#include <mutex>

namespace pliant {

/// One line that is rewritten on a terminal, a new line now and then in a log.
class ProgressLine {
public:
    ProgressLine();
    bool due();                         ///< it is time to show something; asks for no more for a while
    void show(const std::string& text); ///< in place of what it showed before
    void note(const std::string& text); ///< a line of its own
    void end();                         ///< moves on from a rewritten line

private:
    bool terminal_;
    bool line_open_ = false;
    std::chrono::steady_clock::time_point last_;
};

/// Where a run is and how long it will take.
class Progress {
public:
    void update(const RunProgress& progress);
    void note(const std::string& text) { line_.note(text); }
    void end() { line_.end(); }

private:
    ProgressLine line_;
};

/// The same for work on the frames of a run, which is shared by threads.
class FrameProgress {
public:
    explicit FrameProgress(std::string doing); ///< such as "checking"
    void update(Index done, Index of);         ///< from any thread
    void end() { line_.end(); }

private:
    std::string doing_;
    std::chrono::steady_clock::time_point begin_;
    std::mutex mutex_;
    Index most_ = 0; ///< done: threads may come in another order than they counted
    ProgressLine line_;
};

/// "2 h 05 min", "3 min 10 s", "4.2 s".
std::string duration_text(Real seconds);

} // namespace pliant
