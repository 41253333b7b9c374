#include "pliant/detection/face_tree.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/geometry/closest.hpp"
#include "pliant/geometry/predicates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

constexpr Index faces_a_leaf = 8;

/// Distance of a point from a box, rounded down: boxes are wider than what they hold.
Real distance_below(const Box& box, const Vec3& p)
{
    Real sq = 0;
    for (int k = 0; k < 3; ++k) {
        const Real d = std::max({Real(box.lo(k)) - p[k], p[k] - Real(box.hi(k)), 0.0});
        sq += d * d;
    }
    return std::sqrt(sq) * (1 - 1e-12);
}

} // namespace

FaceTree::FaceTree(const CollisionMesh& mesh) : mesh_(mesh), order_(mesh.faces.size())
{
    std::iota(order_.begin(), order_.end(), 0);
    Vec3s centre;
    for (const Triangle& f : mesh.faces) centre.push_back((mesh.rest[f[0]] + mesh.rest[f[1]] + mesh.rest[f[2]]) / 3);
    root_.push_back(0);
    for (Index b = 0; b < mesh.bodies; ++b) {
        if (mesh.face_begin[b] < mesh.face_begin[b + 1]) build(mesh.face_begin[b], mesh.face_begin[b + 1], centre);
        root_.push_back(count(nodes_));
    }
}

void FaceTree::build(Index begin, Index end, const Vec3s& centre)
{
    const Index self = count(nodes_);
    nodes_.push_back({Box(), none, begin, end, 0, 0, self + 1});
    if (end - begin <= faces_a_leaf) {
        std::sort(order_.begin() + begin, order_.begin() + end);
        nodes_[self].vertices_begin = count(vertices_);
        for (Index i = begin; i < end; ++i)
            for (const Index v : mesh_.faces[order_[i]])
                if (std::find(vertices_.begin() + nodes_[self].vertices_begin, vertices_.end(), v) == vertices_.end())
                    vertices_.push_back(v);
        nodes_[self].vertices_end = count(vertices_);
        return;
    }
    Vec3 lo = centre[order_[begin]], hi = lo;
    for (Index i = begin; i < end; ++i) {
        lo = lo.cwiseMin(centre[order_[i]]);
        hi = hi.cwiseMax(centre[order_[i]]);
    }
    int axis = 0;
    (hi - lo).maxCoeff(&axis);
    const Index middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](Index a, Index b) { return std::pair(centre[a][axis], a) < std::pair(centre[b][axis], b); });
    build(begin, middle, centre);
    nodes_[self].right = count(nodes_);
    build(middle, end, centre);
    nodes_[self].after = count(nodes_);
}

void FaceTree::refit(std::span<const Vec3> x, std::span<const Index> bodies)
{
    parallel_for(
        count(bodies),
        [&](Index i) {
            const Index body = bodies[i];
            for (Index n = root_[body + 1]; n-- > root_[body];) { // children come after their parents, leaves in order
                Node& node = nodes_[n];
                if (node.right != none) {
                    node.box = nodes_[n + 1].box;
                    node.box.add(nodes_[node.right].box);
                    continue;
                }
                Vec3 lo = x[vertices_[node.vertices_begin]], hi = lo;
                for (Index k = node.vertices_begin + 1; k < node.vertices_end; ++k) {
                    lo = lo.cwiseMin(x[vertices_[k]]);
                    hi = hi.cwiseMax(x[vertices_[k]]);
                }
                node.box = box_of(lo, hi);
            }
        },
        1);
}

int FaceTree::winding(std::span<const Vec3> x, Index body, const Vec3& p) const
{
    int sum = 0;
    const auto on_ray = [&](const Box& b) {
        return b.hi(0) >= p.x() && b.lo(1) <= p.y() && p.y() <= b.hi(1) && b.lo(2) <= p.z() && p.z() <= b.hi(2);
    };
    traverse(body, on_ray, [&](Index f) {
        const Triangle& t = mesh_.faces[f];
        sum += ray_crossing(p, x[t[0]], x[t[1]], x[t[2]]);
    });
    return sum;
}

FaceTree::Closest FaceTree::closest(std::span<const Vec3> x, Index body, const Vec3& p) const
{
    Closest best;
    best.distance = std::numeric_limits<Real>::infinity();
    const auto visit = [&](Index f) {
        const Triangle& t = mesh_.faces[f];
        const PointTriangle c = closest_point_triangle(p, x[t[0]], x[t[1]], x[t[2]]);
        if (c.distance < best.distance || (c.distance == best.distance && f < best.face))
            best = {f, c.weights, -c.difference, c.distance};
    };
    // The nearer child first: the first leaf is nearly always the right one.
    std::array<std::pair<Real, Index>, 64> stack;
    int size = 0;
    if (root_[body] < root_[body + 1]) stack[size++] = {0, root_[body]};
    while (size > 0) {
        const auto [distance, n] = stack[--size];
        if (distance > best.distance) continue;
        const Node& node = nodes_[n];
        if (node.right == none) {
            for (Index k = node.begin; k < node.end; ++k) visit(order_[k]);
            continue;
        }
        std::pair<Real, Index> near = {distance_below(nodes_[n + 1].box, p), n + 1};
        std::pair<Real, Index> far = {distance_below(nodes_[node.right].box, p), node.right};
        if (far.first < near.first) std::swap(near, far);
        stack[size++] = far;
        stack[size++] = near;
    }
    return best;
}

} // namespace pliant
