#pragma once
// Broad phases: which features are near enough to look at. A candidate is a pair that the filter lets pass and whose
// boxes overlap; boxes are those of the vertices over the step, grown by a radius a vertex and rounded outward to
// floats. Every broad phase returns exactly this set.

#include "pliant/detection/filter.hpp"
#include "pliant/geometry/box.hpp"

namespace pliant {

/// Boxes of all features.
struct FeatureBoxes {
    std::vector<Box> vertex, edge, face;

    /// Swept from x_t0 to x_t1 (the same array for a single state), grown by radius[v], or by `uniform` when radius is
    /// empty [m].
    void compute(const Surface& surface, const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius,
                 Real uniform);
};

/// Candidates in no particular order, in chunks that tasks filled; which pair is in which chunk does not depend on the
/// number of threads.
struct CandidateChunks {
    std::vector<std::vector<Pair>> vertex_face, edge_edge;

    void clear() { vertex_face.clear(), edge_edge.clear(); }
    Candidates sorted() const;
};

enum class BroadPhaseKind {
    tree,      ///< bounding-volume tree, refitted every step
    all_pairs, ///< every pair, for tests
};

/// Reference: all pairs, quadratic.
void all_pairs(const Surface& surface, const PairFilter& filter, const FeatureBoxes& boxes, CandidateChunks& out);

} // namespace pliant
