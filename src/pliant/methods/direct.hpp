#pragma once
#include "pliant/contact/direct_forces.hpp"
#include "pliant/methods/tet_contact.hpp"

namespace pliant {

/// Options of method "direct".
struct DirectOptions {
    DepthMeasure depth = DepthMeasure::consistent;

    bool operator==(const DirectOptions&) const = default;
    operator MethodOptions() const { return {"direct", *this}; }
};

/// Method "direct": explicit sub-steps, each followed by contact forces in closed form that move the points that
/// have penetrated and the faces they went through to where they touch [Spillmann07]. The velocity is what the
/// positions did, (x1 - x0) / h, so a contact does not rebound by itself. Remembers nothing between steps.
class DirectContact final : public Method {
public:
    DirectContact(const World& world, const DirectOptions& options);
    StepReport step(World& world, Real dt) override;

private:
    void push_apart(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report);

    TetContact contact_;
    ExplicitStepper stepper_;
    DirectForces forces_;
    std::vector<PointContact> contacts_;
    Vec3s end_, displacement_, force_; // scratch
};

MethodInfo direct_method();

} // namespace pliant
