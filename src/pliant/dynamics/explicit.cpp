#include "pliant/dynamics/explicit.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/dynamics/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

constexpr Real most_substeps = 1e6; ///< of one step: more is a mistake in the scene
constexpr Real most_growth = 1e3;   ///< of the sub-steps since the rest shape: more is an explosion

/// A sum has a number that is not finite if one of its terms has.
void require_finite(const Model& model, const Vec3s& path)
{
    const Index n = count(path);
    const Real sum = parallel_sum(n, 0.0, [&](Index i) { return path[i].x() + path[i].y() + path[i].z(); });
    if (std::isfinite(sum)) return;
    Index block = 0;
    while (block + 1 < n && path[block].allFinite()) ++block;
    throw Error("the velocity of a node of '" + model.bodies[model.block_body[block]].name +
                "' is not finite any more: the explicit integration has become unstable; take shorter steps, or "
                "softer material");
}

} // namespace

void Forces::evaluate(const Model& model, const State& state, Vec3s& out)
{
    const Vec3s &x = state.position, &v = state.velocity;
    batches_.for_each_piece([&](BatchRows& batch, Index begin, Index end) { batch.evaluate_forces(begin, end, x, v); });
    out.resize(x.size());
    batches_.for_each_chunk([&](Index begin, Index end, std::span<BatchRows* const> batches) {
        for (Index i = begin; i < end; ++i) out[i] = model.mass[i] * (model.gravity - model.drag[i] * v[i]);
        for (const BatchRows* batch : batches) batch->add_forces(begin, end, x, v, out);
    });
}

namespace {

/// dt M^-1 f for particles and rigid centres.
Vec3 kick(const Model& model, const Vec3s& f, Real dt, Index block)
{
    return model.mass[block] > 0 ? Vec3(dt / model.mass[block] * f[block]) : Vec3(Vec3::Zero());
}

/// What is too stiff for explicit forces.
void add_kicks(const Model& model, const State& state, Real dt, Vec3s& path)
{
    std::vector<Real> inverse_mass;
    for (const auto& batch : model.batches) {
        if (!batch->kicks()) continue;
        for (Index i = count(inverse_mass); i < model.block_count(); ++i)
            inverse_mass.push_back(model.is_prescribed(i) || model.mass[i] == 0 ? 0 : 1 / model.mass[i]);
        batch->kick(state.position, inverse_mass, dt, path);
    }
}

/// Rotors turn freely, pins follow their script.
void set_rotations_and_pins(const Model& model, const State& state, Real dt, Vec3s& path)
{
    for (std::size_t r = 0; r < model.rotors.size(); ++r) {
        const Index angular = model.rotors[r].angular_block();
        path[angular] = free_rotation(model.rotors[r].rigid, state.orientation[r], state.velocity[angular], dt);
    }
    prescribed_velocities(model, state, dt, path);
}

} // namespace

void kicked_velocities(const Model& model, const State& state, const Vec3s& force, Real dt, Vec3s& path)
{
    path.resize(state.velocity.size());
    parallel_for(count(path), [&](Index i) { path[i] = state.velocity[i] + kick(model, force, dt, i); });
    set_rotations_and_pins(model, state, dt, path);
    add_kicks(model, state, dt, path);
}

/// All but the change of the pins' own momentum. Internal forces of free blocks sum to minus those of pins.
void ExplicitStepper::add_up_outside(const Model& model, const State& state, Real dt)
{
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model.block_count(); ++i) {
        const Vec3 weight = model.mass[i] * (model.gravity - model.drag[i] * state.velocity[i]);
        sum += model.is_prescribed(i) ? Vec3(weight - force_[i]) : weight;
    }
    outer_impulse_ = dt * sum;
}

