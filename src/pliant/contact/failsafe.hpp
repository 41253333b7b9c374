#pragma once
// What makes a step safe when refinement did not: zones of impact, then truncation of the motion.

#include "pliant/detection/detector.hpp"
#include "pliant/dynamics/system.hpp"

#include <functional>

namespace pliant {

/// Finds the impacts of the path that velocities v give over the step.
using FindImpacts = std::function<const std::vector<Impact>&(const Vec3s& v)>;

/// The step that a fail-safe works on.
struct FailsafeStep {
    const Model& model;
    const State& start;
    const Vec3s& x0;                        ///< surface at the start
    const Vec3s& x1_scripted;               ///< surface at the end; only what is scripted counts
    const std::vector<Index>& plane_bodies; ///< body of each plane that impacts name
    Real dt;
};

struct ZoneReport {
    bool safe = false; ///< no impact is left
    int zones = 0, rounds = 0;
    int largest = 0; ///< units (particles, rigid bodies) of the largest zone
};

/// Zones of impact [Provot97, 4.2 to 4.4]: everything that meets moves as one rigid zone; zones grow and merge until
/// nothing meets. The motion of a zone is the affine field V + W x (x - c), along whose straight paths nothing inside
/// the zone can cross, with V and W from the zone's momenta (W = I^+ L; the printed mean gives 2/3 of it and keeps no
/// momentum). A zone that touches one scripted body takes that body's motion (the mean of the vertices that it touches,
/// where they move one by one); one that touches two different ones cannot be made safe here.
ZoneReport resolve_by_zones(const FailsafeStep& step, const FindImpacts& find_impacts, Vec3s& v);

struct TruncationReport {
    bool safe = false; ///< false: what is left is caused by scripted motion alone
    int truncated = 0; ///< units (particles, rigid bodies) whose motion was shortened
    int rounds = 0;
    std::vector<Impact> left; ///< impacts that no shortening removes
};

/// Shortens the motion of whatever meets, by halves and then to nothing, until nothing meets: ends because a unit is
/// shortened a bounded number of times and a world whose moving bodies stand still meets only scripted motion.
TruncationReport resolve_by_truncation(const FailsafeStep& step, const FindImpacts& find_impacts, Vec3s& v);

/// Rigid motion of a set of masses with the given velocities: returns (V, W) about the centre of mass. Degenerate sets
/// (a point, a line) turn only where their inertia allows.
struct ZoneMotion {
    Vec3 center = Vec3::Zero(), linear = Vec3::Zero(), angular = Vec3::Zero();
};
struct ZoneMember {
    Real mass = 0;
    Vec3 position, velocity;
    Mat3 inertia = Mat3::Zero(); ///< of a rigid body about its own centre
    Vec3 angular_velocity = Vec3::Zero();
};
ZoneMotion zone_motion(const std::vector<ZoneMember>& members);

} // namespace pliant
