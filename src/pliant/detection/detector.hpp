#pragma once
// The queries that contact methods ask: which features are near each other now, and which meet during a step.
//
//     Detector detector(model.surface, model.no_contact);
//     for (const ContactPair& pair : detector.proximity(x, {.reach = reach})) ...
//     for (const Impact& impact : detector.impacts(x_t0, x_t1, {.hard_gap = hard_gap, .tolerance = ccd_tol})) ...
//
// Results are sorted by key and have the same bits for any number of threads. Rule for near-duplicates: a pair found as
// vertex-face or edge-edge is reduced to its closest features (weights of exactly 0 drop out), and every pair of
// closest features is reported once; of several impacts with the same key, the earliest.

#include "pliant/detection/broad_phase.hpp"
#include "pliant/detection/culling.hpp"
#include "pliant/geometry/ccd.hpp"
#include "pliant/world/pair_lengths.hpp"

#include <limits>
#include <memory>
#include <optional>

namespace pliant {

/// An analytic plane over a step; its normal and offset are interpolated linearly between the ends.
struct MovingPlane {
    Plane t0, t1;
    Index body = none; ///< for exclusions and keys' owners; the key's b is the plane's place in the list
};

struct ProximityOptions {
    Real reach = 0; ///< pairs up to this distance are reported [m]
    /// Instead of `reach`: a radius per vertex [m]; a pair is reported when its distance is at most the radius of pa
    /// plus that of pb, interpolated with the weights.
    std::span<const Real> radius = {};
    /// Leave out vertex-vertex, vertex-edge and edge-edge pairs whose normal leans out of the features' normal cones by
    /// more than this sine of an angle: a neighbouring feature is closer. Infinite: keep all.
    Real cone_tolerance = std::numeric_limits<Real>::infinity();
    std::span<const char> smooth = {};        ///< per edge: not 0 leaves out crossings with other edges
    bool skip_close_at_rest = true;           ///< leave out pairs closer at rest than the gap
    std::span<const MovingPlane> planes = {}; ///< t0 is used
};

struct ImpactOptions {
    Real hard_gap = 0; ///< separation to certify [m]; a pair that starts closer is held to a part of its start distance
    Real tolerance = 0; ///< a hit is reported once a pair is within hard_gap + tolerance [m] (CcdOptions::tolerance)
    /// Instead of hard_gap, by the bodies of a pair; `tolerance` is then a part of it.
    const PairLengths* hard_gaps = nullptr;
    /// Per body: how far its vertices may be from the straight lines between the two positions [m]. Pairs of a body
    /// that has any are held to that much more, whatever distance they start with. Empty: straight lines.
    std::span<const Real> curvature = {};
    int max_iterations = 128;   ///< of a pair that no certificate decides (CcdOptions)
    bool relax_to_start = true; ///< see hard_gap
    Real start_part = 0.5;      ///< of its start distance: what a pair is held to that starts closer than the hard gap
    CcdKind kind = CcdKind::advancement;
    std::span<const MovingPlane> planes = {};
    /// Per vertex: not 0 where its path is not the one that the caller knows the impacts of; only pairs with such a
    /// vertex are looked at. Empty: all pairs. For impacts(), not for earliest_impact().
    std::span<const char> changed = {};
};

/// What the last query cost.
struct DetectionStats {
    std::int64_t vertex_face_candidates = 0, edge_edge_candidates = 0;
    bool reused = false; ///< candidates of an earlier query were used again
    Real culled = 0;     ///< part of the triangles of bodies that may meet themselves, in patches that were left out
    Real update_seconds = 0, collect_seconds = 0, narrow_seconds = 0;

    void count(const CandidateChunks& candidates);
};

class Detector {
public:
    /// The surface must outlive the detector. no_contact: pairs of bodies that the scene keeps apart.
    explicit Detector(const Surface& surface, std::span<const std::array<Index, 2>> no_contact = {},
                      BroadPhaseKind kind = BroadPhaseKind::tree);
    ~Detector();
    Detector(Detector&&) noexcept;

    /// Boxes are grown by this much more than a query needs [m], so that a later query whose vertices stay inside the
    /// grown boxes uses the same candidates: the rounds of a step then share one traversal. 0 by default.
    void set_reuse_margin(Real margin);

    /// Leaves out patches of bodies in which nothing can meet: nothing at first. Only Culling::sound and off find all.
    void set_culling(Culling culling);

    /// Collects candidates for queries that are expected: proximity at x_t0 within the given radii, and impacts of
    /// motions from x_t0 that end near x_t1. The radii at either end should hold what a query needs and some room for
    /// being wrong, or for the next step. Nothing is done where the candidates at hand cover radii without that room
    /// (`least`). Queries that they do not cover collect their own: this changes what queries cost, never what they
    /// say.
    struct Expectation {
        std::span<const Real> radius_t0, radius_t1; ///< per vertex, with room [m]
        std::span<const Real> least_t0, least_t1;   ///< per vertex, without [m]
    };
    void expect(const Vec3s& x_t0, const Vec3s& x_t1, const Expectation& expectation);

    /// All pairs within reach at positions x. Valid until the next query.
    const std::vector<ContactPair>& proximity(const Vec3s& x, const ProximityOptions& options);
    /// First impact of every pair that meets while the vertices move from x_t0 to x_t1. Valid until the next query.
    const std::vector<Impact>& impacts(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& options);
    /// The earliest of these impacts (smallest key if several), found without computing the others.
    std::optional<Impact> earliest_impact(const Vec3s& x_t0, const Vec3s& x_t1, const ImpactOptions& options);

    /// Candidate pairs of a motion with boxes grown by `radius` [m] but for culled patches, in canonical order.
    Candidates candidates(const Vec3s& x_t0, const Vec3s& x_t1, Real radius);

    const DetectionStats& stats() const;
    const PairFilter& filter() const;
    std::size_t bytes() const; ///< memory held by trees, boxes and candidates

private:
    struct Implementation;
    std::unique_ptr<Implementation> impl_;
};

} // namespace pliant
