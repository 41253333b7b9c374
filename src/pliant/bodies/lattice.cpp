#include "pliant/bodies/lattice.hpp"

#include <algorithm>

namespace pliant {
namespace {

constexpr Real least_share = 0.25; ///< of the mean mass of a node

/// Pairs of corners of a cell, by the number of axes in which they differ: 12 edges, 12 face and 4 body diagonals.
struct CellPair {
    int a, b, axes;
};

std::vector<CellPair> cell_pairs()
{
    std::vector<CellPair> pairs;
    for (int a = 0; a < 8; ++a)
        for (int b = a + 1; b < 8; ++b) {
            const int differ = a ^ b;
            pairs.push_back({a, b, (differ & 1) + (differ >> 1 & 1) + (differ >> 2)});
        }
    return pairs;
}

} // namespace

std::vector<Real> lattice_mass(const LatticeMesh& lattice, const LatticeMaterial& material)
{
    std::vector<Real> mass(lattice.nodes.size(), 0);
    Real total = 0;
    for (Index c = 0; c < lattice.cell_count(); ++c) {
        const Real cell =
            lattice.filled ? material.density * lattice.volume[c] : material.areal_density * lattice.area[c];
        total += cell;
        for (const Index node : lattice.corners[c]) mass[node] += cell / 8;
    }
    const Real least = least_share * total / static_cast<Real>(mass.size());
    Real light = 0, heavy = 0; // masses of the nodes at the bound and above it
    for (const Real m : mass) (m < least ? light : heavy) += std::max(m, least);
    const Real scale = (total - light) / heavy;
    for (Real& m : mass) m = m < least ? least : scale * m;
    return mass;
}

std::vector<Spring> lattice_springs(const LatticeMesh& lattice, Real young, Index first_block)
{
    // Springs of stiffness k1, k2, k3 along edges, face and body diagonals of cubes of side h, counted once each, have
    // C11 = (k1 + 2 k2 + 4/3 k3) / h and C12 = C44 = (k2 + 4/3 k3) / h: isotropic for k1 = k2 + 8/3 k3, with lambda =
    // mu and so E = 5/2 mu. Half of that sum in the face diagonals: k2 = k1/2, k3 = 3/16 k1, E = 15/8 k1 / h.
    const Real k1 = 8.0 / 15 * young * lattice.side;
    // An edge belongs to four cells and a face to two: each cell brings its part, so that borders are softer.
    const std::array<Real, 4> part = {0, k1 / 4, k1 / 2 / 2, 3 * k1 / 16};
    struct Share {
        Index a, b;
        Real stiffness;
        int axes;
    };
    std::vector<Share> shares;
    const std::vector<CellPair> pairs = cell_pairs();
    shares.reserve(pairs.size() * lattice.corners.size());
    for (const auto& corner : lattice.corners)
        for (const CellPair& p : pairs) {
            const auto [a, b] = std::minmax(corner[p.a], corner[p.b]);
            shares.push_back({a, b, part[p.axes], p.axes});
        }
    std::sort(shares.begin(), shares.end(), [](const Share& s, const Share& t) {
        return s.a != t.a ? s.a < t.a : s.b < t.b; // equal ones have equal stiffness
    });
    std::vector<Spring> springs;
    for (const Share& s : shares) {
        const Index a = first_block + s.a, b = first_block + s.b;
        if (!springs.empty() && springs.back().a == a && springs.back().b == b) {
            springs.back().stiffness += s.stiffness;
            continue;
        }
        const Real length = (lattice.nodes[s.a] - lattice.nodes[s.b]).norm();
        springs.push_back({a, b, length, s.stiffness, s.axes == 1 ? SpringKind::structural : SpringKind::shear});
    }
    return springs;
}

} // namespace pliant
