#pragma once
// Stage 1 of [Heidelberger04]: all points that are inside a body, whatever the body is made of. Points of tetrahedral
// bodies and vertices of closed shells are looked for in tetrahedral bodies, in closed shells and in half-spaces; what
// nothing moves does not collide among itself.

#include "pliant/detection/face_tree.hpp"
#include "pliant/detection/tet_hash.hpp"

namespace pliant {

class PointsInBodies {
public:
    /// The tree is shared with the depth; its shells are fitted here.
    PointsInBodies(const CollisionMesh& mesh, FaceTree& tree, const TetHashOptions& options = {});

    /// x: positions of all nodes [m]. One entry a node and body, in canonical order, valid until the next call. A point
    /// is inside a shell when the shell's winding number around it is not 0, exactly.
    const std::vector<PointInBody>& find(std::span<const Vec3> x, std::span<const HalfSpace> half_spaces);

    const TetHash& hash() const { return hash_; }

private:
    const CollisionMesh& mesh_;
    FaceTree& tree_;
    TetHash hash_;
    std::vector<Index> shells_; ///< bodies that are shells
    std::vector<std::vector<PointInBody>> chunks_;
    std::vector<PointInBody> found_;
};

} // namespace pliant
