#pragma once
// Method "implicit" [Otaduy09]: backward Euler with complementarity constraints, refined until the step's path is free
// of crossings.

#include "pliant/methods/contact_finder.hpp"
#include "pliant/methods/contact_solver.hpp"
#include "pliant/methods/table.hpp"

namespace pliant {

class ImplicitContact final : public Method {
public:
    ImplicitContact(const World& world, const ImplicitOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    struct Solved {
        Substep substep;
        Attempt attempt;
    };
    /// A sub-step of length dt, its elastic forces linearised as often as it takes.
    Solved solve(const World& world, Real dt, Effort effort, StepReport& report);
    /// The unconstrained solution, with the elements of some bodies where they are going.
    Substep begin(const World& world, Real dt, Foreseen foreseen, StepReport& report);
    /// Free bodies that turn fast and that nothing pushed in the last sub-step.
    std::vector<FreeBody> spinning(const World& world, Real dt) const;
    /// Bodies that came to where their elastic energy is not the one that was solved for, and those that were solved
    /// again for it already; none when all are right. Writes down by how much they are wrong.
    Foreseen not_foreseen(const Substep& substep, Attempt& attempt) const;
    /// Constraint manifold refinement [Otaduy09, section 4]. Starts from what an earlier attempt found, if there is
    /// one.
    Attempt refine(const Substep& substep, const Attempt* earlier, Effort effort, StepReport& report);
    ContactResult solve_contacts(const Substep& substep, Attempt& attempt, StepReport& report);
    /// Zones of impact, then truncation. Not safe afterwards: only a shorter step can help against scripted motion, and
    /// the tentative impacts are those left.
    void make_safe(const Substep& substep, Attempt& attempt, StepReport& report);
    [[noreturn]] void stall(const Substep& substep, const Impact& impact, StallCause cause) const;
    /// Where no shorter step helps either: throws Stall, or lets the pairs through that leave no way on.
    void stop_or_release(World& world, const Substep& substep, const Attempt& attempt, StallCause cause,
                         StepReport& report) const;

    ImplicitOptions options_;
    LinearSystem system_;
    std::vector<FreeBody> free_bodies_;
    ContactFinder finder_;
    ContactSolver solver_;
    std::vector<PairForce> last_forces_; ///< of the last step, for the words of a stall
};

MethodInfo implicit_method();

} // namespace pliant
