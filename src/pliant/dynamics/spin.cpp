#include "pliant/dynamics/spin.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr Real least_angle = 0.01; ///< a step [rad]: below, a body swells by less than 5e-5 of its size
constexpr Real most_shaking = 0.1; ///< share of the energy about the mass centre that is no rotation

/// Moments of a body about its mass centre.
struct Moments {
    Moments(const Model& model, const State& state, const FreeBody& body)
    {
        for (Index i = body.first; i < body.first + body.size; ++i) {
            mass += model.mass[i];
            centre += model.mass[i] * state.position[i];
        }
        centre /= mass;
        for (Index i = body.first; i < body.first + body.size; ++i) {
            const Mat3 r = skew(state.position[i] - centre);
            inertia -= model.mass[i] * r * r;
        }
    }
    Real mass = 0;
    Vec3 centre = Vec3::Zero();
    Mat3 inertia = Mat3::Zero(); ///< [kg m^2]
};

/// The rigid motion with the momenta of a body.
struct RigidMotion {
    RigidMotion(const Model& model, const State& state, const FreeBody& body) : moments(model, state, body)
    {
        for (Index i = body.first; i < body.first + body.size; ++i)
            mean += model.mass[i] / moments.mass * state.velocity[i];
        for (Index i = body.first; i < body.first + body.size; ++i) {
            const Vec3 v = state.velocity[i] - mean;
            spin += model.mass[i] * (state.position[i] - moments.centre).cross(v);
            energy += model.mass[i] * v.squaredNorm();
        }
        omega = moments.inertia.inverse() * spin;
    }
    Moments moments;
    Vec3 mean = Vec3::Zero();  ///< velocity of the mass centre [m/s]
    Vec3 spin = Vec3::Zero();  ///< angular momentum about it [kg m^2/s]
    Vec3 omega = Vec3::Zero(); ///< [rad/s]
    Real energy = 0;           ///< twice the kinetic energy about it [J]
};

} // namespace

std::vector<char> bodies_that_move_as_one(const Model& model)
{
    std::vector<char> free;
    for (const Body& body : model.bodies) free.push_back(body.stiff);
    for (const Pin& pin : model.pins) free[model.block_body[pin.block]] = 0;
    for (const auto& batch : model.batches)
        for (Index e = 0; e < batch->element_count(); ++e) {
            const std::span<const Index> blocks = batch->blocks(e);
            const Index body = model.block_body[blocks.front()];
            for (const Index b : blocks)
                if (model.block_body[b] != body) free[body] = free[model.block_body[b]] = 0;
        }
    return free;
}

std::vector<FreeBody> free_bodies(const Model& model)
{
    std::vector<FreeBody> bodies(model.bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        bodies[i].first = model.bodies[i].first_block;
        bodies[i].size = model.bodies[i].block_count;
    }
    std::vector<char> free = bodies_that_move_as_one(model);
    for (Index k = 0; k < count(model.batches); ++k) {
        const ElementBatch& batch = *model.batches[k];
        if (batch.element_count() == 0) continue;
        const auto body_of = [&](Index element) { return model.block_body[batch.blocks(element).front()]; };
        const Index first = body_of(0);
        FreeBody& body = bodies[first];
        if (!body.batches.empty() && body.damping != batch.damping()) free[first] = 0;
        body.damping = batch.damping();
        body.batches.push_back(k);
        for (Index e = 0; e < batch.element_count(); ++e)
            if (body_of(e) != first) free[body_of(e)] = free[first] = 0;
    }
    std::vector<FreeBody> found;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        if (free[i] && !bodies[i].batches.empty()) found.push_back(std::move(bodies[i]));
    return found;
}

bool turns_fast(const Model& model, const State& state, const FreeBody& body, Real dt)
{
    const RigidMotion motion(model, state, body);
    return motion.omega.allFinite() && motion.omega.norm() * dt >= least_angle &&
           motion.omega.dot(motion.spin) >= (1 - most_shaking) * motion.energy;
}

bool changes_shape(const Model& model, const State& state, const FreeBody& body, const Vec3s& v, Real dt)
{
    const Moments moments(model, state, body);
    Vec3 mean = Vec3::Zero();
    for (Index i = body.first; i < body.first + body.size; ++i) mean += model.mass[i] / moments.mass * v[i];
    Real farthest_sq = 0, moved_sq = 0;
    for (Index i = body.first; i < body.first + body.size; ++i) {
        farthest_sq = std::max(farthest_sq, (state.position[i] - moments.centre).squaredNorm());
        moved_sq = std::max(moved_sq, (dt * (v[i] - mean)).squaredNorm());
    }
    return moved_sq > least_angle * least_angle * farthest_sq;
}

void predict_rotation(const Model& model, const State& state, const FreeBody& body, Real dt, Vec3s& w)
{
    const RigidMotion motion(model, state, body);
    const Real rate = motion.omega.norm();
    // Backward Euler turns a rigid body by atan(h omega).
    const Mat3 turn = Eigen::AngleAxis<Real>(std::atan(dt * rate), motion.omega / rate).toRotationMatrix();
    for (Index i = body.first; i < body.first + body.size; ++i) {
        const Vec3 r = state.position[i] - motion.moments.centre;
        w[i] = motion.mean + (turn * r - r) / dt;
    }
}

void keep_angular_momentum(const Model& model, const State& state, const FreeBody& body, Real dt, Vec3s& v)
{
    // With x1 = x0 + h v1 and r0, r1 seen from the mass centre, L1 = sum m r1 x v1 = sum m r0 x v1. The velocity omega
    // x r1 is tangential where the body ends, so that it does not swell, and adds sum m r0 x (omega x r1) to L1.
    const Moments moments(model, state, body);
    Vec3 missing = Vec3::Zero(), mean = Vec3::Zero();
    for (Index i = body.first; i < body.first + body.size; ++i) mean += model.mass[i] / moments.mass * v[i];
    const auto start = [&](Index i) -> Vec3 { return state.position[i] - moments.centre; };
    const auto end = [&](Index i) -> Vec3 { return start(i) + dt * (v[i] - mean); };
    Mat3 response = Mat3::Zero();
    for (Index i = body.first; i < body.first + body.size; ++i) {
        const Vec3 r0 = start(i), r1 = end(i);
        missing += model.mass[i] * r0.cross(state.velocity[i] / (1 + dt * model.drag[i]) - v[i]);
        response += model.mass[i] * (r0.dot(r1) * Mat3::Identity() - r1 * r0.transpose());
    }
    const Vec3 omega = response.inverse() * missing;
    if (!omega.allFinite()) return;
    for (Index i = body.first; i < body.first + body.size; ++i) v[i] += omega.cross(end(i));
}

Real energy_about_centre(const Model& model, const FreeBody& body, const Vec3s& x, const Vec3s& v)
{
    Real mass = 0, energy = 0;
    Vec3 momentum = Vec3::Zero();
    for (Index i = body.first; i < body.first + body.size; ++i) {
        mass += model.mass[i];
        momentum += model.mass[i] * v[i];
    }
    for (Index i = body.first; i < body.first + body.size; ++i)
        energy += model.mass[i] / 2 * (v[i] - momentum / mass).squaredNorm();
    for (const Index k : body.batches) energy += model.batches[k]->energy(x);
    return energy;
}

} // namespace pliant
