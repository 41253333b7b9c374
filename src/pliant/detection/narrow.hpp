#pragma once
// Internal to detection: geometry of one pair.

#include "pliant/detection/pairs.hpp"
#include "pliant/geometry/ccd.hpp"
#include "pliant/world/surface.hpp"

namespace pliant::narrow {

/// Closest points of the pair's features, reduced to those that hold them; nothing when farther apart than `limit`.
std::optional<ContactPair> closest_vertex_face(const Surface& surface, const Vec3s& x, Index v, Index f, Real limit);
/// crossings_only: nothing also when an end of an edge is closest. Where that end is closest to the faces next to the
/// other edge too, their pair with the vertex says so.
std::optional<ContactPair> closest_edge_edge(const Surface& surface, const Vec3s& x, Index e, Index g, Real limit,
                                             bool crossings_only);
ContactPair vertex_plane(Index v, Index number, const Plane& plane, Real distance);

/// The features that the weights of a hit select.
Impact impact_vertex_face(const Surface& surface, const CcdHit& hit, Index v, Index f);
Impact impact_edge_edge(const Surface& surface, const CcdHit& hit, Index e, Index g);

/// Whether a vertex is farther than this from a plane all along its path, so that no impact is nearer; cheap.
bool stays_far_from_plane(const Vec3& x_t0, const Vec3& x_t1, const Plane& plane_t0, const Plane& plane_t1, Real far);
/// First time at which a vertex comes within hard_gap + tolerance of a plane, conservatively; nothing if it never does.
std::optional<Impact> impact_vertex_plane(const Vec3& x_t0, const Vec3& x_t1, const Plane& plane_t0,
                                          const Plane& plane_t1, const CcdOptions& options);

} // namespace pliant::narrow
