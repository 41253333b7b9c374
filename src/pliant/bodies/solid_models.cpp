#include "pliant/bodies/solid_models.hpp"

#include "pliant/bodies/corotational.hpp"
#include "pliant/bodies/neo_hookean.hpp"
#include "pliant/bodies/spring_solid.hpp"
#include "pliant/bodies/st_venant_kirchhoff.hpp"
#include "pliant/core/error.hpp"

namespace pliant {
namespace {

template <class Batch>
Batches one_batch(const Solid& solid, Index first_block)
{
    return {std::make_shared<Batch>(solid, first_block)};
}

constexpr SolidModel models[] = {
    {"corotational",
     "linear elasticity in the rotated frame of each element, fast, for large rotations and small strain",
     one_batch<CorotationalBatch>},
    {"st-venant-kirchhoff",
     "Hooke's law on the Green-Lagrange strain, stiffer the more it is stretched; gives way when it is compressed to "
     "half its length",
     one_batch<ModelBatch<StVenantKirchhoff>>},
    {"neo-hookean",
     "rubber that resists being flattened without bound: for twist and crush; no step of `implicit` turns an element "
     "inside out",
     one_batch<ModelBatch<NeoHookean>>},
    {"springs",
     "springs on the edges of the tetrahedra and a force that keeps their volume; as isotropic as the mesh is, and a "
     "`poisson` below 0.3 counts as 0.3",
     one_batch<SpringSolidBatch>},
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
