#include "pliant/contact/failsafe.hpp"

#include "pliant/core/union_find.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace pliant {

ZoneMotion zone_motion(const std::vector<ZoneMember>& members)
{
    ZoneMotion motion;
    Real mass = 0;
    for (const ZoneMember& m : members) {
        mass += m.mass;
        motion.center += m.mass * m.position;
        motion.linear += m.mass * m.velocity;
    }
    motion.center /= mass;
    motion.linear /= mass;
    Mat3 inertia = Mat3::Zero();
    Vec3 momentum = Vec3::Zero();
    for (const ZoneMember& m : members) {
        const Vec3 r = m.position - motion.center;
        inertia += m.mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose()) + m.inertia;
        momentum += m.mass * r.cross(m.velocity) + m.inertia * m.angular_velocity;
    }
    // W = I^+ L: eigenvalues that are nothing but rounding (all masses on one line) are left out.
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(inertia);
    const Real smallest = 1e-10 * eigen.eigenvalues().maxCoeff();
    for (int k = 0; k < 3; ++k)
        if (eigen.eigenvalues()[k] > smallest) {
            const Vec3 axis = eigen.eigenvectors().col(k);
            motion.angular += axis.dot(momentum) / eigen.eigenvalues()[k] * axis;
        }
    return motion;
}

namespace {

/// A unit moves or stands as one: a particle's block, or a rigid body (named by its linear block).
void units_of_vertex(const Model& model, Index v, std::vector<Index>& units)
{
    for (Index b : model.surface.blocks(v))
        if (!model.is_prescribed(b)) units.push_back(b);
}

std::vector<Index> units_of(const Model& model, const Impact& impact)
{
    std::vector<Index> units;
    for (Index v : impact.vertices)
        if (v != none) units_of_vertex(model, v, units);
    return units;
}

bool is_rigid(const Model& model, Index unit)
{
    return model.rotor_of_block[unit] != none;
}

/// A scripted body (an obstacle, a plane, a body with pins) that an impact touches, and the vertex that does; none for
/// a plane.
struct Touch {
    Index body, vertex;
};

std::vector<Touch> scripts_of(const FailsafeStep& step, const Impact& impact)
{
    std::vector<Touch> touched;
    const Surface& s = step.model.surface;
    for (Index v : impact.vertices) {
        if (v == none) continue;
        bool scripted = step.model.is_scripted_vertex(v);
        for (Index b : s.blocks(v)) scripted = scripted || step.model.is_prescribed(b);
        if (scripted) touched.push_back({s.vertex_body[v], v});
    }
    if (impact.key.kind == PairKind::vertex_plane) touched.push_back({step.plane_bodies[impact.key.b], none});
    return touched;
}

/// The motion that a scripted body imposes: start -> end of the step.
struct Script {
    Pose before, after;
    bool operator==(const Script& o) const
    {
        return before.translation == o.before.translation && after.translation == o.after.translation &&
               before.rotation.coeffs() == o.before.rotation.coeffs() &&
               after.rotation.coeffs() == o.after.rotation.coeffs();
    }
    bool still() const
    {
        return before.translation == after.translation && before.rotation.coeffs() == after.rotation.coeffs();
    }
    Vec3 velocity(const Vec3& x, Real dt) const
    {
        return (after(before.rotation.conjugate() * (x - before.translation)) - x) / dt;
    }
};

/// Of a body whose vertices move one by one: what those that a zone touches do on average.
Script mean_script(const FailsafeStep& step, Index body, const std::vector<Touch>& touched)
{
    Script script;
    Index vertices = 0;
    for (const Touch& t : touched) {
        if (t.body != body || t.vertex == none) continue;
        script.after.translation += step.x1_scripted[t.vertex] - step.x0[t.vertex];
        ++vertices;
    }
    if (vertices > 0) script.after.translation /= vertices;
    return script;
}

Script script_of(const FailsafeStep& step, Index body_id, const std::vector<Touch>& touched)
{
    const Body& body = step.model.bodies[body_id];
    const Motion* motion = nullptr;
    if (body.obstacle != none) {
        const Obstacle& obstacle = step.model.obstacles[body.obstacle];
        if (obstacle.vertices) return mean_script(step, body_id, touched);
        motion = &obstacle.motion;
    } else {
        for (const Pin& pin : step.model.pins) {
            if (step.model.block_body[pin.block] != body_id) continue;
            if (pin.follows != none) return mean_script(step, body_id, touched);
            if (pin.motion != none) motion = &step.model.motions[pin.motion];
        }
    }
    if (!motion || motion->empty()) return {};
    return {motion->pose(step.start.time), motion->pose(step.start.time + step.dt)};
}

/// Gives a zone its common motion; false when two scripts disagree.
bool move_zone(const FailsafeStep& step, const std::vector<Index>& units, const std::vector<Touch>& scripts, Vec3s& v,
               const Vec3s& wanted)
{
    const Model& model = step.model;
    if (!scripts.empty()) {
        const Script script = script_of(step, scripts.front().body, scripts);
        Index last = scripts.front().body;
        for (const Touch& t : scripts) {
            if (std::exchange(last, t.body) == t.body) continue;
            const Script other = script_of(step, t.body, scripts);
            if (!(other == script) && !(other.still() && script.still())) return false;
        }
        for (Index u : units) {
            v[u] = script.velocity(step.start.position[u], step.dt);
            if (!is_rigid(model, u)) continue;
            const Quat turn = script.after.rotation * script.before.rotation.conjugate();
            // The Cayley map of dt w is the quaternion (1, dt w / 2) normalised.
            v[u + 1] = std::abs(turn.w()) > 1e-9 ? Vec3(2 / (step.dt * turn.w()) * turn.vec()) : Vec3::Zero();
        }
        return true;
    }
    std::vector<ZoneMember> members;
    for (Index u : units) {
        ZoneMember m{model.mass[u], step.start.position[u], wanted[u], Mat3::Zero(), Vec3::Zero()};
        if (is_rigid(model, u)) {
            const Index r = model.rotor_of_block[u];
            m.inertia = world_inertia(model.rotors[r].rigid, step.start.orientation[r]);
            m.angular_velocity = wanted[u + 1];
        }
        members.push_back(m);
    }
    const ZoneMotion motion = zone_motion(members);
    for (Index u : units) {
        v[u] = motion.linear + motion.angular.cross(step.start.position[u] - motion.center);
        if (is_rigid(model, u)) v[u + 1] = motion.angular;
    }
    return true;
}

} // namespace

