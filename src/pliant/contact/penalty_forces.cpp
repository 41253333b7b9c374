#include "pliant/contact/penalty_forces.hpp"

#include "pliant/core/contracts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

/// visit(node, weight) for the corners that bear some of the contact.
template <class Visit>
void for_corners(const PointContact& contact, Visit&& visit)
{
    for (int k = 0; k < 4; ++k)
        if (contact.nodes[k] != none && contact.weights[k] != 0) visit(contact.nodes[k], contact.weights[k]);
}

/// Force on the point along the way out, and against its sliding.
Vec3 contact_force(const PointContact& contact, const PenaltyForceInput& input, Real k, Real grip)
{
    const Real depth = contact.depth.norm();
    if (!(depth > 0) || !(k > 0)) return Vec3::Zero();
    const Vec3 n = contact.depth / depth;
    if (input.velocity.empty()) return k * contact.depth;

    Vec3 v = input.velocity[contact.point];
    Real inverse_mass = 1 / (contact.point_mass > 0 ? contact.point_mass : input.mass[contact.point]);
    if (!contact.has_nodes()) {
        v -= contact.motion;
        inverse_mass += 1 / contact.partner_mass;
    }
    for_corners(contact, [&](Index j, Real w) {
        v -= w * input.velocity[j];
        inverse_mass += w * w / input.mass[j];
    });
    const Real v_n = v.dot(n);
    const Real normal = std::max(k * depth - 2 * input.damping * std::sqrt(k / inverse_mass) * v_n, 0.0);
    const Vec3 v_t = v - v_n * n;
    const Real sliding = v_t.norm();
    if (!(contact.friction > 0) || !(sliding > 0)) return normal * n;
    return normal * n - std::min(contact.friction * normal, grip * sliding) / sliding * v_t;
}

} // namespace

void PenaltyForces::choose_stiffness(const PenaltyForceInput& input)
{
    if (load_.size() < input.mass.size()) load_.resize(input.mass.size(), 0);
    for (Index p : touched_) load_[p] = 0; // of the last call
    touched_.clear();
    const auto add = [&](Index p, Real weight) {
        load_[p] += std::abs(weight);
        touched_.push_back(p);
    };
    for (const PointContact& contact : input.contacts) {
        add(contact.point, 1);
        for_corners(contact, add);
    }
    // Contacts of one node have their full stiffness as long as their sum stays within the budget.
    const Real budget = std::max(input.stiffness, contact_budget);
    const auto bears = [&](Real mass, Real load) { return mass / std::max(1.0, input.stiffness * load / budget); };
    stiffness_.resize(input.contacts.size());
    grip_.resize(input.contacts.size());
    for (std::size_t c = 0; c < input.contacts.size(); ++c) {
        const PointContact& contact = input.contacts[c];
        Real least = contact.point_mass > 0 ? bears(contact.point_mass, contact.point_contacts)
                                            : bears(input.mass[contact.point], load_[contact.point]);
        if (!contact.has_nodes()) least = std::min(least, bears(contact.partner_mass, contact.partner_contacts));
        for_corners(contact, [&](Index j, Real) { least = std::min(least, bears(input.mass[j], load_[j])); });
        stiffness_[c] = std::isinf(least) ? 0 : input.stiffness * least / (input.step * input.step);
        Real lightest = contact.point_mass > 0 ? contact.point_mass / contact.point_contacts
                                               : input.mass[contact.point] / load_[contact.point];
        if (!contact.has_nodes()) lightest = std::min(lightest, contact.partner_mass / contact.partner_contacts);
        for_corners(contact, [&](Index j, Real) { lightest = std::min(lightest, input.mass[j] / load_[j]); });
        grip_[c] = std::isinf(lightest) ? 0 : 0.5 * lightest / input.step;
    }
}

void PenaltyForces::add(const PenaltyForceInput& input, std::span<Vec3> force)
{
    assert(input.step > 0 && force.size() == input.mass.size());
    assert(input.velocity.empty() || input.velocity.size() == input.mass.size());
    assert(std::ranges::all_of(input.contacts, [](const PointContact& c) { return is_sound(c); }));
    choose_stiffness(input);
    local_force_.resize(input.contacts.size());
    for (std::size_t c = 0; c < input.contacts.size(); ++c) {
        const PointContact& contact = input.contacts[c];
        const Vec3 f = contact_force(contact, input, stiffness_[c], grip_[c]);
        local_force_[c] = f;
        force[contact.point] += f;
        for_corners(contact, [&](Index j, Real w) { force[j] -= w * f; });
    }
}

} // namespace pliant
