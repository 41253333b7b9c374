#include "pliant/dynamics/strain_limit.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

constexpr int max_sweeps = 5000;
constexpr Real margin = 1e-4; ///< corrections aim this much (relative) below the limit, so that the sweeps end

Real limit_cloth(const Model& model, const Body& body, const State& state, Real dt, Vec3s& v)
{
    const Cloth& cloth = model.cloths[body.model];
    const Real limit = 1 + cloth.material.max_strain;
    Real worst = -1;
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        worst = -1;
        for (const Spring& s : cloth.springs) {
            if (s.kind == SpringKind::flexion) break; // they come last
            const Index a = body.first_block + s.a, b = body.first_block + s.b;
            const Vec3 d = state.position[b] + dt * v[b] - state.position[a] - dt * v[a];
            const Real length = d.norm();
            worst = std::max(worst, length / s.rest_length - limit);
            const Real target = (limit - margin) * s.rest_length;
            if (length <= target) continue;
            const Real wa = model.is_prescribed(a) ? 0 : 1 / cloth.mass[s.a];
            const Real wb = model.is_prescribed(b) ? 0 : 1 / cloth.mass[s.b];
            if (wa + wb == 0) continue;
            const Vec3 correction = (length - target) / (length * dt * (wa + wb)) * d;
            v[a] += wa * correction;
            v[b] -= wb * correction;
        }
        if (worst <= 0) break;
    }
    return worst;
}

} // namespace

Real limit_strain(const Model& model, const State& state, Real dt, Vec3s& v)
{
    Real worst = -1;
    for (const Body& body : model.bodies)
        if (body.kind == BodyKind::cloth && std::isfinite(model.cloths[body.model].material.max_strain))
            worst = std::max(worst, limit_cloth(model, body, state, dt, v));
    return worst;
}

} // namespace pliant
