#pragma once
// Boxes over the boundary faces of each body of a collision mesh. The shape of the trees is made once from the rest
// shape; `refit` follows the positions, for the bodies that are asked about only.

#include "pliant/detection/collision_mesh.hpp"
#include "pliant/geometry/box.hpp"

namespace pliant {

/// A box around [lo, hi], at most two roundings of a float wider.
inline Box box_of(const Vec3& lo, const Vec3& hi)
{
    const auto below = [](Real x) { return static_cast<float>(x - 0x1p-23 * std::abs(x) - 0x1p-148); };
    Box b;
    for (int k = 0; k < 3; ++k) {
        b.bound[k] = below(lo[k]);
        b.bound[3 + k] = below(-hi[k]);
    }
    return b;
}

class FaceTree {
public:
    explicit FaceTree(const CollisionMesh& mesh);

    /// Fits the boxes of the given bodies to the positions [m]. The other questions are about bodies fitted before,
    /// with the same positions.
    void refit(std::span<const Vec3> x, std::span<const Index> bodies);

    /// The box of a whole body; empty for a body without faces.
    Box body_box(Index body) const { return root_[body] < root_[body + 1] ? nodes_[root_[body]].box : Box(); }

    /// visit(face) for the body's faces in leaves whose boxes overlap the box.
    template <class Visit>
    void for_overlapping(Index body, const Box& box, Visit&& visit) const
    {
        traverse(
            body, [&](const Box& b) { return overlap(b, box); }, visit);
    }

    /// Winding number of the body's surface around p, exact; 0 outside, and for p on the surface that of one of its
    /// sides.
    int winding(std::span<const Vec3> x, Index body, const Vec3& p) const;

    struct Closest {
        Index face = none;
        Vec3 weights = Vec3::Zero(); ///< barycentric, of the closest point
        Vec3 to_surface;             ///< closest point - p [m]
        Real distance = 0;           ///< [m]
    };
    /// The closest point of the body's surface; of faces at the same distance the one of smallest number.
    Closest closest(std::span<const Vec3> x, Index body, const Vec3& p) const;

private:
    struct Node {
        Box box;
        Index right = none;                         ///< right child; the left one follows its parent. `none` in a leaf
        Index begin = 0, end = 0;                   ///< range in order_
        Index vertices_begin = 0, vertices_end = 0; ///< of a leaf: range in vertices_
        Index after = 0;                            ///< the node that follows when this one is left out
    };
    void build(Index begin, Index end, const Vec3s& centre);
    /// Goes down where enter(box) is true, and calls visit(face) in the leaves.
    template <class Enter, class Visit>
    void traverse(Index body, Enter&& enter, Visit&& visit) const
    {
        for (Index n = root_[body]; n < root_[body + 1];) {
            const Node& node = nodes_[n];
            if (!enter(node.box)) {
                n = node.after;
                continue;
            }
            if (node.right == none)
                for (Index k = node.begin; k < node.end; ++k) visit(order_[k]);
            ++n; // the left child, or what comes after this leaf
        }
    }

    const CollisionMesh& mesh_;
    std::vector<Index> order_;    ///< faces in the order of the leaves
    std::vector<Index> vertices_; ///< of the leaves, each once a leaf
    std::vector<Node> nodes_;
    std::vector<Index> root_; ///< per body + 1: range in nodes_
};

} // namespace pliant
