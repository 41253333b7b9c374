#include "pliant/methods/direct.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/detection/exit_face.hpp"

namespace pliant {
namespace {

constexpr MethodOption options[] = {
    depth_option<DirectOptions>,
    self_collision_option<DirectOptions>,
    {.path = "contact.boundary-weights",
     .kind = OptionKind::choice,
     .words = "whole smooth",
     .fallback = "whole",
     .meaning = "How a penetrated triangle moves whose corners do not collide themselves. `whole`: all corners alike, "
                "so that a lone contact is resolved at once; `smooth`: each by its weight, and contacts that share a "
                "node by their depths, without a jump when a point slides from one triangle to the next or a contact "
                "begins: for what shall come to rest.",
     .set = setter<DirectOptions>([](DirectOptions& o, const OptionValue& v) {
         o.shares = v.word == "smooth" ? BoundaryShares::smooth : BoundaryShares::whole;
     })},
    integrator_option<DirectOptions>,
};

/// Part of an older penetration that a sub-step undoes: contacts that share nodes leave some, and undone at once it
/// would become speed. At a tenth a pile gains no energy from it.
constexpr Real recovery = 0.1;

/// The triangle that the point went through, or the tetrahedron it is in where inverted elements hide the triangle.
void set_partner(const TetContact& contact, Index i, PointContact& c)
{
    const PointInBody& point = contact.points()[i];
    if (point.tet == none) return;
    const CollisionMesh& mesh = contact.mesh();
    if (const auto exit = find_exit_face(mesh, contact.positions(), point, contact.depths()[i].direction)) {
        const Triangle& face = mesh.faces[exit->face];
        c.nodes = {face[0], face[1], face[2], none};
        c.weights = {exit->weights[0], exit->weights[1], exit->weights[2], 0};
    } else {
        c.nodes = mesh.tets[point.tet];
        c.weights = point.weights.cwiseMax(0) / point.weights.cwiseMax(0).sum();
    }
}

} // namespace

MethodInfo direct_method()
{
    return {
        .name = "direct",
        .about = "explicit steps of tetrahedral bodies with contact forces in closed form; small penetrations remain "
                 "where contacts share nodes",
        .promise = [](const MethodOptions&) { return Promise{}; },
        .why_not = why_no_tet_contact,
        .options = options,
        .default_options = []() -> std::any { return DirectOptions(); },
        .columns = TetContactReport::member_names,
        .empty_memory = [] { return Record(); },
        .make = [](const World& world, const MethodOptions& o) -> std::unique_ptr<Method> {
            return std::make_unique<DirectContact>(world, o.get<DirectOptions>());
        },
    };
}

DirectContact::DirectContact(const World& world, const DirectOptions& options_in)
    : options_(options_in), contact_(world.model, options_in.depth, options_in.self_collision),
      stepper_(world.model, Integrator::symplectic_euler)
{
    if (options_.integrator == Integrator::backward_euler) system_ = std::make_unique<LinearSystem>(world.model);
}

StepReport DirectContact::step(World& world, Real dt)
{
    if (options_.integrator == Integrator::backward_euler) return implicit_step(world, dt);
    StepReport report;
    Correction correction;
    correction.motion = [&](const State& start, Real h, Vec3s& path) {
        push_apart(world.model, start, h, path, report);
    };
    const SubSteps substeps = {1, inner_states};
    take_substeps(world.model, world.state, dt, substeps, stepper_, correction, contact_, report);
    return report;
}

StepReport DirectContact::implicit_step(World& world, Real dt)
{
    StepReport report;
    const Model& model = world.model;
    State& state = world.state;
    state.memory = {};
    Vec3s v = state.velocity;
    {
        const ScopedTimer timer(report.profile, "integrate");
        system_->assemble(model, state, dt);
        system_->solve(options_.linear_tolerance, v);
    }
    inverse_blocks_ = system_->diagonal_inverse();
    inverse_blocks_.resize(contact_.mass().size(), Mat3::Zero());
    push_apart(model, state, dt, v, report);
    advance(model, state, v, dt);
    ++state.step;
    contact_.report_end(model, state, dt, report);
    return report;
}

void DirectContact::push_apart(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report)
{
    move_configuration(model, start, path, dt, end_);
    contact_.detect(model, end_, report.profile);
    const ScopedTimer timer(report.profile, "respond");
    contact_.make_contacts(model, start, end_, contacts_);
    parallel_for(
        count(contacts_), [&](Index i) { set_partner(contact_, i, contacts_[i]); }, 64);
    contact_.displacements(model, start, end_, 1, contacts_, displacement_);
    force_.resize(contact_.mass().size(), Vec3::Zero());
    const Real undone = options_.integrator == Integrator::verlet ? recovery : 1; // long steps make little speed of it
    forces_.add({contacts_, contact_.mass(), displacement_, dt, options_.shares, inverse_blocks_, undone}, force_);
    const auto push = [&](Index i) {
        const Vec3 force = force_[i];
        force_[i].setZero(); // a node may have several contacts
        if (i >= count(path) || force.isZero(0)) return;
        if (model.is_prescribed(i)) {
            if (report.outer_impulse) *report.outer_impulse -= dt * force; // what holds the pin against it
        } else {
            path[i] += inverse_blocks_.empty() ? Vec3(dt / contact_.mass()[i] * force)
                                               : Vec3(dt * (inverse_blocks_[i] * force));
        }
    };
    for (const PointContact& contact : contacts_) contact.for_each_node(push);
    contact_.push_rotors(model, start, forces_.local_force(), dt, path);
    contact_.report(model, forces_.local_force(), dt, report);
}

} // namespace pliant
