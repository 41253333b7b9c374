#pragma once
#include "pliant/core/types.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

/// Lengths of the sub-steps that make up one step: halved where one fails, doubled again after two that did not.
class SubstepLengths {
public:
    /// Refinement may halve the step a few times; only scripted motion that outruns the gap may cut it further.
    SubstepLengths(Real dt, int max_halvings)
        : dt_(dt), shortest_(std::ldexp(dt, -max_halvings)), vanishing_(std::ldexp(dt, -max_subdivisions)), h_(dt),
          remaining_(dt)
    {}
    bool done() const { return remaining_ <= 1e-9 * dt_; }
    /// What may be left of the step, at most.
    Real longest() const { return std::min(h_, remaining_); }
    /// The next one, at most of this length.
    Real next(Real longest) { return now_ = std::min(longest, this->longest()); }
    bool refinement_may_halve() const { return now_ > 1.5 * shortest_; }
    bool turning_may_halve() const { return now_ > 1.5 * std::ldexp(dt_, -max_turning_halvings); }
    bool vanishing() const { return now_ <= 1.5 * vanishing_; }
    void halve()
    {
        h_ = std::max(now_ / 2, vanishing_);
        successes_ = 0;
    }
    void taken()
    {
        remaining_ -= now_;
        if (++successes_ == 2) h_ *= 2, successes_ = 0;
    }

private:
    static constexpr int max_turning_halvings = 6; ///< a body may turn ten times in a step
    static constexpr int max_subdivisions = 12;    ///< halvings before a scripted squeeze counts as a pinch

    Real dt_, shortest_, vanishing_;
    Real h_, remaining_; ///< [s]
    Real now_ = 0;       ///< the sub-step at hand [s]
    int successes_ = 0;  ///< in a row
};

} // namespace pliant
