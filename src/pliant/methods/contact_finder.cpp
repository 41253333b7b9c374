#include "pliant/methods/contact_finder.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/dynamics/system.hpp"

#include <limits>
#include <map>
#include <set>

namespace pliant {
namespace {

/// The cells of a cubic grid between two corners.
class CellGrid {
public:
    explicit CellGrid(Real width) : width_(width) {}

    using Cell = Eigen::Array3d;
    Cell cell(const Vec3& x) const { return (x / width_).array().floor(); }
    void add(const Cell& c)
    {
        lo_ = lo_.min(c);
        hi_ = hi_.max(c);
    }
    Real size() const { return (hi_ - lo_ + 1).prod(); }
    /// Place of a cell in an array of all; none outside.
    Index place(const Cell& c) const
    {
        if ((c < lo_).any() || (c > hi_).any()) return none;
        const Cell at = c - lo_, sides = hi_ - lo_ + 1;
        return static_cast<Index>((at[2] * sides[1] + at[1]) * sides[0] + at[0]);
    }

private:
    Real width_;
    Cell lo_ = Cell::Constant(std::numeric_limits<Real>::infinity()), hi_ = -lo_;
};

/// Adds to the vertices of all cloths with this edge length the mean displacement over the cell of a grid that each is
/// in, a few edges wide [m].
void add_mean_motion(const Model& model, Real edge, const Vec3s& x0, const Vec3s& x1, Vec3s& mean)
{
    constexpr Real edges = 8; // a cell: wider than folds, whose sides move against each other, narrower than a sheet
    const auto for_cloth = [&](auto&& visit) {
        for (const Body& body : model.bodies) {
            if (!body.sheet || body.edge_length != edge) continue;
            for (Index v = body.first_vertex; v < body.first_vertex + body.vertex_count; ++v) visit(v);
        }
    };
    CellGrid grid(edges * edge);
    for_cloth([&](Index v) { grid.add(grid.cell(x0[v])); });
    struct Sum {
        Vec3 moved = Vec3::Zero();
        Index vertices = 0;
    };
    const auto add_all = [&](auto&& sum_of) {
        for (Index v = 0; v < count(x0); ++v)
            if (Sum* sum = sum_of(grid.cell(x0[v]))) {
                sum->moved += x1[v] - x0[v];
                ++sum->vertices;
            }
        for_cloth([&](Index v) {
            const Sum& sum = *sum_of(grid.cell(x0[v]));
            mean[v] = sum.moved / Real(sum.vertices);
        });
    };
    if (grid.size() <= 64 + 4 * Real(x0.size())) {
        std::vector<Sum> sums(static_cast<std::size_t>(grid.size()));
        add_all([&](const CellGrid::Cell& c) {
            const Index place = grid.place(c);
            return place == none ? nullptr : &sums[place];
        });
        return;
    }
    // Cloth is scattered over so much room that few of its cells have any.
    std::map<std::array<Real, 3>, Sum> sums;
    const auto key = [](const CellGrid::Cell& c) { return std::array{c[0], c[1], c[2]}; };
    for_cloth([&](Index v) { sums.try_emplace(key(grid.cell(x0[v]))); });
    add_all([&](const CellGrid::Cell& c) {
        const auto sum = sums.find(key(c));
        return sum == sums.end() ? nullptr : &sum->second;
    });
}

/// Per vertex of a cloth: the mean displacement around it [m]. Other bodies get 0: a coarse obstacle may be next to
/// them without a vertex in the cell.
Vec3s mean_motion(const Model& model, const Vec3s& x0, const Vec3s& x1)
{
    Vec3s mean(x0.size(), Vec3::Zero());
    std::set<Real> edges;
    for (const Body& body : model.bodies)
        if (body.sheet && body.edge_length > 0) edges.insert(body.edge_length);
    for (const Real edge : edges) add_mean_motion(model, edge, x0, x1, mean);
    return mean;
}

/// Edges whose crossings say nothing that their vertices do not: flat ones, except where a crossing already carries.
std::vector<char> smooth_edges(const Substep& s)
{
    std::vector<char> smooth = s.flat;
    for (const ContactMemory& m : s.memory().contacts)
        if (const auto crossing = crossing_of({m.key_a, m.key_b}))
            for (Index e : *crossing) smooth[e] = 0;
    return smooth;
}

/// Leaves out what says nothing new of a vertex where cloth is met: solids, whose corners and edges a few rows hold in
/// place, converge sooner with all of them. Of two contacts in one direction, the farther one cannot be met before
/// the nearer: in a stack of cloth every layer is near all others, and only its neighbours matter; what carries stays.
/// And beside an edge or a vertex all the features around it are met at one place: one of them takes the impulses of
/// the others over.
void drop_hidden(const Model& model, std::vector<Contact>& contacts)
{
    constexpr Real nearer = 0.8, same_direction = 0.99, same_place = 0.01; // of an edge
    struct Seen {
        Index vertex;
        Real distance;
        Index contact;
        auto operator<=>(const Seen&) const = default;
    };
    std::vector<Seen> seen;
    for (Index k = 0; k < count(contacts); ++k) {
        const Contact& c = contacts[k];
        if (c.kind == ContactKind::edge_edge || !has_cloth(model, c)) continue;
        seen.push_back({c.vertex[0], c.distance, k});
        if (c.kind == ContactKind::vertex_vertex) seen.push_back({c.vertex[1], c.distance, k});
    }
    std::sort(seen.begin(), seen.end());
    const auto side = [&](const Seen& x) { return contacts[x.contact].vertex[0] == x.vertex ? 1 : -1; };
    const auto towards = [&](const Seen& x) -> Vec3 { return -side(x) * contacts[x.contact].normal; };
    std::vector<char> dropped(contacts.size(), 0);
    for (std::size_t first = 0; first < seen.size();) {
        std::size_t end = first + 1;
        while (end < seen.size() && seen[end].vertex == seen[first].vertex) ++end;
        const Real near = same_place * model.bodies[model.surface.vertex_body[seen[first].vertex]].edge_length;
        for (std::size_t k = first + 1; k < end; ++k) {
            Contact& c = contacts[seen[k].contact];
            const Vec3 direction = towards(seen[k]);
            for (std::size_t e = first; e < k && !dropped[seen[k].contact]; ++e) {
                if (dropped[seen[e].contact]) continue;
                const Vec3 other = towards(seen[e]);
                if (other.dot(direction) <= same_direction) continue;
                const bool here = c.kind != ContactKind::plane &&
                                  (seen[k].distance * direction - seen[e].distance * other).norm() < near;
                if (here) contacts[seen[e].contact].impulse += side(seen[e]) * side(seen[k]) * c.impulse;
                dropped[seen[k].contact] =
                    here || (c.impulse.isZero(0) && seen[e].distance < nearer * seen[k].distance);
            }
        }
        first = end;
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < contacts.size(); ++k)
        if (!dropped[k]) contacts[kept++] = contacts[k];
    contacts.resize(kept);
}

} // namespace

void warm_start(const ImplicitMemory& memory, Real dt, Contact& contact)
{
    const Real scale = memory.last_substep > 0 ? dt / memory.last_substep : 0;
    const auto it = std::lower_bound(memory.contacts.begin(), memory.contacts.end(), contact.key,
                                     [](const ContactMemory& m, const ContactKey& k) {
                                         return ContactKey{m.key_a, m.key_b} < k;
                                     });
    if (it != memory.contacts.end() && ContactKey{it->key_a, it->key_b} == contact.key)
        contact.impulse = scale * it->impulse;
}

ContactFinder::ContactFinder(const Model& model, const ImplicitOptions& options)
    : options_(options), paths_(model, {.ccd = options.ccd,
                                        .hard_gap_fraction = options.hard_gap_fraction,
                                        .ccd_fraction = options.ccd_fraction,
                                        .chord_fraction = options.chord_fraction,
                                        .culling = options.culling}),
      cones_(model.surface)
{
    for (const Body& body : model.bodies)
        still_body_.push_back(body.obstacle != none && model.obstacles[body.obstacle].is_still());
}

Substep ContactFinder::begin(const World& world, Real dt, Vec3s v_free)
{
    assert(v_free.size() == world.state.position.size() && all_finite(v_free));
    const Model& model = world.model;
    Substep s{paths_.begin(world, dt)};
    s.v_free = std::move(v_free);
    State end;
    move_configuration(model, world.state, s.v_free, dt, end);
    surface_positions(model, end, s.x1_free);
    cones_.find_flat(s.x0, options_.flat_sine, still_body_, flat_);
    s.flat = flat_;
    return s;
}

/// Per vertex: how much farther than the gap to look, twice what it travels against its surroundings, at most a quarter
/// of an edge [m]. What moves along together does not meet.
std::vector<Real> ContactFinder::look_ahead(const Substep& s) const
{
    const Surface& surface = s.model.surface;
    const Vec3s drift = mean_motion(s.model, s.x0, s.x1_free);
    const Real fall = s.model.gravity.norm() * s.dt * s.dt; // what a body at rest moves in the unconstrained step
    std::vector<Real> ahead(static_cast<std::size_t>(surface.vertex_count()));
    parallel_for(surface.vertex_count(), [&](Index v) {
        const Body& body = s.model.bodies[surface.vertex_body[v]];
        const Vec3 path = s.x1_free[v] - s.x0[v];
        const Real moved = std::max((path - drift[v]).norm(), std::min(fall, path.norm()));
        ahead[v] = 2 * moved;
        if (body.gap > 0) ahead[v] = std::min({ahead[v], options_.reach_fraction / 2 * body.edge_length, 5 * body.gap});
    });
    return ahead;
}

/// Per vertex: a radius so large that no pair within its reach is missed, whatever the bodies [m].
std::vector<Real> ContactFinder::reaches(const Model& model, const std::vector<Real>& ahead) const
{
    std::vector<Real> radius(ahead.size());
    for (Index v = 0; v < count(radius); ++v) {
        const Index body = model.surface.vertex_body[v];
        const Real share = paths_.gaps().share(body);
        radius[v] = share + (model.bodies[body].gap > 0 ? ahead[v] : std::min(ahead[v], 2 * share));
    }
    return radius;
}

/// The gap of the two bodies, and what either side looks ahead: the gap at most for a body without one of its own.
bool ContactFinder::within_reach(const Model& model, const Contact& c, const std::vector<Real>& ahead) const
{
    const Real gap = paths_.gaps().between(c.body_a, c.body_b);
    Real reach = gap;
    for (int k = 0; k < 4 && c.vertex[k] != none; ++k) {
        const Index v = c.vertex[k];
        const bool own_gap = model.bodies[model.surface.vertex_body[v]].gap > 0;
        reach += std::abs(c.weight[k]) * (own_gap ? ahead[v] : std::min(ahead[v], gap));
    }
    if (c.kind == ContactKind::plane) reach += ahead[c.vertex[0]]; // as to another vertex like itself
    return c.distance <= reach;
}

/// What a row asks for at the end of the step: the gap, or to win back a part of what is lost of it [m].
Real ContactFinder::target(Real distance, Real gap) const
{
    return distance >= gap ? gap : distance + options_.recovery * (gap - distance);
}

/// One collection of candidates for the proximity of this sub-step and the impacts of its rounds; while little moves,
/// for later sub-steps too.
void ContactFinder::expect_queries(const Substep& s, const std::vector<Real>& reach)
{
    const Surface& surface = s.model.surface;
    const Index n = surface.vertex_count();
    // The end is the unconstrained one with the change that contact made in the last sub-step.
    Vec3s v = s.v_free;
    if (s.memory().contact_change.size() == v.size())
        parallel_for(count(v), [&](Index i) { v[i] += s.dt / s.memory().last_substep * s.memory().contact_change[i]; });
    State end;
    move_configuration(s.model, s.start, v, s.dt, end);
    Vec3s x1;
    surface_positions(s.model, end, x1);
    const Real fall = s.model.gravity.norm() * s.dt * s.dt;
    constexpr Real fast = 1.0 / 30;    // of an edge in a step
    constexpr Real fast_share = 0.005; // of the vertices: where more are fast, candidates serve this step only
    constexpr Real steps_ahead = 12, widest = 0.25; // of an edge
    const Index fast_vertices = parallel_sum(n, Index(0), [&](Index k) {
        const Body& body = s.model.bodies[surface.vertex_body[k]];
        return Index(body.gap > 0 && (x1[k] - s.x0[k]).norm() > fast * body.edge_length);
    });
    const bool slow = fast_vertices <= fast_share * n;
    std::vector<Real> least_t0(static_cast<std::size_t>(n)), least_t1(least_t0), radius_t0(least_t0),
        radius_t1(least_t0);
    parallel_for(n, [&](Index k) {
        const Index b = surface.vertex_body[k];
        const Body& body = s.model.bodies[b];
        const Real hard_gap = paths_.hard_gaps().share(b) * 2,
                   separation = (1 + options_.ccd_fraction) * hard_gap / 2 + s.curvature[b];
        const Real moved = (x1[k] - s.x0[k]).norm();
        Real room = hard_gap + std::min(moved / 4, fall);
        if (slow && body.edge_length > 0)
            room = std::clamp(steps_ahead * moved, room, std::max(room, widest * body.edge_length));
        least_t0[k] = std::max(reach[k], separation);
        least_t1[k] = separation;
        radius_t0[k] = least_t0[k] + room;
        radius_t1[k] = separation + room;
    });
    paths_.detector().expect(s.x0, x1, {radius_t0, radius_t1, least_t0, least_t1});
}

ContactSet ContactFinder::near(const Substep& s)
{
    poll_interrupt();
    const std::vector<Real> ahead = look_ahead(s), radius = reaches(s.model, ahead);
    const std::vector<char> smooth = smooth_edges(s);
    expect_queries(s, radius);
    ProximityOptions proximity;
    proximity.radius = radius;
    proximity.planes = s.planes;
    proximity.cone_tolerance = 0.1; // a pair that leans out of its cones is no local minimum: a ghost on a flat edge
    proximity.smooth = smooth;
    ContactSet set;
    const Real slack = 2 * s.model.gravity.norm() * s.dt * s.dt;
    for (const ContactPair& pair : paths_.detector().proximity(s.x0, proximity)) {
        if (is_released(s.memory().released, pair.key)) continue;
        Contact c = paths_.make_contact(s.model, pair);
        c.distance = pair.distance;
        if (!within_reach(s.model, c, ahead)) continue;
        const Real gap = paths_.gaps().between(c.body_a, c.body_b);
        c.hard_gap = std::min(paths_.hard_gaps().between(c.body_a, c.body_b), pair.distance / 2);
        c.target = target(pair.distance, gap);
        warm_start(s.memory(), s.dt, c);
        const bool carries = !c.impulse.isZero(0);
        if (!carries && c.kind == ContactKind::edge_edge && (s.flat[pair.key.a] || s.flat[pair.key.b])) continue;
        Real predicted; // distance along the normal after the unconstrained step
        if (c.kind == ContactKind::plane) {
            const MovingPlane& plane = s.planes[pair.key.b];
            predicted = plane.t1.normal.dot(s.x1_free[c.vertex[0]]) - plane.t1.offset;
        } else {
            predicted = c.normal.dot(relative_position(c, s.x1_free));
        }
        if (carries || predicted < c.target + std::min(slack, gap / 2)) set.contacts.push_back(c);
    }
    drop_hidden(s.model, set.contacts);
    std::sort(set.contacts.begin(), set.contacts.end(), by_key);
    return set;
}

} // namespace pliant
