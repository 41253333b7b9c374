#pragma once
// How far a state is strained: elongation and stress, for statistics and pictures.

#include "pliant/world/world.hpp"

namespace pliant {

/// Largest elongation (length over rest length, minus one): of the structural and shear springs of cloth, and of the
/// principal stretches of solid elements. At least 0.
Real max_elongation(const Model& model, const State& state);

/// How far the scene's limits of length are exceeded, relative to the allowed length: the worst one.
struct StrainExcess {
    Real amount = 0;   ///< 0: all are kept
    Index body = none; ///< whose limit it is
};
StrainExcess strain_excess(const Model& model, const Vec3s& position);

/// Tetrahedra that are turned inside out, or flat.
struct InvertedElements {
    Index count = 0;   ///< in all bodies
    Index body = none; ///< the one with most of them
};
InvertedElements inverted_elements(const Model& model, const Vec3s& position);

/// Per block: von Mises stress of a solid [Pa], averaged from elements to nodes by volume; for cloth the largest
/// tension of the structural and shear springs at the particle [N], 0 for compressed ones; 0 for everything else.
void block_stress(const Model& model, const State& state, std::vector<Real>& out);
/// The same per surface vertex, interpolated to an embedded surface.
void surface_stress(const Model& model, const State& state, std::vector<Real>& out);

} // namespace pliant
