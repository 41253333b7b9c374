#include "pliant/world/skeleton.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/geometry/closest.hpp"
#include "pliant/mesh/topology.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace pliant {

void SkeletonMotion::for_chain(Index b, auto&& use) const
{
    Real arm = arm_[b];
    for (Index i = b; i != none; i = bones_[i].parent) {
        use(i, arm);
        if (bones_[i].parent != none) arm += (bones_[i].from - bones_[bones_[i].parent].from).norm();
    }
}

SkeletonMotion::SkeletonMotion(Vec3s vertices, std::vector<Bone> bones, SkinWeights weights, SkeletonScript script,
                               const Pose& place)
    : vertices_(std::move(vertices)), bones_(std::move(bones)), weights_(std::move(weights)),
      script_(std::move(script)), place_(place), arm_(bones_.size(), -1)
{
    assert(script_.turns.size() == bones_.size() && weights_.begin.size() == vertices_.size() + 1);
    const auto note = [&](const std::vector<BoneKey>& track) {
        for (const BoneKey& key : track) times_.push_back(key.time);
    };
    note(script_.moves);
    for (const auto& track : script_.turns) note(track);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    for (Index v = 0; v < count(vertices_); ++v)
        for (Index k = weights_.begin[v]; k < weights_.begin[v + 1]; ++k) {
            const Index b = weights_.parts[k].bone;
            arm_[b] = std::max(arm_[b], (vertices_[v] - bones_[b].from).norm());
        }
}

/// Within the first run through the script.
Real SkeletonMotion::local_time(Real t) const
{
    if (script_.after == AfterLast::hold || times_.empty() || !(times_.back() > 0)) return t;
    return t - times_.back() * std::floor(t / times_.back());
}

BoneKey SkeletonMotion::at(const std::vector<BoneKey>& track, Real t) const
{
    if (track.empty()) return {};
    const auto after =
        std::upper_bound(track.begin(), track.end(), t, [](Real time, const BoneKey& k) { return time < k.time; });
    if (after == track.begin()) return track.front();
    if (after == track.end()) return track.back();
    const BoneKey &a = *(after - 1), &b = *after;
    Real u = (t - a.time) / (b.time - a.time);
    if (script_.smooth) u = u * u * (3 - 2 * u);
    return {t, a.turn.slerp(u, b.turn), a.move + u * (b.move - a.move)};
}

std::vector<Pose> SkeletonMotion::bone_poses(Real t) const
{
    t = local_time(t);
    const Vec3 move = at(script_.moves, t).move;
    const Pose root{place_(move), place_.rotation};
    std::vector<Pose> poses(bones_.size());
    for (std::size_t b = 0; b < bones_.size(); ++b) {
        const Bone& bone = bones_[b];
        const Pose& parent = bone.parent == none ? root : poses[bone.parent];
        const Quat turn = at(script_.turns[b], t).turn;
        poses[b].rotation = (parent.rotation * turn).normalized();
        poses[b].translation = parent(bone.from) - poses[b].rotation * bone.from;
    }
    return poses;
}

void SkeletonMotion::positions(Real t, std::span<Vec3> out) const
{
    assert(count(out) == vertex_count());
    const std::vector<Pose> poses = bone_poses(t);
    parallel_for(count(out), [&](Index v) {
        Vec3 x = Vec3::Zero();
        for (Index k = weights_.begin[v]; k < weights_.begin[v + 1]; ++k)
            x += weights_.parts[k].weight * poses[weights_.parts[k].bone](vertices_[v]);
        out[v] = x;
    });
}

Real SkeletonMotion::next_keyframe(Real t0, Real t1) const
{
    const Real rounding = 1e-9 * (t1 - t0);
    const bool loops = script_.after == AfterLast::loop && !times_.empty() && times_.back() > 0;
    const Real period = loops ? times_.back() : 0;
    Real round = loops ? std::floor(t0 / period) : 0;
    for (int rounds = 0; rounds < 3; ++rounds, ++round)
        for (const Real time : times_) {
            const Real t = round * period + time;
            if (t > t0 + rounding) return t < t1 - rounding ? t : t1;
        }
    return t1;
}

