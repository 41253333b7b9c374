#include "pliant/detection/filter.hpp"

#include "pliant/core/contracts.hpp"
#include "pliant/geometry/closest.hpp"

#include <algorithm>

namespace pliant {
namespace {

[[maybe_unused]] bool is_valid(const Surface& s)
{
    const Index n = s.vertex_count();
    return count(s.prescribed) == n && count(s.vertex_gap) == n && count(s.frame) == n && count(s.rest) == n &&
           all_finite(s.rest) && all_below(s.edges, n) && all_below(s.triangles, n) &&
           s.triangle_edges.size() == s.triangles.size() && all_below(s.triangle_edges, count(s.edges));
}

} // namespace

PairFilter::PairFilter(const Surface& surface, std::span<const std::array<Index, 2>> no_contact) : surface_(surface)
{
    assert(is_valid(surface));
    fixed_vertex_ = surface.prescribed;
    fixed_edge_.reserve(surface.edges.size());
    for (const Edge& e : surface.edges) fixed_edge_.push_back(fixed_vertex_[e[0]] && fixed_vertex_[e[1]]);
    fixed_face_.reserve(surface.triangles.size());
    for (const Triangle& t : surface.triangles)
        fixed_face_.push_back(fixed_vertex_[t[0]] && fixed_vertex_[t[1]] && fixed_vertex_[t[2]]);
    Index bodies = 0;
    for (Index b : surface.vertex_body) bodies = std::max(bodies, b + 1);
    rigid_.assign(static_cast<std::size_t>(bodies), 0);
    scripted_ = asks_ = rigid_;
    for (Index v = 0; v < surface.vertex_count(); ++v)
        if (fixed_vertex_[v] || (!surface.weld.empty() && surface.weld[v] != v)) asks_[surface.vertex_body[v]] = 1;
    for (Index v = 0; v < count(surface.frame); ++v)
        if (surface.frame[v] != none) (surface.prescribed[v] ? scripted_ : rigid_)[surface.vertex_body[v]] = 1;
    for (const Index v : surface.moved) scripted_[surface.vertex_body[v]] = 1;
    for (auto [a, b] : no_contact) exclusions_.push_back({std::min(a, b), std::max(a, b)});
    std::sort(exclusions_.begin(), exclusions_.end());
}

bool PairFilter::excluded(Index a, Index b) const
{
    return std::binary_search(exclusions_.begin(), exclusions_.end(), std::array{std::min(a, b), std::max(a, b)});
}

bool PairFilter::apart_at_rest(const ContactPair& pair) const
{
    const auto& v = pair.vertices;
    const PairKind kind = pair.key.kind;
    if (kind == PairKind::vertex_plane) return true;
    const Index first_b = kind == PairKind::edge_edge ? v[2] : v[1];
    if (surface_.vertex_body[v[0]] != surface_.vertex_body[first_b]) return true;
    const auto& x = surface_.rest;
    const Real gap = surface_.vertex_gap[v[0]] + surface_.vertex_gap[first_b];
    switch (kind) {
    case PairKind::vertex_vertex:
        return !((x[v[0]] - x[v[1]]).norm() < gap);
    case PairKind::vertex_edge: {
        const Real t = closest_on_segment(x[v[0]], x[v[1]], x[v[2]]);
        return !((x[v[0]] - (1 - t) * x[v[1]] - t * x[v[2]]).norm() < gap);
    }
    case PairKind::vertex_face:
        return !(closest_point_triangle(x[v[0]], x[v[1]], x[v[2]], x[v[3]]).distance < gap);
    default:
        return !(closest_edge_edge(x[v[0]], x[v[1]], x[v[2]], x[v[3]]).distance < gap);
    }
}

} // namespace pliant
