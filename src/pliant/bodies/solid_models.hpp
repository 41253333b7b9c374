#pragma once
// The table of elastic models for tetrahedra: a new one is a file with a batch of elements and a row here.

#include "pliant/bodies/batch.hpp"
#include "pliant/bodies/solid.hpp"

#include <string>

namespace pliant {

struct SolidModel {
    const char* name;    ///< as scenes write it
    const char* meaning; ///< one sentence for the documentation
    /// The elements of a solid whose nodes are the blocks from first_block on.
    std::shared_ptr<const ElementBatch> (*make)(const Solid& solid, Index first_block);
};

std::span<const SolidModel> solid_models();
/// Throws Error for an unknown name.
const SolidModel& solid_model(const std::string& name);

} // namespace pliant
