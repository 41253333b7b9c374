#include "pliant/dynamics/shape_matching.hpp"

#include "pliant/bodies/solid.hpp"
#include "pliant/core/parallel.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

namespace pliant {
namespace {

Vec3 lane(const Real4x3& a, int k)
{
    alignas(32) Real x[4], y[4], z[4];
    a.x.store(x);
    a.y.store(y);
    a.z.store(z);
    return {x[k], y[k], z[k]};
}

/// Its coordinates are twelve numbers in a row.
void set_lane(Real4x3& a, int k, const Vec3& x)
{
    Real* numbers = reinterpret_cast<Real*>(&a);
    for (int c = 0; c < 3; ++c) numbers[4 * c + k] = x[c];
}

std::vector<Real4x3> repeated(std::span<const Vec3> x)
{
    std::vector<Real4x3> lanes;
    for (const Vec3& v : x) lanes.push_back({v.x(), v.y(), v.z()});
    return lanes;
}

/// Four matrices, column by column.
struct Matrices {
    std::array<Real4x3, 3> column;

    Real4x3 operator*(const Vec3& a) const
    {
        return Real4(a.x()) * column[0] + Real4(a.y()) * column[1] + Real4(a.z()) * column[2];
    }
};

Real4 squared_norm(const Matrices& a)
{
    return dot(a.column[0], a.column[0]) + dot(a.column[1], a.column[1]) + dot(a.column[2], a.column[2]);
}

/// The rotations R with A = R S, S symmetric. Newton's iteration with Higham's scaling; flat and inverted ones go the
/// long way. Each of the four goes its own way, whatever the others are.
Matrices rotations_of(const Matrices& A)
{
    constexpr Real close = 1e-20; ///< the next change would be its square
    const Real4 size_sq = squared_norm(A);
    Matrices R = A;
    Real4 change_sq = 1; // in the last iteration
    unsigned flat = 0;
    for (int i = 0; i < 20; ++i) {
        const auto& r = R.column;
        const Matrices C = {cross(r[1], r[2]), cross(r[2], r[0]), cross(r[0], r[1])}; // det(R) R^-T
        const Real4 det = dot(r[0], C.column[0]);
        if (i == 0) {
            const Real4 least = Real4(1e-5) * size_sq * sqrt(size_sq);
            flat = ~greater(det, least) & 15u;
            change_sq = choose_greater(det, least, change_sq, 0);
        }
        const Real4 scale = i < 2 ? sqrt(sqrt(squared_norm(C) / squared_norm(R)) / det) : 1;
        const Real4 p = Real4(0.5) * scale, q = Real4(0.5) / (scale * det);
        Matrices next;
        for (int k = 0; k < 3; ++k) next.column[k] = p * r[k] + q * C.column[k];
        const Real4 now_sq = squared_norm({next.column[0] - r[0], next.column[1] - r[1], next.column[2] - r[2]});
        for (int k = 0; k < 3; ++k) {
            Real4x3& to = R.column[k];
            to.x = choose_greater(change_sq, close, next.column[k].x, to.x);
            to.y = choose_greater(change_sq, close, next.column[k].y, to.y);
            to.z = choose_greater(change_sq, close, next.column[k].z, to.z);
        }
        change_sq = choose_greater(change_sq, close, now_sq, change_sq);
        if (greater(change_sq, close) == 0) break;
    }
    // What has not converged, or is not a number, goes the long way too.
    flat |= ~greater(Real4(2 * close), change_sq) & 15u;
    for (int k = 0; flat != 0 && k < 4; ++k) {
        if (!(flat & 1u << k)) continue;
        Mat3 single;
        for (int c = 0; c < 3; ++c) single.col(c) = lane(A.column[c], k);
        single = element_rotation(single);
        for (int c = 0; c < 3; ++c) set_lane(R.column[c], k, single.col(c));
    }
    return R;
}

/// Running sums along one axis: `length` items, `step` numbers apart. `line` has room for the items and one more.
template <int size>
void sum_line(Real* values, Index length, std::ptrdiff_t step, Index width, std::vector<Real>& line)
{
    using Item = Eigen::Map<Eigen::Array<Real, size, 1>>;
    // The line is copied out, so that each window is its items' sum and no earlier rounding.
    const auto copy = [&](Index i) { return Item(line.data() + size * static_cast<std::ptrdiff_t>(i)); };
    for (Index i = 0; i < length; ++i) copy(i) = Item(values + i * step);
    Eigen::Array<Real, size, 1> running = Eigen::Array<Real, size, 1>::Zero();
    for (Index i = 0; i < std::min(width, length); ++i) running += copy(i);
    for (Index i = 0; i < length; ++i) {
        if (i + width < length) running += copy(i + width);
        if (i - width - 1 >= 0) running -= copy(i - width - 1);
        Item(values + i * step) = running;
    }
}

template <int size>
void sum_windows(const std::array<Index, 3>& places, Index width, std::span<Real> values)
{
    const std::array<std::ptrdiff_t, 3> step = {size, std::ptrdiff_t(size) * places[0],
                                                std::ptrdiff_t(size) * places[0] * places[1]};
    thread_local std::vector<Real> line;
    line.resize(static_cast<std::size_t>(size) * *std::max_element(places.begin(), places.end()));
    for (int axis = 0; axis < 3; ++axis) {
        if (places[axis] == 1) continue;
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (Index j = 0; j < places[v]; ++j)
            for (Index i = 0; i < places[u]; ++i)
                sum_line<size>(values.data() + i * step[u] + j * step[v], places[axis], step[axis], width, line);
    }
}

} // namespace

void window_sums(const std::array<Index, 3>& places, Index width, Index size, std::span<Real> values)
{
    // Few sizes are needed, and a loop of known length is several times as fast.
    switch (size) {
    case 1:
        return sum_windows<1>(places, width, values);
    case 4:
        return sum_windows<4>(places, width, values);
    case 24:
        return sum_windows<24>(places, width, values);
    case 48:
        return sum_windows<48>(places, width, values);
    case 60:
        return sum_windows<60>(places, width, values);
    }
    assert(!"a size without its own sums");
}

RegionPlan::RegionPlan(const LatticeMesh& mesh, const std::vector<Real>& mass, Index width)
    : places_{1, 1, 1}, width_(width)
{
    LatticeMesh::Place low = mesh.node_place.front(), high = low;
    for (const auto& p : mesh.node_place)
        for (int k = 0; k < 3; ++k) {
            low[k] = std::min(low[k], p[k]);
            high[k] = std::max(high[k], p[k]);
        }
    Vec3 middle = Vec3::Zero();
    for (int k = 0; k < 3; ++k) places_[k] = high[k] - low[k] + 1;
    for (const Vec3& x : mesh.nodes) middle += x / static_cast<Real>(mesh.nodes.size());
    for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
        const auto& p = mesh.node_place[i];
        slot_.push_back(((p[2] - low[2]) * places_[1] + p[1] - low[1]) * places_[0] + p[0] - low[0]);
        rest_.push_back(mesh.nodes[i] - middle);
    }
    std::vector<Real> sums(static_cast<std::size_t>(places_[0]) * places_[1] * places_[2], 0);
    for (const Index s : slot_) sums[s] = 1;
    window_sums(places_, width_, 1, sums);
    for (Index i = 0; i < node_count(); ++i) {
        members_.push_back(std::round(sums[slot_[i]]));
        part_.push_back(mass[i] / members_[i]);
    }
    std::vector<Real> moments(4 * sums.size(), 0);
    for (Index i = 0; i < node_count(); ++i) {
        Real* m = moments.data() + 4 * static_cast<std::size_t>(slot_[i]);
        for (int k = 0; k < 3; ++k) m[k] = part_[i] * rest_[i][k];
        m[3] = part_[i];
    }
    window_sums(places_, width_, 4, moments);
    for (const Index s : slot_) {
        const Real* m = moments.data() + 4 * static_cast<std::size_t>(s);
        mass_.push_back(m[3]);
        rest_centre_.emplace_back(m[0] / m[3], m[1] / m[3], m[2] / m[3]);
    }
}

