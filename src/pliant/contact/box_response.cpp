#include "pliant/contact/box_response.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/mesh/lattice.hpp"

#include <bit>

namespace pliant {

BoxResponse::BoxResponse(const LatticeBoxes& boxes, const std::vector<Real>& mass,
                         const std::vector<std::uint8_t>& fixed, const BoxLaw& law)
    : boxes_(boxes), mass_(mass), law_(law)
{
    assert(fixed.size() == mass.size() && std::ranges::all_of(mass, [](Real m) { return m >= 0; }));
    for (std::size_t i = 0; i < mass.size(); ++i) inverse_.push_back(fixed[i] || mass[i] == 0 ? 0 : 1 / mass[i]);
}

/// Of a box that reaches `depth` behind a wall at each of its nodes; `at_point` is the depth of the point.
BoxHandle BoxResponse::handle(Index cell, const Eigen::Array<Real, 8, 1>& depth, Real& at_point) const
{
    const BoxCell& c = boxes_.cell(cell);
    BoxHandle h;
    h.cell = cell;
    h.weight.fill(0);
    if (law_.push == BoxPush::cell) {
        Real sum = 0;
        for (const Index b : c.block) sum += mass_[b];
        for (int k = 0; k < 8; ++k) h.weight[k] = mass_[c.block[k]] / sum;
        at_point = depth.maxCoeff(); // the whole box gets out
    } else {
        // Nodes of the box that are behind the wall, in proportion to their depth.
        const Eigen::Array<Real, 8, 1> part = depth.max(0) / depth.max(0).sum();
        at_point = (part * depth).sum();
        for (int k = 0; k < 8; ++k) {
            if (part[k] == 0) continue;
            const Vec3 at(k & 1 ? c.high.x() : c.low.x(), k & 2 ? c.high.y() : c.low.y(),
                          k & 4 ? c.high.z() : c.low.z());
            const std::array<Real, 8> w = trilinear_weights(at);
            for (int j = 0; j < 8; ++j) h.weight[j] += part[k] * w[j];
        }
    }
    for (int k = 0; k < 8; ++k) h.inverse_mass += h.weight[k] * h.weight[k] * inverse_[c.block[k]];
    return h;
}

/// [Jung, eq. 8] on the relative velocity; nothing is asked of what parts already.
void BoxResponse::set_wanted(BoxContact& contact, const Vec3s& velocity) const
{
    const Vec3 u = relative_velocity(contact, velocity);
    const Real along = contact.normal.dot(u);
    contact.wanted =
        (1 - law_.beta) * (u - along * contact.normal) + (1 - law_.alpha) * std::min(along, 0.0) * contact.normal;
}

BoxContact BoxResponse::contact(const BoxPair& pair, Real friction, const Vec3s& velocity) const
{
    BoxContact out;
    const Vec3& n = out.normal = pair.overlap.normal;
    const Eigen::Array<Real, 8, 1> on_a = along(boxes_.box(pair.a).nodes, n), on_b = along(boxes_.box(pair.b).nodes, n);
    // Between the innermost node of b and the outermost of a is what they share.
    const Real begin = on_b.minCoeff(), end = on_a.maxCoeff();
    Real depth_a = 0, depth_b = 0;
    out.a = handle(pair.a, on_a - begin, depth_a);
    out.b = handle(pair.b, end - on_b, depth_b);
    const Real left = law_.left * std::min(boxes_.cell(pair.a).side, boxes_.cell(pair.b).side);
    out.depth = std::max(0.0, std::min({pair.overlap.depth, depth_a, depth_b}) - left);
    out.friction = friction;
    set_wanted(out, velocity);
    return out;
}

BoxContact BoxResponse::contact(Index cell, const BoxWall& wall, Real friction, const Vec3s& velocity) const
{
    BoxContact out;
    out.normal = wall.normal;
    Real depth = 0;
    out.b = handle(cell, wall.offset - along(boxes_.box(cell).nodes, wall.normal), depth);
    out.depth = std::max(0.0, depth - law_.left * boxes_.cell(cell).side);
    out.friction = friction;
    out.wall_velocity = wall.velocity;
    set_wanted(out, velocity);
    return out;
}

Vec3 BoxResponse::relative_velocity(const BoxContact& contact, const Vec3s& velocity) const
{
    const auto at = [&](const BoxHandle& h) {
        Vec3 sum = Vec3::Zero();
        const auto& block = boxes_.cell(h.cell).block;
        for (int k = 0; k < 8; ++k) sum += h.weight[k] * velocity[block[k]];
        return sum;
    };
    return at(contact.b) - (contact.a.cell == none ? contact.wall_velocity : at(contact.a));
}

void BoxResponse::move(const BoxHandle& h, const Vec3& push, Vec3s& what) const
{
    const auto& block = boxes_.cell(h.cell).block;
    for (int k = 0; k < 8; ++k) what[block[k]] += h.weight[k] * inverse_[block[k]] * push;
}

void BoxResponse::relax(BoxContact& contact, Vec3s& velocity) const
{
    const Real w = contact.a.inverse_mass + contact.b.inverse_mass;
    if (w == 0) return;
    const Vec3& n = contact.normal;
    Vec3 total = contact.impulse + (contact.wanted - relative_velocity(contact, velocity)) / w;
    const Real push = std::max(0.0, n.dot(total));
    Vec3 drag = total - n.dot(total) * n;
    const Real most = contact.friction * push, size = drag.norm();
    if (size > most) drag *= most / size;
    total = push * n + drag;
    assert(total.allFinite());
    const Vec3 change = total - contact.impulse;
    contact.impulse = total;
    if (contact.a.cell != none) move(contact.a, -change, velocity);
    move(contact.b, change, velocity);
}

void BoxResponse::shift(const BoxContact& contact, Vec3s& position, std::vector<std::uint8_t>& moved) const
{
    const Real w = contact.a.inverse_mass + contact.b.inverse_mass;
    if (w == 0 || contact.depth == 0) return;
    const Vec3 l = contact.depth / w * contact.normal;
    if (contact.a.cell != none) move(contact.a, -l, position);
    move(contact.b, l, position);
    for (const BoxHandle* h : {&contact.a, &contact.b})
        if (h->cell != none)
            for (const Index b : boxes_.cell(h->cell).block) moved[b] = 1;
}

const std::vector<std::vector<Index>>& ContactColours::group(const std::vector<BoxContact>& contacts,
                                                             const LatticeBoxes& boxes, Index blocks)
{
    used_.resize(static_cast<std::size_t>(blocks), 0);
    groups_.resize(64);
    for (auto& g : groups_) g.clear();
    const auto for_blocks = [&](const BoxContact& c, auto&& visit) {
        for (const BoxHandle* h : {&c.a, &c.b})
            if (h->cell != none)
                for (const Index b : boxes.cell(h->cell).block) visit(used_[b]);
    };
    for (Index i = 0; i < count(contacts); ++i) {
        std::uint64_t taken = 0;
        for_blocks(contacts[i], [&](std::uint64_t& used) { taken |= used; });
        if (taken == ~std::uint64_t(0)) continue;
        const int colour = std::countr_one(taken);
        for_blocks(contacts[i], [&](std::uint64_t& used) { used |= std::uint64_t(1) << colour; });
        groups_[colour].push_back(i);
    }
    for (const BoxContact& c : contacts) for_blocks(c, [](std::uint64_t& used) { used = 0; }); // for the next time
    return groups_;
}

} // namespace pliant
