#pragma once
#include "pliant/contact/penalty_forces.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/tet_contact.hpp"

namespace pliant {

/// Options of method "penalty".
struct PenaltyOptions {
    DepthMeasure depth = DepthMeasure::consistent;
    SelfCollision self_collision = SelfCollision::off;
    Real stiffness = 0.2;                       ///< kappa of PenaltyForces
    Integrator integrator = Integrator::verlet; ///< or backward_euler
    Real linear_tolerance = 1e-6;               ///< of backward Euler's solve, relative to the step's momenta

    bool operator==(const PenaltyOptions&) const = default;
    operator MethodOptions() const { return {"penalty", *this}; }
};

/// Method "penalty": explicit sub-steps with a force on every point that is inside a body, in proportion to its depth
/// [Heidelberger04]. With backward Euler one linear solve a step, in which contact forces are those of its start.
/// Remembers nothing between steps.
class PenaltyContact final : public Method {
public:
    PenaltyContact(const World& world, const PenaltyOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    StepReport implicit_step(World& world, Real dt);
    void add_forces(const Model& model, const State& start, Real dt, Vec3s& force, StepReport& report);

    PenaltyOptions options_;
    TetContact contact_;
    ExplicitStepper stepper_;
    std::unique_ptr<LinearSystem> system_; ///< of backward Euler
    PenaltyForces forces_;
    std::vector<PointContact> contacts_;
    State end_;
    Vec3s velocity_, force_; ///< forces are 0 between two steps
};

MethodInfo penalty_method();

} // namespace pliant
