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

/// The rotation R with A = R S, S symmetric. Newton's iteration with Higham's scaling; flat and inverted ones go the
/// long way.
Mat3 rotation_of(const Mat3& A)
{
    const Real size = A.norm();
    Mat3 R = A;
    for (int i = 0; i < 20; ++i) {
        const Mat3 C = cofactor(R); // det(R) R^-T
        const Real det = R.col(0).dot(C.col(0));
        if (i == 0 && !(det > 1e-5 * size * size * size)) break;
        const Real scale = i < 2 ? std::sqrt(C.norm() / (det * R.norm())) : 1;
        const Mat3 next = 0.5 * (scale * R + C / (scale * det));
        const Real change_sq = (next - R).squaredNorm();
        R = next;
        if (change_sq < 1e-20) return R; // the next change would be its square
    }
    return element_rotation(A);
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
void sum_windows(const std::array<Index, 3>& places, Index width, std::vector<Real>& values)
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

void window_sums(const std::array<Index, 3>& places, Index width, Index size, std::vector<Real>& values)
{
    // Few sizes are needed, and a loop of known length is several times as fast.
    switch (size) {
    case 1:
        return sum_windows<1>(places, width, values);
    case 4:
        return sum_windows<4>(places, width, values);
    case 6:
        return sum_windows<6>(places, width, values);
    case 12:
        return sum_windows<12>(places, width, values);
    case 15:
        return sum_windows<15>(places, width, values);
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

void RegionPlan::goals(std::span<const Vec3> x, Vec3s& goal) const
{
    const Vec3 origin = x[0]; // sums keep their digits far from the world's origin
    constexpr Index size = 12;
    thread_local std::vector<Real> sums;
    sums.assign(static_cast<std::size_t>(size) * places_[0] * places_[1] * places_[2], 0);
    const auto at = [&](Index i) { return sums.data() + size * static_cast<std::size_t>(slot_[i]); };
    using Columns = Eigen::Map<Eigen::Matrix<Real, 3, 4>>;
    for (Index i = 0; i < node_count(); ++i) {
        Columns s(at(i));
        const Vec3 mx = part_[i] * (x[i] - origin);
        s.leftCols<3>() = mx * rest_[i].transpose();
        s.col(3) = mx;
    }
    window_sums(places_, width_, size, sums);
    // Each region's transform, in place of its sums. Places of the grid without a node have none.
    thread_local std::vector<Real> transforms;
    transforms.assign(sums.size(), 0);
    for (Index i = 0; i < node_count(); ++i) {
        const Columns s(at(i));
        const Vec3 centre = s.col(3) / mass_[i];
        const Mat3 A = s.leftCols<3>() - mass_[i] * centre * rest_centre_[i].transpose();
        Columns T(transforms.data() + size * static_cast<std::size_t>(slot_[i]));
        T.leftCols<3>() = rotation_of(A);
        T.col(3) = centre - T.leftCols<3>() * rest_centre_[i];
    }
    window_sums(places_, width_, size, transforms);
    goal.resize(x.size());
    for (Index i = 0; i < node_count(); ++i) {
        const Columns T(transforms.data() + size * static_cast<std::size_t>(slot_[i]));
        goal[i] = origin + (T.leftCols<3>() * rest_[i] + T.col(3)) / members_[i];
    }
}

void RegionPlan::rigid_velocities(std::span<const Vec3> x, std::span<const Vec3> v, Vec3s& out) const
{
    const Vec3 origin = x[0];
    constexpr Index size = 15; // m x, m v, m x cross v, m x x^T (six of them)
    thread_local std::vector<Real> sums;
    sums.assign(static_cast<std::size_t>(size) * places_[0] * places_[1] * places_[2], 0);
    const auto at = [&](Index i) { return sums.data() + size * static_cast<std::size_t>(slot_[i]); };
    const auto put = [](Real* to, const Vec3& a) {
        for (int k = 0; k < 3; ++k) to[k] = a[k];
    };
    const auto get = [](const Real* from) { return Vec3(from[0], from[1], from[2]); };
    for (Index i = 0; i < node_count(); ++i) {
        const Vec3 r = x[i] - origin, mr = part_[i] * r;
        Real* s = at(i);
        put(s, mr);
        put(s + 3, part_[i] * v[i]);
        put(s + 6, mr.cross(v[i]));
        put(s + 9, mr.cwiseProduct(r));
        put(s + 12, Vec3(mr.y() * r.z(), mr.z() * r.x(), mr.x() * r.y()));
    }
    window_sums(places_, width_, size, sums);
    constexpr Index moving = 6; // angular velocity, and velocity at the origin
    thread_local std::vector<Real> motions;
    motions.assign(static_cast<std::size_t>(moving) * places_[0] * places_[1] * places_[2], 0);
    for (Index i = 0; i < node_count(); ++i) {
        const Real* s = at(i);
        const Real M = mass_[i];
        const Vec3 c = get(s) / M, u = get(s + 3) / M;
        const Vec3 L = get(s + 6) - M * c.cross(u);
        const Vec3 d = get(s + 9) - M * c.cwiseProduct(c);
        const Vec3 o = get(s + 12) - M * Vec3(c.y() * c.z(), c.z() * c.x(), c.x() * c.y());
        Mat3 inertia;
        inertia << d.y() + d.z(), -o.z(), -o.y(), -o.z(), d.z() + d.x(), -o.x(), -o.y(), -o.x(), d.x() + d.y();
        const Vec3 omega = inertia.determinant() > 0 ? Vec3(inertia.inverse() * L) : Vec3(Vec3::Zero());
        Real* m = motions.data() + moving * static_cast<std::size_t>(slot_[i]);
        put(m, omega);
        put(m + 3, u - omega.cross(c));
    }
    window_sums(places_, width_, moving, motions);
    out.resize(x.size());
    for (Index i = 0; i < node_count(); ++i) {
        const Real* m = motions.data() + moving * static_cast<std::size_t>(slot_[i]);
        out[i] = (get(m + 3) + get(m).cross(x[i] - origin)) / members_[i];
    }
}

ShapeMatching::ShapeMatching(const Model& model)
{
    std::map<std::tuple<const LatticeMesh*, Index, Real>, std::shared_ptr<const RegionPlan>> plans;
    for (const Lattice& l : model.lattices) {
        if (!l.is_matched()) continue;
        const Index n = count(l.mesh->nodes);
        const std::vector<Real> mass(model.mass.begin() + l.first_block, model.mass.begin() + l.first_block + n);
        auto& plan = plans[{l.mesh.get(), l.material.width, mass[0]}];
        if (!plan) plan = std::make_shared<RegionPlan>(*l.mesh, mass, l.material.width);
        bodies_.push_back({l.first_block, l.material, plan});
    }
}

void ShapeMatching::correct(const Vec3s& x, Real dt, Vec3s& path) const
{
    parallel_for(
        count(bodies_),
        [&](Index b) {
            const Matched& body = bodies_[b];
            const auto n = static_cast<std::size_t>(body.plan->node_count());
            const std::span<const Vec3> places(x.data() + body.first_block, n);
            const std::span<Vec3> velocity(path.data() + body.first_block, n);
            thread_local Vec3s goal;
            if (body.material.region_damping > 0) {
                const Real part = 1 - std::exp(-dt * body.material.region_damping);
                body.plan->rigid_velocities(places, velocity, goal);
                for (std::size_t i = 0; i < n; ++i) velocity[i] += part * (goal[i] - velocity[i]);
            }
            body.plan->goals(places, goal);
            for (std::size_t i = 0; i < n; ++i) velocity[i] += body.material.rigidity / dt * (goal[i] - places[i]);
        },
        4);
}

} // namespace pliant
