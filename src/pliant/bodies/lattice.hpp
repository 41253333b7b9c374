#pragma once
// Bodies whose surface rides in a lattice of cells: masses of the nodes, and springs between them.

#include "pliant/bodies/materials.hpp"
#include "pliant/bodies/springs.hpp"
#include "pliant/mesh/lattice.hpp"

namespace pliant {

/// Per node [kg]. The mass of a cell is that of its surface (areal density), filled that of its volume, and goes to
/// its corners in equal parts. A node that would get less than a quarter of the mean gets that, or slivers of surface
/// would dictate tiny steps; the others are scaled so that the total stays what the material says.
std::vector<Real> lattice_mass(const LatticeMesh& lattice, const LatticeMaterial& material);

/// Springs along the edges, face diagonals and body diagonals of the cells, between nodes from first_block on. A block
/// of cells with them is an isotropic solid of the given Young's modulus and Poisson's ratio 1/4.
std::vector<Spring> lattice_springs(const LatticeMesh& lattice, Real young, Index first_block);

} // namespace pliant
