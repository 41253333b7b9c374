#include "pliant/bodies/solid_models.hpp"

#include "pliant/bodies/tetrahedra.hpp"
#include "pliant/core/error.hpp"

namespace pliant {
namespace {

template <class Batch>
std::shared_ptr<const ElementBatch> make(const Solid& solid, Index first_block)
{
    return std::make_shared<Batch>(solid, first_block);
}

constexpr SolidModel models[] = {
    {"corotational",
     "linear elasticity in the rotated frame of each element: fast, for large rotations and small strain",
     make<CorotationalBatch>},
};

} // namespace

std::span<const SolidModel> solid_models()
{
    return models;
}

const SolidModel& solid_model(const std::string& name)
{
    for (const SolidModel& m : models)
        if (name == m.name) return m;
    throw Error("unknown elastic model '" + name + "'");
}

} // namespace pliant
