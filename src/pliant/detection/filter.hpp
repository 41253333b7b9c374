#pragma once
// The one place that says which pairs of features are looked at.

#include "pliant/detection/pairs.hpp"
#include "pliant/world/surface.hpp"

#include <algorithm>
#include <span>

namespace pliant {

/// Leaves out pairs that share a vertex or partners in a seam, that belong to one rigid body, to two obstacles, to the
/// pinned parts of one body, or to two bodies that the scene keeps apart. Pinned parts of a body against another body
/// are looked at like all others: no response can move them, but what their script does is seen. For proximity also
/// pairs are left out that no response can move, and pairs of one body that are closer in the rest shape than the gap,
/// or they would become permanent contacts.
class PairFilter {
public:
    /// no_contact: pairs of body numbers, also (i, i) for a body without self-contact.
    explicit PairFilter(const Surface& surface, std::span<const std::array<Index, 2>> no_contact = {});

    bool vertex_face(Index v, Index f) const
    {
        const Triangle& t = surface_.triangles[f];
        if (same(v, t[0]) || same(v, t[1]) || same(v, t[2])) return false;
        return bodies_of(v, t[0]) && !(fixed_vertex_[v] && fixed_face_[f] && same_body(v, t[0]));
    }
    bool edge_edge(Index e, Index g) const
    {
        const Edge &a = surface_.edges[e], &b = surface_.edges[g];
        if (same(a[0], b[0]) || same(a[0], b[1]) || same(a[1], b[0]) || same(a[1], b[1])) return false;
        return bodies_of(a[0], b[0]) && !(fixed_edge_[e] && fixed_edge_[g] && same_body(a[0], b[0]));
    }
    /// Whether a body of vertex v may touch the body numbered `body` (planes are bodies without vertices).
    bool vertex_body(Index v, Index body) const
    {
        const Index own = surface_.vertex_body[v];
        return !scripted_[own] && (exclusions_.empty() || !excluded(own, body));
    }
    /// Whether pairs of one body without a common vertex have to be asked for one by one; pairs of two bodies that may
    /// meet all pass.
    bool asks(Index body) const { return asks_[body] != 0; }
    /// False when no pair between the bodies matters.
    bool bodies(Index a, Index b) const
    {
        if ((a == b && rigid_[a]) || (scripted_[a] && scripted_[b])) return false;
        return exclusions_.empty() || !excluded(a, b);
    }
    /// Whether a response can move a vertex of the pair.
    bool can_move(const ContactPair& pair) const
    {
        return std::any_of(pair.vertices.begin(), pair.vertices.end(),
                           [&](Index v) { return v != none && !fixed_vertex_[v]; });
    }

    /// Proximity only: false when the pair is closer in the rest shape than its gap.
    bool apart_at_rest(const ContactPair& pair) const;

private:
    /// One vertex, or partners in a seam.
    bool same(Index v, Index w) const
    {
        return v == w || (!surface_.weld.empty() && surface_.weld[v] == surface_.weld[w]);
    }
    bool bodies_of(Index v, Index w) const { return bodies(surface_.vertex_body[v], surface_.vertex_body[w]); }
    bool same_body(Index v, Index w) const { return surface_.vertex_body[v] == surface_.vertex_body[w]; }
    bool excluded(Index a, Index b) const;

    const Surface& surface_;
    std::vector<std::uint8_t> fixed_vertex_, fixed_edge_, fixed_face_; ///< all vertices prescribed
    std::vector<std::uint8_t> rigid_, scripted_;                       ///< per body
    std::vector<std::uint8_t> asks_;                                   ///< per body: has seams, or parts that are fixed
    std::vector<std::array<Index, 2>> exclusions_;                     ///< sorted, smaller number first
};

} // namespace pliant
