#pragma once
// Mass-spring cloth [Provot 1995]: structural and shear springs resist stretch, flexion springs resist bending.

#include "pliant/bodies/materials.hpp"
#include "pliant/mesh/mesh.hpp"

namespace pliant {

enum class SpringKind : std::uint8_t { structural, shear, flexion };

struct Spring {
    Index a, b;
    Real rest_length; ///< [m]
    Real stiffness;   ///< [N/m]
    SpringKind kind;
};

struct Cloth {
    ClothMaterial material;
    std::vector<Real> mass;      ///< per particle [kg]
    std::vector<Spring> springs; ///< structural, then shear, then flexion
    std::vector<Triangle> triangles;
};

/// Springs on the grid lines (structural), both diagonals (shear) and two cells apart (flexion).
Cloth make_grid_cloth(const TriangleMesh& mesh, Index nx, Index nz, const ClothMaterial& material);
/// Springs on the edges (structural) and across them between the opposite vertices (flexion), for any mesh.
Cloth make_cloth(const TriangleMesh& mesh, const ClothMaterial& material);

/// Elastic energy of one spring, 1/2 k (l - L)^2 [J].
Real spring_energy(const Spring& spring, const Vec3& xa, const Vec3& xb);
/// Force on end a (end b gets the opposite) [N].
Vec3 spring_force(const Spring& spring, const Vec3& xa, const Vec3& xb);
/// -d force_a / d xa, exact: k [n n^T + (1 - L/l)(I - n n^T)].
Mat3 spring_stiffness_exact(const Spring& spring, const Vec3& xa, const Vec3& xb);
/// The same made positive semi-definite: the transverse part of a compressed spring is left out [Choi and Ko].
Mat3 spring_stiffness(const Spring& spring, const Vec3& xa, const Vec3& xb);

} // namespace pliant
