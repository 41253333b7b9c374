#pragma once
#include "pliant/dynamics/explicit.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/table.hpp"

namespace pliant {

/// Options of method "none".
struct FreeMotionOptions {
    Integrator integrator = Integrator::backward_euler;
    Real linear_tolerance = 1e-8; ///< of backward Euler's solve, relative to the step's momenta

    bool operator==(const FreeMotionOptions&) const = default;
    operator MethodOptions() const { return {"none", *this}; }
};

/// Where backward Euler's solve starts; empty before the first step.
struct FreeMotionMemory {
    Real last_step = 0;            ///< its length [s]
    Vec3s free_change;             ///< per block: its change of velocity [m/s]
    std::vector<Index> free_turns; ///< per connected part of the matrix: solves by its factor still to come

    static constexpr const char* member_names[] = {"last_step", "free_change", "free_turns"};
};

struct FreeMotionReport {
    int linear_iterations = 0; ///< of backward Euler's solve
    Real linear_residual = 0;

    static constexpr const char* member_names[] = {"linear_iterations", "linear_residual"};
};

/// Method "none": dynamics without contact, by backward Euler with one linearisation or an explicit integrator
/// that takes as many stable sub-steps as it needs.
class FreeMotion final : public Method {
public:
    FreeMotion(const World& world, const FreeMotionOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    FreeMotionOptions options_;
    LinearSystem system_;
    ExplicitStepper explicit_;
};

MethodInfo free_motion_method();

} // namespace pliant
