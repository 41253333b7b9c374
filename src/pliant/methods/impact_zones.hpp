#pragma once
// Method "impact-zones" [Provot97]: explicit steps, a response to each impact of the path by itself, and zones that
// move as one wherever that is not enough.

#include "pliant/contact/failsafe.hpp"
#include "pliant/contact/impact_response.hpp"
#include "pliant/dynamics/explicit.hpp"
#include "pliant/methods/path_finder.hpp"
#include "pliant/methods/table.hpp"

namespace pliant {

/// Options of method "impact-zones".
struct ImpactZonesOptions {
    Real restitution = 0;               ///< k_d of [Provot97, eq. 4]; k_f is the friction between the bodies
    int passes = 1;                     ///< of detection and response to impacts one by one, before zones
    int max_halvings = 4;               ///< of a sub-step whose zones two scripts tear, before motion is truncated
    int strain_sweeps = 100;            ///< over the springs, at most, to limit their elongation
    CcdKind ccd = CcdKind::advancement; ///< as PathOptions has it
    PinchPolicy pinch = PinchPolicy::stop;
    Culling culling = Culling::sound; ///< as PathOptions has it

    bool operator==(const ImpactZonesOptions&) const = default;
    operator MethodOptions() const { return {"impact-zones", *this}; }
};

/// Zones are forgotten at the end of every sub-step [Provot97, 4.4]: nothing but what the user let through is kept.
struct ImpactZonesMemory {
    std::vector<ReleasedPair> released; ///< sorted

    static constexpr const char* member_names[] = {"released"};
};

struct ImpactZonesReport {
    int impacts = 0;       ///< that the sub-steps answered one by one, each counted once a sub-step
    int zone_substeps = 0; ///< sub-steps that needed zones
    int phase = 0;         ///< the last one that a sub-step needed [Provot97, 4.4]; 0: nothing met
    int zones = 0;         ///< most of a sub-step
    int largest_zone = 0;  ///< units: particles, nodes, rigid bodies
    int zone_rounds = 0;   ///< of detection that made zones grow or merge, over all sub-steps
    int halvings = 0, truncated = 0;
    int released_pairs = 0; ///< pairs that `pinch: release` let through in this step

    static constexpr const char* member_names[] = {"impacts",  "zone_substeps", "phase",
                                                   "zones",    "largest_zone",  "zone_rounds",
                                                   "halvings", "truncated",     "released_pairs"};
};

class ImpactZones final : public Method {
public:
    ImpactZones(const World& world, const ImpactZonesOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    /// A stable sub-step, in parts where scripts ask for it.
    void take(World& world, Real length, StepReport& report);
    /// The velocities of a sub-step without contact, within the limits of strain.
    void predict(const World& world, Real dt, StepReport& report);
    /// Phase 1: answers the impacts of the tentative step, each by itself, and follows the answer.
    void respond(const PathStart& path, StepReport& report);
    void add_impacts(const PathStart& path);
    void respond_to_all(const PathStart& path, int rounds);
    /// Phases 2 and 3; false where scripts tear a zone.
    bool move_zones(const PathStart& path, StepReport& report);
    /// Shortens the motion of whatever meets; false where scripts alone are to blame.
    bool truncate(const PathStart& path, StepReport& report);
    /// Throws Stall, or lets the pairs through that leave no way on.
    void stop_or_release(World& world, const PathStart& path, StallCause cause, StepReport& report) const;
    void commit(World& world, const PathStart& path, StepReport& report);
    /// Replaces the tentative step by another one from the same start.
    void follow(const PathStart& path, Vec3s v);
    /// For the fail-safes: what meets on the path of other velocities.
    FindImpacts finder(const PathStart& path);

    ImpactZonesOptions options_;
    PathFinder paths_;
    Forces forces_;
    Real recovery_time_ = 0; ///< in which a lost distance comes back: that of some steps [s]
    // Scratch of one sub-step.
    Vec3s force_, v_;
    Tentative tentative_;
    ContactSet met_; ///< what this sub-step met so far, with the impulses that answered it
};

MethodInfo impact_zones_method();

} // namespace pliant
