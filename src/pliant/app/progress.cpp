#include "pliant/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

constexpr Real terminal_interval = 0.1, log_interval = 10; ///< seconds between updates

} // namespace

std::string duration_text(Real seconds)
{
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress() : terminal_(isatty(STDOUT_FILENO) != 0), last_(std::chrono::steady_clock::now()) {}

void Progress::update(const RunProgress& p)
{
    const auto now = std::chrono::steady_clock::now();
    const Real since = std::chrono::duration<Real>(now - last_).count();
    if (since < (terminal_ ? terminal_interval : log_interval)) return;
    last_ = now;
    const Real per_step = p.seconds / static_cast<Real>(p.step - p.first_step);
    const Real left = per_step * static_cast<Real>(p.steps - p.step);
    const std::string line =
        fmt::format("{:3.0f} %  step {} of {}  time {:.3f} s  {} contacts  {:.1f} ms a step  {} left",
                    100.0 * static_cast<Real>(p.step) / static_cast<Real>(p.steps), p.step, p.steps, p.time, p.contacts,
                    1000 * per_step, duration_text(left));
    if (terminal_) {
        fmt::print("\r{}\033[K", line); // to the start of the line, and clear what is left of the old one
        line_open_ = true;
    } else {
        fmt::print("{}\n", line);
    }
    std::fflush(stdout);
}

void Progress::note(const std::string& text)
{
    fmt::print("{}{}\n", line_open_ ? "\r\033[K" : "", text);
    line_open_ = false;
    std::fflush(stdout);
}

void Progress::end()
{
    if (line_open_) fmt::print("\r\033[K");
    line_open_ = false;
    std::fflush(stdout);
}

} // namespace pliant
