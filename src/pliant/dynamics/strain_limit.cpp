#include "pliant/dynamics/strain_limit.hpp"

#include <algorithm>
#include <span>

namespace pliant {
namespace {

constexpr Real margin = 1e-4; ///< corrections aim this much (relative) below the limit, so that the sweeps end

Real limit_body(const Model& model, const Body& body, const State& state, Real dt, Vec3s& v, int max_sweeps)
{
    const std::span<const LengthLimit> limits(model.length_limits.data() + body.first_limit,
                                              static_cast<std::size_t>(body.limit_count));
    Real worst = -1;
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        worst = -1;
        for (const LengthLimit& l : limits) {
            const Vec3 d = state.position[l.b] + dt * v[l.b] - state.position[l.a] - dt * v[l.a];
            const Real length = d.norm();
            worst = std::max(worst, length / l.rest_length - l.ratio);
            const Real target = (l.ratio - margin) * l.rest_length;
            if (length <= target) continue;
            const Real wa = model.is_prescribed(l.a) ? 0 : 1 / model.mass[l.a];
            const Real wb = model.is_prescribed(l.b) ? 0 : 1 / model.mass[l.b];
            if (wa + wb == 0) continue;
            const Vec3 correction = (length - target) / (length * dt * (wa + wb)) * d;
            v[l.a] += wa * correction;
            v[l.b] -= wb * correction;
        }
        if (worst <= 0) break;
    }
    return worst;
}

} // namespace

Real limit_strain(const Model& model, const State& state, Real dt, Vec3s& v, int max_sweeps)
{
    Real worst = -1;
    for (const Body& body : model.bodies)
        if (body.limit_count > 0) worst = std::max(worst, limit_body(model, body, state, dt, v, max_sweeps));
    return worst;
}

} // namespace pliant