namespace {

template <class Item>
void sum_items(const std::array<Index, 3>& places, Index width, std::vector<Item>& items)
{
    constexpr std::size_t size = sizeof(Item) / sizeof(Real);
    window_sums(places, width, Index(size), {reinterpret_cast<Real*>(items.data()), size * items.size()});
}

} // namespace

void RegionPlan::goals(std::span<const Real4x3> x, std::span<Real4x3> goal) const
{
    const Real4x3 origin = x[0]; // sums keep their digits far from the world's origin
    const std::size_t grid = static_cast<std::size_t>(places_[0]) * places_[1] * places_[2];
    using Item = std::array<Real4x3, 4>; // A and the centre, column by column
    thread_local std::vector<Item> sums, transforms;
    sums.assign(grid, {});
    for (Index i = 0; i < node_count(); ++i) {
        Item& s = sums[slot_[i]];
        s[3] = Real4(part_[i]) * (x[i] - origin);
        for (int k = 0; k < 3; ++k) s[k] = Real4(rest_[i][k]) * s[3];
    }
    sum_items(places_, width_, sums);
    // Each region's transform. Places of the grid without a node have none.
    transforms.assign(grid, {});
    for (Index i = 0; i < node_count(); ++i) {
        const Item& s = sums[slot_[i]];
        Matrices A;
        for (int k = 0; k < 3; ++k) A.column[k] = s[k] - Real4(rest_centre_[i][k]) * s[3];
        const Matrices R = rotations_of(A);
        Item& T = transforms[slot_[i]];
        for (int k = 0; k < 3; ++k) T[k] = R.column[k];
        T[3] = Real4(1 / mass_[i]) * s[3] - R * rest_centre_[i];
    }
    sum_items(places_, width_, transforms);
    for (Index i = 0; i < node_count(); ++i) {
        const Item& T = transforms[slot_[i]];
        goal[i] = origin + Real4(1 / members_[i]) * (Matrices{T[0], T[1], T[2]} * rest_[i] + T[3]);
    }
}

