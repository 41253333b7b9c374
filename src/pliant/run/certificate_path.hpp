#pragma once
// The check of a step's path: do features meet while every vertex moves straight from one stored state to the next?
// Independent of `geometry` and `detection`: the time is halved until, in each part, one plane provably has all of the
// relative motion on one side. A part that is still undecided at the finest level counts as an impact, so that nothing
// is missed; only features that come closer than about 1e-12 of their size and motion, or hug each other along a curve
// for 100,000 parts, can be such a false alarm.

#include "pliant/run/certificate_frame.hpp"

namespace pliant {

enum class PathKind { vertex_face, edge_edge, vertex_plane };

struct PathImpact {
    PathKind kind = PathKind::vertex_face;      ///< vertex_face: a vertex of triangle_a against triangle_b
    Index vertex = none;                        ///< the vertex, or the first end of the edge of triangle_a
    Index triangle_a = none, triangle_b = none; ///< in RunMesh::triangles; none against a plane
    Index body_a = none, body_b = none;
    Real fraction = 0; ///< of the step, at most 1e-12 before the impact
    Vec3 position = Vec3::Zero();
};

struct PathCheck {
    std::int64_t pairs_tested = 0;  ///< vertex-face and edge-edge pairs
    std::int64_t impacts = 0;       ///< of them
    std::vector<PathImpact> listed; ///< the first, in canonical order
};

PathCheck check_path(const FrameChecker& checker, const Vec3s& x_t0, const Vec3s& x_t1);
/// The same with planes, whose normals and offsets change linearly too. A vertex that starts behind a plane is left to
/// the check of frames.
PathCheck check_path(const FrameChecker& checker, const PathState& from, const PathState& to);

/// Kernel: the first time at which n(t) . x(t) = offset(t) cannot be excluded, all linear in time; negative: none. A
/// vertex that starts exactly on the plane and rises from it, or slides on it, does not count.
Real first_contact_vertex_plane(const Vec3& x_t0, const Vec3& x_t1, const Plane& p_t0, const Plane& p_t1);

/// Kernel: first part of [0, 1] in which point and triangle cannot be shown to stay apart; negative: they do.
Real first_contact_vertex_face(const std::array<Vec3, 4>& x_t0, const std::array<Vec3, 4>& x_t1);
/// The same for the edges (x0, x1) and (x2, x3).
Real first_contact_edge_edge(const std::array<Vec3, 4>& x_t0, const std::array<Vec3, 4>& x_t1);

} // namespace pliant
