#pragma once
#include "pliant/world/world.hpp"

namespace pliant {

/// Limits the elongation of structural and shear springs at the end of a step [Provot 1995]: changes the velocities of
/// the two ends along the spring, by their inverse masses, until no spring is longer than (1 + max_strain) of its
/// rest length, or for so many sweeps over all springs. Returns the largest elongation left over the limit (relative;
/// <= 0 when all are within it).
Real limit_strain(const Model& model, const State& state, Real dt, Vec3s& v, int max_sweeps = 5000);

} // namespace pliant
