#include "pliant/mesh/blend.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/mesh/arguments.hpp"
#include "pliant/mesh/blend_march.hpp"
#include "pliant/mesh/decimate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

constexpr Real pi = std::numbers::pi;

/// Exact distance to a capsule whose radius changes along it.
Real distance(const BlendCapsule& c, const Vec3& x)
{
    const Vec3 axis = c.to - c.from, p = x - c.from;
    const Real length_sq = axis.squaredNorm(), fall = c.radius - c.end_radius;
    if (length_sq <= fall * fall) // one end's ball holds the other's
        return fall >= 0 ? p.norm() - c.radius : (x - c.to).norm() - c.end_radius;
    const Real length = std::sqrt(length_sq), along = p.dot(axis) / length;
    const Real across = std::sqrt(std::max(0.0, p.squaredNorm() - along * along));
    // The straight flank leans by sine = fall / length; it begins and ends where a normal meets the end's centre.
    const Real sine = fall / length, cosine = std::sqrt(1 - sine * sine);
    const Real foot = along * cosine - across * sine; // along the flank, from the first end's normal
    if (foot <= 0) return p.norm() - c.radius;
    if (foot >= length * cosine) return (x - c.to).norm() - c.end_radius;
    return across * cosine + along * sine - c.radius;
}

/// Right at the surface to first order.
Real distance(const BlendEllipsoid& e, const Vec3& x)
{
    const Vec3 p = e.turn.conjugate() * (x - e.at);
    const Vec3 q = p.cwiseQuotient(e.radii);
    const Real level = q.norm(), slope = q.cwiseQuotient(e.radii).norm();
    if (slope == 0) return -e.radii.minCoeff();
    return level * (level - 1) / slope;
}

Real distance(const BlendBox& b, const Vec3& x)
{
    const Vec3 p = (b.turn.conjugate() * (x - b.at)).cwiseAbs();
    const Vec3 q = p - (b.size / 2).array().matrix() + Vec3::Constant(b.round);
    return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0) - b.round;
}

/// Like distance(), but never changes by more than |y - x| from x to y.
Real careful_distance(const BlendPart& part, const Vec3& x)
{
    if (const auto* e = std::get_if<BlendEllipsoid>(&part.shape)) {
        const Vec3 p = e->turn.conjugate() * (x - e->at);
        return e->radii.minCoeff() * (p.cwiseQuotient(e->radii).norm() - 1);
    }
    return blend_distance(part, x);
}

/// min(a, b), rounded off where they differ by less than k.
Real smooth_min(Real a, Real b, Real k)
{
    const Real h = k - std::abs(a - b);
    return h > 0 ? std::min(a, b) - h * h / (4 * k) : std::min(a, b);
}

Eigen::AlignedBox<Real, 3> box_of(const BlendPart& part)
{
    const auto around = [](const Vec3& x, Real r) {
        return Eigen::AlignedBox<Real, 3>(x - Vec3::Constant(r), x + Vec3::Constant(r));
    };
    if (const auto* c = std::get_if<BlendCapsule>(&part.shape))
        return around(c->from, c->radius).merged(around(c->to, c->end_radius));
    if (const auto* e = std::get_if<BlendEllipsoid>(&part.shape)) return around(e->at, e->radii.maxCoeff());
    const auto& b = std::get<BlendBox>(part.shape);
    return around(b.at, b.size.norm() / 2);
}

Real area_of(const BlendPart& part)
{
    if (const auto* c = std::get_if<BlendCapsule>(&part.shape))
        return pi * ((c->radius + c->end_radius) * (c->to - c->from).norm() + 2 * c->radius * c->radius +
                     2 * c->end_radius * c->end_radius);
    if (const auto* e = std::get_if<BlendEllipsoid>(&part.shape)) {
        const Vec3& r = e->radii;
        return 4 * pi * (r.x() * r.y() + r.y() * r.z() + r.z() * r.x()) / 3;
    }
    const Vec3& s = std::get<BlendBox>(part.shape).size;
    return 2 * (s.x() * s.y() + s.y() * s.z() + s.z() * s.x());
}

