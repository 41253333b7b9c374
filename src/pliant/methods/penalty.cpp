#include "pliant/methods/penalty.hpp"

#include <cmath>

namespace pliant {
namespace {

/// Part of critical damping of a contact.
constexpr Real contact_damping = 0.05;
/// Sub-steps per stable one: contact takes half its budget of what explicit integration bears (penalty_forces.hpp), its
/// damping a quarter, and elasticity the rest, the square of the step over its limit, of which stable_step() is 0.9.
Real finer(Real kappa)
{
    return 0.9 / std::sqrt(0.75 - std::max(kappa, contact_budget) / 2);
}

constexpr MethodOption options[] = {
    depth_option<PenaltyOptions>,
    self_collision_option<PenaltyOptions>,
    {.path = "contact.penalty-stiffness",
     .kind = OptionKind::number,
     .range = {0, 1, true, false},
     .fallback = "0.2",
     .meaning = "Stiffness of contacts, as a part of the largest that is stable: at 0.2 a lone point is stopped within "
                "seven sub-steps. A stiffer contact throws out what is deep inside.",
     .set = setter<PenaltyOptions>([](PenaltyOptions& o, const OptionValue& v) { o.stiffness = v.number; })},
    integrator_option<PenaltyOptions>,
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
    : options_(options_in), contact_(world.model, options_in.depth, options_in.self_collision),
      stepper_(world.model, Integrator::symplectic_euler)
{
    if (options_.integrator == Integrator::backward_euler) system_ = std::make_unique<LinearSystem>(world.model);
}

StepReport PenaltyContact::step(World& world, Real dt)
{
    if (options_.integrator == Integrator::backward_euler) return implicit_step(world, dt);
    StepReport report;
    Correction correction;
    correction.forces = [&](const State& start, Real h, Vec3s& force) {
        add_forces(world.model, start, h, force, report);
    };
    correction.motion = [&](const State& start, Real h, Vec3s& path) {
        contact_.push_rotors(world.model, start, forces_.local_force(), h, path);
    };
    const SubSteps substeps = {finer(options_.stiffness), inner_states};
    take_substeps(world.model, world.state, dt, substeps, stepper_, correction, contact_, report);
    return report;
}

// A v = b + h f: A does not depend on the velocity, and b = h F + M v0, so h f is a kick h M^-1 f before the step.
StepReport PenaltyContact::implicit_step(World& world, Real dt)
{
    StepReport report;
    const Model& model = world.model;
    State& state = world.state;
    state.memory = {};
    Vec3s force(state.velocity.size(), Vec3::Zero());
    add_forces(model, state, dt, force, report);
    State kicked = state;
    for (Index i = 0; i < model.block_count(); ++i)
        if (model.mass[i] > 0 && !model.is_prescribed(i)) kicked.velocity[i] += dt / model.mass[i] * force[i];
    Vec3s v = kicked.velocity;
    {
        const ScopedTimer timer(report.profile, "integrate");
        system_->assemble(model, kicked, dt);
        system_->solve(options_.linear_tolerance, v);
    }
    contact_.push_rotors(model, state, forces_.local_force(), dt, v);
    advance(model, state, v, dt);
    ++state.step;
    contact_.report_end(model, state, dt, report);
    return report;
}

void PenaltyContact::add_forces(const Model& model, const State& start, Real dt, Vec3s& force, StepReport& report)
{
    contact_.detect(model, start, report.profile);
    const ScopedTimer timer(report.profile, "respond");
    move_configuration(model, start, start.velocity, dt, end_);
    contact_.make_contacts(model, start, end_, contacts_);
    for (Index i = 0; i < count(contacts_); ++i) {
        PointContact& c = contacts_[i];
        c.motion /= dt; // a velocity here
        const PointInBody& point = contact_.points()[i];
        if (point.tet == none) continue;
        c.nodes = contact_.mesh().tets[point.tet];
        c.weights = point.weights.cwiseMax(0) / point.weights.cwiseMax(0).sum();
    }
    contact_.displacements(model, start, end_, dt, contacts_, velocity_);
    force_.resize(contact_.mass().size(), Vec3::Zero());
    // Half of what explicit integration bears is left to elasticity, which takes nothing of it in a linear solve.
    const Real kappa = system_ ? 2 * options_.stiffness : options_.stiffness;
    forces_.add({contacts_, contact_.mass(), velocity_, dt, kappa, contact_damping}, force_);
    for (const PointContact& contact : contacts_)
        contact.for_each_node([&](Index node) {
            if (node < count(force)) force[node] += force_[node]; // pins follow their script all the same
            force_[node].setZero();
        });
    contact_.report(model, forces_.local_force(), dt, report);
}

} // namespace pliant
