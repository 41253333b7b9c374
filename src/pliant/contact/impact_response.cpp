#include "pliant/contact/impact_response.hpp"

#include "pliant/contact/local.hpp"
#include "pliant/core/contracts.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

Vec3 respond_to_impact(const Model& model, const State& state, const ContactProblem& problem, const Row& row,
                       const ResponseOptions& options, Vec3s& v)
{
    assert(count(v) == model.block_count() && row.entry_end <= count(problem.entries));
    assert(std::abs(row.normal.squaredNorm() - 1) < 1e-6 && std::isfinite(row.rhs) && row.friction >= 0);
    assert(options.restitution >= 0 && options.restitution <= 1);
    const auto inverse_mass = [&](Index block) -> Mat3 {
        if (model.is_prescribed(block)) return Mat3::Zero();
        if (model.mass[block] > 0) return Mat3::Identity() / model.mass[block];
        const Index r = model.rotor_of_block[block];
        const Quat& q = state.orientation[r];
        return q.toRotationMatrix() * model.rotors[r].rigid.inertia_inv * q.toRotationMatrix().transpose();
    };
    const Vec3& n = row.normal;
    const Vec3 u = row.u0 + problem.relative_velocity(row, v);
    const Real approach = -n.dot(u);
    if (-approach >= row.rhs) return Vec3::Zero();
    // u changes by K p for an impulse p; K is a multiple of the identity unless a body turns.
    const Mat3 K = response_of_blocks(problem, row, inverse_mass);
    const Real k_n = n.dot(K * n);
    if (!(k_n > 0)) return Vec3::Zero();
    const Real wanted = std::max(row.rhs, options.restitution * approach);
    Vec3 impulse = (wanted + approach) / k_n * n;
    const Vec3 pushed = u + K * impulse;
    const Vec3 sliding = pushed - n.dot(pushed) * n;
    if (const Real speed = sliding.norm(); speed > 0) {
        const Vec3 t = sliding / speed;
        // A lost distance that is won back is pressure as well.
        const Real pressure = std::max(0.0, approach + std::max(0.0, row.rhs)) / k_n;
        impulse -= std::min(row.friction * pressure, speed / t.dot(K * t)) * t;
    }
    assert(impulse.allFinite());
    for (Index k = row.entry_begin; k < row.entry_end; ++k) {
        const RowEntry& e = problem.entries[k];
        v[e.block] += inverse_mass(e.block) * (e.weight * impulse);
    }
    for (Index k = row.arm_begin; k < row.arm_end; ++k) {
        const auto& a = problem.arms[k];
        v[a.block] += inverse_mass(a.block) * a.arm.cross(impulse);
    }
    return impulse;
}

} // namespace pliant
