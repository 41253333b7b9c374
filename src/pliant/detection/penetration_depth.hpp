#pragma once
// How deep a point is inside a body, and which way is out.
//
// Consistent depth: stages 2 to 4 of Heidelberger, Teschner, Keiser, Mueller and Gross 2004, "Consistent Penetration
// Depth Estimation for Deformable Collision Response" [Heidelberger04], for every ordered pair of bodies (X, Y) on its
// own: with one flag a point for all bodies, the normals of two of them could cancel.
//   2. A point of X in Y with a neighbour outside of Y is a border point; each such edge is cut with the faces of Y,
//   and
//      the intersection nearest to its free end is a sample, with a normal interpolated from the vertices.
//   3. Depth and direction of a border point are averages over its samples.
//   4. They spread to the other points layer by layer; a layer reads earlier layers only, so no order matters.
// Two bars that cross without a node of one inside the other are not seen: that is a limit of the method.
//
// Closest feature: the standard method that the paper compares with.

#include "pliant/detection/face_tree.hpp"
#include "pliant/detection/pair_depth.hpp"

namespace pliant {

/// Points of one body inside another that no edge leads out of [Heidelberger04, section 5].
struct EnclosedPoints {
    Index body = none;   ///< whose points
    Index inside = none; ///< what they are inside of
    Index points = 0;
    bool whole = false; ///< all points of the body

    friend bool operator==(const EnclosedPoints&, const EnclosedPoints&) = default;
};

struct PenetrationDepths {
    std::vector<PointDepth> points;       ///< per given point
    std::vector<EnclosedPoints> enclosed; ///< sorted by body, then by what it is inside of
    std::int64_t samples = 0;             ///< intersections found
    std::int64_t face_tests = 0;          ///< edges compared with a face
};

class PenetrationDepth {
public:
    PenetrationDepth(const CollisionMesh& mesh, FaceTree& tree);

    /// points: all points that are inside a body, in any order, one entry a node and body. x: positions of all nodes
    /// [m]. The result is valid until the next call.
    const PenetrationDepths& consistent(std::span<const Vec3> x, std::span<const HalfSpace> half_spaces,
                                        std::span<const PointInBody> points);
    const PenetrationDepths& closest_feature(std::span<const Vec3> x, std::span<const HalfSpace> half_spaces,
                                             std::span<const PointInBody> points);

private:
    void group(std::span<const HalfSpace> half_spaces, std::span<const PointInBody> points);

    const CollisionMesh& mesh_;
    FaceTree& tree_;
    std::vector<Index> body_nodes_; ///< per body: how many nodes it has
    PointGroups groups_;
    std::vector<PairDepth> pairs_; ///< buffers; the first groups_.pairs.size() are in use
    std::vector<Index> bodies_;    ///< that are penetrated and have faces
    VertexNormals normals_;
    PenetrationDepths result_;
};

} // namespace pliant
