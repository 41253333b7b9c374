// Scripts that move vertices one by one: where they are at every time, and how far they leave straight lines.

#include "pliant/core/error.hpp"
#include "pliant/core/random.hpp"
#include "pliant/geometry/closest.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/world/motion.hpp"
#include "pliant/world/skeleton.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace pliant {
namespace {

constexpr Real degree = std::numbers::pi / 180;

Vec3s at(const VertexMotion& motion, Real t)
{
    Vec3s x(static_cast<std::size_t>(motion.vertex_count()));
    motion.positions(t, x);
    return x;
}

SequenceMotion random_sequence(Random& random, AfterLast after)
{
    std::vector<Vec3s> frames(5);
    for (Vec3s& frame : frames)
        for (int v = 0; v < 7; ++v) frame.push_back(random.in_box(Vec3::Constant(-1), Vec3::Constant(1)));
    return {frames, {0.3, 0.25, after}};
}

/// How far any vertex leaves the straight line between its ends, sampled.
Real sampled_chord_error(const VertexMotion& motion, Real t0, Real t1)
{
    const Vec3s a = at(motion, t0), b = at(motion, t1);
    Real error = 0;
    for (int i = 0; i <= 100; ++i) {
        const Vec3s x = at(motion, t0 + (t1 - t0) * i / 100);
        for (std::size_t v = 0; v < x.size(); ++v) {
            const Real u = closest_on_segment(x[v], a[v], b[v]);
            error = std::max(error, (x[v] - (1 - u) * a[v] - u * b[v]).norm());
        }
    }
    return error;
}

TEST(SequenceMotion, IsItsFramesAtTheirTimesAndStraightBetweenThem)
{
    Random random(1);
    const SequenceMotion motion = random_sequence(random, AfterLast::hold);
    for (int f = 0; f < 5; ++f)
        for (int v = 0; v < 7; ++v) EXPECT_LT((at(motion, 0.3 + 0.25 * f)[v] - motion.frames()[f][v]).norm(), 1e-12);
    const Vec3 third = (2 * motion.frames()[1][3] + motion.frames()[2][3]) / 3;
    EXPECT_LT((at(motion, 0.3 + 0.25 * (1 + 1.0 / 3))[3] - third).norm(), 1e-12);
}

TEST(SequenceMotion, StaysAtItsEndsOrStartsOver)
{
    Random random(2);
    const SequenceMotion held = random_sequence(random, AfterLast::hold),
                         looped(held.frames(), {0.3, 0.25, AfterLast::loop});
    EXPECT_EQ(at(held, 0)[2], held.frames()[0][2]);
    EXPECT_EQ(at(held, 9)[2], held.frames()[4][2]);
    EXPECT_EQ(held.next_keyframe(2, 9), 9) << "nothing happens after the last frame";
    EXPECT_LT((at(looped, 0.3 + 5 * 0.25)[2] - held.frames()[0][2]).norm(), 1e-12) << "one frame after the last";
    const Vec3 middle = (held.frames()[4][2] + held.frames()[0][2]) / 2;
    EXPECT_LT((at(looped, 0.3 + 4.5 * 0.25)[2] - middle).norm(), 1e-12);
    EXPECT_LT((at(looped, 0.3 + 12 * 0.25)[2] - held.frames()[2][2]).norm(), 1e-12);
}

TEST(SequenceMotion, NoFrameIsSkippedAndTheCornersThereAreTheChordError)
{
    Random random(3);
    for (const AfterLast after : {AfterLast::hold, AfterLast::loop}) {
        const SequenceMotion motion = random_sequence(random, after);
        EXPECT_NEAR(motion.next_keyframe(0.1, 0.7), 0.3, 1e-12);
        EXPECT_NEAR(motion.next_keyframe(0.3, 0.7), 0.55, 1e-12);
        EXPECT_EQ(motion.next_keyframe(0.31, 0.5), 0.5);
        EXPECT_EQ(motion.chord_error(0.31, 0.5), 0);
        for (int trial = 0; trial < 50; ++trial) {
            const Real t0 = random.uniform(0, 2), t1 = t0 + random.uniform(0, 0.9);
            const Real sampled = sampled_chord_error(motion, t0, t1), bound = motion.chord_error(t0, t1);
            EXPECT_LE(sampled, bound + 1e-12);
            EXPECT_LE(bound, 1.1 * sampled + 0.05) << "it is not much more than what there is";
        }
    }
}

TEST(SequenceMotion, AJumpIsFoundWithItsFrameAndVertex)
{
    Vec3s still = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    std::vector<Vec3s> frames(6, still);
    for (int f = 0; f < 6; ++f) frames[f][2].x() += 0.01 * f;
    EXPECT_EQ(find_jump(SequenceMotion(frames, {})).frame, none);
    frames[4][1].y() += 2;
    const SequenceJump jump = find_jump(SequenceMotion(frames, {}));
    EXPECT_EQ(jump.vertex, 1);
    EXPECT_TRUE(jump.frame == 4 || jump.frame == 5);
    EXPECT_NEAR(jump.distance, 2, 1e-12);
    frames.assign(3, still);
    for (Vec3& x : frames[2]) x.z() += 0.5;
    for (Vec3& x : frames[1]) x.z() += 0.25;
    EXPECT_EQ(find_jump(SequenceMotion(frames, {0, 0.04, AfterLast::hold})).frame, none);
    EXPECT_EQ(find_jump(SequenceMotion(frames, {0, 0.04, AfterLast::loop})).frame, 0) << "a loop that does not close";
}

TEST(SequenceMotion, APointThatFollowsKeepsItsPlaceAtASurfaceThatMovesRigidly)
{
    const TriangleMesh ball = make_sphere(0.5, 2);
    std::vector<Vec3s> frames;
    std::vector<Pose> poses;
    for (int f = 0; f < 4; ++f) {
        poses.push_back({Vec3(0.1 * f, 0, 0.2 * f), rotation_xyz({0.3 * f, 0.1 * f, 0})});
        frames.emplace_back();
        for (const Vec3& x : ball.vertices) frames.back().push_back(poses[f](x));
    }
    const SequenceMotion motion(frames, {0, 0.1, AfterLast::hold});
    const Vec3s points = {{0.6, 0.1, 0}, {0, -0.7, 0.1}};
    const auto followers = motion.follow(ball.triangles, points);
    for (int f = 0; f < 4; ++f)
        for (int i = 0; i < 2; ++i) EXPECT_LT((at(*followers, 0.1 * f)[i] - poses[f](points[i])).norm(), 1e-12);
}

/// A limb of two bones along x that bends at its middle and turns at its root.
struct Limb {
    TriangleMesh mesh = make_box({2, 0.2, 0.2}, {40, 4, 4});
    std::vector<Bone> bones = {{"root", none, {-1, 0, 0}, {0, 0, 0}, 0.1}, {"tip", 0, {0, 0, 0}, {1, 0, 0}, 0.1}};
    SkeletonScript script;
    Limb()
    {
        script.turns.resize(2);
        script.turns[0] = {{0, Quat::Identity(), Vec3::Zero()}, {1, rotation_xyz({0, 0, 60 * degree}), Vec3::Zero()}};
        script.turns[1] = {{0.2, Quat::Identity(), Vec3::Zero()},
                           {0.8, rotation_xyz({0, 90 * degree, 0}), Vec3::Zero()}};
        script.moves = {{0, Quat::Identity(), Vec3::Zero()}, {1, Quat::Identity(), {0.3, 0, 0.1}}};
    }
    SkeletonMotion motion(const Pose& place = {}) const
    {
        return {mesh.vertices, bones, skin_weights(mesh, bones, 0.1), script, place};
    }
};

TEST(Skeleton, WeightsAreAPartitionOfOneThatFadesAcrossAJoint)
{
    const Limb limb;
    const SkinWeights w = skin_weights(limb.mesh, limb.bones, 0.15);
    for (Index v = 0; v < count(limb.mesh.vertices); ++v) {
        Real sum = 0, tip = 0;
        for (Index k = w.begin[v]; k < w.begin[v + 1]; ++k) {
            EXPECT_GT(w.parts[k].weight, 0);
            sum += w.parts[k].weight;
            if (w.parts[k].bone == 1) tip = w.parts[k].weight;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        const Real x = limb.mesh.vertices[v].x();
        if (std::abs(x) > 0.6) {
            EXPECT_EQ(tip, x > 0 ? 1 : 0);
        }
        if (std::abs(x) < 0.06) { // an edge from the joint at most: both have a part
            EXPECT_GT(tip, 0.05);
            EXPECT_LT(tip, 0.95);
        }
    }
}

TEST(Skeleton, ABoneThatIsNearestToNoVertexIsNamed)
{
    const Limb limb;
    std::vector<Bone> bones = limb.bones;
    bones.push_back({"tail", 0, {0, 5, 0}, {0, 6, 0}, 0});
    try {
        skin_weights(limb.mesh, bones, 0.1);
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("'tail'"), std::string::npos) << e.what();
    }
}

TEST(Skeleton, VerticesFarFromJointsMoveRigidlyWithTheirBone)
{
    const Limb limb;
    const Pose place{{1, 2, 3}, rotation_xyz({0.2, 0.4, 0.1})};
    const SkeletonMotion motion = limb.motion(place);
    for (const Real t : {0.0, 0.35, 0.7, 2.0}) {
        const Real u = std::min(t, 1.0), bend = std::clamp((t - 0.2) / 0.6, 0.0, 1.0);
        const Vec3s x = at(motion, t);
        for (Index v = 0; v < count(x); ++v) {
            const Vec3& X = limb.mesh.vertices[v];
            if (std::abs(X.x()) < 0.7) continue;
            // in the limb: bend about the origin, turn about the root, move
            Vec3 y = X.x() > 0 ? Vec3(rotation_xyz({0, 90 * degree * bend, 0}) * X) : X;
            y = rotation_xyz({0, 0, 60 * degree * u}) * (y - Vec3(-1, 0, 0)) + Vec3(-1, 0, 0) + u * Vec3(0.3, 0, 0.1);
            EXPECT_LT((x[v] - place(y)).norm(), 1e-9) << "time " << t;
        }
    }
}

TEST(Skeleton, TheChordErrorBoundsThePathOfEveryVertex)
{
    Limb limb;
    Random random(5);
    for (const bool smooth : {false, true}) {
        limb.script.smooth = smooth;
        const SkeletonMotion motion = limb.motion();
        for (int trial = 0; trial < 40; ++trial) {
            const Real t0 = random.uniform(-0.1, 1.1), t1 = t0 + random.uniform(0, 0.3);
            const Real sampled = sampled_chord_error(motion, t0, t1), bound = motion.chord_error(t0, t1);
            EXPECT_LE(sampled, bound + 1e-12) << t0 << " to " << t1 << (smooth ? ", smooth" : "");
            if (motion.next_keyframe(t0, t1) == t1 && !smooth) {
                EXPECT_LE(bound, 8 * sampled + 1e-3);
            }
        }
    }
    EXPECT_NEAR(limb.motion().next_keyframe(0.1, 0.9), 0.2, 1e-12);
}

TEST(Skeleton, ALoopGoesOnWhereItsLastPoseEnds)
{
    Limb limb;
    limb.script.turns[0].push_back({2, Quat::Identity(), Vec3::Zero()});
    limb.script.turns[1].push_back({2, Quat::Identity(), Vec3::Zero()});
    limb.script.moves.push_back({2, Quat::Identity(), Vec3::Zero()});
    limb.script.after = AfterLast::loop;
    const SkeletonMotion motion = limb.motion();
    for (const Real t : {0.1, 0.5, 1.9})
        for (std::size_t v = 0; v < limb.mesh.vertices.size(); ++v)
            EXPECT_LT((at(motion, t)[v] - at(motion, t + 4)[v]).norm(), 1e-9);
    EXPECT_NEAR(motion.next_keyframe(4.1, 5), 4.2, 1e-12);
    EXPECT_NEAR(motion.next_keyframe(3.9, 5), 4, 1e-12);
    Random random(6);
    for (int trial = 0; trial < 20; ++trial) {
        const Real t0 = random.uniform(3.5, 4.5), t1 = t0 + random.uniform(0, 0.2);
        EXPECT_LE(sampled_chord_error(motion, t0, t1), motion.chord_error(t0, t1) + 1e-12);
    }
}

TEST(Skeleton, APointThatFollowsStartsWhereItIsAndGoesAlong)
{
    Limb limb;
    limb.script.turns[0].front().turn = rotation_xyz({0, 0, 0.4}); // the start is not the pose of the mesh
    const SkeletonMotion motion = limb.motion();
    const Vec3 beyond = motion.bone_poses(0)[1](Vec3(0.9, 0.2, 0)),
               middle = motion.bone_poses(0)[1](Vec3(0.02, 0.15, 0));
    const auto followers = motion.follow(limb.mesh.triangles, {beyond, middle});
    EXPECT_LT((at(*followers, 0)[0] - beyond).norm(), 1e-12);
    EXPECT_LT((at(*followers, 0)[1] - middle).norm(), 1e-12);
    EXPECT_LT((at(*followers, 0.6)[0] - motion.bone_poses(0.6)[1](Vec3(0.9, 0.2, 0))).norm(), 1e-9);
}

} // namespace
} // namespace pliant
