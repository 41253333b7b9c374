#pragma once
// Which pairs of closest features are closest for the surfaces around them too.
//
// A vertex above the inside of a face is also within reach of that face's edges. Those pairs are no local minima of the
// distance between the two surfaces: their normals lean, and as constraints they hinder sliding although nothing is
// there to slide against. A pair is a local minimum when its normal lies in the normal cones of both features.

#include "pliant/detection/pairs.hpp"
#include "pliant/world/surface.hpp"

namespace pliant {

class NormalCones {
public:
    explicit NormalCones(const Surface& surface);

    /// Whether, seen from the contact, no face next to the pair's vertex or edge comes closer to the other side than by
    /// `tolerance`, the sine of an angle. Pairs with a face or a plane on one side are only tested on that side's
    /// other.
    bool local_minimum(const ContactPair& pair, const Vec3s& x, Real tolerance) const;

    /// Whether the two faces at an edge form a plane but for an angle with this sine. A boundary edge is not flat.
    bool is_flat(Index edge, const Vec3s& x, Real tolerance) const;
    /// The same for all edges, one flag each. Bodies that are marked stand still: their flags stay, once they are
    /// there.
    void find_flat(const Vec3s& x, Real tolerance, std::span<const char> still_bodies, std::vector<char>& flat);

private:
    /// n points from the other side to this one.
    bool vertex_allows(Index v, const Vec3& n, const Vec3s& x, Real tolerance) const;
    bool edge_allows(Index e, const Vec3& n, const Vec3s& x, Real tolerance) const;

    const Surface& surface_;
    std::vector<std::array<Index, 2>> opposite_; ///< per edge: vertices across from it, `none` at a boundary
    std::vector<std::array<Index, 2>> faces_;    ///< per edge: the faces of these
    std::vector<char> turned_;                   ///< per edge: its faces are not the same way up
    Vec3s normal_;                               ///< per face, of any length; scratch
    std::vector<Real> normal_sq_;                ///< per face; scratch
    std::vector<Index> ring_begin_, ring_;       ///< per vertex: its neighbours
};

} // namespace pliant
