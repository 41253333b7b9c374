#pragma once
// What constrains one sub-step, contacts and limits of length: identity, geometry, warm start; and its translation
// into rows.

#include "pliant/contact/problem.hpp"
#include "pliant/world/world.hpp"

#include <optional>

namespace pliant {

/// The pair of features, in canonical order: the multipliers are remembered under it.
struct ContactKey {
    std::uint64_t a = 0, b = 0;
    auto operator<=>(const ContactKey&) const = default;
};

/// What the two sides are: the closest features that detection found, or a vertex and a plane.
enum class ContactKind : std::uint8_t { vertex_vertex, vertex_edge, vertex_face, edge_edge, plane };
ContactKey make_key(ContactKind kind, Index a, Index b);
/// The two edges, if the key is that of a pair of edges.
std::optional<std::array<Index, 2>> crossing_of(const ContactKey& key);

/// Up to four surface vertices with signed weights, a normal from side b to side a, and the distance along it.
struct Contact {
    ContactKey key;
    ContactKind kind = ContactKind::vertex_face;
    std::array<Index, 4> vertex = {none, none, none, none}; ///< plane: one
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
/// Whether one of its sides is cloth.
inline bool has_cloth(const Model& model, const Contact& c)
{
    return model.bodies[c.body_a].sheet || model.bodies[c.body_b].sheet;
}
/// Side a minus side b as the contact's weights give it, at surface positions x [m].
inline Vec3 relative_position(const Contact& c, const Vec3s& x)
{
    Vec3 d = Vec3::Zero();
    for (int k = 0; k < 4; ++k)
        if (c.vertex[k] != none) d += c.weight[k] * x[c.vertex[k]];
    return d;
}

/// A limit on the distance of two blocks that a tentative end of the step broke: a row without friction that keeps the
/// rest of the allowed length from becoming negative.
struct StrainLimit {
    Index body = none, number = none; ///< identity: the body, and which of its limits
    std::array<Index, 2> block = {none, none};
    Vec3 direction = Vec3::UnitY(); ///< from the first block to the second, at the start of the step
    Real rest = 0;                  ///< of the allowed length, at the start of the step; negative: too long [m]
    Real target = 0;                ///< required of it at the end of the step [m]
    Real room = 0;                  ///< error of the row that is still fine [m]
    Real correction = 0;            ///< what the row misses because the direction turns, in the last round [m]
    Vec3 impulse = Vec3::Zero();    ///< on the first block, world [N s]: warm start in, answer out

    std::array<Index, 2> identity() const { return {body, number}; }
};

/// A limit of length that a solver by balls looked after.
struct LengthImpulse {
    Index limit = none;          ///< in Model::length_limits
    Vec3 impulse = Vec3::Zero(); ///< on its block a, world [N s]: warm start in, answer out

    static constexpr const char* member_names[] = {"limit", "impulse"};
};

/// All that constrains a sub-step. Limits of length are rows, or balls, as the solver likes it.
struct ContactSet {
    std::vector<Contact> contacts;      ///< sorted by key
    std::vector<StrainLimit> limits;    ///< sorted by identity
    std::vector<LengthImpulse> lengths; ///< sorted by limit

    Index size() const { return count(contacts) + count(limits); }
    /// The contacts are numbered first, then the limits.
    const Vec3& impulse(Index i) const { return i < count(contacts) ? contacts[i].impulse : limit(i).impulse; }
    void set_impulse(Index i, const Vec3& p) { (i < count(contacts) ? contacts[i].impulse : limit(i).impulse) = p; }
    void clear_impulses()
    {
        for (Contact& c : contacts) c.impulse.setZero();
        for (StrainLimit& l : limits) l.impulse.setZero();
        for (LengthImpulse& l : lengths) l.impulse.setZero();
    }

private:
    const StrainLimit& limit(Index i) const { return limits[i - count(contacts)]; }
    StrainLimit& limit(Index i) { return limits[i - count(contacts)]; }
};

/// Positions that the rows need, all at the two ends of the step.
struct StepGeometry {
    const Model& model;
    const State& start;       ///< q0
    const Vec3s& x0;          ///< surface at q0
    const Vec3s& x1_scripted; ///< surface at the end; only scripted vertices are read
    Real dt;
};

/// The rows of a set and where each comes from.
struct ContactRows {
    ContactProblem problem;
    std::vector<Index> source; ///< per row: its number in the set; what nothing can act on has no row
};

/// Rows in the order of the set. Tangents are aligned with the unconstrained sliding velocity [Otaduy09, 3.4].
ContactRows build_rows(const StepGeometry& geometry, const ContactSet& set, const Vec3s& free_velocity);

/// Multipliers of the rows from the set's world impulses, projected into the new frames and cones.
Multipliers load_impulses(const ContactRows& rows, const ContactSet& set, FrictionCone cone);
/// And back; what has no row has no impulse.
void store_impulses(const ContactRows& rows, const Multipliers& lambda, ContactSet& set);

} // namespace pliant
