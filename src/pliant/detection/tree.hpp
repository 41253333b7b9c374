#pragma once
// Bounding-volume trees over the triangles of the surface, one for each connected part of a body.
//
// The shape of a tree comes from the rest shape of its body, and stays: cloth is divided in its own plane, so that a
// node is a patch of it however it is draped. Only boxes follow the motion, and only of leaves that have moved. Pairs
// of bodies that never meet are left out as a whole. Every vertex and edge is owned by one of its triangles [Curtis
// 2008]: each pair of features is met in exactly one pair of leaves, without any set to remove duplicates.

#include "pliant/detection/lanes.hpp"
#include "pliant/detection/sieve.hpp"

namespace pliant {

class SelfCull;

class SurfaceTrees {
public:
    static constexpr Index items_per_leaf = 8; ///< at most

    /// Every edge of the surface must belong to a triangle; vertices need not.
    explicit SurfaceTrees(const Surface& surface);

    /// Fits the boxes of the trees to those of the vertices, of which some have changed since the last call.
    void update(const VertexBoxes& boxes, std::span<const char> changed);
    /// What pairs have to pass.
    struct Sift {
        const PairFilter& filter;
        const Sieve* sieve = nullptr;   ///< leaves out pairs that it drops
        const SelfCull* cull = nullptr; ///< leaves out patches of bodies in which nothing can meet
    };
    /// All candidate pairs; with stride > 1 those of every stride-th task only, a sample spread over the surface.
    void collect(const Sift& sift, CandidateChunks& out, std::size_t stride = 1) const;
    /// Adds the pairs of leaves whose boxes the last update() has changed, some of them once more.
    void collect_changed(const Sift& sift, CandidateChunks& out) const;

    std::size_t bytes() const; ///< memory held

    /// Nodes of a tree in the order of a descent: the first child of a node follows it, and all below it.
    struct Node {
        Index second = none;        ///< child; none: a leaf
        Index leaf = 0, leaves = 1; ///< below it, contiguous
    };
    struct Tree {
        Index body = none, root = 0;
    };
    /// Blocks of a leaf are contiguous: the first ones here, the next leaf's are the end.
    struct Leaf {
        Index face = 0, edge = 0, vertex = 0, node = 0;
    };
    const std::vector<Tree>& trees() const { return trees_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Leaf>& leaves() const { return leaves_; } ///< and one more, the end
    const std::vector<FeatureBlock<3>>& faces() const { return faces_; }
    Index leaf_count() const { return count(leaves_) - 1; }
    /// visit(block, face) for the faces of some leaves.
    template <class Visit>
    void for_faces(Index first_leaf, Index last_leaf, Visit&& visit) const
    {
        for (Index b = leaves_[first_leaf].face; b < leaves_[last_leaf].face; ++b)
            for (int lane = 0; lane < std::popcount(faces_[b].valid); ++lane) visit(b, faces_[b].id[lane]);
    }

private:
    /// Two nodes whose features are to be paired; the same twice for the features of a node among themselves.
    struct Task {
        Index a = 0, b = 0;
        bool same_body = false;
        bool ask = false; ///< the filter has a say
    };
    enum class Leaves { all, changed };
    class Builder;
    template <bool moving>
    class Traversal;

    template <bool moving>
    void refit(const VertexBoxes& boxes);
    template <bool moving>
    void collect_tasks(const Sift& sift, CandidateChunks& out, std::size_t stride, Leaves leaves) const;

    const Surface& surface_;
    std::vector<Tree> trees_;
    std::vector<Node> nodes_;
    std::vector<Leaf> leaves_;
    std::vector<FeatureBlock<3>> faces_;
    std::vector<FeatureBlock<2>> edges_;
    std::vector<FeatureBlock<1>> vertices_;
    std::vector<Index> vertex_begin_, vertex_leaf_nodes_; ///< per vertex: the leaves that it is in, as nodes
    std::vector<Box> boxes_t0_, boxes_t1_;                ///< per node
    std::vector<char> changed_; ///< per node: has leaves whose boxes the last update has changed
    bool moving_ = false;
};

} // namespace pliant
