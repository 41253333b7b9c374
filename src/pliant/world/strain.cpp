#include "pliant/world/strain.hpp"

#include <algorithm>

namespace pliant {

Real max_elongation(const Model& model, const State& state)
{
    Real largest = 0;
    for (const auto& batch : model.batches) largest = std::max(largest, batch->max_elongation(state.position));
    return largest;
}

void block_stress(const Model& model, const State& state, std::vector<Real>& out)
{
    out.assign(static_cast<std::size_t>(model.block_count()), 0);
    for (const auto& batch : model.batches) batch->raise_stress(state.position, out);
}

void surface_stress(const Model& model, const State& state, std::vector<Real>& out)
{
    const Surface& s = model.surface;
    std::vector<Real> at;
    block_stress(model, state, at);
    out.assign(static_cast<std::size_t>(s.vertex_count()), 0);
    for (Index v = 0; v < s.vertex_count(); ++v)
        for (Index k = s.map_begin[v]; k < s.map_begin[v + 1]; ++k) out[v] += s.map_weight[k] * at[s.map_block[k]];
}

} // namespace pliant
