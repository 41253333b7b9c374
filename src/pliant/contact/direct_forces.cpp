#include "pliant/contact/direct_forces.hpp"

#include "pliant/core/contracts.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// What the contact has to undo: all of the depth that is of this step, a part of what was there before unless the
/// point is on its way out already, and sliding as far as friction goes.
Vec3 to_undo(const PointContact& contact, const Vec3& relative, Real recovery)
{
    const Real all = contact.depth.norm();
    if (!(all > 0)) return contact.depth;
    const Vec3 n = contact.depth / all;
    const Real leaving = relative.dot(n), approach = std::clamp(-leaving, 0.0, all);
    const Real wanted = approach + recovery * (all - approach) - (1 - recovery) * std::max(leaving, 0.0);
    const Real depth = std::max(wanted, 0.0);
    const Vec3 u = relative - relative.dot(n) * n;
    const Real length = u.norm();
    const Vec3 out = recovery < 1 ? Vec3(depth * n) : contact.depth;
    if (!(contact.friction > 0) || !(length > 0)) return out;
    return out - std::min(contact.friction * depth, length) / length * u;
}

Vec3 relative_displacement(const PointContact& contact, std::span<const Vec3> displacement)
{
    if (displacement.empty()) return Vec3::Zero();
    Vec3 u = displacement[contact.point];
    if (!contact.has_nodes()) return u - contact.motion;
    for (int k = 0; k < 4; ++k)
        if (contact.nodes[k] != none) u -= contact.weights[k] * displacement[contact.nodes[k]];
    return u;
}

} // namespace

void DirectForces::count_shares(const DirectForceInput& input)
{
    const bool smooth = input.shares == BoundaryShares::smooth;
    if (load_.size() < input.mass.size()) {
        load_.resize(input.mass.size());
        first_.resize(input.mass.size(), none);
    }
    for (Index p : touched_) { // of the last call
        load_[p] = {};
        first_[p] = none;
    }
    touched_.clear();
    ends_.clear();
    for (const PointContact& contact : input.contacts) {
        const Real depth = smooth ? contact.depth.norm() : 0;
        const auto touch = [&](Index p, Real weight, bool is_point) {
            touched_.push_back(p);
            if (!smooth) return;
            ends_.push_back({depth, weight, is_point, first_[p]});
            first_[p] = count(ends_) - 1;
        };
        load_[contact.point].regions += 1;
        touch(contact.point, 1, true);
        for (int k = 0; k < 4; ++k) {
            const Index j = contact.nodes[k];
            if (j == none || !(contact.weights[k] > 0)) continue;
            load_[j].column += contact.weights[k];
            touch(j, contact.weights[k], false);
        }
    }
}

DirectForces::Load DirectForces::smooth_load(Index node, Real depth) const
{
    Load load;
    for (Index e = first_[node]; e != none; e = ends_[e].next) {
        const End& end = ends_[e];
        const Real part = end.depth < depth ? end.depth / depth : 1;
        (end.is_point ? load.regions : load.column) += part * end.weight;
    }
    return load;
}

void DirectForces::add(const DirectForceInput& input, std::span<Vec3> force)
{
    assert(input.step > 0 && force.size() == input.mass.size());
    assert(input.displacement.empty() || input.displacement.size() == input.mass.size());
    assert(input.inverse_blocks.empty() || input.inverse_blocks.size() == input.mass.size());
    assert(std::ranges::all_of(input.contacts, [](const PointContact& c) { return is_sound(c); }));
    count_shares(input);
    local_force_.resize(input.contacts.size());
    alpha_.resize(input.contacts.size());
    const Real rate = 1 / (input.step * input.step);
    for (std::size_t i = 0; i < input.contacts.size(); ++i) {
        const PointContact& contact = input.contacts[i];
        const bool smooth = input.shares == BoundaryShares::smooth;
        const Real depth = smooth ? contact.depth.norm() : 0;
        const auto load = [&](Index p) { return smooth ? smooth_load(p, depth) : load_[p]; };
        const Load at_point = load(contact.point);
        const Real c_i = 1 / (at_point.regions + at_point.column); // eq. 6
        const Vec3 n = contact.depth.stableNormalized();
        const auto mass = [&](Index p) {
            if (input.inverse_blocks.empty() || std::isinf(input.mass[p])) return input.mass[p];
            return 1 / n.dot(input.inverse_blocks[p] * n);
        };
        const Real own =
            contact.point_mass > 0 ? contact.point_mass / contact.point_contacts : c_i * mass(contact.point);
        const Real squares = contact.weights.squaredNorm();
        std::array<Real, 4> part = {0, 0, 0, 0}; // c_j h_ij m_j
        Real B = contact.has_nodes() ? 0 : contact.partner_mass / contact.partner_contacts;
        for (int k = 0; k < 4; ++k) {
            const Index j = contact.nodes[k];
            if (j == none || !(contact.weights[k] > 0)) continue;
            const auto [regions, column] = load(j);
            Real c_j = 1 / (regions + column);
            if (smooth && regions < 1) // it does not collide itself, or a little
                c_j = (1 - regions) / (std::max(1.0, column) * squares) + regions / (1 + column);
            part[k] = c_j * contact.weights[k] * mass(j);
            B += part[k];
        }
        // The force on the point is own * alpha * d, written so that either mass may be infinite.
        Real shared = 0; // [kg]
        if (std::isinf(own) && std::isinf(B)) {
            alpha_[i] = 0;
        } else if (std::isinf(B)) {
            alpha_[i] = 1;
            shared = own;
        } else if (std::isinf(own)) {
            alpha_[i] = 0;
            shared = B;
        } else {
            alpha_[i] = B / (own + B); // eq. 5
            shared = own * alpha_[i];
        }
        const Vec3 f = rate * shared *
                       to_undo(contact, relative_displacement(contact, input.displacement), input.recovery); // eq. 15
        local_force_[i] = f;
        force[contact.point] += f;
        if (!contact.has_nodes()) continue;
        // Eq. 16. With pinned corners the finite ones do not move: all of the reaction is theirs, in equal weights.
        const auto is_pinned = [&](int k) { return std::isinf(part[k]); };
        Real pinned = 0;
        for (int k = 0; k < 4; ++k)
            if (is_pinned(k)) pinned += contact.weights[k];
        for (int k = 0; k < 4; ++k) {
            if (part[k] == 0) continue;
            const Real share = pinned > 0 ? (is_pinned(k) ? contact.weights[k] / pinned : 0) : part[k] / B;
            force[contact.nodes[k]] -= share * f;
        }
    }
}

} // namespace pliant
