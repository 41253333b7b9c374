#pragma once
// The table of elastic models for tetrahedra: a new one is a file with an element (bodies/model_batch.hpp) or a batch
// of elements, and a row here. Scenes offer what the table has.

#include "pliant/bodies/batch.hpp"
#include "pliant/bodies/solid.hpp"

#include <string>

namespace pliant {

using Batches = std::vector<std::shared_ptr<const ElementBatch>>;

struct SolidModel {
    const char* name;    ///< as scenes write it
    const char* meaning; ///< for the documentation, to stand after "name: "
    /// The elements of a solid whose nodes are the blocks from first_block on.
    Batches (*make)(const Solid& solid, Index first_block);
};

std::span<const SolidModel> solid_models();
/// Throws Error for an unknown name.
const SolidModel& solid_model(const std::string& name);

} // namespace pliant
