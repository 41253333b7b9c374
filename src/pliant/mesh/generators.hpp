#pragma once
// Meshes made from numbers: each is centred at the origin with the y axis up unless stated; sizes in metres.

#include "pliant/mesh/mesh.hpp"

namespace pliant {

/// How the squares of a grid are cut: `alternating` diagonals form diamonds, `uniform` all run the same way.
enum class Diagonals { alternating, uniform };

/// Rectangle in the x-z plane, nx by nz vertices, row-major with x fastest.
TriangleMesh make_grid(Real size_x, Real size_z, Index nx, Index nz, Diagonals diagonals = Diagonals::alternating);
/// Closed box, every face a grid of `cells` squares per axis.
TriangleMesh make_box(const Vec3& size, const std::array<Index, 3>& cells = {1, 1, 1});
/// Sphere from a subdivided icosahedron: 20 * 4^subdivisions triangles.
TriangleMesh make_sphere(Real radius, Index subdivisions);
/// Tetrahedral box of cells[0] x cells[1] x cells[2] cubes, six tetrahedra a cube (Kuhn), conforming.
TetMesh make_tet_box(const Vec3& size, const std::array<Index, 3>& cells);

} // namespace pliant
