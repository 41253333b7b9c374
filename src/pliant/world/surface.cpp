#include "pliant/world/surface.hpp"

#include "pliant/core/parallel.hpp"

#include <cassert>

namespace pliant {
namespace {

[[maybe_unused]] bool is_valid(const SurfaceMap& map, const Carriers& carriers)
{
    return map.map_begin.size() == map.frame.size() + 1 && map.local.size() == map.frame.size() &&
           carriers.poses.size() == map.frame_spin.size() && carriers.moved.size() == map.moved.size();
}

} // namespace

void surface_positions(const SurfaceMap& map, const Vec3s& block_position, const Carriers& carriers, Vec3s& out)
{
    assert(is_valid(map, carriers));
    out.resize(map.frame.size());
    parallel_for(count(out), [&](Index v) { out[v] = map.position(v, block_position, carriers.poses); });
    parallel_for(count(map.moved), [&](Index i) { out[map.moved[i]] = carriers.moved[i]; });
}

void surface_velocities(const SurfaceMap& map, const SurfaceMotion& m, Vec3s& out)
{
    assert(is_valid(map, m.now) && is_valid(map, m.earlier));
    out.resize(map.frame.size());
    parallel_for(count(out), [&](Index v) {
        const Index f = map.frame[v];
        const Vec3& x = map.local[v];
        if (f != none && map.frame_spin[f] == none) {
            out[v] = m.dt > 0 ? Vec3((m.now.poses[f](x) - m.earlier.poses[f](x)) / m.dt) : Vec3::Zero();
            return;
        }
        Vec3 u = Vec3::Zero();
        for (Index k = map.map_begin[v]; k < map.map_begin[v + 1]; ++k)
            u += map.map_weight[k] * m.block_velocity[map.map_block[k]];
        if (f != none) u += Vec3(m.block_velocity[map.frame_spin[f]]).cross(m.now.poses[f].rotation * x);
        out[v] = u;
    });
    if (m.dt > 0)
        parallel_for(count(map.moved),
                     [&](Index i) { out[map.moved[i]] = (m.now.moved[i] - m.earlier.moved[i]) / m.dt; });
}

void surface_values(const SurfaceMap& map, const std::vector<Real>& block_value, std::vector<Real>& out)
{
    out.assign(map.frame.size(), 0);
    for (Index v = 0; v < count(out); ++v)
        for (Index k = map.map_begin[v]; k < map.map_begin[v + 1]; ++k)
            out[v] += map.map_weight[k] * block_value[map.map_block[k]];
}

} // namespace pliant
