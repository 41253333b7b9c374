#pragma once
// Triangle and tetrahedral meshes as plain arrays. Vertex order is kept by everything that reads or writes a mesh:
// pins and mesh sequences depend on it.

#include "pliant/core/types.hpp"

namespace pliant {

struct TriangleMesh {
    Vec3s vertices;                                ///< [m]
    std::vector<Triangle> triangles;               ///< counter-clockwise seen from outside
    std::vector<std::array<Vec2, 3>> texture = {}; ///< per triangle: texture coordinates of its corners; empty: none
};

struct TetMesh {
    Vec3s vertices;        ///< [m]
    std::vector<Tet> tets; ///< positive volume: (b - a) x (c - a) . (d - a) > 0
};

/// A surface carried by tetrahedra: vertex i is sum_k weights[i][k] * tets.vertices[tets.tets[tet[i]][k]].
struct EmbeddedMesh {
    TriangleMesh surface;      ///< in its rest shape
    TetMesh tets;              ///< the lattice that covers the surface
    std::vector<Index> tet;    ///< per surface vertex: the tetrahedron that carries it
    std::vector<Vec4> weights; ///< per surface vertex: barycentric weights in that tetrahedron, each >= 0
    Real volume_error = 0;     ///< (volume of the lattice - volume of the surface) / volume of the surface
};

} // namespace pliant
