#include "pliant/methods/penalty.hpp"

namespace pliant {
namespace {

/// Part of critical damping of a contact.
constexpr Real contact_damping = 0.1;
/// Sub-steps per stable one: elasticity takes a quarter of what explicit integration bears, contact up to half of it
/// (penalty_forces.hpp), and damping the rest.
constexpr Real finer = 1.8; // stable_step() is 0.9 of the limit, and half of the limit is taken

constexpr MethodOption options[] = {
    depth_option<PenaltyOptions>,
    {.path = "contact.penalty-stiffness",
     .kind = OptionKind::number,
     .range = {0, 1, true, false},
     .fallback = "1",
     .meaning = "Stiffness of contacts, as a part of the largest that is stable.",
     .set = setter<PenaltyOptions>([](PenaltyOptions& o, const OptionValue& v) { o.stiffness = v.number; })},
};

} // namespace

MethodInfo penalty_method()
{
    return {
        .name = "penalty",
        .about = "explicit steps of tetrahedral bodies with forces in proportion to how deep points have penetrated",
        .promise = [](const MethodOptions&) { return Promise{}; },
        .why_not = why_no_tet_contact,
        .options = options,
        .default_options = []() -> std::any { return PenaltyOptions(); },
        .columns = TetContactReport::member_names,
        .empty_memory = [] { return Record(); },
        .make = [](const World& world, const MethodOptions& o) -> std::unique_ptr<Method> {
            return std::make_unique<PenaltyContact>(world, o.get<PenaltyOptions>());
        },
    };
}

PenaltyContact::PenaltyContact(const World& world, const PenaltyOptions& options_in)
    : options_(options_in), contact_(world.model, options_in.depth), stepper_(world.model, Integrator::symplectic_euler)
{}

StepReport PenaltyContact::step(World& world, Real dt)
{
    StepReport report;
    Correction correction;
    correction.forces = [&](const State& start, Real h, Vec3s& force) {
        add_forces(world.model, start, h, force, report);
    };
    const SubSteps substeps = {stable_substeps(world.model, world.state, finer * dt), inner_states};
    take_substeps(world.model, world.state, dt, substeps, stepper_, correction, contact_, report);
    return report;
}

void PenaltyContact::add_forces(const Model& model, const State& start, Real dt, Vec3s& force, StepReport& report)
{
    const Real from = start.time, to = start.time + dt;
    contact_.detect(model, start.position, from);
    contacts_.clear();
    for (Index i = 0; i < count(contact_.points()); ++i) {
        PointContact c = contact_.contact(model, i, from, from, to);
        c.motion /= dt; // a velocity here
        if (const PointInBody& point = contact_.points()[i]; point.tet != none) {
            c.nodes = contact_.mesh().tets[point.tet];
            c.weights = point.weights.cwiseMax(0) / point.weights.cwiseMax(0).sum();
        }
        contacts_.push_back(c);
    }
    contact_.displacements(model, start.velocity, from, to, velocity_);
    for (Vec3& v : velocity_) v /= dt;
    force_.assign(contact_.mass().size(), Vec3::Zero());
    forces_.add({contacts_, contact_.mass(), velocity_, dt, options_.stiffness, contact_damping}, force_);
    for (std::size_t i = 0; i < force.size(); ++i) force[i] += force_[i]; // pins follow their script all the same
    contact_.report(contacts_, forces_.local_force(), dt, report);
}

} // namespace pliant
