#pragma once
// What bodies are made of. Plain numbers in SI with defaults; the scene table documents ranges.

#include "pliant/core/types.hpp"

#include <limits>
#include <string>

namespace pliant {

/// Mass-spring cloth [Provot 1995].
struct ClothMaterial {
    Real density = 0.2;  ///< areal density [kg/m^2]
    Real stretch = 400;  ///< stiffness of a structural spring [N/m]
    Real shear = 60;     ///< stiffness of a shear (diagonal) spring [N/m]
    Real bend = 1e-5;    ///< bending stiffness [N m]; a flexion spring over length l gets 4 bend / l^2 [N/m]
    Real damping = 1e-3; ///< stiffness-proportional Rayleigh damping, beta [s]
    Real drag = 0;       ///< mass-proportional Rayleigh damping, alpha [1/s]
    Real max_strain = std::numeric_limits<Real>::infinity(); ///< largest elongation of structural and shear springs
};

/// Elasticity of tetrahedra.
struct SolidMaterial {
    Real density = 1000;                ///< [kg/m^3]
    Real young = 1e5;                   ///< Young's modulus [Pa]
    Real poisson = 0.3;                 ///< Poisson's ratio, in [0, 0.5)
    Real damping = 0;                   ///< stiffness-proportional Rayleigh damping, beta [s]
    Real drag = 0;                      ///< mass-proportional Rayleigh damping, alpha [1/s]
    std::string model = "corotational"; ///< one of solid_models()
};

/// What moves the nodes of a lattice.
enum class LatticeModel { springs, shape_matching };

/// A lattice that carries a surface [Jung].
struct LatticeMaterial {
    LatticeModel model = LatticeModel::springs;
    Real density = 1000;    ///< of a filled lattice [kg/m^3]
    Real areal_density = 1; ///< of a hollow one: mass per area of the surface [kg/m^2]
    Real drag = 0;          ///< mass-proportional Rayleigh damping, alpha [1/s]
    // Springs.
    Real young = 1e4; ///< Young's modulus of a block of cells [Pa]
    Real damping = 0; ///< stiffness-proportional Rayleigh damping, beta [s]
    // Shape matching [Rivers and James 2007].
    Index width = 1;         ///< a region reaches so many nodes to each side of its middle
    Real rigidity = 1;       ///< part of the way to its goal that a node goes in a step, in (0, 1]
    Real region_damping = 0; ///< rate at which motion within regions dies away [1/s]
};

struct RigidMaterial {
    Real density = 1000; ///< [kg/m^3]
};

} // namespace pliant
