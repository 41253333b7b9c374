#include "pliant/bodies/batch.hpp"

#include <algorithm>
#include <limits>

namespace pliant {

Incidence incidence_of(const ElementBatch& batch)
{
    Index first = std::numeric_limits<Index>::max(), end = 0;
    for (Index e = 0; e < batch.element_count(); ++e)
        for (const Index b : batch.blocks(e)) {
            first = std::min(first, b);
            end = std::max(end, b + 1);
        }
    Incidence incidence;
    incidence.first_block = end > 0 ? first : 0;
    const Index blocks = end > 0 ? end - first : 0;
    std::vector<Index> fill(static_cast<std::size_t>(blocks) + 1, 0);
    for (Index e = 0; e < batch.element_count(); ++e)
        for (const Index b : batch.blocks(e)) ++fill[b - first + 1];
    for (Index i = 0; i < blocks; ++i) fill[i + 1] += fill[i];
    incidence.begin = fill;
    incidence.corners.resize(static_cast<std::size_t>(fill.back()));
    for (Index e = 0; e < batch.element_count(); ++e) {
        Index corner = 0;
        for (const Index b : batch.blocks(e)) incidence.corners[fill[b - first]++] = {e, corner++};
    }
    return incidence;
}

} // namespace pliant
