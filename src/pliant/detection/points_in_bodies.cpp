#include "pliant/detection/points_in_bodies.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

bool holds(const Box& box, const Vec3& p)
{
    for (int k = 0; k < 3; ++k)
        if (p[k] < box.lo(k) || p[k] > box.hi(k)) return false;
    return true;
}

} // namespace

PointsInBodies::PointsInBodies(const CollisionMesh& mesh, FaceTree& tree, const TetHashOptions& options)
    : mesh_(mesh), tree_(tree), hash_(mesh, options)
{
    for (Index b = 0; b < mesh.bodies; ++b)
        if (mesh.is_shell[b]) shells_.push_back(b);
}

const std::vector<PointInBody>& PointsInBodies::find(std::span<const Vec3> x, std::span<const HalfSpace> half_spaces)
{
    assert(std::ranges::all_of(half_spaces, [&](const HalfSpace& h) {
        return h.body >= 0 && h.body < mesh_.bodies && std::isfinite(h.offset) &&
               std::abs(h.normal.squaredNorm() - 1) < 1e-6;
    }));
    found_ = hash_.find(x);
    if (shells_.empty() && half_spaces.empty()) return found_;

    tree_.refit(x, shells_);
    const Index n = count(mesh_.points), chunks = (n + chunk_size - 1) / chunk_size;
    chunks_.resize(static_cast<std::size_t>(chunks));
    parallel_for(
        chunks,
        [&](Index c) {
            chunks_[c].clear();
            for (Index k = c * chunk_size; k < std::min(n, (c + 1) * chunk_size); ++k) {
                const Index i = mesh_.points[k], own = mesh_.node_body[i];
                const bool still = mesh_.is_still[own];
                for (const HalfSpace& h : half_spaces)
                    if (!(still && mesh_.is_still[h.body]) && h.normal.dot(x[i]) < h.offset)
                        chunks_[c].push_back({i, h.body, none, Vec4::Zero()});
                for (Index body : shells_)
                    if (body != own && !(still && mesh_.is_still[body]) && holds(tree_.body_box(body), x[i]) &&
                        tree_.winding(x, body, x[i]) != 0)
                        chunks_[c].push_back({i, body, none, Vec4::Zero()});
            }
        },
        1);
    for (const auto& chunk : chunks_) found_.insert(found_.end(), chunk.begin(), chunk.end());
    parallel_sort(found_.begin(), found_.end(), std::less<PointInBody>());
    assert(std::ranges::adjacent_find(found_, [](const auto& a, const auto& b) { return !(a < b); }) == found_.end());
    return found_;
}

} // namespace pliant
