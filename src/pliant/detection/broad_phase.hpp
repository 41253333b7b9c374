#pragma once
// Broad phases: which features are near enough to look at. A candidate is a pair that the filter lets pass and whose
// boxes do not prove it apart; boxes are those of the vertices at both ends of the step, grown by a radius a vertex and
// rounded outward to floats. Every broad phase returns exactly this set.
//
// Boxes at both ends prove more than swept boxes: when one is beyond the other along an axis at the start and at the
// end, it is so in between (positions are linear in time), however far both have moved together.

#include "pliant/detection/filter.hpp"
#include "pliant/geometry/box.hpp"

namespace pliant {

/// A box at both ends of a step.
struct MovingBox {
    Box t0, t1;

    void add(const MovingBox& b)
    {
        t0.add(b.t0);
        t1.add(b.t1);
    }
    /// False when an axis separates the boxes in the same sense at both ends.
    friend bool overlap(const MovingBox& a, const MovingBox& b)
    {
        bool apart = false;
        for (int k = 0; k < 3; ++k) {
            apart |= (a.t0.bound[k] > -b.t0.bound[3 + k]) & (a.t1.bound[k] > -b.t1.bound[3 + k]);
            apart |= (b.t0.bound[k] > -a.t0.bound[3 + k]) & (b.t1.bound[k] > -a.t1.bound[3 + k]);
        }
        return !apart;
    }
};

/// Where vertices are at the ends of a motion, and how far around them something matters [m].
struct VertexBalls {
    const Vec3s& x_t0;
    const Vec3s& x_t1;                                    ///< the same array for a single state
    std::span<const Real> radius_t0 = {}, radius_t1 = {}; ///< per vertex; `uniform` for all when empty
    Real uniform = 0;
    Real margin = 0; ///< added to all

    bool moving() const { return &x_t0 != &x_t1; }
    Index size() const { return count(x_t0); }
    const Vec3& centre(int t, Index v) const { return t == 0 ? x_t0[v] : x_t1[v]; }
    Real radius(int t, Index v) const
    {
        const std::span<const Real> radii = t == 0 ? radius_t0 : radius_t1;
        return (radii.empty() ? uniform : radii[v]) + margin;
    }
    Box box(int t, Index v) const { return Box::of_ball(centre(t, v), radius(t, v)); }
    template <std::size_t N>
    MovingBox box(const std::array<Index, N>& vertices) const
    {
        MovingBox b{box(0, vertices[0]), box(1, vertices[0])};
        for (std::size_t k = 1; k < N; ++k) b.add({box(0, vertices[k]), box(1, vertices[k])});
        return b;
    }
};

/// Boxes of all vertices; those of edges and faces are unions of them.
struct VertexBoxes {
    std::vector<Box> t0, t1; ///< t1 is empty for a single state

    bool moving() const { return !t1.empty(); }
    const Box& end(int t, Index v) const { return t == 0 || t1.empty() ? t0[v] : t1[v]; }
    template <std::size_t N>
    Box end(int t, const std::array<Index, N>& vertices) const
    {
        Box b = end(t, vertices[0]);
        for (std::size_t k = 1; k < N; ++k) b.add(end(t, vertices[k]));
        return b;
    }
    template <class Vertices>
    MovingBox both(const Vertices& vertices) const
    {
        return {end(0, vertices), end(1, vertices)};
    }
};

/// Candidates in no particular order, in chunks that tasks filled; which pair is in which chunk, and where, does not
/// depend on the number of threads.
struct CandidateChunks {
    std::vector<std::vector<Pair>> vertex_face, edge_edge; ///< of equal length

    void reset(std::size_t chunks); ///< empties the chunks but keeps their memory
    void add(std::size_t chunks);   ///< more of them, empty
    std::int64_t size() const;
    Candidates sorted() const;
    std::size_t bytes() const;
};

enum class BroadPhaseKind {
    tree,      ///< bounding-volume tree, refitted every step
    hash,      ///< uniform grid in a hash table [Teschner 2003]
    all_pairs, ///< every pair, for tests
};

/// Reference: all pairs, quadratic.
void all_pairs(const Surface& surface, const PairFilter& filter, const VertexBoxes& boxes, CandidateChunks& out);

} // namespace pliant
