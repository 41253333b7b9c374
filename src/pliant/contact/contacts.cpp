#include "pliant/contact/contacts.hpp"

#include "pliant/core/contracts.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

ContactKey make_key(ContactKind kind, Index a, Index b)
{
    return {(static_cast<std::uint64_t>(kind) << 56) | static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
}

std::optional<std::array<Index, 2>> crossing_of(const ContactKey& key)
{
    if (key.a >> 56 != static_cast<std::uint64_t>(ContactKind::edge_edge)) return {};
    return std::array{static_cast<Index>(key.a & 0xffffffff), static_cast<Index>(key.b & 0xffffffff)};
}

namespace {

/// Collects weights on blocks and arms, merging blocks that occur twice (self-contact inside one element).
class RowBuilder {
public:
    explicit RowBuilder(ContactProblem& problem) : problem_(problem) {}

    void begin()
    {
        entry_begin_ = count(problem_.entries);
        arm_begin_ = count(problem_.arms);
    }
    void add(Index block, Real weight)
    {
        for (Index k = entry_begin_; k < count(problem_.entries); ++k)
            if (problem_.entries[k].block == block) {
                problem_.entries[k].weight += weight;
                return;
            }
        problem_.entries.push_back({block, weight});
    }
    void add_arm(Index block, const Vec3& arm)
    {
        for (Index k = arm_begin_; k < count(problem_.arms); ++k)
            if (problem_.arms[k].block == block) {
                problem_.arms[k].arm += arm;
                return;
            }
        problem_.arms.push_back({block, arm});
    }
    /// Drops entries that cancelled and tells whether any moving block is left.
    bool finish(const Model& model, Row& row)
    {
        problem_.entries.erase(std::remove_if(problem_.entries.begin() + entry_begin_, problem_.entries.end(),
                                              [](const RowEntry& e) { return std::abs(e.weight) < 1e-12; }),
                               problem_.entries.end());
        row.entry_begin = entry_begin_;
        row.entry_end = count(problem_.entries);
        row.arm_begin = arm_begin_;
        row.arm_end = count(problem_.arms);
        for (Index k = row.entry_begin; k < row.entry_end; ++k)
            if (!model.is_prescribed(problem_.entries[k].block)) return true;
        return row.arm_end > row.arm_begin;
    }
    void drop()
    {
        problem_.entries.resize(static_cast<std::size_t>(entry_begin_));
        problem_.arms.resize(static_cast<std::size_t>(arm_begin_));
    }

private:
    ContactProblem& problem_;
    Index entry_begin_ = 0, arm_begin_ = 0;
};

/// A unit vector orthogonal to n that depends continuously on n almost everywhere: from its smallest component's axis.
Vec3 any_tangent(const Vec3& n)
{
    Index axis;
    n.cwiseAbs().minCoeff(&axis);
    return n.cross(Vec3::Unit(axis)).normalized();
}

void set_tangents(Row& row, const Vec3& sliding)
{
    const Vec3 tangential = sliding - row.normal.dot(sliding) * row.normal;
    const Real speed = tangential.norm();
    row.tangent1 = speed > 1e-12 * sliding.norm() && speed > 0 ? Vec3(tangential / speed) : any_tangent(row.normal);
    row.tangent2 = row.normal.cross(row.tangent1);
}

void add_vertex(const StepGeometry& g, Index v, Real weight, RowBuilder& builder, Row& row)
{
    const Surface& s = g.model.surface;
    for (Index k = s.map_begin[v]; k < s.map_begin[v + 1]; ++k) builder.add(s.map_block[k], weight * s.map_weight[k]);
    if (const Rotor* rotor = g.model.rotor_of_vertex(v))
        builder.add_arm(rotor->angular_block(), weight * (g.x0[v] - g.start.position[rotor->block]));
    if (g.model.is_scripted_vertex(v)) row.u0 += weight / g.dt * (g.x1_scripted[v] - g.x0[v]);
}

/// Velocity of a scripted plane's material point that is at x at the start of the step.
Vec3 plane_velocity(const StepGeometry& g, Index obstacle, const Vec3& x)
{
    const Motion& motion = g.model.obstacles[obstacle].motion;
    if (motion.empty()) return Vec3::Zero();
    const Pose before = motion.pose(g.start.time), after = motion.pose(g.start.time + g.dt);
    return (after(before.rotation.conjugate() * (x - before.translation)) - x) / g.dt;
}

Row row_of(const StepGeometry& g, const Contact& contact, RowBuilder& builder)
{
    Row row;
    row.normal = contact.normal;
    row.friction = contact.friction;
    row.rhs = (contact.target - contact.distance - contact.correction) / g.dt;
    row.room = contact.target - contact.hard_gap;
    for (int k = 0; k < 4; ++k)
        if (contact.vertex[k] != none) add_vertex(g, contact.vertex[k], contact.weight[k], builder, row);
    if (contact.kind == ContactKind::plane)
        row.u0 -= plane_velocity(g, g.model.bodies[contact.body_b].obstacle, g.x0[contact.vertex[0]]);
    return row;
}

/// n . (v_a - v_b) >= (target - rest) / h with n from a to b.
Row row_of(const StepGeometry& g, const StrainLimit& limit, RowBuilder& builder)
{
    Row row;
    row.normal = limit.direction;
    row.rhs = (limit.target - limit.rest - limit.correction) / g.dt;
    row.room = limit.room;
    builder.add(limit.block[0], 1);
    builder.add(limit.block[1], -1);
    return row;
}

} // namespace

ContactRows build_rows(const StepGeometry& g, const ContactSet& set, const Vec3s& free_velocity)
{
    assert(strictly_sorted(set.contacts, &Contact::key) && strictly_sorted(set.limits, &StrainLimit::identity));
    ContactRows rows;
    RowBuilder builder(rows.problem);
    const auto add = [&](Index source, const auto& constraint) {
        builder.begin();
        Row row = row_of(g, constraint, builder);
        if (!builder.finish(g.model, row)) {
            builder.drop();
            return;
        }
        set_tangents(row, row.u0 + rows.problem.relative_velocity(row, free_velocity));
        rows.problem.rows.push_back(row);
        rows.source.push_back(source);
    };
    Index source = 0;
    for (const Contact& c : set.contacts) add(source++, c);
    for (const StrainLimit& l : set.limits) add(source++, l);
    return rows;
}

Multipliers load_impulses(const ContactRows& rows, const ContactSet& set, FrictionCone cone)
{
    const ContactProblem& problem = rows.problem;
    Multipliers lambda(problem.rows.size());
    for (Index j = 0; j < problem.size(); ++j) {
        const Row& r = problem.rows[j];
        const Vec3& p = set.impulse(rows.source[j]);
        const Real normal = std::max(0.0, r.normal.dot(p));
        if (r.friction == 0)
            lambda[j] = Vec3(normal, 0, 0);
        else
            lambda[j] = project_to_cone(Vec3(normal, r.tangent1.dot(p), r.tangent2.dot(p)), r.friction, cone);
    }
    return lambda;
}

void store_impulses(const ContactRows& rows, const Multipliers& lambda, ContactSet& set)
{
    assert(lambda.size() == rows.source.size() && all_finite(lambda));
    set.clear_impulses();
    for (Index j = 0; j < count(rows.source); ++j)
        set.set_impulse(rows.source[j], rows.problem.rows[j].world(lambda[j]));
}

} // namespace pliant
