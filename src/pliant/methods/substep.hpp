#pragma once
// A sub-step of method "implicit": what all its stages read, and a try at taking it.

#include "pliant/contact/contacts.hpp"
#include "pliant/dynamics/spin.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/methods/path_finder.hpp"
#include "pliant/methods/substep_lengths.hpp"

#include <cmath>

namespace pliant {

/// The start of a sub-step and its unconstrained end.
struct Substep : PathStart {
    Real residual = 0;                  ///< of the unconstrained solve, over its tolerance
    Vec3s v_free = {};                  ///< v*, per block [m/s]
    Vec3s x1_free = {};                 ///< surface at the unconstrained end; what is scripted ends there anyway [m]
    std::vector<char> flat = {};        ///< per edge of the surface: its faces form a plane at the start
    Foreseen foreseen = {};             ///< bodies whose elements were taken where they are going
    std::vector<Index> free_turns = {}; ///< as in the memory, after the unconstrained solve

    const ImplicitMemory& memory() const { return start.memory.get<ImplicitMemory>(); }
};

/// How much work a solve may be.
enum class Effort {
    tentative, ///< as much as the options allow, while there is hope: otherwise a shorter step is tried
    full,      ///< as much as the options allow, and the answer is taken
    low        ///< a tenth of it, without a second solver
};

/// What a try at a sub-step came to.
struct Attempt {
    Effort effort = Effort::full;
    ContactSet set;
    Vec3s dv;          ///< change of velocity by contact, per block [m/s]
    Real residual = 0; ///< of the last contact solve, the largest over its tolerance
    Tentative tentative;
    bool safe = false;                ///< nothing passes through anything along the tentative path
    bool strained = false;            ///< a limit of strain is broken at its end
    bool turned = false;              ///< an element that must not is turned inside out at its end
    Real gain = 0;                    ///< of energy by a body in free flight, over what is tolerated
    Real nonlinearity = 0;            ///< error of the energy of a body, over what is tolerated
    std::vector<Index> contact_turns; ///< as in the memory, after the last solve
};

/// What a step may cost, in iterations and never in time, so that its answer is the same on every machine. As much as
/// the rounds of refinement take when every solve of every halved step runs to its last iteration. Scripts that squeeze
/// a body into ever shorter steps need more, and bodies that turn very fast: from then on a sub-step is one short solve
/// and the fail-safes, counts as not converged, and there are so many of them.
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

} // namespace pliant
