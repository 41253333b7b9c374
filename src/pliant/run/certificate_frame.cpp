#include "pliant/run/certificate_frame.hpp"

#include "pliant/core/error.hpp"
#include "pliant/geometry/closest.hpp"
#include "pliant/geometry/plain_tree.hpp"
#include "pliant/run/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

TreeBox triangle_box(const Vec3s& x, const Triangle& t)
{
    TreeBox box;
    for (const Index v : t) box.add(x[v]);
    return box;
}

std::array<Vec3, 3> corners(const Vec3s& x, const Triangle& t)
{
    return {x[t[0]], x[t[1]], x[t[2]]};
}

/// Mean of the points where edges of one triangle meet the other.
Vec3 place_of(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b)
{
    Vec3 sum = Vec3::Zero();
    int points = 0;
    const auto add_edges = [&](const std::array<Vec3, 3>& s, const std::array<Vec3, 3>& t) {
        const Vec3 n = (t[1] - t[0]).cross(t[2] - t[0]);
        for (int k = 0; k < 3; ++k) {
            const Vec3 &p = s[k], &q = s[(k + 1) % 3];
            if (!exact::segment_meets_triangle(p, q, t[0], t[1], t[2])) continue;
            const Real hp = n.dot(p - t[0]), hq = n.dot(q - t[0]);
            const Real u = hp != hq ? std::clamp(hp / (hp - hq), 0.0, 1.0) : 0.5;
            sum += p + u * (q - p);
            ++points;
        }
    };
    add_edges(a, b);
    add_edges(b, a);
    return points > 0 ? Vec3(sum / points) : Vec3((a[0] + a[1] + a[2]) / 3);
}

} // namespace

Real separation_depth(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b)
{
    const auto normal = [](const std::array<Vec3, 3>& t) { return (t[1] - t[0]).cross(t[2] - t[0]); };
    Real depth = 1e300;
    const auto try_axis = [&](const Vec3& axis, Real scale) {
        const Real length = axis.norm();
        if (!(length > 1e-9 * scale)) return;
        Real low_a = 1e300, high_a = -1e300, low_b = 1e300, high_b = -1e300;
        for (int k = 0; k < 3; ++k) {
            const Real pa = axis.dot(a[k] - a[0]) / length, pb = axis.dot(b[k] - a[0]) / length;
            low_a = std::min(low_a, pa), high_a = std::max(high_a, pa);
            low_b = std::min(low_b, pb), high_b = std::max(high_b, pb);
        }
        depth = std::min(depth, std::min(high_a - low_b, high_b - low_a));
    };
    const auto size = [](const std::array<Vec3, 3>& t) { return (t[1] - t[0]).norm() + (t[2] - t[0]).norm(); };
    const Real size_a = size(a), size_b = size(b);
    try_axis(normal(a), size_a * size_a);
    try_axis(normal(b), size_b * size_b);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) try_axis((a[(i + 1) % 3] - a[i]).cross(b[(j + 1) % 3] - b[j]), size_a * size_b);
    return depth < 1e300 ? std::max(depth, 0.0) : 0;
}

FrameChecker::FrameChecker(const RunMesh& mesh)
    : mesh_(mesh), triangle_body_(mesh.triangles.size(), none), vertex_body_(mesh.rest.size(), none),
      triangle_prescribed_(mesh.triangles.size(), 0), no_contact_(mesh.no_contact)
{
    for (Index b = 0; b < count(mesh.bodies); ++b) {
        const RunBody& body = mesh.bodies[b];
        std::fill_n(triangle_body_.begin() + body.first_triangle, body.triangle_count, b);
        std::fill_n(vertex_body_.begin() + body.first_vertex, body.vertex_count, b);
    }
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        triangle_prescribed_[t] = std::all_of(mesh.triangles[t].begin(), mesh.triangles[t].end(),
                                              [&](Index v) { return mesh.prescribed[v] != 0; });
    for (auto& pair : no_contact_)
        if (pair[1] < pair[0]) std::swap(pair[0], pair[1]);
    std::sort(no_contact_.begin(), no_contact_.end());
}

bool FrameChecker::excluded(Index a, Index b) const
{
    const auto scripted = [&](Index i) { return is_scripted(mesh_.bodies[i].kind); };
    if (scripted(a) && scripted(b)) return true;
    if (no_contact_.empty()) return false;
    return std::binary_search(no_contact_.begin(), no_contact_.end(),
                              std::array<Index, 2>{std::min(a, b), std::max(a, b)});
}

bool FrameChecker::excluded_triangles(Index a, Index b) const
{
    const Index body_a = triangle_body_[a], body_b = triangle_body_[b];
    return (body_a == body_b && triangle_prescribed_[a] && triangle_prescribed_[b]) || excluded(body_a, body_b);
}

FrameCheck FrameChecker::check(const Frame& frame) const
{
    for (const Vec3& x : frame.positions)
        if (!x.allFinite())
            throw Error("frame " + std::to_string(frame.number) + ": a position is not a finite number");
    FrameCheck out;
    find_crossings(frame.positions, out);
    find_enclosed(frame, out);
    return out;
}

/// Triangles at a seam are neighbours: where it is still open they may pass each other on their way to become so, and
/// where it is sewn they have the partners in common.
bool FrameChecker::meet(const Vec3s& x, Index i, Index j) const
{
    Triangle a = mesh_.triangles[i], b = mesh_.triangles[j];
    if (!mesh_.weld.empty()) {
        for (const Index v : a)
            for (const Index w : b)
                if (v != w && same_vertex(v, w) && x[v] != x[w]) return false;
        for (Index& v : b)
            for (const Index w : a)
                if (same_vertex(v, w)) v = w;
    }
    return exact::triangles_meet(x, a, b);
}

