#include "pliant/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

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

ProgressLine::ProgressLine() : terminal_(isatty(STDOUT_FILENO) != 0), last_(std::chrono::steady_clock::now()) {}

bool ProgressLine::due()
{
    const auto now = std::chrono::steady_clock::now();
    const Real since = std::chrono::duration<Real>(now - last_).count();
    if (since < (terminal_ ? terminal_interval : log_interval)) return false;
    last_ = now;
    return true;
}

void ProgressLine::show(const std::string& text)
{
    if (terminal_) {
        fmt::print("\r{}\033[K", text); // to the start of the line, and clear what is left of the old one
        line_open_ = true;
    } else {
        fmt::print("{}\n", text);
    }
    std::fflush(stdout);
}

void ProgressLine::note(const std::string& text)
{
    fmt::print("{}{}\n", line_open_ ? "\r\033[K" : "", text);
    line_open_ = false;
    std::fflush(stdout);
}

void ProgressLine::end()
{
    if (line_open_) fmt::print("\r\033[K");
    line_open_ = false;
    std::fflush(stdout);
}

void Progress::update(const RunProgress& p)
{
    if (!line_.due()) return;
    const Real per_step = p.seconds / static_cast<Real>(p.step - p.first_step);
    const Real left = per_step * static_cast<Real>(p.steps - p.step);
    line_.show(fmt::format("{:3.0f} %  step {} of {}  time {:.3f} s  {} contacts  {:.1f} ms a step  {} left",
                           100.0 * static_cast<Real>(p.step) / static_cast<Real>(p.steps), p.step, p.steps, p.time,
                           p.contacts, 1000 * per_step, duration_text(left)));
}

FrameProgress::FrameProgress(std::string doing) : doing_(std::move(doing)), begin_(std::chrono::steady_clock::now()) {}

void FrameProgress::update(Index done, Index of)
{
    const std::lock_guard lock(mutex_);
    most_ = std::max(most_, done);
    if (most_ == 0 || !line_.due()) return;
    const Real taken = std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin_).count();
    line_.show(fmt::format("{} frame {} of {}  {} left", doing_, most_, of,
                           duration_text(taken * static_cast<Real>(of - most_) / static_cast<Real>(most_))));
}

} // namespace pliant
