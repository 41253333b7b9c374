#include "pliant/world/strain.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {

Real max_elongation(const Model& model, const State& state)
{
    assert(fits(model, state));
    Real largest = 0;
    for (const auto& batch : model.batches) largest = std::max(largest, batch->max_elongation(state.position));
    return largest;
}

StrainExcess strain_excess(const Model& model, const Vec3s& position)
{
    assert(count(position) == model.block_count());
    StrainExcess worst;
    for (Index b = 0; b < count(model.bodies); ++b) {
        const Body& body = model.bodies[b];
        const Real amount = parallel_max(body.limit_count, 0, [&](Index i) {
            const LengthLimit& l = model.length_limits[body.first_limit + i];
            return (position[l.b] - position[l.a]).norm() / (l.ratio * l.rest_length) - 1;
        });
        if (amount > worst.amount) worst = {amount, b};
    }
    return worst;
}

InvertedElements inverted_elements(const Model& model, const Vec3s& position)
{
    assert(count(position) == model.block_count());
    InvertedElements all;
    Index most = 0;
    for (const auto& batch : model.batches) {
        const Index inverted = batch->inverted(position);
        all.count += inverted;
        if (inverted <= most) continue;
        most = inverted;
        all.body = model.block_body[batch->blocks(0).front()];
    }
    return all;
}

void block_stress(const Model& model, const State& state, std::vector<Real>& out)
{
    assert(fits(model, state));
    out.assign(static_cast<std::size_t>(model.block_count()), 0);
    for (const auto& batch : model.batches) batch->raise_stress(state.position, out);
}

void surface_stress(const Model& model, const State& state, std::vector<Real>& out)
{
    std::vector<Real> at;
    block_stress(model, state, at);
    surface_values(model.surface, at, out);
}

} // namespace pliant
