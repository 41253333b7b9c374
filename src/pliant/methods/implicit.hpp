#pragma once
// Method "implicit" [Otaduy09]: backward Euler with complementarity constraints, refined until the step's path is free
// of crossings.

#include "pliant/contact/contacts.hpp"
#include "pliant/contact/ica.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/detection/normal_cones.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/implicit_memory.hpp"
#include "pliant/methods/implicit_options.hpp"
#include "pliant/methods/table.hpp"

namespace pliant {

class ImplicitContact final : public Method {
public:
    ImplicitContact(const World& world, const ImplicitOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    /// Constraint manifold refinement [Otaduy09, section 4]: on success v_ and end_ hold a step whose path is free.
    /// solver_may_fail: a contact solve far from its tolerance ends the attempt.
    bool try_step(const World& world, Real dt, bool solver_may_fail, StepReport& report);
    void solve_free(const World& world, Real dt, StepReport& report);
    void find_proximity(const World& world, Real dt, StepReport& report);
    void solve_contacts(const World& world, Real dt, StepReport& report);
    /// Moves to the tentative state and looks for what it crosses; true when there is nothing to add.
    bool check_tentative(const World& world, Real dt, int round, StepReport& report);
    /// known: how many of the contacts are in the order of their keys, from the first on.
    void add_impact(const World& world, const Impact& impact, Real dt, Index known);
    bool add_strain_rows(const World& world);
    /// Zones of impact, then truncation; false when only a shorter step can help against scripted motion.
    bool make_safe(const World& world, Real dt, StepReport& report);
    /// Impacts of the path that velocities v give, without those that the user let through.
    const std::vector<Impact>& find_impacts(const World& world, const Vec3s& v, Real dt);
    void stop_or_release(World& world, StepReport& report);
    void commit(World& world, Real dt, StepReport& report);
    void report_contacts(Real dt, StepReport& report) const;

    Contact make_contact(const Model& model, const ContactPair& pair) const;
    static void warm_start(const ImplicitMemory& memory, Contact& contact, Real dt);

    /// Whether `pinch: release` lets the pair through.
    static bool is_released(const ImplicitMemory& memory, const PairKey& key);

    ImplicitOptions options_;
    LinearSystem system_;
    Ica ica_;
    Detector detector_;
    NormalCones cones_;
    Real smallest_gap_ = 0; ///< of any body [m]
    Real hard_gap_ = 0;     ///< what CCD certifies [m]
    std::vector<Index> plane_bodies_;

    // Scratch of one sub-step.
    Vec3s x0_, x1_;         ///< surface at its start and tentative end
    Vec3s v_free_, dv_, v_; ///< v*, dv, v
    State end_;             ///< tentative configuration
    std::vector<MovingPlane> planes_;
    std::vector<char> flat_;        ///< per edge of the surface, at the start
    std::vector<char> smooth_;      ///< flat, and without a crossing that carries
    std::vector<Impact> impacts_;   ///< of the last find_impacts()
    std::vector<Contact> contacts_; ///< sorted by key
    std::vector<Index> contact_of_row_;
    ContactProblem problem_;
    Multipliers lambda_;
    bool diverged_ = false; ///< the last contact solve ended far from its tolerance
};

MethodInfo implicit_method();

} // namespace pliant
