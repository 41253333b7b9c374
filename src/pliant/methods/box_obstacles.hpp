#pragma once
// What scripts move, as the boxes of lattices meet it: planes and closed meshes.

#include "pliant/detection/face_tree.hpp"
#include "pliant/detection/lattice_boxes.hpp"
#include "pliant/world/world.hpp"

namespace pliant {

/// A box in an obstacle.
struct ObstacleOverlap {
    Index cell = none;
    Index body = none;            ///< the obstacle
    BoxOverlap overlap;           ///< moving the box by depth * normal makes it touch; < 0: not yet there
    Real offset = 0;              ///< the obstacle ends at normal . x = offset here [m]
    Vec3 position = Vec3::Zero(); ///< of the contact [m]
};

class BoxObstacles {
public:
    explicit BoxObstacles(const Model& model);

    bool empty() const { return planes_.empty() && meshes_.empty(); }
    /// The deepest contact of each box with each obstacle, where obstacles are at a time; in the order of the boxes.
    /// Boxes that are awake are looked at. With `near` also boxes that may come to reach into a plane on their way.
    const std::vector<ObstacleOverlap>& find(const Model& model, const LatticeBoxes& boxes, Real time,
                                             bool near = false);
    /// The same after blocks have moved, at the same time, among the boxes that were within half a cell of an obstacle:
    /// boxes have moved less.
    const std::vector<ObstacleOverlap>& find_again(const Model& model, LatticeBoxes& boxes, const Vec3s& x,
                                                   const std::vector<std::uint8_t>& moved);
    /// The same for one box and obstacle, without depth where they do not meet; `find` was called for the same time.
    ObstacleOverlap look(const LatticeBoxes& boxes, Index cell, Index obstacle) const;

    /// Whether what stays in a box may ever come within a distance of an obstacle [m].
    bool may_come_near(const Box& box, Real distance) const;

    /// Velocity of an obstacle's points at a place, over the dt that end at the time of the last `find` [m/s].
    Vec3 velocity(const Model& model, Index body, const Vec3& at, Real dt) const;

private:
    struct HalfSpaceNow {
        Index body;
        Plane plane;
    };
    /// The same planes, four at once: the parts of their normals that point up and down along each axis.
    struct FourPlanes {
        Real4x3 up, down;
        Real4 offset;
    };
    struct MeshNow {
        Index body;
        Pose pose;
        Vec3 low, high; ///< of bounds in the world [m]
    };
    void place(const Model& model, Real time);
    /// Whether what is in a box is within a distance of an obstacle, or may be.
    bool is_near(const Box& box, Real distance) const;
    void find_among(const Model& model, const LatticeBoxes& boxes, std::span<const Index> among, bool near);
    ObstacleOverlap in_plane(const CellBox& box, const HalfSpaceNow& plane, Real reach) const;
    ObstacleOverlap in_mesh(const CellBox& box, const MeshNow& mesh, BoxPlanes planes) const;

    Real time_ = 0;
    bool moving_ = false; ///< at least one of them
    std::vector<HalfSpaceNow> planes_;
    std::vector<FourPlanes> fours_;
    std::vector<MeshNow> meshes_;
    CollisionMesh shells_; ///< in the obstacles' own frames
    FaceTree tree_;
    std::vector<std::vector<ObstacleOverlap>> chunks_;
    std::vector<ObstacleOverlap> found_;
    std::vector<Index> near_;           ///< boxes that are looked at, ascending
    std::vector<std::uint8_t> flags_;   // scratch
    std::vector<Index> moved_;          // scratch
    std::vector<ObstacleOverlap> kept_; // scratch
};

} // namespace pliant
