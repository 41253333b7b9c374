#pragma once
// What detection finds: pairs of features of the surface, and the geometry of their contact.

#include "pliant/core/types.hpp"

#include <compare>

namespace pliant {

/// The closest features of a pair. A pair found as vertex-face or edge-edge is reduced to the features that really hold
/// the closest points, so that what two neighbouring triangles or edges both see is one pair.
enum class PairKind : std::uint8_t { vertex_vertex, vertex_edge, vertex_face, edge_edge, vertex_plane };

/// Identity of a contact. a is a vertex, or the smaller edge number; b a vertex (then a < b), edge, face or plane
/// number.
struct PairKey {
    PairKind kind = PairKind::vertex_vertex;
    Index a = none, b = none;
    auto operator<=>(const PairKey&) const = default;
};

/// A pair of features with its closest points pa = sum of w x over weights > 0 of side a, pb likewise of side b.
struct ContactPair {
    PairKey key;
    std::array<Index, 4> vertices; ///< surface vertices; `none` beyond those that the key's features have
    std::array<Real, 4> weights;   ///< signed, 0 for `none`: pa - pb = sum of weights[k] x[vertices[k]]
    Vec3 normal = Vec3::Zero();    ///< unit, from b to a
    Real distance = 0;             ///< |pa - pb| [m]
};

/// The first impact of a pair during a step; its geometry is taken at `time`.
struct Impact : ContactPair {
    Real time = 0;                    ///< in [0, 1], never later than the true impact
    Real start_distance = 0;          ///< of the tested features at the start of the step [m]
    Vec3 start_normal = Vec3::Zero(); ///< closest direction at the start, unit; 0 if they touch there
};

using Pair = std::array<Index, 2>;

/// Pairs whose boxes overlap and that the filter lets pass; sorted, each once.
struct Candidates {
    std::vector<Pair> vertex_face; ///< vertex, face
    std::vector<Pair> edge_edge;   ///< smaller edge, larger edge
};

} // namespace pliant
