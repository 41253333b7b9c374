#pragma once
// Mass-spring cloth [Provot 1995]: structural and shear springs resist stretch, flexion springs resist bending.

#include "pliant/bodies/materials.hpp"
#include "pliant/bodies/springs.hpp"
#include "pliant/mesh/mesh.hpp"

namespace pliant {

struct Cloth {
    ClothMaterial material;
    std::vector<Real> mass;      ///< per particle [kg]
    std::vector<Spring> springs; ///< between particles; structural, then shear, then flexion
};

/// Springs on the grid lines (structural), both diagonals (shear) and two cells apart (flexion).
Cloth make_grid_cloth(const TriangleMesh& mesh, Index nx, Index nz, const ClothMaterial& material);
/// Springs on the edges (structural) and across them between the opposite vertices (flexion), for any mesh.
Cloth make_cloth(const TriangleMesh& mesh, const ClothMaterial& material);
/// The same for cloth whose rest shape is its texture: each triangle is at rest as it lies there, times `scale` [m].
/// Where the texture is cut along an edge, the rest length is the mean of both sides'.
Cloth make_textured_cloth(const TriangleMesh& mesh, Real scale, const ClothMaterial& material);
/// The scale that gives a texture the area of its mesh; 0 for a texture without area [m].
Real texture_scale(const TriangleMesh& mesh);

} // namespace pliant
