#pragma once
#include "pliant/contact/direct_forces.hpp"
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/tet_contact.hpp"

namespace pliant {

/// Options of method "direct".
struct DirectOptions {
    DepthMeasure depth = DepthMeasure::consistent;
    SelfCollision self_collision = SelfCollision::off;
    BoundaryShares shares = BoundaryShares::whole;
    Integrator integrator = Integrator::verlet; ///< or backward_euler
    Real linear_tolerance = 1e-6;               ///< of backward Euler's solve, relative to the step's momenta

    bool operator==(const DirectOptions&) const = default;
    operator MethodOptions() const { return {"direct", *this}; }
};

/// Method "direct": explicit sub-steps, each followed by contact forces in closed form that move the points that
/// have penetrated and the faces they went through to where they touch [Spillmann07]. The velocity is what the
/// positions did, (x1 - x0) / h, so a contact does not rebound by itself. With that velocity position Verlet,
/// x1 = 2 x0 - x' + h^2 F / m, is symplectic Euler. With backward Euler the correction of the one linear solve a step
/// feels the diagonal blocks of A in place of the masses. Remembers nothing between steps.
class DirectContact final : public Method {
public:
    DirectContact(const World& world, const DirectOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    void push_apart(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report);
    StepReport implicit_step(World& world, Real dt);

    DirectOptions options_;
    TetContact contact_;
    ExplicitStepper stepper_;
    std::unique_ptr<LinearSystem> system_; ///< of backward Euler
    std::vector<Mat3> inverse_blocks_;     ///< per node, of backward Euler
    DirectForces forces_;
    // Scratch of one sub-step.
    std::vector<PointContact> contacts_;
    State end_;
    Vec3s displacement_, force_; ///< forces are 0 between two steps
};

MethodInfo direct_method();

} // namespace pliant
