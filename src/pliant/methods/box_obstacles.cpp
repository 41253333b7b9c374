#include "pliant/methods/box_obstacles.hpp"

#include "pliant/core/parallel.hpp"

namespace pliant {
namespace {

CollisionMesh shells_of(const Model& model)
{
    CollisionInput input;
    input.bodies = count(model.bodies);
    for (Index b = 0; b < input.bodies; ++b) {
        const Body& body = model.bodies[b];
        if (body.obstacle == none) continue;
        const Index first = count(input.rest) - body.first_vertex;
        for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) {
            input.rest.push_back(model.surface.local[v]);
            input.node_body.push_back(b);
        }
        for (Index t = body.first_triangle; t < body.first_triangle + body.triangle_count; ++t) {
            Triangle triangle = model.surface.triangles[t];
            for (Index& v : triangle) v += first;
            input.shells.push_back(triangle);
            input.shell_body.push_back(b);
        }
    }
    return make_collision_mesh(std::move(input));
}

} // namespace

BoxObstacles::BoxObstacles(const Model& model) : shells_(shells_of(model)), tree_(shells_)
{
    std::vector<Index> bodies;
    for (Index b = 0; b < count(model.bodies); ++b) {
        const Body& body = model.bodies[b];
        if (body.plane)
            planes_.push_back({b, {}});
        else if (body.obstacle != none)
            meshes_.push_back({b, {}, Vec3::Zero(), Vec3::Zero()});
    }
    for (const MeshNow& m : meshes_) bodies.push_back(m.body);
    tree_.refit(shells_.rest, bodies);
    moving_ = std::ranges::any_of(model.obstacles, [](const Obstacle& o) { return !o.motion.empty(); });
    place(model, 0);
}

ObstacleOverlap BoxObstacles::in_plane(const CellBox& box, const HalfSpaceNow& p, Real reach) const
{
    const Vec3& n = p.plane.normal;
    ObstacleOverlap out;
    const Vec3 low = (n.array() > 0).select(box.low, box.high); // no node is lower
    if (n.dot(low) >= p.plane.offset + std::max(reach, 0.0)) return out;
    int lowest = 0;
    const Real height = along(box.nodes, n).minCoeff(&lowest);
    if (height >= p.plane.offset + reach) return out;
    out.body = p.body;
    out.overlap = {p.plane.offset - height, n};
    out.offset = p.plane.offset;
    out.position = box.nodes.row(lowest).transpose();
    return out;
}

ObstacleOverlap BoxObstacles::in_mesh(const CellBox& box, const MeshNow& m, BoxPlanes planes) const
{
    // In the obstacle's frame, where its tree is.
    const Quat back = m.pose.rotation.conjugate();
    CellBox local = box;
    for (int k = 0; k < 8; ++k) {
        const Vec3 x = back * (Vec3(box.nodes.row(k).transpose()) - m.pose.translation);
        local.nodes.row(k) = x.transpose();
    }
    set_nodes(local, local.nodes);
    Box bounds;
    bounds.add(local.low);
    bounds.add(local.high);
    ObstacleOverlap out;
    if (!overlap(bounds, tree_.body_box(m.body))) return out;
    const auto take = [&](Real depth, const Vec3& normal, const Vec3& at) { // at: on the obstacle's surface
        if (!(depth > out.overlap.depth)) return;
        out.body = m.body;
        out.overlap = {depth, m.pose.rotation * normal};
        out.position = m.pose(at);
        out.offset = out.overlap.normal.dot(out.position);
    };
    // Nodes of the box, and its centre, inside the mesh.
    for (int k = 0; k < 9; ++k) {
        const Vec3 x = k < 8 ? Vec3(local.nodes.row(k).transpose()) : Vec3(local.nodes.colwise().mean().transpose());
        if (tree_.winding(shells_.rest, m.body, x) == 0) continue;
        const FaceTree::Closest closest = tree_.closest(shells_.rest, m.body, x);
        if (closest.distance > 0) take(closest.distance, closest.to_surface / closest.distance, x + closest.to_surface);
    }
    // Vertices of the mesh inside the box.
    set_planes(local, planes);
    tree_.for_overlapping(m.body, bounds, [&](Index face) {
        for (const Index v : shells_.faces[face]) {
            int plane = 0;
            const Real depth = depth_in(local, shells_.rest[v], plane);
            if (depth > 0) take(depth, -local.normal(plane), shells_.rest[v]);
        }
    });
    return out;
}

ObstacleOverlap BoxObstacles::look(const LatticeBoxes& boxes, Index cell, Index obstacle) const
{
    ObstacleOverlap out;
    for (const HalfSpaceNow& p : planes_)
        if (p.body == obstacle) out = in_plane(boxes.box(cell), p, 0);
    for (const MeshNow& m : meshes_)
        if (m.body == obstacle) out = in_mesh(boxes.box(cell), m, boxes.options().planes);
    out.cell = cell;
    return out;
}

bool BoxObstacles::is_near(const Box& box, Real distance) const
{
    // The lowest corner of the axis-aligned bounds is below the lowest node.
    const Real4x3 low = {box.lo(0), box.lo(1), box.lo(2)}, high = {box.hi(0), box.hi(1), box.hi(2)};
    for (const FourPlanes& p : fours_)
        if (greater(p.offset + Real4(distance), dot(p.up, low) + dot(p.down, high)) != 0) return true;
    for (const MeshNow& m : meshes_) {
        const Vec3 around = Vec3::Constant(distance);
        if (overlap(Box::between(m.low - around, m.high + around), box)) return true;
    }
    return false;
}

