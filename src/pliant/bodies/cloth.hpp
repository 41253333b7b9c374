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

} // namespace pliant