void RegionPlan::rigid_velocities(std::span<const Real4x3> x, std::span<const Real4x3> v, std::span<Real4x3> out) const
{
    const Real4x3 origin = x[0];
    const std::size_t grid = static_cast<std::size_t>(places_[0]) * places_[1] * places_[2];
    struct Item {
        Real4x3 mr, mv, spin, squares, products; // m r, m v, m r cross v, m r r^T
    };
    thread_local std::vector<Item> sums;
    sums.assign(grid, {});
    for (Index i = 0; i < node_count(); ++i) {
        Item& s = sums[slot_[i]];
        const Real4x3 r = x[i] - origin;
        s.mr = Real4(part_[i]) * r;
        s.mv = Real4(part_[i]) * v[i];
        s.spin = cross(s.mr, v[i]);
        s.squares = {s.mr.x * r.x, s.mr.y * r.y, s.mr.z * r.z};
        s.products = {s.mr.y * r.z, s.mr.z * r.x, s.mr.x * r.y};
    }
    sum_items(places_, width_, sums);
    struct Spin {
        Real4x3 spin, velocity; // angular velocity, and velocity at the origin
    };
    thread_local std::vector<Spin> motions;
    motions.assign(grid, {});
    for (Index i = 0; i < node_count(); ++i) {
        const Item& s = sums[slot_[i]];
        const Real4 inverse = 1 / mass_[i];
        const Real4x3 c = inverse * s.mr, u = inverse * s.mv;
        const Real4x3 L = s.spin - cross(s.mr, u);
        const Real4x3 d = s.squares - Real4x3{s.mr.x * c.x, s.mr.y * c.y, s.mr.z * c.z};
        const Real4x3 o = s.products - Real4x3{s.mr.y * c.z, s.mr.z * c.x, s.mr.x * c.y};
        // The inertia J = [a -oz -oy; -oz b -ox; -oy -ox e] by its cofactors.
        const Real4 a = d.y + d.z, b = d.z + d.x, e = d.x + d.y;
        const Real4x3 diagonal = {b * e - o.x * o.x, a * e - o.y * o.y, a * b - o.z * o.z};
        const Real4x3 beside = {a * o.x + o.y * o.z, b * o.y + o.x * o.z, e * o.z + o.x * o.y};
        const Real4 det = a * diagonal.x - o.z * beside.z - o.y * beside.y;
        const Real4 scale = choose_greater(det, 0, Real4(1) / det, 0);
        const Real4x3 omega = scale * Real4x3{diagonal.x * L.x + beside.z * L.y + beside.y * L.z,
                                              beside.z * L.x + diagonal.y * L.y + beside.x * L.z,
                                              beside.y * L.x + beside.x * L.y + diagonal.z * L.z};
        motions[slot_[i]] = {omega, u - cross(omega, c)};
    }
    sum_items(places_, width_, motions);
    for (Index i = 0; i < node_count(); ++i) {
        const Spin& m = motions[slot_[i]];
        out[i] = Real4(1 / members_[i]) * (m.velocity + cross(m.spin, x[i] - origin));
    }
}

