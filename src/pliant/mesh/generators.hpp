#pragma once
// Meshes made from numbers: each is centred at the origin with the y axis up unless stated; sizes in metres.
// Senseless numbers (a radius of zero, two vertices around, more elements than an Index can count) throw Error.

#include "pliant/mesh/mesh.hpp"

namespace pliant {

/// How the squares of a grid are cut: `alternating` diagonals form diamonds, `uniform` all run the same way.
enum class Diagonals { alternating, uniform };

/// Rectangle in the x-z plane, nx by nz vertices, row-major with x fastest.
TriangleMesh make_grid(Real size_x, Real size_z, Index nx, Index nz, Diagonals diagonals = Diagonals::alternating);
/// Disc in the x-z plane facing up, `around` vertices on its rim; inner rings have fewer, so that triangles stay
/// regular.
TriangleMesh make_disc(Real radius, Index around);
/// Closed box, every face a grid of `cells` squares per axis.
TriangleMesh make_box(const Vec3& size, const std::array<Index, 3>& cells = {1, 1, 1});
/// Sphere from a subdivided icosahedron: 20 * 4^subdivisions triangles.
TriangleMesh make_sphere(Real radius, Index subdivisions);
/// Closed cylinder along y: `around` vertices on each rim, `along` rows of vertices from rim to rim (at least 2).
TriangleMesh make_cylinder(Real radius, Real height, Index around, Index along);
/// Open truncated cone along y, a skirt: `along` rows of `around` vertices, the bottom row first; the rows are evenly
/// spaced. A top radius of zero closes the top with a single vertex.
TriangleMesh make_cone(Real bottom_radius, Real top_radius, Real height, Index around, Index along);
/// Torus around the y axis: `around` vertices along the ring, `section` around the tube; vertex = ring * section +
/// tube.
TriangleMesh make_torus(Real ring_radius, Real tube_radius, Index around, Index section);
/// Cylinder along y of the given length between two half spheres; `along` rows of vertices on the straight part
/// (at least 2). The total height is length + 2 radius.
TriangleMesh make_capsule(Real radius, Real length, Index around, Index along);
/// Arch stone (voussoir): the part between two radii of an arch in the x-y plane around the z axis, symmetric about +y.
/// The origin is the centre of the arch, so that turning copies about z builds it. Cells: along the arch, radial,
/// depth.
TriangleMesh make_wedge(Real inner_radius, Real outer_radius, Real angle, Real depth,
                        const std::array<Index, 3>& cells = {1, 1, 1});

/// How a cube is cut: into `six` tetrahedra around a diagonal (Kuhn), or `five`, one in the middle and one at every
/// second corner, mirrored from cube to cube so that the faces match.
enum class TetSplit { six, five };

/// Tetrahedral box of cells[0] x cells[1] x cells[2] cubes, conforming.
TetMesh make_tet_box(const Vec3& size, const std::array<Index, 3>& cells, TetSplit split = TetSplit::six);
/// A bar is a box: length along x, then height and width.
inline TetMesh make_tet_bar(Real length, Real height, Real width, const std::array<Index, 3>& cells)
{
    return make_tet_box({length, height, width}, cells);
}
/// Ball of 20 icosahedral sectors, each cut into `layers` shells: 20 * layers^3 nearly regular tetrahedra.
TetMesh make_tet_sphere(Real radius, Index layers);
/// Solid torus around the y axis: `around` slices along the ring, `section` vertices around the tube.
TetMesh make_tet_torus(Real ring_radius, Real tube_radius, Index around, Index section);
/// Arch stone as make_wedge(), filled with tetrahedra.
TetMesh make_tet_wedge(Real inner_radius, Real outer_radius, Real angle, Real depth, const std::array<Index, 3>& cells,
                       TetSplit split = TetSplit::six);

/// What is inside a turned solid: a row of vertices on its `axis`, or nothing (`bare`), which takes fewer tetrahedra.
enum class TurnedCore { axis, bare };
/// Turned solid (a chess figure) around the y axis: the profile is (radius, height) from the bottom up, heights
/// increasing; every point becomes a ring of `around` vertices, a first or last point of radius 0 a tip. The profile
/// stays where its heights are.
TetMesh make_tet_turned(const std::vector<Vec2>& profile, Index around, TurnedCore core = TurnedCore::axis);

} // namespace pliant
