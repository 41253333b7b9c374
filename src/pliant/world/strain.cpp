#include "pliant/world/strain.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cassert>

namespace pliant {

Real max_elongation(const Model& model, const State& state)
{
    assert(fits(model, state));
    std::vector<Real> largest(model.batches.size(), 0);
    parallel_for(
        count(largest), [&](Index b) { largest[b] = model.batches[b]->max_elongation(state.position); }, 1);
    return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
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
    std::vector<Index> inverted(model.batches.size(), 0);
    parallel_for(
        count(inverted), [&](Index b) { inverted[b] = model.batches[b]->inverted(position); }, 1);
    Index most = 0;
    for (Index b = 0; b < count(inverted); ++b) {
        all.count += inverted[b];
        if (inverted[b] <= most) continue;
        most = inverted[b];
        all.body = model.block_body[model.batches[b]->blocks(0).front()];
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