SkeletonMotion::Rates SkeletonMotion::rates(const std::vector<BoneKey>& track, Real t0, Real t1) const
{
    const Real middle = (t0 + t1) / 2; // no key is between the two, up to rounding
    const auto after =
        std::upper_bound(track.begin(), track.end(), middle, [](Real time, const BoneKey& k) { return time < k.time; });
    if (after == track.begin() || after == track.end()) return {};
    const BoneKey &a = *(after - 1), &b = *after;
    const Real length = b.time - a.time, amount = a.turn.angularDistance(b.turn) + (b.move - a.move).norm();
    if (!script_.smooth) return {amount / length, 0};
    // u^2 (3 - 2 u) has the rate 6 u (1 - u), largest in the middle, and that changes by at most 6 |1 - 2 u|.
    const auto part = [&](Real t) { return std::clamp((t - a.time) / length, 0.0, 1.0); };
    const Real u0 = part(t0), u1 = part(t1), u = std::clamp(0.5, u0, u1);
    return {amount / length * 6 * u * (1 - u),
            amount / (length * length) * 6 * std::max(std::abs(1 - 2 * u0), std::abs(1 - 2 * u1))};
}

SkeletonMotion::ScriptRates SkeletonMotion::script_rates(Real t0, Real t1) const
{
    const Real h = t1 - t0;
    t0 = local_time(t0 + h / 2) - h / 2; // so that the end of a round is not the start of the next
    ScriptRates all;
    for (const auto& track : script_.turns) all.turn.push_back(rates(track, t0, t0 + h));
    all.move = rates(script_.moves, t0, t0 + h);
    return all;
}

// What bone b carries is turned by the joints i of its chain, one inside the other, at rates w_i and with arms r_i that
// shrink from the root outwards. So |x''| <= sum_ij w_i w_j min(r_i, r_j) + sum_i |w_i'| r_i + |move''|, a path leaves
// its chord by at most an eighth of that times the square of the time, and a blend of bones by no more than the worst.
Real SkeletonMotion::smooth_chord_error(Real t0, Real t1) const
{
    const Real h = t1 - t0;
    const ScriptRates script = script_rates(t0, t1);
    Real worst = 0;
    for (Index b = 0; b < count(bones_); ++b) {
        if (arm_[b] < 0) continue;
        Real bend = script.move.acceleration;
        for_chain(b, [&](Index i, Real r_i) {
            bend += script.turn[i].acceleration * r_i;
            for_chain(b, [&](Index j, Real r_j) {
                bend += script.turn[i].speed * script.turn[j].speed * std::min(r_i, r_j);
            });
        });
        worst = std::max(worst, bend);
    }
    return worst * h * h / 8;
}

/// Of any vertex, between two times that no key separates.
Real SkeletonMotion::longest_path(Real t0, Real t1) const
{
    const ScriptRates script = script_rates(t0, t1);
    Real worst = 0;
    for (Index b = 0; b < count(bones_); ++b) {
        if (arm_[b] < 0) continue;
        Real speed = script.move.speed;
        for_chain(b, [&](Index i, Real r_i) { speed += script.turn[i].speed * r_i; });
        worst = std::max(worst, speed);
    }
    return worst * (t1 - t0);
}

Real SkeletonMotion::chord_error(Real t0, Real t1) const
{
    if (next_keyframe(t0, t1) == t1) return std::min(smooth_chord_error(t0, t1), longest_path(t0, t1) / 2);
    // A path is nowhere farther from its chord than half of its length.
    Real length = 0;
    for (Real t = t0; t < t1;) {
        const Real next = next_keyframe(t, t1);
        length += longest_path(t, next);
        t = next;
    }
    return length / 2;
}

