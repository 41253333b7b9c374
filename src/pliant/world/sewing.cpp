#include "pliant/world/sewing.hpp"

#include "pliant/core/error.hpp"
#include "pliant/core/union_find.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>

namespace pliant {

Real seam_opening(const Seam& seam, const Vec3s& position)
{
    Real opening = 0;
    for (const auto& [a, b] : seam.pairs) opening = std::max(opening, (position[a] - position[b]).norm());
    return opening;
}

std::vector<Index> tied_blocks(const Model& model, const std::vector<std::int64_t>& seams)
{
    UnionFind classes(model.block_count());
    for (const std::int64_t s : seams)
        for (const auto& [a, b] : model.seams[static_cast<std::size_t>(s)].pairs) classes.join(a, b);
    // A class is named by a pinned block of it, so that it is pinned as a whole, or else by its first one.
    const Model& before = unsewn_model(model);
    std::vector<Index> name(static_cast<std::size_t>(model.block_count()), none), first(name.size());
    for (Index i = 0; i < count(first); ++i) {
        Index& of_class = name[classes.find(i)];
        if (of_class == none || (before.is_prescribed(i) && !before.is_prescribed(of_class))) of_class = i;
    }
    for (Index i = 0; i < count(first); ++i) first[i] = name[classes.find(i)];
    return first;
}

State sewn_state(const Model& model, const State& state, const std::vector<std::int64_t>& sewn)
{
    const Model& before = unsewn_model(model);
    const std::vector<Index> block = tied_blocks(model, sewn);
    std::map<Index, std::vector<Index>> classes;
    for (Index i = 0; i < count(block); ++i)
        if (block[i] != i) classes[block[i]].push_back(i);
    State out = state;
    for (const auto& [lowest, others] : classes) {
        const Index first = lowest;
        Real mass = before.mass[first];
        Vec3 x = mass * state.position[first], p = mass * state.velocity[first];
        for (const Index i : others) {
            mass += before.mass[i];
            x += before.mass[i] * state.position[i];
            p += before.mass[i] * state.velocity[i];
        }
        // What is tied already has one value, up to the bit.
        const bool together =
            std::ranges::all_of(others, [&](Index i) { return state.position[i] == state.position[first]; });
        if (!together && !before.is_prescribed(first)) {
            out.position[first] = x / mass;
            out.velocity[first] = p / mass;
        }
        for (const Index i : others) {
            out.position[i] = out.position[first];
            out.velocity[i] = out.velocity[first];
        }
    }
    out.sewn = sewn;
    return out;
}

bool may_be_sewn(const Model& model, const std::vector<std::int64_t>& sewn)
{
    return std::ranges::adjacent_find(sewn, std::greater_equal<>()) == sewn.end() &&
           (sewn.empty() || (sewn.front() >= 0 && sewn.back() < count(model.seams)));
}

namespace {

/// Bodies that have seams beside those that are tied, ascending.
std::vector<Index> open_garments(const Model& model, const std::vector<std::int64_t>& sewn)
{
    std::vector<Index> bodies;
    for (Index s = 0; s < count(model.seams); ++s)
        if (!std::ranges::binary_search(sewn, s)) bodies.push_back(model.seams[s].body);
    std::ranges::sort(bodies);
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    return bodies;
}

} // namespace

void let_garments_slip(Model& model, const std::vector<std::int64_t>& sewn)
{
    std::vector<FrictionTable::Exception> without;
    for (const Index garment : open_garments(model, sewn))
        for (Index body = 0; body < count(model.bodies); ++body) without.push_back({garment, body, 0});
    auto& exceptions = model.friction.exceptions; // the first one that names a pair counts
    exceptions.insert(exceptions.begin(), without.begin(), without.end());
}

void tie_sewn(World& world)
{
    const std::vector<std::int64_t>& sewn = world.state.sewn;
    assert(may_be_sewn(world.model, sewn));
    if (sewn.empty() && !world.model.unsewn) return;
    auto before = world.model.unsewn;
    if (!before) before = std::make_shared<Model>(world.model);
    Model model = *before;
    model.unsewn = before;
    const std::vector<Index> block = tied_blocks(model, sewn);
    for (Index i = 0; i < count(block); ++i) {
        if (block[i] == i) continue;
        model.mass[block[i]] += model.mass[i];
        model.mass[i] = 0;
        std::erase_if(model.pins, [&](const Pin& pin) { return pin.block == i; });
        model.pins.push_back({.block = i, .tied_to = block[i]});
    }
    std::ranges::sort(model.pins, {}, &Pin::block);
    model.pin_of_block.assign(block.size(), none);
    for (Index p = 0; p < count(model.pins); ++p) model.pin_of_block[model.pins[p].block] = p;
    for (Index& b : model.surface.map_block) b = block[b];
    for (Index v = 0; v < model.surface.vertex_count(); ++v)
        for (const Index b : model.surface.blocks(v))
            if (block[b] == b && model.is_prescribed(b) && model.surface.blocks(v).size() == 1)
                model.surface.prescribed[v] = 1;
    for (auto& batch : model.batches) {
        std::shared_ptr<const ElementBatch> tied = batch->with_blocks(block);
        if (tied) batch = std::move(tied);
    }
    for (LengthLimit& l : model.length_limits) l.a = block[l.a], l.b = block[l.b];
    const std::size_t slipping = open_garments(model, {}).size() * model.bodies.size();
    assert(model.friction.exceptions.size() >= slipping); // let_garments_slip() has put them first
    model.friction.exceptions.erase(model.friction.exceptions.begin(),
                                    model.friction.exceptions.begin() + static_cast<std::ptrdiff_t>(slipping));
    let_garments_slip(model, sewn);
    world.model = std::move(model);
}

} // namespace pliant
