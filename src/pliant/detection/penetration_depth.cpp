#include "pliant/detection/penetration_depth.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <tuple>

namespace pliant {
namespace {

PointDepth half_space_depth(const HalfSpace& h, const Vec3& p)
{
    return {h.normal, std::max(h.offset - h.normal.dot(p), 0.0), 0, DepthOrigin::surface};
}

} // namespace

PenetrationDepth::PenetrationDepth(const CollisionMesh& mesh, FaceTree& tree)
    : mesh_(mesh), tree_(tree), body_nodes_(static_cast<std::size_t>(mesh.bodies), 0), normals_(mesh.node_count())
{
    for (Index body : mesh.node_body) ++body_nodes_[body];
    groups_.head.assign(mesh.node_body.size(), none);
}

void PenetrationDepth::group(std::span<const HalfSpace> half_spaces, std::span<const PointInBody> points)
{
    assert(std::ranges::all_of(points, [&](const PointInBody& p) {
        return p.node >= 0 && p.node < mesh_.node_count() && p.body >= 0 && p.body < mesh_.bodies;
    }));
    auto& [entries, pairs, head, half_space, depth] = groups_;
    for (const PointGroups::Entry& e : entries) head[e.node] = none; // of the last call
    half_space.assign(static_cast<std::size_t>(mesh_.bodies), none);
    for (Index h = 0; h < count(half_spaces); ++h) half_space[half_spaces[h].body] = h;

    entries.resize(points.size());
    for (Index i = 0; i < count(points); ++i)
        entries[i] = {mesh_.node_body[points[i].node], points[i].body, points[i].node, i, none};
    parallel_sort(entries.begin(), entries.end(), [](const PointGroups::Entry& a, const PointGroups::Entry& b) {
        return std::tie(a.body, a.inside, a.node) < std::tie(b.body, b.inside, b.node);
    });
    depth.resize(points.size());
    pairs.clear();
    bodies_.clear();
    for (Index e = 0; e < count(entries); ++e) {
        entries[e].next = head[entries[e].node];
        head[entries[e].node] = e;
        if (pairs.empty() || pairs.back().body != entries[e].body || pairs.back().inside != entries[e].inside) {
            pairs.push_back({entries[e].body, entries[e].inside, e, e});
            if (half_space[entries[e].inside] == none) bodies_.push_back(entries[e].inside);
        }
        pairs.back().end = e + 1;
    }
    std::sort(bodies_.begin(), bodies_.end());
    bodies_.erase(std::unique(bodies_.begin(), bodies_.end()), bodies_.end());
    if (pairs_.size() < pairs.size()) pairs_.resize(pairs.size());
    result_.points.resize(points.size());
    result_.enclosed.clear();
    result_.samples = result_.face_tests = 0;
}

const PenetrationDepths& PenetrationDepth::consistent(std::span<const Vec3> x, std::span<const HalfSpace> half_spaces,
                                                      std::span<const PointInBody> points)
{
    group(half_spaces, points);
    tree_.refit(x, bodies_);
    normals_.forget();
    const auto for_pairs = [&](auto&& body) { parallel_for(count(groups_.pairs), body, 1); };
    for_pairs([&](Index p) { pairs_[p].find_samples(mesh_, tree_, x, groups_, groups_.pairs[p], normals_); });
    for_pairs([&](Index p) {
        const PointGroups::Pair& pair = groups_.pairs[p];
        if (const Index h = groups_.half_space[pair.inside]; h != none)
            for (Index e = pair.begin; e < pair.end; ++e)
                groups_.depth[e] = half_space_depth(half_spaces[h], x[groups_.entries[e].node]);
        else
            pairs_[p].compute(mesh_, tree_, x, normals_, groups_, pair);
    });
    for (Index p = 0; p < count(groups_.pairs); ++p) {
        const PointGroups::Pair& pair = groups_.pairs[p];
        result_.samples += count(pairs_[p].samples());
        result_.face_tests += pairs_[p].face_tests();
        if (const Index n = pairs_[p].enclosed(); n > 0)
            result_.enclosed.push_back({pair.body, pair.inside, n, n == body_nodes_[pair.body]});
    }
    for (Index e = 0; e < count(points); ++e) result_.points[groups_.entries[e].given] = groups_.depth[e];
    return result_;
}

const PenetrationDepths& PenetrationDepth::closest_feature(std::span<const Vec3> x,
                                                           std::span<const HalfSpace> half_spaces,
                                                           std::span<const PointInBody> points)
{
    group(half_spaces, points);
    tree_.refit(x, bodies_);
    parallel_for(
        count(points),
        [&](Index i) {
            const PointInBody& point = points[i];
            const Index h = groups_.half_space[point.body];
            result_.points[i] = h != none ? half_space_depth(half_spaces[h], x[point.node])
                                          : closest_feature_depth(mesh_, tree_, x, point.body, x[point.node]);
        },
        64);
    return result_;
}

} // namespace pliant
