#pragma once
// The set of contacts of one step: identity, geometry, warm start; and its translation into rows.

#include "pliant/contact/problem.hpp"
#include "pliant/world/world.hpp"

#include <optional>

namespace pliant {

/// The pair of features, in canonical order: the multipliers are remembered under it.
struct ContactKey {
    std::uint64_t a = 0, b = 0;
    auto operator<=>(const ContactKey&) const = default;
};

/// What the two sides are: the closest features that detection found, a plane, or a strain limit.
enum class ContactKind : std::uint8_t { vertex_vertex, vertex_edge, vertex_face, edge_edge, plane, strain };
ContactKey make_key(ContactKind kind, Index a, Index b);
/// The two edges, if the key is that of a pair of edges.
std::optional<std::array<Index, 2>> crossing_of(const ContactKey& key);

/// Up to four surface vertices with signed weights, a normal from side b to side a, and the distance along it.
struct Contact {
    ContactKey key;
    ContactKind kind = ContactKind::vertex_face;
    std::array<Index, 4> vertex = {none, none, none, none}; ///< plane: one; strain: two blocks instead
    std::array<Real, 4> weight = {};
    Vec3 normal = Vec3::UnitY();
    Real distance = 0; ///< along the normal at the start of the step, d0 [m]
    Real target = 0;   ///< required at the end of the step, s <= max(d0, ...) [m]
    Real hard_gap = 0; ///< what CCD certifies for this pair [m]
    Real friction = 0;
    Real correction = 0; ///< g(q) - (g(q0) + h J v) of the last round: what the linear row misses for rotations [m]
    Index body_a = none, body_b = none;
    Vec3 impulse = Vec3::Zero(); ///< world [N s]: warm start in, answer out
};

/// Order of the set.
inline bool by_key(const Contact& a, const Contact& b)
{
    return a.key < b.key;
}
/// Side a minus side b as the contact's weights give it, at surface positions x [m].
inline Vec3 relative_position(const Contact& c, const Vec3s& x)
{
    Vec3 d = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
        if (c.vertex[k] != none) d += c.weight[k] * x[c.vertex[k]];
    return d;
}

/// Positions that the rows need, all at the two ends of the step.
struct StepGeometry {
    const Model& model;
    const State& start;       ///< q0
    const Vec3s& x0;          ///< surface at q0
    const Vec3s& x1_scripted; ///< surface at the end; only scripted vertices are read
    Real dt;
};

/// Rows of the contacts in order. Tangents are aligned with the unconstrained sliding velocity [Otaduy09, 3.4].
/// Returns for every row the number of its contact (contacts on which nothing can act are left out).
std::vector<Index> build_rows(const StepGeometry& geometry, const std::vector<Contact>& contacts,
                              const Vec3s& free_velocity, ContactProblem& problem);

/// Multipliers of the rows from the contacts' world impulses, projected into the new frames and cones.
void load_impulses(const ContactProblem& problem, const std::vector<Index>& contact_of_row,
                   const std::vector<Contact>& contacts, FrictionCone cone, Multipliers& lambda);
void store_impulses(const ContactProblem& problem, const std::vector<Index>& contact_of_row, const Multipliers& lambda,
                    std::vector<Contact>& contacts);

} // namespace pliant
