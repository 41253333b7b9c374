#include "pliant/world/surface.hpp"

#include "pliant/core/parallel.hpp"

#include <cassert>

namespace pliant {
namespace {

[[maybe_unused]] bool is_valid(const SurfaceMap& map, const std::vector<Pose>& frames)
{
    return map.map_begin.size() == map.frame.size() + 1 && map.local.size() == map.frame.size() &&
           frames.size() == map.frame_spin.size();
}

} // namespace

void surface_positions(const SurfaceMap& map, const Vec3s& block_position, const std::vector<Pose>& frames, Vec3s& out)
{
    assert(is_valid(map, frames));
    out.resize(map.frame.size());
    parallel_for(count(out), [&](Index v) { out[v] = map.position(v, block_position, frames); });
}

void surface_velocities(const SurfaceMap& map, const SurfaceMotion& m, Vec3s& out)
{
    assert(is_valid(map, m.frames) && m.earlier_frames.size() == m.frames.size());
    out.resize(map.frame.size());
    parallel_for(count(out), [&](Index v) {
        const Index f = map.frame[v];
        const Vec3& x = map.local[v];
        if (f != none && map.frame_spin[f] == none) {
            out[v] = m.dt > 0 ? Vec3((m.frames[f](x) - m.earlier_frames[f](x)) / m.dt) : Vec3::Zero();
            return;
        }
        Vec3 u = Vec3::Zero();
        for (Index k = map.map_begin[v]; k < map.map_begin[v + 1]; ++k)
            u += map.map_weight[k] * m.block_velocity[map.map_block[k]];
        if (f != none) u += Vec3(m.block_velocity[map.frame_spin[f]]).cross(m.frames[f].rotation * x);
        out[v] = u;
    });
}

void surface_values(const SurfaceMap& map, const std::vector<Real>& block_value, std::vector<Real>& out)
{
    out.assign(map.frame.size(), 0);
    for (Index v = 0; v < count(out); ++v)
        for (Index k = map.map_begin[v]; k < map.map_begin[v + 1]; ++k)
            out[v] += map.map_weight[k] * block_value[map.map_block[k]];
}

} // namespace pliant
