// How a tentative step changes the set of contacts: constraint manifold refinement [Otaduy09, section 4].

#include "pliant/methods/contact_finder.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/core/parallel.hpp"

#include <cmath>

namespace pliant {
namespace {

constexpr int rounds_without_flat_crossings = 2; ///< of five: the others are left to those that vertices do not stop
constexpr Real same_place = 0.01;                ///< of an edge, between closest points that are taken for one
constexpr Real same_normal = 0.999;              ///< cosine

/// Whether the set, sorted by key, has a row for this pair.
bool is_known(const std::vector<Contact>& contacts, const ContactKey& key)
{
    const auto it = std::lower_bound(contacts.begin(), contacts.end(), key,
                                     [](const Contact& o, const ContactKey& k) { return o.key < k; });
    return it != contacts.end() && it->key == key;
}

/// Two flat surfaces that meet hit at every crossing of their edges at once. The vertices say all of it: crossings of
/// flat edges next to another impact wait, and are added only if the next rounds still find them, with cloth only
/// when those impacts have rows already. Per impact: waits.
std::vector<char> waiting_impacts(const Substep& s, const std::vector<Impact>& impacts,
                                  const std::vector<Contact>& candidates, const std::vector<Contact>& known, int round)
{
    std::vector<char> waits(impacts.size(), 0);
    const auto is_flat_crossing = [&](const Impact& i) {
        return i.key.kind == PairKind::edge_edge && (s.flat[i.key.a] || s.flat[i.key.b]);
    };
    const bool early = round <= rounds_without_flat_crossings;
    std::vector<char> near_impact(s.x0.size(), 0);
    for (std::size_t k = 0; k < impacts.size(); ++k)
        if (!is_flat_crossing(impacts[k]) && (early || !is_known(known, candidates[k].key)))
            for (Index v : impacts[k].vertices)
                if (v != none) near_impact[v] = 1;
    for (std::size_t k = 0; k < impacts.size(); ++k) {
        const Impact& i = impacts[k];
        const auto near = [&](int a, int b) { return near_impact[i.vertices[a]] || near_impact[i.vertices[b]]; };
        waits[k] = is_flat_crossing(i) && (early || has_cloth(s.model, candidates[k])) && near(0, 1) && near(2, 3);
    }
    return waits;
}

/// A vertex that comes down beside an edge or a vertex meets all the features around it, one as good as the other. Per
/// impact: another one of the same vertex, at the same place and with the same normal, stands for it.
std::vector<char> repeated_impacts(const Substep& s, const std::vector<Impact>& impacts,
                                   const std::vector<Contact>& candidates)
{
    struct Seen {
        Index vertex; ///< which meets
        Index body;   ///< that it meets
        Index impact;
        auto operator<=>(const Seen&) const = default;
    };
    std::vector<Seen> seen;
    for (Index k = 0; k < count(impacts); ++k) {
        const Impact& i = impacts[k];
        if (i.key.kind == PairKind::edge_edge || i.key.kind == PairKind::vertex_plane) continue;
        if (!has_cloth(s.model, candidates[k])) continue;
        const auto add = [&](Index v, Index other) { seen.push_back({v, s.model.surface.vertex_body[other], k}); };
        add(i.vertices[0], i.vertices[1]);
        if (i.key.kind == PairKind::vertex_vertex) add(i.vertices[1], i.vertices[0]);
    }
    std::sort(seen.begin(), seen.end());
    std::vector<char> repeated(impacts.size(), 0);
    const auto side = [&](const Seen& x) -> Real { return candidates[x.impact].vertex[0] == x.vertex ? 1 : -1; };
    // Where it is met: the closest point of the other side, at the start of the step.
    const auto place = [&](const Seen& x) -> Vec3 {
        return s.x0[x.vertex] - side(x) * relative_position(candidates[x.impact], s.x0);
    };
    const auto normal = [&](const Seen& x) -> Vec3 { return side(x) * candidates[x.impact].normal; };
    for (std::size_t first = 0; first < seen.size();) {
        std::size_t end = first + 1;
        while (end < seen.size() && seen[end].vertex == seen[first].vertex && seen[end].body == seen[first].body) ++end;
        const Real near = same_place * s.model.bodies[s.model.surface.vertex_body[seen[first].vertex]].edge_length;
        for (std::size_t k = first + 1; k < end; ++k)
            for (std::size_t e = first; e < k && !repeated[seen[k].impact]; ++e)
                if (!repeated[seen[e].impact] && (place(seen[k]) - place(seen[e])).norm() <= near &&
                    normal(seen[k]).dot(normal(seen[e])) > same_normal)
                    repeated[seen[k].impact] = 1;
        first = end;
    }
    return repeated;
}

constexpr int slots = 4; ///< rows for one pair of features, at most

/// Adds c to contacts, whose first `known` are sorted by key; those added after them come pair by pair. Several rows
/// for one pair of features: a new geometry replaces one like it, else it is added.
void add_contact(const Substep& s, Contact c, Index known, std::vector<Contact>& contacts)
{
    const auto find = [&](const ContactKey& key) {
        const auto sorted_end = contacts.begin() + known;
        const auto it = std::lower_bound(contacts.begin(), sorted_end, key,
                                         [](const Contact& o, const ContactKey& k) { return o.key < k; });
        if (it != sorted_end && it->key == key) return it;
        const auto last = contacts.end() - std::min<std::ptrdiff_t>(slots, contacts.end() - sorted_end);
        return std::find_if(last, contacts.end(), [&](const Contact& o) { return o.key == key; });
    };
    const ContactKey pair = c.key;
    for (int slot = 0; slot < slots; ++slot) {
        c.key = pair;
        c.key.b |= static_cast<std::uint64_t>(slot) << 40;
        const auto it = find(c.key);
        if (it == contacts.end()) {
            warm_start(s.memory(), s.dt, c);
            contacts.push_back(c);
            return;
        }
        Real change = 0;
        for (int k = 0; k < 4; ++k) change = std::max(change, std::abs(it->weight[k] - c.weight[k]));
        if (slot == slots - 1 || (it->normal.dot(c.normal) > 0.999 && change < 0.05)) {
            c.impulse = it->impulse;
            *it = c;
            return;
        }
    }
}

/// What a linear row misses of a rotation is added to its right-hand side for the next round.
void correct_rotations(const Substep& s, const Tentative& t, std::vector<Contact>& contacts)
{
    for (Contact& c : contacts) {
        if (s.model.bodies[c.body_a].rotor == none && s.model.bodies[c.body_b].rotor == none) continue;
        const Real moved = c.kind == ContactKind::plane
                               ? c.normal.dot(t.x1[c.vertex[0]] - s.x0[c.vertex[0]])
                               : c.normal.dot(relative_position(c, t.x1) - relative_position(c, s.x0));
        Real linear = 0;
        for (int k = 0; k < 4; ++k) {
            const Index v = c.vertex[k];
            if (v == none) continue;
            Vec3 u;
            if (const Rotor* rotor = s.model.rotor_of_vertex(v))
                u = t.v[rotor->block] +
                    Vec3(t.v[rotor->angular_block()]).cross(s.x0[v] - s.start.position[rotor->block]);
            else
                u = (t.x1[v] - s.x0[v]) / s.dt;
            linear += c.weight[k] * c.normal.dot(u);
        }
        c.correction = moved - s.dt * linear;
    }
}

} // namespace

bool ContactFinder::refine(const Substep& s, const Tentative& t, int round, std::span<const char> lengths_by_rows,
                           ContactSet& set) const
{
    add_impacts(s, t, round, set.contacts);
    const bool strained = add_limits(s, t.end, lengths_by_rows, set.limits);
    if (t.impacts.empty() && !strained) return false;
    correct_rotations(s, t, set.contacts);
    return true;
}

void ContactFinder::add_impacts(const Substep& s, const Tentative& t, int round, std::vector<Contact>& contacts) const
{
    assert(strictly_sorted(contacts, &Contact::key));
    std::vector<Contact> candidates(t.impacts.size());
    parallel_for(count(candidates), [&](Index k) { candidates[k] = contact_of(s, t.impacts[k]); });
    const std::vector<char> waits = waiting_impacts(s, t.impacts, candidates, contacts, round);
    const std::vector<char> repeated = repeated_impacts(s, t.impacts, candidates);
    const Index known = count(contacts);
    for (std::size_t k = 0; k < candidates.size(); ++k)
        if (!waits[k] && !repeated[k]) add_contact(s, candidates[k], known, contacts);
    std::sort(contacts.begin(), contacts.end(), by_key);
}

Contact ContactFinder::contact_of(const Substep& s, const Impact& impact) const
{
    Contact c = paths_.contact_of(s, impact);
    c.target = target(c.distance, paths_.gaps().between(c.body_a, c.body_b));
    return c;
}

// Limits that the end of a tentative step breaks. True when one is new, or when its direction turned so far that its
// row has to be corrected again.
bool ContactFinder::add_limits(const Substep& s, const State& end, std::span<const char> by_rows,
                               std::vector<StrainLimit>& limits) const
{
    constexpr Real margin = 2e-3;      // of the length: what the direction's change within the step may break
    constexpr Real correctable = 1e-4; // of the length: a smaller change of the correction is none
    bool changed = false;
    const Index known = count(limits);
    for (Index b = 0; b < count(s.model.bodies); ++b) {
        const Body& body = s.model.bodies[b];
        if (!by_rows[b]) continue;
        for (Index i = 0; i < body.limit_count; ++i) {
            const LengthLimit& length = s.model.length_limits[body.first_limit + i];
            const Vec3 d1 = end.position[length.b] - end.position[length.a];
            if (d1.norm() <= length.ratio * length.rest_length) continue;
            const Vec3 d0 = s.start.position[length.b] - s.start.position[length.a];
            StrainLimit limit;
            limit.body = b;
            limit.number = i;
            limit.block = {length.a, length.b};
            limit.direction = d0.normalized();
            limit.rest = length.ratio * (1 - margin) * length.rest_length - d0.norm();
            limit.target = std::min(0.0, limit.rest * (1 - options_.recovery));
            limit.room = margin * length.rest_length;
            // The linear row sees the length along the old direction only.
            limit.correction = limit.direction.dot(d1) - d1.norm();
            const auto known_end = limits.begin() + known;
            const auto it =
                std::lower_bound(limits.begin(), known_end, limit, [](const StrainLimit& x, const StrainLimit& y) {
                    return x.identity() < y.identity();
                });
            if (it == known_end || it->identity() != limit.identity()) {
                limits.push_back(limit);
                changed = true;
            } else if (it->correction - limit.correction > correctable * length.rest_length) {
                it->correction = limit.correction;
                changed = true;
            }
        }
    }
    std::sort(limits.begin(), limits.end(),
              [](const StrainLimit& x, const StrainLimit& y) { return x.identity() < y.identity(); });
    return changed;
}

} // namespace pliant
