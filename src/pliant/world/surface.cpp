#include "pliant/world/surface.hpp"

#include "pliant/core/parallel.hpp"

#include <cassert>

namespace pliant {
namespace {

[[maybe_unused]] bool fits(const SurfaceMap& map, const SurfaceFrames& frames)
{
    const std::size_t n = map.carrier.size();
    return map.map_begin.size() == n + 1 && map.frame.size() == n && map.local.size() == n &&
           frames.rigid.size() == map.rigid_block.size();
}

} // namespace

void surface_positions(const SurfaceMap& map, const Vec3s& block_position, const SurfaceFrames& frames, Vec3s& out)
{
    assert(fits(map, frames));
    out.resize(map.carrier.size());
    parallel_for(count(map.carrier), [&](Index v) {
        switch (map.carrier[v]) {
        case Carrier::blocks: {
            const Index begin = map.map_begin[v], end = map.map_begin[v + 1];
            if (end == begin + 1) {
                out[v] = block_position[map.map_block[begin]];
            } else {
                Vec3 x = Vec3::Zero();
                for (Index k = begin; k < end; ++k) x += map.map_weight[k] * block_position[map.map_block[k]];
                out[v] = x;
            }
            break;
        }
        case Carrier::rigid:
            out[v] = frames.rigid[map.frame[v]](map.local[v]);
            break;
        case Carrier::obstacle:
            out[v] = frames.scripted[map.frame[v]](map.local[v]);
            break;
        }
    });
}

void surface_velocities(const SurfaceMap& map, const Vec3s& block_velocity, const SurfaceFrames& frames,
                        const std::vector<Pose>& scripted_before, Real dt, Vec3s& out)
{
    assert(fits(map, frames) && scripted_before.size() == frames.scripted.size());
    out.resize(map.carrier.size());
    parallel_for(count(map.carrier), [&](Index v) {
        const Index f = map.frame[v];
        const Vec3& x = map.local[v];
        switch (map.carrier[v]) {
        case Carrier::blocks: {
            Vec3 u = Vec3::Zero();
            for (Index k = map.map_begin[v]; k < map.map_begin[v + 1]; ++k)
                u += map.map_weight[k] * block_velocity[map.map_block[k]];
            out[v] = u;
            break;
        }
        case Carrier::rigid: {
            const Index b = map.rigid_block[f];
            out[v] = block_velocity[b] + Vec3(block_velocity[b + 1]).cross(frames.rigid[f].rotation * x);
            break;
        }
        case Carrier::obstacle:
            out[v] = dt > 0 ? Vec3((frames.scripted[f](x) - scripted_before[f](x)) / dt) : Vec3::Zero();
            break;
        }
    });
}

void surface_values(const SurfaceMap& map, const std::vector<Real>& block_value, std::vector<Real>& out)
{
    out.assign(map.carrier.size(), 0);
    for (Index v = 0; v < count(map.carrier); ++v)
        for (Index k = map.map_begin[v]; k < map.map_begin[v + 1]; ++k)
            out[v] += map.map_weight[k] * block_value[map.map_block[k]];
}

} // namespace pliant
