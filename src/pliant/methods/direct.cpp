#include "pliant/methods/direct.hpp"

#include "pliant/detection/exit_face.hpp"

#include <cmath>

namespace pliant {
namespace {

constexpr MethodOption options[] = {
    depth_option<DirectOptions>,
};

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
    : contact_(world.model, options_in.depth), stepper_(world.model, Integrator::symplectic_euler)
{}

StepReport DirectContact::step(World& world, Real dt)
{
    StepReport report;
    Correction correction;
    correction.motion = [&](const State& start, Real h, Vec3s& path) {
        push_apart(world.model, start, h, path, report);
    };
    const SubSteps substeps = {stable_substeps(world.model, world.state, dt), inner_states};
    take_substeps(world.model, world.state, dt, substeps, stepper_, correction, contact_, report);
    return report;
}

void DirectContact::push_apart(const Model& model, const State& start, Real dt, Vec3s& path, StepReport& report)
{
    const Real from = start.time, to = start.time + dt;
    end_.resize(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) end_[i] = start.position[i] + dt * path[i];
    contact_.detect(model, end_, to);
    contacts_.clear();
    for (Index i = 0; i < count(contact_.points()); ++i) {
        contacts_.push_back(contact_.contact(model, i, to, from, to));
        set_partner(contact_, i, contacts_.back());
    }
    contact_.displacements(model, path, from, to, displacement_);
    force_.assign(contact_.mass().size(), Vec3::Zero());
    forces_.add({contacts_, contact_.mass(), displacement_, dt, BoundaryShares::whole}, force_);
    for (std::size_t i = 0; i < path.size(); ++i)
        if (!std::isinf(contact_.mass()[i])) path[i] += dt / contact_.mass()[i] * force_[i];
    contact_.report(contacts_, forces_.local_force(), dt, report);
}

} // namespace pliant