void check(const BlendPart& part)
{
    const char* who = "blend";
    if (const auto* c = std::get_if<BlendCapsule>(&part.shape)) {
        require_positive(who, "a capsule's larger radius", std::max(c->radius, c->end_radius));
        if (c->radius < 0 || c->end_radius < 0) throw Error("blend: a capsule's radius must not be negative.");
    } else if (const auto* e = std::get_if<BlendEllipsoid>(&part.shape)) {
        require_positive(who, "a radius of an ellipsoid", e->radii.minCoeff());
    } else {
        const auto& b = std::get<BlendBox>(part.shape);
        require_positive(who, "a side of a box", b.size.minCoeff());
        if (b.round < 0 || 2 * b.round > b.size.minCoeff())
            throw Error("blend: the edges of a box are rounded by more than half of its smallest side.");
    }
}

/// The melted field, lowered by `level`: its surface is as deep inside.
class BlendField final : public MarchField {
public:
    BlendField(const std::vector<BlendPart>& parts, Real level) : parts_(parts), level_(level)
    {
        for (const BlendPart& p : parts) most_melt_ = std::max(most_melt_, p.melt);
    }

    Real value(const Vec3& x) const override { return blend_distance(parts_, x) + level_; }
    bool may_cross(const Vec3& centre, Real radius) const override
    {
        // Melting lowers the field by at most `melt`; the nearest part alone is an upper bound. Away from its surface
        // an ellipsoid's own field is at least the careful one outside and at most inside.
        Real least = std::numeric_limits<Real>::infinity();
        for (const BlendPart& p : parts_) least = std::min(least, careful_distance(p, centre));
        return least - radius <= most_melt_ && (level_ > 0 || least + radius >= 0);
    }
    Eigen::AlignedBox<Real, 3> bounds() const override
    {
        Eigen::AlignedBox<Real, 3> box;
        for (const BlendPart& p : parts_) box.extend(box_of(p));
        return {box.min() - Vec3::Constant(most_melt_), box.max() + Vec3::Constant(most_melt_)};
    }

private:
    const std::vector<BlendPart>& parts_;
    Real level_, most_melt_ = 0;
};

} // namespace

Real blend_distance(const BlendPart& part, const Vec3& x)
{
    return std::visit([&](const auto& shape) { return distance(shape, x); }, part.shape);
}

Real blend_distance(const std::vector<BlendPart>& parts, const Vec3& x)
{
    Real d = std::numeric_limits<Real>::infinity();
    for (const BlendPart& p : parts) {
        const Real own = blend_distance(p, x);
        d = std::isinf(d) ? own : smooth_min(d, own, p.melt);
    }
    return d;
}

Real blend_triangles(const BlendOptions& options)
{
    Real area = 0;
    for (const BlendPart& p : options.parts) area += area_of(p);
    constexpr Real per_triangle = 0.43; // edge^2, an equilateral one
    return (options.shell > 0 ? 2 : 1) * area / (per_triangle * options.edge * options.edge);
}

TriangleMesh make_blend(const BlendOptions& options)
{
    if (options.parts.empty()) throw Error("blend: there must be at least one part.");
    require_positive("blend", "the edge length", options.edge);
    for (const BlendPart& p : options.parts) check(p);
    require_countable("blend", blend_triangles(options));
    TriangleMesh mesh = march(BlendField(options.parts, 0), options.edge);
    if (options.shell > 0) {
        const TriangleMesh inner = march(BlendField(options.parts, options.shell), options.edge);
        const Index first = count(mesh.vertices);
        mesh.vertices.insert(mesh.vertices.end(), inner.vertices.begin(), inner.vertices.end());
        for (const auto& [a, b, c] : inner.triangles) mesh.triangles.push_back({first + a, first + c, first + b});
    }
    if (options.triangles > 0 && count(mesh.triangles) > options.triangles) mesh = decimate(mesh, options.triangles);
    if (mesh.triangles.empty()) throw Error("blend: the edge length is too large for the parts; nothing is left.");
    return mesh;
}

} // namespace pliant
