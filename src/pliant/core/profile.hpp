#pragma once
// Stage times of a step: always on, one clock read at each end of a stage.

#include "pliant/core/types.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace pliant {

/// Seconds per named stage, in the order in which the stages first ran.
class Profile {
public:
    void add(const char* stage, Real seconds);
    Real seconds(const std::string& stage) const; ///< 0 for a stage that never ran
    const std::vector<std::pair<std::string, Real>>& stages() const { return stages_; }
    void clear() { stages_.clear(); }

private:
    std::vector<std::pair<std::string, Real>> stages_;
};

/// Adds the time from construction to destruction to a stage.
class ScopedTimer {
public:
    ScopedTimer(Profile& profile, const char* stage)
        : profile_(profile), stage_(stage), start_(std::chrono::steady_clock::now())
    {}
    ScopedTimer(const ScopedTimer&) = delete;
    ScopedTimer& operator=(const ScopedTimer&) = delete;
    ~ScopedTimer()
    {
        profile_.add(stage_, std::chrono::duration<Real>(std::chrono::steady_clock::now() - start_).count());
    }

private:
    Profile& profile_;
    const char* stage_;
    std::chrono::steady_clock::time_point start_;
};

} // namespace pliant
