#pragma once
// Explicit integrators for the methods that resolve contact by forces or impulses.

#include "pliant/world/world.hpp"

namespace pliant {

/// Elastic, damping and gravity forces at a state [N], per block; 0 for the angular block of a rigid body.
void forces(const Model& model, const State& state, Vec3s& out);

enum class Integrator { backward_euler, symplectic_euler, verlet };

/// One step of symplectic Euler: the velocity first, then the position with the new velocity [Provot97].
void symplectic_euler_step(const Model& model, State& state, Real dt);
/// One step of velocity Verlet: second order, keeps the momenta of free bodies to rounding.
void verlet_step(const Model& model, State& state, Real dt);

/// The largest step for which the explicit integrators are stable: 0.9 (sqrt(1 + zeta^2) - zeta) 2 / omega, with
/// omega^2 bounded by the row sums of M^-1 K (Gershgorin) and zeta = beta omega / 2 + alpha / (2 omega). Infinite
/// without stiffness.
Real stable_step(const Model& model, const State& state);

} // namespace pliant
