#pragma once
// The path of a sub-step: straight lines from its start to a tentative end, and what meets on the way. For the methods
// that promise that nothing crosses.

#include "pliant/contact/contacts.hpp"
#include "pliant/detection/detector.hpp"
#include "pliant/methods/report.hpp"
#include "pliant/methods/stall.hpp"

namespace pliant {

/// What to do where scripted bodies leave a body no room.
enum class PinchPolicy { stop, release };

/// A pair of features that `pinch: release` lets through each other: kind and numbers as detection names them.
struct ReleasedPair {
    std::int32_t kind = 0, a = 0, b = 0;

    static constexpr const char* member_names[] = {"kind", "a", "b"};
    auto operator<=>(const ReleasedPair&) const = default;
};
/// Whether the pair is one of these, which are sorted.
bool is_released(std::span<const ReleasedPair> released, const PairKey& key);

struct PathOptions {
    CcdKind ccd = CcdKind::advancement; ///< cubic: no crossing, but the certified distance only at the ends of steps
    Real hard_gap_fraction = 0.2;       ///< certified distance over the gap
    Real ccd_fraction = 0.1;            ///< resolution of continuous detection over the certified distance
    Real chord_fraction = 0.25;         ///< of the certified distance: how far a turning body may leave its chord
    Real start_part = 0.5; ///< of its distance: what a pair keeps that starts closer than the certified one
    Culling culling = Culling::sound;
};

/// The start of a sub-step as detection sees it. The world must not change while it is in use.
struct PathStart {
    const Model& model;
    const State& start;
    Real dt;       ///< [s]
    Vec3s x0 = {}; ///< surface at the start [m]
    std::vector<MovingPlane> planes = {};
    std::vector<Real> curvature = {}; ///< per body: how far its script leaves the straight lines of the sub-step [m]
};

/// A tentative step: velocities, where they lead, and what they meet on the way.
struct Tentative {
    Vec3s v;                     ///< per block [m/s]
    State end;                   ///< configuration only
    Vec3s x1;                    ///< surface at the end [m]
    std::vector<Impact> impacts; ///< of the path, without those that the user let through
    bool too_curved = false;     ///< a body turns so far that an impact may be off the straight lines: no such step
};

class PathFinder {
public:
    /// The model must outlive it.
    PathFinder(const Model& model, const PathOptions& options);

    PathStart begin(const World& world, Real dt) const;
    /// Where velocities v lead. Impacts of released pairs are left out.
    Tentative follow(const PathStart& path, Vec3s v, std::span<const ReleasedPair> released);
    /// The same, as a change of another tentative step from the same start: looks only at what moves differently.
    Tentative follow(const PathStart& path, Vec3s v, std::span<const ReleasedPair> released, const Tentative& known);
    /// Collects candidates for this sub-step and some more, along velocities v: makes follow() faster, and nothing
    /// else.
    void expect(const PathStart& path, const Vec3s& v);

    /// The longest sub-step from here, at most dt, that no keyframe of a script interrupts.
    Real uninterrupted(const Model& model, Real time, Real dt) const;

    /// Geometry and bodies of a pair, without distances.
    Contact make_contact(const Model& model, const ContactPair& pair) const;
    /// The same of an impact, with the distance along its normal at the start: that of the impact, or where it turned
    /// too far from the start, the closest direction there.
    Contact contact_of(const PathStart& path, const Impact& impact) const;
    /// What is said of a pair that leaves no way on, but for its force.
    StalledPair stalled_pair(const PathStart& path, const Impact& impact) const;
    /// What is reported of a pair that is let through.
    Release release_of(const Model& model, const Impact& impact, Real time) const;
    /// Whether a pair that was let through is farther apart than its gap at the end of the tentative step.
    bool has_separated(const PathStart& path, const Tentative& tentative, const ReleasedPair& pair) const;

    Detector& detector() { return detector_; }
    const PairLengths& gaps() const { return gaps_; }           ///< what contact keeps
    const PairLengths& hard_gaps() const { return hard_gaps_; } ///< what is certified
    /// The body of each plane that detection names.
    const std::vector<Index>& plane_bodies() const { return plane_bodies_; }

private:
    /// A motion of a body or of some of its pins.
    struct ScriptedPath {
        Index body;
        const Motion* motion;         ///< null: `vertices` instead
        Real radius;                  ///< farthest vertex from the pivot; of a plane, those of all bodies count [m]
        const VertexMotion* vertices; ///< null: `motion` instead

        Real next_keyframe(Real t0, Real t1) const
        {
            return motion ? motion->next_keyframe(t0, t1) : vertices->next_keyframe(t0, t1);
        }
        Real chord_error(Real t0, Real t1, Real path_radius) const
        {
            return motion ? motion->chord_error(t0, t1, path_radius) : vertices->chord_error(t0, t1);
        }
    };

    void find_paths(const Model& model);
    Real path_radius(const ScriptedPath& path, const Model& model, const Vec3s& x) const;
    std::vector<Real> curvatures(const PathStart& path, const Vec3s& v) const;
    Tentative lead(const PathStart& path, Vec3s v) const;
    void find_impacts(const PathStart& path, std::span<const ReleasedPair> released, std::span<const char> changed,
                      Tentative& tentative);

    PathOptions options_;
    Detector detector_;
    PairLengths gaps_, hard_gaps_;
    std::vector<Index> plane_bodies_;
    std::vector<ScriptedPath> paths_;
    std::vector<Real> rotor_radius_; ///< per rotor: farthest vertex from its centre [m]
    std::vector<Real> straight_;     ///< per body: how far it may leave a straight line without notice [m]
};

/// Whether nothing but scripts and pins moves all vertices of the impact.
bool is_scripted_alone(const Surface& surface, const Impact& impact);
/// Impacts of scripted parts with each other come first; true if there are any. No step, however short, avoids them.
bool put_scripted_first(const Surface& surface, std::vector<Impact>& impacts);
/// Notes the pair that makes a step shorter.
void report_limiting(const std::vector<Impact>& impacts, StepReport& report);

} // namespace pliant