std::shared_ptr<const VertexMotion> SkeletonMotion::follow(const std::vector<Triangle>& triangles,
                                                           const Vec3s& points) const
{
    Vec3s start(vertices_.size());
    positions(0, start);
    const std::vector<TrianglePoint> attached = attach_points(triangles, start, points);
    const std::vector<Pose> poses = bone_poses(0);
    Vec3s vertices;
    SkinWeights weights;
    for (std::size_t i = 0; i < points.size(); ++i) {
        // The weights of the nearest triangle's corners, in equal parts, and what they make of the point at the start
        // undone.
        std::vector<Real> of_bone(bones_.size(), 0);
        for (const Index v : triangles[attached[i].triangle])
            for (Index k = weights_.begin[v]; k < weights_.begin[v + 1]; ++k)
                of_bone[weights_.parts[k].bone] += weights_.parts[k].weight / 3;
        Mat3 linear = Mat3::Zero();
        Vec3 moved = Vec3::Zero();
        for (Index b = 0; b < count(bones_); ++b) {
            if (of_bone[b] == 0) continue;
            weights.parts.push_back({b, of_bone[b]});
            linear += of_bone[b] * poses[b].rotation.toRotationMatrix();
            moved += of_bone[b] * poses[b].translation;
        }
        weights.begin.push_back(count(weights.parts));
        vertices.push_back(linear.inverse() * (points[i] - moved));
    }
    return std::make_shared<SkeletonMotion>(std::move(vertices), bones_, std::move(weights), script_, place_);
}

SkinWeights skin_weights(const TriangleMesh& mesh, const std::vector<Bone>& bones, Real smooth)
{
    const Index n = count(mesh.vertices), bone_count = count(bones);
    std::vector<Index> nearest(static_cast<std::size_t>(n), none);
    parallel_for(n, [&](Index v) {
        Real best = std::numeric_limits<Real>::infinity();
        for (Index b = 0; b < bone_count; ++b) {
            const Bone& bone = bones[b];
            const Real u = closest_on_segment(mesh.vertices[v], bone.from, bone.to);
            const Real d = (mesh.vertices[v] - (1 - u) * bone.from - u * bone.to).norm() - bone.radius;
            if (d < best) best = d, nearest[v] = b;
        }
    });
    for (Index b = 0; b < bone_count; ++b)
        if (std::ranges::find(nearest, b) == nearest.end())
            throw Error("bone '" + bones[b].name +
                        "' is nearest to no vertex of the mesh; move it inside, or give it a larger radius");
    // Each round spreads weights by about an edge; after k of them they have come sqrt(k) edges far.
    const std::vector<Edge> edges = edges_of(mesh.triangles);
    const Real edge = median_edge_length(mesh.vertices, edges), rounds = std::pow(smooth / edge, 2);
    std::vector<std::vector<Index>> around(static_cast<std::size_t>(n));
    for (const auto& [v, w] : edges) around[v].push_back(w), around[w].push_back(v);
    std::vector<Real> weight(static_cast<std::size_t>(n) * bones.size(), 0), next(weight);
    for (Index v = 0; v < n; ++v) weight[v * bone_count + nearest[v]] = 1;
    for (Real round = 0; round < std::min(rounds, 1000.0); ++round) {
        parallel_for(n, [&](Index v) {
            const Real share = 0.5 / static_cast<Real>(std::max<std::size_t>(1, around[v].size()));
            for (Index b = 0; b < bone_count; ++b) {
                Real sum = 0;
                for (const Index w : around[v]) sum += weight[w * bone_count + b];
                next[v * bone_count + b] = weight[v * bone_count + b] / 2 + share * sum;
            }
        });
        std::swap(weight, next);
    }
    constexpr Real least = 1e-3; // smaller weights are left out
    SkinWeights skin;
    for (Index v = 0; v < n; ++v) {
        Real sum = 0;
        for (Index b = 0; b < bone_count; ++b)
            if (weight[v * bone_count + b] > least) sum += weight[v * bone_count + b];
        for (Index b = 0; b < bone_count; ++b)
            if (weight[v * bone_count + b] > least) skin.parts.push_back({b, weight[v * bone_count + b] / sum});
        skin.begin.push_back(count(skin.parts));
    }
    return skin;
}

} // namespace pliant
