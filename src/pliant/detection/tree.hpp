#pragma once
// Bounding-volume tree over the triangles of the surface.
//
// A perfect binary tree: node i has children 2i and 2i + 1, leaves are the last level, and the items are spread evenly
// over the leaves by median splits, so that there are no pointers and all pairs of a self-traversal are of equal level.
// Every vertex and edge is owned by one of its triangles [Curtis 2008]: each pair of features is met in exactly one
// pair of leaves, without any set to remove duplicates.

#include "pliant/detection/broad_phase.hpp"
#include "pliant/detection/lanes.hpp"

namespace pliant {

class SurfaceTree {
public:
    static constexpr Real decay = 1.3;         ///< rebuild when the boxes' total surface has grown by this factor
    static constexpr Index items_per_leaf = 8; ///< at most

    /// Every edge of the surface must belong to a triangle; vertices need not.
    explicit SurfaceTree(const Surface& surface);

    /// Refits the tree to the boxes; builds it anew the first time and when its quality has decayed.
    void update(const VertexBoxes& boxes);
    /// All candidate pairs; with stride > 1 those of every stride-th task only, a sample spread over the surface.
    void collect(const PairFilter& filter, CandidateChunks& out, std::size_t stride = 1);
    /// Adds the pairs of leaves whose boxes the last update() has changed, some of them once more. The tree must not
    /// have been built anew by it.
    void collect_changed(const PairFilter& filter, CandidateChunks& out);

    Index builds() const { return builds_; } ///< how often it was built
    std::size_t bytes() const;               ///< memory held

private:
    /// Features of a leaf are contiguous in leaf order: first ones here, the next leaf's are the end.
    struct Leaf {
        Index face = 0, edge = 0, vertex = 0;
    };
    struct Task {
        Index a, b; ///< nodes of one level, a <= b
    };
    enum class Leaves { all, changed };
    template <bool moving>
    struct Traversal;

    void assign_owners();
    void build(const VertexBoxes& boxes);
    void group_nodes(const PairFilter& filter);
    /// Which vertices have other boxes than the tree was fitted to.
    void find_stale(const VertexBoxes& boxes);
    bool is_stale(Index leaf) const;
    template <bool moving>
    void refit(const VertexBoxes& boxes);
    template <bool moving>
    void collect_tasks(const PairFilter& filter, CandidateChunks& out, std::size_t stride, Leaves leaves) const;
    Real surface_area() const;

    const Surface& surface_;
    // Items: faces, then vertices that no face has. Owned features by item.
    Index item_count_ = 0;
    std::vector<Index> loose_vertices_;
    std::vector<std::array<Index, 3>> owned_vertices_, owned_edges_; ///< per face, `none` if another face owns it

    Index leaf_level_ = 0, leaf_count_ = 0;
    std::vector<Box> nodes_t0_, nodes_t1_;  ///< heap order, root at 1
    std::vector<PairFilter::Group> groups_; ///< per node: its bodies; empty: not yet known for this tree
    std::vector<Leaf> leaves_;
    VertexBoxes fitted_;                          ///< what the boxes of the leaves were made of
    std::vector<char> stale_;                     ///< per vertex
    std::vector<char> changed_;                   ///< per node: has leaves whose boxes the last update has changed
    std::vector<Index> faces_, edges_, vertices_; ///< ids in leaf order
    BoxLanes face_lanes_, edge_lanes_, vertex_lanes_;
    std::array<IndexLanes, 3> face_corners_; ///< vertex numbers in leaf order
    std::array<IndexLanes, 2> edge_ends_;
    bool moving_ = false;
    Real built_area_ = 0;
    Index builds_ = 0;
};

} // namespace pliant
