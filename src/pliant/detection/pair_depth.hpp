#pragma once
// Internal to the penetration depth: one ordered pair of bodies.

#include "pliant/bodies/four.hpp"
#include "pliant/detection/box_lanes.hpp"
#include "pliant/detection/face_tree.hpp"
#include "pliant/detection/voxel_grid.hpp"

namespace pliant {

/// Where a depth comes from.
enum class DepthOrigin : std::uint8_t {
    surface,    ///< from the surface itself: a border point, a half-space, the closest feature
    propagated, ///< from neighbours that are nearer to the surface
    enclosed    ///< no edge leads out: from the closest feature of the point nearest to the surface, then propagated
};

struct PointDepth {
    Vec3 direction = Vec3::Zero(); ///< r, unit, the way out
    Real depth = 0;                ///< d >= 0 [m]
    Index layer = none;            ///< 0 at the surface, then the layer of the propagation
    DepthOrigin origin = DepthOrigin::surface;

    Vec3 vector() const { return depth * direction; } ///< [m]
    friend bool operator==(const PointDepth&, const PointDepth&) = default;
};

/// The given points sorted by (body, body it is inside of, node), and the way back from a node to its entries.
struct PointGroups {
    struct Entry {
        Index body, inside, node;
        Index given; ///< number in the caller's order
        Index next;  ///< next entry of the same node, or `none`
    };
    struct Pair {
        Index body, inside;
        Index begin, end; ///< range of entries
    };
    std::vector<Entry> entries;
    std::vector<Pair> pairs;
    std::vector<Index> head;       ///< per node: its first entry, or `none`
    std::vector<Index> half_space; ///< per body: number of its half-space, or `none`
    std::vector<PointDepth> depth; ///< per entry

    /// The entry that says that the node is inside the body, or `none`.
    Index find(Index node, Index inside) const
    {
        Index e = head[node];
        while (e != none && entries[e].inside != inside) e = entries[e].next;
        return e;
    }
};

/// Unit normals of boundary vertices, weighted by the angles of the faces around them in the rest shape, so that the
/// cut of a flat face into triangles does not matter. Only those asked for are computed, each once for given positions.
class VertexNormals {
public:
    explicit VertexNormals(Index nodes) : round_(static_cast<std::size_t>(nodes), 0), normal_(round_.size()) {}

    void forget() { ++now_; } ///< what was computed for earlier positions
    /// Threads may ask for the same node at once; `at` is valid when all of them are done.
    void compute(const CollisionMesh& mesh, std::span<const Vec3> x, Index node);
    const Vec3& at(Index node) const { return normal_[node]; }

private:
    std::vector<std::uint32_t> round_; ///< per node: when its normal was last asked for
    Vec3s normal_;
    std::uint32_t now_ = 0;
};

Vec3 vertex_normal(const CollisionMesh& mesh, std::span<const Vec3> x, Index node);

/// Normal at a point of a face with the given barycentric weights: interpolated from the vertices, but never more than
/// 60 degrees from the face's own normal, as it could be at a sharp edge. across: of any length, normal to the face.
Vec3 interpolated_normal(const Vec3& across, const Vec3& n0, const Vec3& n1, const Vec3& n2, const Vec3& weights);

/// Four faces side by side, ready to be cut by segments.
struct FourFaces {
    FourVec corner;        ///< [m]
    FourVec area;          ///< e1 x e2, with the edges e1 and e2 from the corner [m^2]
    FourVec first, second; ///< e2 x area and area x e1: along them grow the weights of the other two corners [m^3]
    Four area_sq;          ///< [m^4]
};

/// Stages 2 to 4 of one pair. Keeps its buffers. Where the penetrated body has few faces nearby, all of them are
/// compared with every edge, four at a time; many are put into a grid, which the edges traverse. Large pairs are shared
/// among threads.
class PairDepth {
public:
    /// An intersection of an edge with the surface, on the way from its free to its colliding end.
    struct Sample {
        Vec3 x;       ///< where [m]
        Vec3 weights; ///< barycentric, in the face
        Index face;
    };

    using Face = VoxelGrid::Face;

    /// Stage 2: finds the samples of the pair's border points, and computes the normals around them.
    void find_samples(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x,
                      const PointGroups& groups, const PointGroups::Pair& pair, VertexNormals& normals);
    /// Stages 3 and 4; writes the depths of the pair's entries.
    void compute(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x, const VertexNormals& normals,
                 PointGroups& groups, const PointGroups::Pair& pair);

    const std::vector<Sample>& samples() const { return samples_; }
    std::int64_t face_tests() const { return face_tests_; }
    Index enclosed() const { return enclosed_; } ///< points that no edge leads out of

private:
    struct BorderEdge {
        Index entry, free_node;
        Vec3 free_end; ///< where that is [m]
    };
    /// The first face on the way from the free end.
    struct Cut {
        Real t = 2;                  ///< from the free end (0) to the colliding one (1); 2: there is none
        Vec3 weights = Vec3::Zero(); ///< barycentric, in the face
        Index face = none;
        bool front = false; ///< enters through the outside of the face
        Index tests = 0;    ///< faces it was compared with
    };

    void collect_faces(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x,
                       const PointGroups& groups, const PointGroups::Pair& pair);
    void list_faces(const CollisionMesh& mesh, std::span<const Vec3> x);
    void cut_edges(const CollisionMesh& mesh, std::span<const Vec3> x, const PointGroups& groups,
                   const PointGroups::Pair& pair);
    template <class Accepts>
    void cut_by_list(const Vec3& q, const Vec3& p, Accepts&& accepts, Cut& nearest) const;
    template <class Accepts>
    void cut_by_grid(const Vec3& q, const Vec3& p, Index edge, std::vector<Index>& seen_by, Accepts&& accepts,
                     Cut& nearest) const;
    void propagate(const CollisionMesh& mesh, std::span<const Vec3> x, PointGroups& groups,
                   const PointGroups::Pair& pair, DepthOrigin origin);
    void release_enclosed(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x, PointGroups& groups,
                          const PointGroups::Pair& pair);

    void add_inward_edges(const CollisionMesh& mesh, std::span<const Vec3> x, const PointGroups& groups,
                          const PointGroups::Pair& pair);

    std::vector<BorderEdge> edges_;
    std::vector<Cut> cuts_;    ///< per edge
    std::vector<Index> faces_; ///< of the penetrated body, near the edges
    bool few_ = true;          ///< faces: in the list, otherwise in the grid
    std::vector<FourFaces> fours_;
    BoxLanes boxes_; ///< of the fours
    std::vector<Face> face_data_;
    VoxelGrid grid_;
    std::vector<Sample> samples_;
    std::vector<Index> sample_begin_; ///< per entry of the pair + 1
    std::vector<Index> layer_, next_; ///< entries of the last layer and of the one being made
    std::int64_t face_tests_ = 0;
    Index enclosed_ = 0;
};

/// Depth by the closest point of the surface; the face's normal where the point is on it.
PointDepth closest_feature_depth(const CollisionMesh& mesh, const FaceTree& tree, std::span<const Vec3> x, Index body,
                                 const Vec3& p);

} // namespace pliant
