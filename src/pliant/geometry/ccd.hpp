#pragma once
// Continuous collision detection of vertex-face and edge-edge pairs whose vertices move on straight lines over a step,
// x(t) = (1 - t) x_t0 + t x_t1 for t in [0, 1].
//
// Never a miss, for any finite input. "Free" is proved by separating directions: for any d,
//     f_d(t) = min over vertex pairs (i, j) of d . (a_i(t) - b_j(t))
// is a minimum of linear functions, hence concave, and at most |d| times the distance: f_d > m |d| at both ends of a
// time interval proves a distance > m on all of it, however badly d was chosen. Rounding is covered by a margin that
// scales with the differences between the vertices (not with their distance from the origin).

#include "pliant/core/types.hpp"

#include <optional>

namespace pliant {

enum class CcdKind {
    advancement, ///< certificates of separation and conservative advancement
    /// Roots of the coplanarity cubic [Provot97]: features never touch on the way, but min_separation is only kept at
    /// the two ends of the step, because the cubic does not see distances.
    cubic,
};

struct CcdOptions {
    Real min_separation = 0; ///< distance that must be kept [m], >= 0
    /// A pair is reported once it is within min_separation + tolerance [m]; the larger of this and the rounding margin,
    /// but at most half of what the pair has above min_separation at the start.
    Real tolerance = 0;
    int max_iterations = 128; ///< advancement steps before a pair that is still undecided is reported as a hit
    /// Hold a pair to min(min_separation, a part of its distance at the start), so that one that starts closer can
    /// move.
    bool relax_to_start = false;
    Real start_part = 0.5; ///< that part
    CcdKind kind = CcdKind::advancement;
    Real max_time = 1; ///< a hit after this time is not reported; the others are as with 1
};

/// Contact geometry at a conservative time of impact: never later than the true one; the distance there is at most
/// min_separation + tolerance (unless max_iterations was reached).
struct CcdHit {
    Real time = 0;                    ///< in [0, max_time]
    Vec3 normal = Vec3::Zero();       ///< unit, from the second feature (face, edge b) to the first (vertex, edge a)
    std::array<Real, 4> weights;      ///< signed: VF 1, -w0, -w1, -w2; EE 1-s, s, -(1-t), -t
    Real distance = 0;                ///< at `time` [m]
    Real start_distance = 0;          ///< at time 0 [m]
    Vec3 start_normal = Vec3::Zero(); ///< closest direction at time 0, unit; 0 if they touch there
    int iterations = 0;
};

using CcdPoints = std::array<Vec3, 4>; ///< VF: vertex, face corners; EE: a0, a1, b0, b1

/// Nothing when the pair stays farther apart than min_separation for the whole step. Throws Error on non-finite input.
/// The result does not depend on the order of a face's or an edge's vertices, nor on which edge is a.
std::optional<CcdHit> vertex_face_ccd(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options);
std::optional<CcdHit> edge_edge_ccd(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options);

namespace ccd {

/// The same for callers whose vertices already have an order of their own: a little faster, but the last bits of a hit
/// depend on that order.
std::optional<CcdHit> vertex_face(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options);
std::optional<CcdHit> edge_edge(const CcdPoints& x_t0, const CcdPoints& x_t1, const CcdOptions& options);

} // namespace ccd
} // namespace pliant
