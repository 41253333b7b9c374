#pragma once
// Sewing: pairs of particles that were pulled together become one value. The surface keeps its vertices and triangles;
// elements and surface vertices of the partner refer to the first block of the class, and the partner's own block
// follows it.

#include "pliant/world/world.hpp"

namespace pliant {

/// The longest distance between two partners of a seam [m].
Real seam_opening(const Seam& seam, const Vec3s& position);

/// Per block: the block whose value it has when the seams numbered are tied; itself for most.
std::vector<Index> tied_blocks(const Model& model, const std::vector<std::int64_t>& seams);

/// Where tying the seams of `sewn` as well puts the blocks: partners meet in their centre of mass, at their common
/// velocity; nothing else moves. A pinned partner stays where it is.
State sewn_state(const Model& model, const State& state, const std::vector<std::int64_t>& sewn);

/// Whether the numbers name seams of the model, ascending.
bool may_be_sewn(const Model& model, const std::vector<std::int64_t>& sewn);
/// Takes the friction from garments that have seams beside those of `sewn`: nothing should hold what threads pull at.
/// Of a model that is not tied; tie_sewn() keeps it up.
void let_garments_slip(Model& model, const std::vector<std::int64_t>& sewn);
/// Brings the model to what State::sewn says: masses added up, elements and surface at the first block of each class.
/// Methods made before know nothing of it.
void tie_sewn(World& world);
/// The model before anything was tied; its surface map is the one that run directories store.
inline const Model& unsewn_model(const Model& model)
{
    return model.unsewn ? *model.unsewn : model;
}

} // namespace pliant