void FrameChecker::find_crossings(const Vec3s& x, FrameCheck& out) const
{
    const std::vector<Triangle>& triangles = mesh_.triangles;
    std::vector<TreeBox> boxes;
    boxes.reserve(triangles.size());
    for (const Triangle& t : triangles) boxes.push_back(triangle_box(x, t));
    const PlainTree tree(std::move(boxes));
    std::vector<std::array<Index, 2>> found;
    tree.for_each_pair([&](Index i, Index j) {
        if (excluded_triangles(i, j)) return;
        ++out.pairs_tested;
        if (meet(x, i, j)) found.push_back({i, j});
    });
    std::sort(found.begin(), found.end());
    out.intersections = static_cast<std::int64_t>(found.size());
    for (const auto& [i, j] : found)
        out.deepest = std::max(out.deepest, separation_depth(corners(x, triangles[i]), corners(x, triangles[j])));
    found.resize(std::min(found.size(), max_listed));
    for (const auto& [i, j] : found) {
        const auto a = corners(x, triangles[i]), b = corners(x, triangles[j]);
        out.crossings.push_back({i, j, triangle_body_[i], triangle_body_[j], place_of(a, b), separation_depth(a, b)});
    }
}

void FrameChecker::find_enclosed(const Frame& frame, FrameCheck& out) const
{
    const Vec3s& x = frame.positions;
    std::vector<TreeBox> boxes(mesh_.bodies.size());
    std::vector<std::vector<Index>> others(mesh_.bodies.size()); // per closed body: bodies whose boxes meet its own
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        const RunBody& body = mesh_.bodies[b];
        for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) boxes[b].add(x[v]);
        if (body.vertex_count == 0) boxes[b] = {Vec3::Constant(1e308), Vec3::Constant(1e308)};
    }
    PlainTree(boxes).for_each_pair([&](Index i, Index j) {
        if (excluded(i, j)) return;
        if (mesh_.bodies[i].closed) others[i].push_back(j);
        if (mesh_.bodies[j].closed) others[j].push_back(i);
    });
    for (Index b = 0; b < count(mesh_.bodies); ++b) {
        if (!others[b].empty()) find_inside(x, b, others[b], out);
        const Index plane = mesh_.bodies[b].plane;
        if (plane == none) continue;
        if (plane < 0 || plane >= count(frame.planes))
            throw Error("frame " + std::to_string(frame.number) + ": lacks the plane '" + mesh_.bodies[b].name + "'");
        const Plane& p = frame.planes[plane];
        for (Index v = 0; v < count(x); ++v)
            if (!excluded(b, vertex_body_[v]) && exact::side_of_plane(p.normal, p.offset, x[v]) < 0)
                out.enclosed.push_back({b, v, (p.offset - p.normal.dot(x[v])) / p.normal.norm()});
    }
    std::sort(out.enclosed.begin(), out.enclosed.end());
}

void FrameChecker::find_inside(const Vec3s& x, Index container, const std::vector<Index>& others, FrameCheck& out) const
{
    const RunBody& body = mesh_.bodies[container];
    std::vector<TreeBox> boxes;
    for (Index t = 0; t < body.triangle_count; ++t)
        boxes.push_back(triangle_box(x, mesh_.triangles[body.first_triangle + t]));
    const PlainTree tree(std::move(boxes));
    if (tree.empty()) return;
    const auto distance_to = [&](const Vec3& p) {
        Real best = std::numeric_limits<Real>::infinity();
        tree.for_each([&](const TreeBox& box) { return (p - p.cwiseMax(box.low).cwiseMin(box.high)).norm() < best; },
                      [&](Index i) {
                          const Triangle& t = mesh_.triangles[body.first_triangle + i];
                          best = std::min(best, closest_point_triangle(p, x[t[0]], x[t[1]], x[t[2]]).distance);
                      });
        return best;
    };
    for (const Index other : others) {
        const RunBody& o = mesh_.bodies[other];
        for (Index v = o.first_vertex; v < o.first_vertex + o.vertex_count; ++v) {
            const Vec3& p = x[v];
            if (!tree.root().holds(p)) continue;
            int winding = 0;
            bool on = false;
            tree.for_each(
                [&](const TreeBox& box) {
                    return box.high.x() >= p.x() && box.low.y() <= p.y() && p.y() <= box.high.y() &&
                           box.low.z() <= p.z() && p.z() <= box.high.z();
                },
                [&](Index i) {
                    const Triangle& t = mesh_.triangles[body.first_triangle + i];
                    winding += exact::ray_crossing(p, x[t[0]], x[t[1]], x[t[2]], on);
                });
            if (winding == 0 || on) continue;
            // The ray was moved by an infinitesimal amount, which may have brought a point of the surface inside.
            tree.for_each([&](const TreeBox& box) { return !on && box.holds(p); },
                          [&](Index i) {
                              const Triangle& t = mesh_.triangles[body.first_triangle + i];
                              on = on || exact::segment_meets_triangle(p, p, x[t[0]], x[t[1]], x[t[2]]);
                          });
            if (!on) out.enclosed.push_back({container, v, distance_to(p)});
        }
    }
}

} // namespace pliant
