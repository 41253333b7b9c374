#pragma once
#include "pliant/run/runner.hpp"

#include <chrono>

namespace pliant {

/// Where a run is and how long it will take: one line that is rewritten on a terminal, a new line now and then in a
/// log.
class Progress {
public:
    Progress();
    void update(const RunProgress& progress);
    void note(const std::string& text); ///< a line of its own
    void end();                         ///< moves on from a rewritten line

private:
    bool terminal_;
    bool line_open_ = false;
    std::chrono::steady_clock::time_point last_;
};

/// "2 h 05 min", "3 min 10 s", "4.2 s".
std::string duration_text(Real seconds);

} // namespace pliant
