#pragma once
#include "pliant/dynamics/system.hpp"
#include "pliant/methods/method.hpp"

namespace pliant {

/// Method "none": dynamics without contact, by backward Euler with one linearisation or an explicit integrator
/// that takes as many stable sub-steps as it needs.
class FreeMotion final : public Method {
public:
    FreeMotion(const World& world, const MethodOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    MethodOptions options_;
    LinearSystem system_;
    ExplicitStepper explicit_;
};

} // namespace pliant
