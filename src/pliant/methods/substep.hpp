#pragma once
// A sub-step of method "implicit": what all its stages read, how long the next one is, and a try at taking it.

#include "pliant/contact/contacts.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/dynamics/spin.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/implicit_options.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

/// The start of a sub-step and its unconstrained end. The world must not change while it is in use.
struct Substep {
    const Model& model;
    const State& start;
    Real dt;            ///< [s]
    Real residual = 0;  ///< of the unconstrained solve, over its tolerance
    Vec3s v_free = {};  ///< v*, per block [m/s]
    Vec3s x0 = {};      ///< surface at the start [m]
    Vec3s x1_free = {}; ///< surface at the unconstrained end; what is scripted ends there anyway [m]
    std::vector<MovingPlane> planes = {};
    std::vector<char> flat = {};         ///< per edge of the surface: its faces form a plane at the start
    std::vector<Real> curvature = {};    ///< per body: how far its script leaves the straight lines of the sub-step [m]
    std::vector<FreeBody> spinning = {}; ///< bodies whose elements were taken where they are going
    std::vector<Index> free_turns = {};  ///< as in the memory, after the unconstrained solve

    const ImplicitMemory& memory() const { return start.memory.get<ImplicitMemory>(); }
};

/// A tentative step: velocities, where they lead, and what they meet on the way.
struct Tentative {
    Vec3s v;                     ///< per block [m/s]
    State end;                   ///< configuration only
    Vec3s x1;                    ///< surface at the end [m]
    std::vector<Impact> impacts; ///< of the path, without those that the user let through
    bool too_curved = false;     ///< a body turns so far that an impact may be off the straight lines: no such step
};

/// How much work a solve may be: as much as the options allow, or a tenth of it, without a second solver.
enum class Effort { full, low };

/// What a try at a sub-step came to.
struct Attempt {
    Effort effort = Effort::full;
    ContactSet set;
    Vec3s dv;          ///< change of velocity by contact, per block [m/s]
    Real residual = 0; ///< of the last contact solve, the largest over its tolerance
    Tentative tentative;
    bool safe = false;     ///< nothing passes through anything along the tentative path
    bool strained = false; ///< a limit of strain is broken at its end, or an element that must not is inside out
    std::vector<Index> contact_turns; ///< as in the memory, after the last solve
};

/// What a step may cost, in iterations and never in time, so that its answer is the same on every machine. As much as
/// the rounds of refinement take when every solve of every halved step runs to its last iteration. Only scripts that
/// squeeze a body into ever shorter steps need more: from then on a sub-step is one short solve and the fail-safes,
/// counts as not converged, and there are so many of them.
class WorkBudget {
public:
    explicit WorkBudget(const ImplicitOptions& options)
        : full_(std::ldexp(1.0 * options.max_rounds * options.solver.max_iterations, options.max_halvings))
    {}
    /// Once after each attempt, with the report of the step so far.
    void use(const ImplicitReport& own)
    {
        if (spent()) ++attempts_;
        used_ = own.contact_iterations + own.failsafe_rounds;
    }
    bool spent() const { return used_ >= full_; }
    bool overdrawn() const { return attempts_ >= most_attempts; }

private:
    static constexpr int most_attempts = 64; ///< with the budget spent: ways down to the shortest step, and back up

    Real full_;
    Real used_ = 0;
    int attempts_ = 0;
};

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
    static constexpr int max_subdivisions = 12; ///< halvings before a scripted squeeze counts as a pinch

    Real dt_, shortest_, vanishing_;
    Real h_, remaining_; ///< [s]
    Real now_ = 0;       ///< the sub-step at hand [s]
    int successes_ = 0;  ///< in a row
};

} // namespace pliant
