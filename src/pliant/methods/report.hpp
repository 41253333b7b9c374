#pragma once
#include "pliant/core/profile.hpp"
#include "pliant/core/record.hpp"

#include <optional>

namespace pliant {

/// One contact as users see it: where, which way, how strong.
struct ContactPoint {
    Vec3 position = Vec3::Zero(); ///< [m]
    Vec3 normal = Vec3::Zero();   ///< from body b to body a
    Vec3 force = Vec3::Zero();    ///< on body a, mean over the step [N]
    Index body_a = none, body_b = none;
};

/// What two bodies (or a body and itself) do to each other in a step: resultants over all their contacts.
struct PairForce {
    Index body_a = none, body_b = none; ///< a <= b
    int contacts = 0;                   ///< with a force, of the last sub-step
    Vec3 normal = Vec3::Zero();         ///< on body a, mean over the step [N]; body b feels the opposite
    Vec3 friction = Vec3::Zero();       ///< likewise, the part along the surfaces [N]
};

/// Adds the impulse on body a at a contact with the given normal to the pair's sums, sorted by bodies. Within one body
/// action and reaction cancel: only the contacts are counted.
void add_impulse(std::vector<PairForce>& pairs, const Vec3& normal, const Vec3& impulse, Index body_a, Index body_b);
/// Makes the impulses of a step of length dt [s] forces, their means over it.
void make_means(std::vector<PairForce>& pairs, Real dt);

/// Which part of the step control accepted the step.
enum class Rung { free, refinement, halved, zones, truncation };
const char* to_string(Rung rung);

/// What State says of places at the end of a sub-step.
struct InnerState {
    Real time = 0;                 ///< [s]
    Vec3s position;                ///< per block [m]
    std::vector<Quat> orientation; ///< per rigid body
};

/// A pair of features that was let through because nothing could keep it apart (`pinch: release`).
struct Release {
    Real time = 0; ///< at the start of the sub-step [s]
    Index body_a = none, body_b = none;
    std::array<Index, 4> vertices = {none, none, none, none}; ///< of the surface: of side a, then of side b
};

/// What one step did; `run` writes it as one line of stats.csv.
struct StepReport {
    Profile profile; ///< seconds per stage
    int substeps = 1;
    std::vector<InnerState> inner; ///< ends of all sub-steps but the last: the corners of the step's path
    int contact_count = 0;         ///< that the method looked after at the end of the last sub-step
    int active_contacts = 0;       ///< of these: with a force
    Rung rung = Rung::free;        ///< the last resort that was needed
    /// A surface vertex on each side of the pair that last made the step shorter; none: nothing did, or a plane.
    Index limiting_a = none, limiting_b = none;
    /// The largest residual over its tolerance among the solves whose answer the step kept; 0 where there are none.
    Real residual_over_tolerance = 0;
    std::vector<Real> residual_history; ///< of the last contact solve, where the method has an iterative one
    std::vector<ContactPoint> contacts; ///< with a force, in canonical order; of the last sub-step
    std::vector<Release> releases;      ///< pairs that this step let through
    /// Bodies that were wholly inside others during the step, and which those are; where the method knows.
    std::vector<std::array<Index, 2>> enclosed;
    /// By bodies, over all sub-steps. What zones of impact and truncation do to the motion is not in them.
    std::vector<PairForce> pair_forces;
    /// What acted on the moving bodies from outside during the step, where the method adds it up: gravity, drag, and
    /// the forces of obstacles and pins [N s]. Anything else that changes the momentum is an error.
    std::optional<Vec3> outer_impulse;
    /// The method's own numbers (ImplicitReport, ...), each a column of stats.csv.
    Record own;
};

} // namespace pliant
