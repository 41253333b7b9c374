#pragma once
// A surface that bones move: joints turn by keyframes, vertices follow the bones near them by smooth weights.

#include "pliant/mesh/mesh.hpp"
#include "pliant/world/vertex_motion.hpp"

#include <string>

namespace pliant {

/// A segment of the body in the pose in which the mesh is given. It turns about `from` with its parent.
struct Bone {
    std::string name;
    Index parent = none;                         ///< of a smaller number
    Vec3 from = Vec3::Zero(), to = Vec3::Zero(); ///< [m]
    Real radius = 0; ///< of what is around it: a thick bone takes vertices that are farther away [m]
};

/// A turn of a bone against its parent at a time, or a move of the whole skeleton.
struct BoneKey {
    Real time = 0; ///< [s]
    Quat turn = Quat::Identity();
    Vec3 move = Vec3::Zero(); ///< [m]
};

struct SkeletonScript {
    std::vector<std::vector<BoneKey>> turns; ///< per bone: its keys in increasing time; none: it does not turn
    std::vector<BoneKey> moves;              ///< of the whole skeleton
    bool smooth = false;                     ///< eases in and out of every key; otherwise constant rates between them
    AfterLast after = AfterLast::hold;       ///< what comes after the last key of all
};

/// Per vertex: bones and weights; a vertex's weights are positive and add up to 1.
struct SkinWeights {
    struct Part {
        Index bone;
        Real weight;
    };
    std::vector<Index> begin = {0}; ///< per vertex + 1
    std::vector<Part> parts;
};

/// Gives each vertex the bone whose surface is nearest, then smooths along the surface over a distance of about
/// `smooth` [m]: so an arm that hangs beside a hip does not pull at it. Throws Error for a bone that gets no vertex.
SkinWeights skin_weights(const TriangleMesh& mesh, const std::vector<Bone>& bones, Real smooth);

class SkeletonMotion final : public VertexMotion {
public:
    /// Vertices and bones are in the coordinates of the mesh; `place` brings what they do to the world.
    SkeletonMotion(Vec3s vertices, std::vector<Bone> bones, SkinWeights weights, SkeletonScript script,
                   const Pose& place);

    const SkeletonScript& script() const { return script_; }
    /// Of each bone at a time: where it brings what is fixed to it, from the mesh to the world.
    std::vector<Pose> bone_poses(Real t) const;

    Index vertex_count() const override { return count(vertices_); }
    void positions(Real t, std::span<Vec3> out) const override;
    Real next_keyframe(Real t0, Real t1) const override;
    Real chord_error(Real t0, Real t1) const override;
    std::shared_ptr<const VertexMotion> follow(const std::vector<Triangle>& triangles,
                                               const Vec3s& points) const override;

private:
    /// Bounds of what a track does between two times that no key separates.
    struct Rates {
        Real speed = 0;        ///< largest [rad/s or m/s]
        Real acceleration = 0; ///< largest along the track [rad/s^2 or m/s^2]
    };

    Real local_time(Real t) const;
    BoneKey at(const std::vector<BoneKey>& track, Real t) const;
    Rates rates(const std::vector<BoneKey>& track, Real t0, Real t1) const;
    /// Of all tracks: of each bone's turns, and of the moves.
    struct ScriptRates {
        std::vector<Rates> turn;
        Rates move;
    };
    ScriptRates script_rates(Real t0, Real t1) const;
    Real smooth_chord_error(Real t0, Real t1) const;
    Real longest_path(Real t0, Real t1) const;
    /// use(joint, arm) for the bones from b to the root: how far what b moves may be from the joint [m].
    void for_chain(Index b, auto&& use) const;

    Vec3s vertices_;
    std::vector<Bone> bones_;
    SkinWeights weights_;
    SkeletonScript script_;
    Pose place_;
    std::vector<Real> times_; ///< of all keys
    std::vector<Real> arm_;   ///< per bone: farthest vertex that it moves from its joint [m]; negative: it moves none
};

} // namespace pliant
