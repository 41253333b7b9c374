#include "pliant/dynamics/explicit.hpp"

#include "pliant/dynamics/system.hpp"

#include <cmath>
#include <limits>

namespace pliant {

void forces(const Model& model, const State& state, Vec3s& out)
{
    out.assign(state.position.size(), Vec3::Zero());
    for (const Body& body : model.bodies) {
        const Vec3* x = state.position.data() + body.first_block;
        const Vec3* v = state.velocity.data() + body.first_block;
        Vec3* f = out.data() + body.first_block;
        if (body.kind == BodyKind::cloth) {
            const Cloth& cloth = model.cloths[body.model];
            const Real beta = cloth.material.damping;
            for (const Spring& s : cloth.springs) {
                Vec3 force = spring_force(s, x[s.a], x[s.b]);
                if (beta > 0) force -= beta * (spring_stiffness(s, x[s.a], x[s.b]) * (v[s.a] - v[s.b]));
                f[s.a] += force;
                f[s.b] -= force;
            }
            for (Index i = 0; i < body.block_count; ++i)
                f[i] += cloth.mass[i] * (model.gravity - cloth.material.drag * v[i]);
        } else if (body.kind == BodyKind::solid) {
            const Solid& solid = model.solids[body.model];
            const Real beta = solid.material.damping;
            for (const SolidElement& e : solid.elements) {
                const Mat3 F = deformation_gradient(e, {x[e.nodes[0]], x[e.nodes[1]], x[e.nodes[2]], x[e.nodes[3]]});
                const Mat3 R = element_rotation(F);
                Mat3 P = element_stress(solid, F, R);
                if (beta > 0) { // the warped stiffness times the velocity, as a stress
                    const Mat3 rate = R.transpose() * deformation_gradient(e, {v[e.nodes[0]], v[e.nodes[1]],
                                                                               v[e.nodes[2]], v[e.nodes[3]]});
                    P += beta * R *
                         (solid.mu * (rate + rate.transpose()) + solid.lambda * rate.trace() * Mat3::Identity());
                }
                for (int k = 0; k < 4; ++k) f[e.nodes[k]] -= e.volume * (P * e.gradient[k]);
            }
            for (Index i = 0; i < body.block_count; ++i)
                f[i] += solid.mass[i] * (model.gravity - solid.material.drag * v[i]);
        } else if (body.kind == BodyKind::rigid) {
            f[0] = model.rigids[body.model].mass * model.gravity;
        }
    }
}

namespace {

/// v += dt M^-1 f for particles and rigid centres; free rotation and pins are left to the caller.
void kick(const Model& model, const Vec3s& f, Real dt, Vec3s& v)
{
    for (const Body& body : model.bodies) {
        const Index o = body.first_block;
        if (body.kind == BodyKind::rigid) {
            v[o] += dt / model.rigids[body.model].mass * f[o];
        } else if (body.kind == BodyKind::cloth || body.kind == BodyKind::solid) {
            const std::vector<Real>& mass =
                body.kind == BodyKind::cloth ? model.cloths[body.model].mass : model.solids[body.model].mass;
            for (Index i = 0; i < body.block_count; ++i) v[o + i] += dt / mass[i] * f[o + i];
        }
    }
}

/// The velocities that advance() expects: rigid bodies turn freely, pins follow their script.
Vec3s moving_velocities(const Model& model, const State& state, const Vec3s& kicked, Real dt)
{
    Vec3s v = kicked;
    for (const Body& body : model.bodies)
        if (body.kind == BodyKind::rigid)
            v[body.first_block + 1] = free_rotation(model.rigids[body.model], state.orientation[body.model],
                                                    state.velocity[body.first_block + 1], dt);
    prescribed_velocities(model, state, dt, v);
    return v;
}

} // namespace

void symplectic_euler_step(const Model& model, State& state, Real dt)
{
    Vec3s f, v = state.velocity;
    forces(model, state, f);
    kick(model, f, dt, v);
    advance(model, state, moving_velocities(model, state, v, dt), dt);
}

void verlet_step(const Model& model, State& state, Real dt)
{
    Vec3s f, v = state.velocity;
    forces(model, state, f);
    kick(model, f, dt / 2, v);
    advance(model, state, moving_velocities(model, state, v, dt), dt);
    forces(model, state, f);
    Vec3s end = state.velocity;
    kick(model, f, dt / 2, end);
    for (const Pin& pin : model.pins) end[pin.block] = state.velocity[pin.block];
    state.velocity = std::move(end);
}

Real stable_step(const Model& model, const State& state)
{
    Real step = std::numeric_limits<Real>::infinity();
    for (const Body& body : model.bodies) {
        const Vec3* x = state.position.data() + body.first_block;
        std::vector<Real> row_sum(static_cast<std::size_t>(body.block_count), 0);
        const std::vector<Real>* mass = nullptr;
        Real alpha = 0, beta = 0;
        if (body.kind == BodyKind::cloth) {
            const Cloth& cloth = model.cloths[body.model];
            mass = &cloth.mass, alpha = cloth.material.drag, beta = cloth.material.damping;
            for (const Spring& s : cloth.springs) { // |K_aa| + |K_ab| with |K| = k max(1, |1 - L/l|)
                const Real length = (x[s.a] - x[s.b]).norm();
                const Real k =
                    length > 0 ? s.stiffness * std::max(1.0, std::abs(1 - s.rest_length / length)) : s.stiffness;
                row_sum[s.a] += 2 * k;
                row_sum[s.b] += 2 * k;
            }
        } else if (body.kind == BodyKind::solid) {
            const Solid& solid = model.solids[body.model];
            mass = &solid.mass, alpha = solid.material.drag, beta = solid.material.damping;
            for (const SolidElement& e : solid.elements)
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j)
                        row_sum[e.nodes[i]] +=
                            e.volume * (solid.lambda + 2 * solid.mu) * e.gradient[i].norm() * e.gradient[j].norm();
        } else {
            continue;
        }
        for (Index i = 0; i < body.block_count; ++i) {
            const Real omega = std::sqrt(row_sum[i] / (*mass)[i]);
            if (omega == 0) continue;
            const Real zeta = beta * omega / 2 + alpha / (2 * omega);
            step = std::min(step, 0.9 * (std::sqrt(1 + zeta * zeta) - zeta) * 2 / omega);
        }
    }
    return step;
}

} // namespace pliant
