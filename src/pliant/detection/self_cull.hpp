#pragma once
// Patches of a body in which nothing can meet, so that the search for self-collision leaves them out.
//
// The sound criterion. Let p, q be points of the texture of a patch whose straight line stays on the body
// (patch_windows.hpp), x(p) where they are, F = dx/dp on each triangle, and Q any 3 x 2 matrix with orthonormal
// columns. If c <= lambda_min(sym(Q^T F)) on all triangles that the line crosses, then integrating along it
//
//     |x(p) - x(q)| |p - q| >= (x(p) - x(q)) . Q (p - q) >= c |p - q|^2.
//
// F is linear in time and lambda_min concave, so that both ends of a step suffice. Two features without a common vertex
// are at least the smallest altitude of a triangle apart in the texture: the hat functions of the vertices of one of
// them sum to 1 there and to 0 on the other, and their slope is at most one over an altitude. So c times that altitude
// bounds the distance of all pairs of the patch from below, without a test of contours.
//
// Cones of normals [Provot97, 2.2] are there for comparison. They are not sound: a staircase has normals in a small
// cone and meets itself.

#include "pliant/detection/culling.hpp"
#include "pliant/detection/patch_windows.hpp"
#include "pliant/detection/rooms.hpp"

#include <optional>

namespace pliant {

class SelfCull {
public:
    static constexpr Index least_leaves = 4; ///< of a patch: smaller ones cost what they save
    static constexpr Real least_share = 0.4; ///< of a body: below, it is left alone for some collections

    /// kind: not off. All must outlive it.
    SelfCull(const Surface& surface, const SurfaceTrees& trees, const PairFilter& filter, Culling kind);

    /// Looks for patches that nothing can meet in while vertices stay in their rooms.
    void look_at(const Rooms& rooms);

    bool is_sound() const { return kind_ == Culling::sound; }
    bool any() const { return any_; }
    /// Whether no pairs of features of a node of a tree are wanted.
    bool within(Index node) const { return top_[node] != none; }
    /// The same for pairs of features of two nodes of one tree.
    bool between(Index a, Index b) const
    {
        return is_sound() ? is_next_to(top_[a], b) || is_next_to(top_[b], a) : in_one_cone(a, b);
    }
    /// Of the triangles of bodies that may meet themselves, those in patches where no pairs are wanted.
    Real share() const { return triangles_ > 0 ? Real(culled_) / Real(triangles_) : 0; }

    /// For tests: a threshold that is this times what is proved. 1 is sound.
    void set_threshold_factor(Real factor) { factor_ = factor; }

private:
    /// What is known of the rest shape of eight triangles: an orthonormal frame in the plane of each, and how to get
    /// the gradient in this frame from edges.
    struct alignas(32) RestBlock {
        float frame[6][8];
        float inverse_length[8], shear[8], inverse_height[8];
    };
    /// Gradients in these frames, at both ends: the columns of 3 x 2 matrices.
    struct alignas(32) GradientBlock {
        float column[2][6][8];
    };
    struct TreeState {
        Index tree = 0;
        Index triangles = 0;
        Index failures = 0, wait = 0; ///< in a row; collections before the next try
    };
    struct Cone {
        Vec3 axis = Vec3::Zero();
        Real angle = 0; ///< [rad]
    };
    struct NodeState {
        Mat3 turn = Mat3::Zero();            ///< sum over triangles of both ends: current by rest frame
        std::array<Real, 2> radius = {0, 0}; ///< largest, at each end [m]
    };

    void prepare();
    void measure(const TreeState& state, const Rooms& rooms);
    const PatchWindow& window(Index node);
    bool certify(Index node);
    bool is_flat(Index block, const std::array<float, 6>& q, const PatchWindow& w,
                 const std::array<float, 2>& threshold) const;
    void descend(Index node);
    void find_cones(const TreeState& state, const Rooms& rooms);
    static Cone join(const Cone& a, const Cone& b);
    bool is_narrow(const Cone& cone) const;
    void cull(Index node);
    bool is_next_to(Index top, Index node) const;
    bool in_one_cone(Index a, Index b) const;
    Index end(Index node) const { return node + 2 * trees_.nodes()[node].leaves - 1; }

    const Surface& surface_;
    const SurfaceTrees& trees_;
    const PairFilter& filter_;
    Culling kind_;
    Real factor_ = 1;
    bool prepared_ = false;
    std::vector<TreeState> states_; ///< of the trees of bodies that may meet themselves
    NodeNeighbours neighbours_;     ///< per node
    std::optional<WindowBuilder> builder_;
    std::vector<PatchWindow> windows_; ///< per node
    std::vector<char> looked_;         ///< per node: whether its window is known
    std::vector<Real> altitude_;       ///< per node: smallest of a triangle at rest; a texture has no larger ones [m]
    Index tree_leaves_ = 0;            ///< of the tree at hand
    std::vector<RestBlock> rest_;      ///< per block of faces
    std::vector<GradientBlock> gradients_;
    std::vector<NodeState> nodes_; ///< per node
    std::vector<Index> hint_;      ///< per node: the block that failed last, or none
    std::vector<Cone> cones_;      ///< per node
    std::vector<Index> top_;       ///< per node: the largest patch around it that is culled, or none
    bool any_ = false, moving_ = false;
    std::int64_t culled_ = 0, triangles_ = 0;
};

} // namespace pliant