void RegionPlan::goals(std::span<const Vec3> x, Vec3s& goal) const
{
    const std::vector<Real4x3> lanes = repeated(x);
    std::vector<Real4x3> out(x.size());
    goals(lanes, out);
    goal.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) goal[i] = lane(out[i], 0);
}

void RegionPlan::rigid_velocities(std::span<const Vec3> x, std::span<const Vec3> v, Vec3s& velocity) const
{
    std::vector<Real4x3> out(x.size());
    rigid_velocities(repeated(x), repeated(v), out);
    velocity.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) velocity[i] = lane(out[i], 0);
}

ShapeMatching::ShapeMatching(const Model& model)
{
    std::map<std::tuple<const LatticeMesh*, Index, Real, Real, Real>, Index> copies; // groups with room for more
    std::map<std::tuple<const LatticeMesh*, Index, Real>, std::shared_ptr<const RegionPlan>> plans;
    for (const Lattice& l : model.lattices) {
        if (!l.is_matched()) continue;
        const LatticeMaterial& m = l.material;
        const Index n = count(l.mesh->nodes);
        const std::vector<Real> mass(model.mass.begin() + l.first_block, model.mass.begin() + l.first_block + n);
        auto& plan = plans[{l.mesh.get(), m.width, mass[0]}];
        if (!plan) plan = std::make_shared<RegionPlan>(*l.mesh, mass, m.width);
        const auto [place, is_new] = copies.insert({{l.mesh.get(), m.width, mass[0], m.rigidity, m.region_damping}, 0});
        if (is_new || groups_[place->second].bodies == Real4::width) {
            place->second = count(groups_);
            groups_.push_back({m, plan, 0, {}});
        }
        Group& group = groups_[place->second];
        for (Index k = group.bodies++; k < Real4::width; ++k) group.first_block[k] = l.first_block;
    }
}

void ShapeMatching::correct(const Vec3s& x, Real dt, Vec3s& path) const
{
    parallel_for(
        count(groups_),
        [&](Index g) {
            const Group& group = groups_[g];
            const Index n = group.plan->node_count();
            thread_local std::vector<Real4x3> places, velocity, goal;
            for (auto* values : {&places, &velocity, &goal}) values->resize(static_cast<std::size_t>(n));
            const auto gather = [&](const Vec3s& from, std::vector<Real4x3>& to) {
                for (Index k = 0; k < Real4::width; ++k)
                    for (Index i = 0; i < n; ++i) set_lane(to[i], k, from[group.first_block[k] + i]);
            };
            gather(x, places);
            gather(path, velocity);
            if (group.material.region_damping > 0) {
                const Real4 part = 1 - std::exp(-dt * group.material.region_damping);
                group.plan->rigid_velocities(places, velocity, goal);
                for (Index i = 0; i < n; ++i) velocity[i] += part * (goal[i] - velocity[i]);
            }
            group.plan->goals(places, goal);
            const Real4 rate = group.material.rigidity / dt;
            for (Index i = 0; i < n; ++i) velocity[i] += rate * (goal[i] - places[i]);
            for (Index k = 0; k < group.bodies; ++k)
                for (Index i = 0; i < n; ++i) path[group.first_block[k] + i] = lane(velocity[i], k);
        },
        1);
}

} // namespace pliant
