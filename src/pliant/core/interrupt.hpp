#pragma once
// A way out of a long computation. Its loops ask now and then whether somebody wants them to end; the answer never
// changes a result, it only prevents one.

#include <exception>
#include <functional>

namespace pliant {

/// Somebody wanted the computation to end. What it worked on is in no defined state.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

/// While it exists, computations of this thread end with Interrupted soon after `wanted` says true. Empty: nothing
/// changes.
class InterruptScope {
public:
    explicit InterruptScope(std::function<bool()> wanted);
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
    ~InterruptScope();

private:
    std::function<bool()> wanted_;
    const std::function<bool()>* before_;
};

/// Throws Interrupted where an InterruptScope of this thread wants it. The other threads of a parallel loop have no
/// such scope: they end what they are at, and the loop then throws.
void poll_interrupt();

} // namespace pliant