void BoxObstacles::place(const Model& model, Real time)
{
    time_ = time;
    for (HalfSpaceNow& p : planes_) p.plane = plane_at(model, model.bodies[p.body].obstacle, time);
    fours_.clear();
    for (std::size_t first = 0; first < planes_.size(); first += 4) {
        std::array<Vec3, 4> up, down;
        std::array<Real, 4> offset;
        for (std::size_t k = 0; k < 4; ++k) { // the last one fills up
            const Plane& plane = planes_[std::min(first + k, planes_.size() - 1)].plane;
            up[k] = plane.normal.cwiseMax(0);
            down[k] = plane.normal.cwiseMin(0);
            offset[k] = plane.offset;
        }
        const auto four = [](const std::array<Vec3, 4>& n) -> Real4x3 {
            const auto along = [&](int axis) { return Real4(n[0][axis], n[1][axis], n[2][axis], n[3][axis]); };
            return {along(0), along(1), along(2)};
        };
        fours_.push_back({four(up), four(down), Real4::load(offset.data())});
    }
    for (MeshNow& m : meshes_) {
        m.pose = obstacle_pose(model, model.bodies[m.body].obstacle, time);
        const Box local = tree_.body_box(m.body);
        Eigen::AlignedBox<Real, 3> world;
        for (int k = 0; k < 8; ++k)
            world.extend(m.pose(Vec3(k & 1 ? local.hi(0) : local.lo(0), k & 2 ? local.hi(1) : local.lo(1),
                                     k & 4 ? local.hi(2) : local.lo(2))));
        m.low = world.min();
        m.high = world.max();
    }
}

bool BoxObstacles::may_come_near(const Box& box, Real distance) const
{
    return moving_ || is_near(box, distance);
}

const std::vector<ObstacleOverlap>& BoxObstacles::find(const Model& model, const LatticeBoxes& boxes, Real time,
                                                       bool near)
{
    place(model, time);
    const std::vector<Index>& awake = boxes.awake();
    flags_.resize(awake.size());
    parallel_for(
        count(awake), [&](Index k) { flags_[k] = is_near(boxes.bounds(awake[k]), boxes.cell(awake[k]).side / 2); },
        4096);
    near_.clear();
    for (Index k = 0; k < count(awake); ++k)
        if (flags_[k]) near_.push_back(awake[k]);
    find_among(model, boxes, near_, near);
    return found_;
}

const std::vector<ObstacleOverlap>& BoxObstacles::find_again(const Model& model, LatticeBoxes& boxes, const Vec3s& x,
                                                             const std::vector<std::uint8_t>& moved)
{
    flags_.resize(near_.size());
    parallel_for(
        count(near_), [&](Index i) { flags_[i] = boxes.update_moved(near_[i], x, moved); }, 2048);
    moved_.clear();
    for (std::size_t i = 0; i < near_.size(); ++i)
        if (flags_[i]) moved_.push_back(near_[i]);
    kept_.clear();
    auto next = moved_.begin();
    for (const ObstacleOverlap& o : found_) { // both are in the order of the boxes
        while (next != moved_.end() && *next < o.cell) ++next;
        if (next == moved_.end() || *next != o.cell) kept_.push_back(o);
    }
    find_among(model, boxes, moved_, false);
    const std::vector<ObstacleOverlap> fresh = found_;
    found_.resize(kept_.size() + fresh.size());
    std::merge(kept_.begin(), kept_.end(), fresh.begin(), fresh.end(), found_.begin(),
               [](const ObstacleOverlap& a, const ObstacleOverlap& b) { return a.cell < b.cell; });
    return found_;
}

void BoxObstacles::find_among(const Model& model, const LatticeBoxes& boxes, std::span<const Index> among, bool near)
{
    const auto excluded = [&](Index a, Index b) {
        return !model.no_contact.empty() && std::binary_search(model.no_contact.begin(), model.no_contact.end(),
                                                               std::array<Index, 2>{std::min(a, b), std::max(a, b)});
    };
    constexpr Index chunk = 256;
    const Index n = static_cast<Index>(among.size()), chunks = (n + chunk - 1) / chunk;
    chunks_.resize(static_cast<std::size_t>(chunks));
    parallel_for(
        chunks,
        [&](Index c) {
            chunks_[c].clear();
            const auto add = [&](Index cell, ObstacleOverlap&& o) {
                if (o.body == none || excluded(boxes.cell(cell).body, o.body)) return;
                o.cell = cell;
                chunks_[c].push_back(std::move(o));
            };
            for (Index k = c * chunk; k < std::min(n, (c + 1) * chunk); ++k) {
                const Index i = among[k];
                for (const HalfSpaceNow& p : planes_)
                    add(i, in_plane(boxes.box(i), p, near ? boxes.way_along(i, -p.plane.normal) : 0));
                for (const MeshNow& m : meshes_) add(i, in_mesh(boxes.box(i), m, boxes.options().planes));
            }
        },
        1);
    found_.clear();
    for (const auto& part : chunks_) found_.insert(found_.end(), part.begin(), part.end());
}

Vec3 BoxObstacles::velocity(const Model& model, Index body, const Vec3& at, Real dt) const
{
    const Obstacle& o = model.obstacles[model.bodies[body].obstacle];
    if (o.motion.empty()) return Vec3::Zero();
    const Pose now = o.motion.pose(time_);
    const Vec3 local = now.rotation.conjugate() * (at - now.translation);
    return (at - o.motion.pose(time_ - dt)(local)) / dt;
}

} // namespace pliant