ZoneReport resolve_by_zones(const FailsafeStep& step, const FindImpacts& find_impacts, Vec3s& v)
{
    constexpr int max_rounds = 50; // zones that still grow by then are better stopped by truncation
    ZoneReport report;
    const Vec3s wanted = v;
    UnionFind zones(step.model.block_count());
    std::vector<char> in_zone(v.size(), 0);
    std::map<Index, std::vector<Touch>> scripts_at; // unit -> scripts it met
    for (; report.rounds < max_rounds; ++report.rounds) {
        const std::vector<Impact>& impacts = find_impacts(v);
        if (impacts.empty()) {
            report.safe = true;
            break;
        }
        for (const Impact& impact : impacts) {
            const std::vector<Index> units = units_of(step.model, impact);
            if (units.empty()) return report; // scripted against scripted
            for (Index u : units) {
                in_zone[u] = 1;
                zones.join(units.front(), u);
            }
            for (const Touch& t : scripts_of(step, impact)) scripts_at[units.front()].push_back(t);
        }
        std::map<Index, std::vector<Index>> members;
        std::map<Index, std::vector<Touch>> scripts;
        for (Index u = 0; u < count(in_zone); ++u)
            if (in_zone[u]) members[zones.find(u)].push_back(u);
        for (const auto& [unit, touched] : scripts_at) {
            std::vector<Touch>& all = scripts[zones.find(unit)];
            all.insert(all.end(), touched.begin(), touched.end());
        }
        report.zones = static_cast<int>(members.size());
        for (const auto& [zone, units] : members) report.largest = std::max(report.largest, count(units));
        for (const auto& [zone, units] : members)
            if (!move_zone(step, units, scripts[zone], v, wanted)) return report;
    }
    return report;
}

TruncationReport resolve_by_truncation(const FailsafeStep& step, const FindImpacts& find_impacts, Vec3s& v)
{
    constexpr Real shortest = 0.05;    // of the motion: what is left after five halvings is given up
    constexpr int halving_rounds = 12; // twice that, so that what meets in consequence is halved as well
    constexpr int max_rounds = 60;     // a chain in which one stops the next takes a round each
    TruncationReport report;
    std::vector<Real> scale(v.size(), 1);
    const Vec3s wanted = v;
    const auto apply = [&](Index u, Real s) {
        scale[u] = s;
        v[u] = s * wanted[u];
        if (is_rigid(step.model, u)) v[u + 1] = s * wanted[u + 1];
    };
    for (;; ++report.rounds) {
        const std::vector<Impact>& impacts = find_impacts(v);
        if (impacts.empty()) {
            report.safe = true;
            break;
        }
        bool progress = false;
        std::vector<Index> units;
        for (const Impact& impact : impacts)
            for (Index u : units_of(step.model, impact)) units.push_back(u);
        if (report.rounds >= max_rounds) // a chain that grows one by one: stop everything at once
            for (Index u = 0; u < step.model.block_count(); ++u)
                if (step.model.mass[u] > 0 && !step.model.is_prescribed(u)) units.push_back(u);
        std::sort(units.begin(), units.end());
        units.erase(std::unique(units.begin(), units.end()), units.end());
        for (Index u : units) {
            if (scale[u] == 0) continue;
            progress = true;
            apply(u, report.rounds < halving_rounds && scale[u] > shortest ? scale[u] / 2 : 0);
        }
        if (!progress) {
            report.left = impacts;
            break;
        }
    }
    report.truncated = static_cast<int>(std::count_if(scale.begin(), scale.end(), [](Real s) { return s < 1; }));
    return report;
}

} // namespace pliant
