#pragma once
// Explicit integrators for the methods that resolve contact by forces, velocities or positions. A sub-step is forces
// (once), prediction, correction by the method, commit.

#include "pliant/dynamics/batch_schedule.hpp"

#include <functional>

namespace pliant {

enum class Integrator { backward_euler, symplectic_euler, verlet };

/// Elastic, damping and gravity forces, in parallel and in a fixed order of summation.
class Forces {
public:
    explicit Forces(const Model& model) : batches_(model, nullptr) {}
    /// At a state [N], per block; 0 for the angular block of a rotor.
    void evaluate(const Model& model, const State& state, Vec3s& out);

private:
    BatchSchedule batches_;
};

/// Velocities along which a sub-step of length dt goes: the old ones with a kick dt M^-1 f. Rotors turn freely, pins
/// follow their script.
void kicked_velocities(const Model& model, const State& state, const Vec3s& force, Real dt, Vec3s& path);

/// What a method does to a sub-step; an empty function does nothing.
struct Correction {
    /// Adds contact forces [N] to those at the start of a sub-step of length dt.
    std::function<void(const State& start, Real dt, Vec3s& force)> forces;
    /// Changes the velocities along which the blocks go from `start` to the end of the sub-step, in straight lines: a
    /// displacement d of the end is d / dt. The velocity at the end changes by as much.
    std::function<void(const State& start, Real dt, Vec3s& path)> motion;
    /// Sees every end of a sub-step.
    std::function<void(const State& end)> committed;
};

/// Takes steps of one integrator. Holds scratch only: a new one continues to the same bits.
class ExplicitStepper {
public:
    ExplicitStepper(const Model& model, Integrator integrator) : integrator_(integrator), forces_(model) {}

    /// One sub-step of length dt.
    /// symplectic_euler: the velocity first, then the position with the new velocity [Provot97].
    /// verlet: half a drift, a kick by the forces there, half a drift: second order with one evaluation of the forces,
    /// keeps the momenta of free bodies to rounding.
    void substep(const Model& model, State& state, Real dt, const Correction& correction = {});

    /// What acted from outside in the last sub-step, contacts apart [N s]: gravity, drag, and what holds pins against
    /// their elastic forces and those that the method added.
    const Vec3& outer_impulse() const { return outer_impulse_; }

private:
    void add_up_outside(const Model& model, const State& state, Real dt);

    Integrator integrator_;
    Forces forces_;
    Vec3s force_;
    Vec3 outer_impulse_ = Vec3::Zero();
};

/// The largest step for which the explicit integrators are stable: 0.9 (sqrt(1 + zeta^2) - zeta) 2 / omega, with
/// omega^2 bounded by the row sums of M^-1 K (Gershgorin) and zeta = beta omega / 2 + alpha / (2 omega). Infinite
/// without stiffness.
Real stable_step(const Model& model, const State& state);
/// How many sub-steps a step of length dt takes at that bound.
int stable_substeps(const Model& model, const State& state, Real dt);

/// Calls take(h, last) with the lengths of sub-steps until a step of length dt is over, and returns their number. Each
/// is at most the stable step over `finer`; where deformation stiffens a body on the way, the rest is cut anew.
int take_stable_substeps(const Model& model, const State& state, Real dt, Real finer,
                         const std::function<void(Real h, bool last)>& take);

} // namespace pliant