void ExplicitStepper::substep(const Model& model, State& state, Real dt, const Correction& correction)
{
    poll_interrupt();
    const Index n = model.block_count();
    const bool verlet = integrator_ == Integrator::verlet;
    Vec3s path = state.velocity;
    if (verlet) {
        State middle = state;
        set_rotations_and_pins(model, state, dt / 2, path);
        move_configuration(model, state, path, dt / 2, middle);
        forces_.evaluate(model, middle, force_);
    } else {
        forces_.evaluate(model, state, force_);
    }
    if (correction.forces) correction.forces(state, dt, force_);
    add_up_outside(model, state, dt);
    for (const Pin& pin : model.pins) outer_impulse_ -= model.mass[pin.block] * state.velocity[pin.block];
    // The mean velocity of the sub-step: the new one [Provot97], or the mean of the old and the new one.
    const Real part = verlet ? dt / 2 : dt;
    parallel_for(n, [&](Index i) { path[i] = state.velocity[i] + kick(model, force_, part, i); });
    set_rotations_and_pins(model, state, dt, path);
    const Vec3s predicted = verlet ? path : Vec3s();
    add_kicks(model, state, dt, path);
    require_finite(model, path);
    if (correction.motion) {
        correction.motion(state, dt, path);
        require_finite(model, path);
    }
    Vec3s end = state.velocity;
    advance(model, state, path, dt);
    if (verlet) {
        parallel_for(n, [&](Index i) {
            if (model.is_prescribed(i) || model.mass[i] == 0) return; // angular velocities are advance()'s
            end[i] += kick(model, force_, dt, i);
            end[i] += path[i] - predicted[i];
            state.velocity[i] = end[i];
        });
    }
    for (const Pin& pin : model.pins) outer_impulse_ += model.mass[pin.block] * state.velocity[pin.block];
    if (correction.committed) correction.committed(state);
}

Real stable_step(const Model& model, const State& state)
{
    RowBounds bounds(model.block_count());
    for (const auto& batch : model.batches)
        if (!batch->kicks()) batch->add_row_bounds(state.position, bounds);
    Real step = std::numeric_limits<Real>::infinity();
    for (Index i = 0; i < model.block_count(); ++i) {
        if (bounds.stiffness[i] == 0) continue;
        const Real omega = std::sqrt(bounds.stiffness[i] / model.mass[i]);
        const Real zeta = (bounds.damping[i] / model.mass[i] + model.drag[i]) / (2 * omega);
        step = std::min(step, 0.9 * (std::sqrt(1 + zeta * zeta) - zeta) * 2 / omega);
    }
    return step;
}

int stable_substeps(const Model& model, const State& state, Real dt)
{
    const Real substeps = std::ceil(dt / stable_step(model, state));
    if (!(substeps <= most_substeps))
        throw Error(
            "an explicit step of this scene would need more than a million sub-steps: its stiffness is too high "
            "for its masses; soften it, coarsen its meshes, or use an implicit integrator");
    return std::max(1, static_cast<int>(substeps));
}

namespace {

/// stable_substeps() of what stays within measure.
int tame_substeps(const Model& model, const State& state, Real dt)
{
    const int substeps = stable_substeps(model, state, dt);
    if (substeps <= most_growth) return substeps;
    State rest;
    rest.position = model.rest;
    if (substeps > most_growth * stable_substeps(model, rest, dt))
        throw Error("the stable step is a thousand times shorter than in the rest shape: elements are stretched beyond "
                    "measure; take shorter steps, stiffer material or less violent motion");
    return substeps;
}

} // namespace

int take_stable_substeps(const Model& model, const State& state, Real dt, Real finer,
                         const std::function<void(Real h, bool last)>& take)
{
    const bool varies = std::any_of(model.batches.begin(), model.batches.end(),
                                    [](const auto& batch) { return batch->stiffness_varies(); });
    const int first = tame_substeps(model, state, finer * dt);
    const int look_after = std::max(1, first / 8); // the look costs about as much as the forces of a sub-step
    Real h = dt / first, left = dt;
    int taken = 0;
    for (int to_go = first; to_go > 0;) {
        take(h, to_go == 1);
        ++taken;
        left -= h;
        if (--to_go == 0 || !varies || taken % look_after != 0) continue;
        const int needed = tame_substeps(model, state, finer * left);
        if (needed <= to_go) continue;
        to_go = needed;
        h = left / needed;
    }
    return taken;
}

} // namespace pliant
