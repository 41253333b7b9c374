#pragma once
// Which points are in which tetrahedra: the spatial hash of Teschner, Heidelberger, Mueller, Pomeranets and Gross 2003,
// "Optimized Spatial Hashing for Collision Detection of Deformable Objects". Space is cut into cubic cells, and the
// nodes are sorted by the bucket of their cell. Tetrahedra that are neighbours in the rest shape form groups of at most
// 16: a group looks at the buckets of the cells that its box covers, and its tetrahedra look at the nodes found there.
// That costs a fraction of the visits of cells one by one, and nothing more where no other body is near.
//
// Cell-size rule: the mean side of the groups' boxes. (The paper's rule is the average edge length; a box is what
// covers cells.) Table-size rule: the power of two at or above twice the nodes; the paper takes a prime, but a mask
// costs a tenth of a division, and its odd multipliers spread well over the low bits. Neither changes what is found. A
// group that would cover more cells than there are nodes looks at all nodes instead. The cost is linear in nodes +
// tetrahedra as long as their sizes are alike.

#include "pliant/detection/collision_mesh.hpp"

#include <optional>

namespace pliant {

/// Off: a point is never inside its own body. On: it may be, where the two are far apart at rest (far_at_rest).
enum class SelfCollision { off, on };

struct TetHashOptions {
    SelfCollision self_collision = SelfCollision::off;
    Real least_volume = 0.05; ///< tetrahedra at or below this part of their rest volume hold no points
    Real cell = 0;            ///< cell size [m]; 0 follows the rule
    Index buckets = 0;        ///< size of the table, rounded up to a power of two; 0 follows the rule
};

/// A point belongs to a tetrahedron when no barycentric coordinate is below minus this: a point on a face between two
/// tetrahedra must not fall through.
inline constexpr Real tet_tolerance = 1e-12;

/// How much there was to do; all grow linearly with the scene.
struct TetHashCounts {
    std::int64_t cells = 0;      ///< buckets looked at
    std::int64_t candidates = 0; ///< points compared with a tetrahedron's box
};

class TetHash {
public:
    explicit TetHash(const CollisionMesh& mesh, const TetHashOptions& options = {});

    /// x: positions of all nodes [m]. One entry a node and body, in canonical order: of several tetrahedra of a body
    /// that hold the node, the one in which its smallest weight is largest, of those the one of smallest number.
    /// The result stays valid until the next call.
    const std::vector<PointInBody>& find(std::span<const Vec3> x);

    const TetHashCounts& counts() const { return counts_; }
    Real cell_size() const { return cell_; } ///< [m], of the last call

    /// The test of one node against one tetrahedron; `find` calls it for those that are near.
    static std::optional<Vec4> weights_inside(const CollisionMesh& mesh, const TetHashOptions& options,
                                              std::span<const Vec3> x, Index node, Index tet);

private:
    using Cell = std::array<Index, 3>;
    struct Bounds {
        Vec3 lo, hi;
    };
    struct Entry {
        Vec3 x;
        Index node, body;
    };
    struct Group {
        Index body;
        Index tets, nodes; ///< ends of its ranges in group_tets_ and group_nodes_; they begin where the last one ends
    };
    struct Chunk { ///< what a fixed range of groups found
        std::vector<Entry> near;
        std::vector<PointInBody> found;
        TetHashCounts counts;
    };

    Index coordinate(Real x) const;
    std::size_t bucket(Index i, Index j, Index k) const;
    void make_groups();
    void fit_groups(std::span<const Vec3> x);
    void choose_sizes();
    void sort_nodes(std::span<const Vec3> x);
    /// The nodes in the group's box that may be inside of its tetrahedra.
    void collect(Index group, Chunk& out) const;
    void visit_group(std::span<const Vec3> x, Index group, Chunk& out) const;

    const CollisionMesh& mesh_;
    TetHashOptions options_;
    std::vector<Group> groups_;
    std::vector<Index> group_tets_, group_nodes_;
    std::vector<Bounds> group_box_; ///< at the positions of the last call
    Real cell_ = 0, inverse_cell_ = 0;
    std::size_t mask_ = 0;
    std::vector<Index> node_bucket_;
    std::vector<Entry> entries_;     ///< nodes by bucket
    std::vector<Index> begin_;       ///< per bucket + 1
    std::vector<Index> bucket_body_; ///< per bucket: the body of all its nodes; `none` when empty, or `mixed`
    std::vector<Chunk> chunks_;
    std::vector<PointInBody> found_;
    TetHashCounts counts_;
};

} // namespace pliant
