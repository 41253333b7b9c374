#pragma once
// Patches of cloth bent in ways that are hard on a cull of self-collision, and the search for a wrong cull.

#include "detection/surfaces.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/detection/self_cull.hpp"
#include "pliant/geometry/closest.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

namespace pliant {

/// A flat piece of cloth with edges of about 1, its pattern jittered or not, and two states between which it moves.
struct BentPatch {
    Surface surface;
    Vec3s x_t0, x_t1;
};

namespace bent {

using Shape = std::function<Vec3(Real u, Real v)>;

/// Every point after the last one along u in a direction that turns: rolls, folds and waves, whatever the angle does.
inline Shape rolled(std::function<Real(Real)> angle, Real slant)
{
    return [=](Real u, Real v) {
        Vec3 x(0, 0, v + slant * u);
        const int steps = 40;
        for (int i = 0; i < steps; ++i) {
            const Real a = angle(u * (i + 0.5) / steps);
            x += u / steps * Vec3(std::cos(a), std::sin(a), 0);
        }
        return x;
    };
}

inline Shape random_shape(Random& random, Real size)
{
    const Real turns = random.uniform(-2.5, 2.5), phase = random.uniform(0, 6.28), waves = random.uniform(0.5, 4);
    switch (random.below(7)) {
    case 0: // a spiral staircase: narrow cones of normals, and it comes back above itself
        return [=](Real u, Real v) -> Vec3 {
            const Real radius = 0.3 * size + u, angle = 2.5 * turns * v / size;
            return {radius * std::cos(angle), 0.2 * std::abs(phase) * angle, radius * std::sin(angle)};
        };
    case 1: // a carpet that is rolled up
        return rolled([=](Real u) { return 6.28 * turns * u / size; }, 0);
    case 2: // a roll that moves aside as it goes round
        return rolled([=](Real u) { return 6.28 * turns * u / size; }, 0.5 * waves);
    case 3: // a sharp fold
        return rolled([=](Real u) { return 1.5 * turns * std::tanh(3 * (u - phase / 6.28 * size)); }, 0);
    case 4: // waves
        return rolled([=](Real u) { return turns * std::sin(waves * 6.28 * u / size + phase); }, 0);
    case 5: { // compressed and sheared in its plane
        const Real a = random.uniform(0.02, 1.1), b = random.uniform(0.02, 1.1), c = random.uniform(-0.5, 0.5);
        const bool even = random.below(2) == 0;
        return [=](Real u, Real v) -> Vec3 { return {a * u + (even ? 0 : c * v), 0, (even ? a : b) * v}; };
    }
    default: // a twisted ribbon
        return [=](Real u, Real v) -> Vec3 {
            const Real angle = turns * 3 * v / size, w = u - size / 2;
            return {w * std::cos(angle), v, w * std::sin(angle)};
        };
    }
}

} // namespace bent

inline BentPatch random_patch(Random& random)
{
    BentPatch p;
    const Index nu = 6 + random.below(7), nv = 6 + random.below(12);
    TriangleMesh mesh =
        make_grid(nu - 1, nv - 1, nu, nv, random.below(2) ? Diagonals::alternating : Diagonals::uniform);
    const Real size = std::max(nu, nv) - 1, jitter = random.below(2) ? 0.2 : 0;
    for (Vec3& x : mesh.vertices) x += Vec3((nu - 1) / 2.0, 0, (nv - 1) / 2.0);
    for (Vec3& x : mesh.vertices)
        if (x.x() > 0.5 && x.x() < nu - 1.5 && x.z() > 0.5 && x.z() < nv - 1.5)
            x += jitter * Vec3(random.uniform(-1, 1), 0, random.uniform(-1, 1));
    add_body(p.surface, mesh);
    const Real noise = random.below(2) ? 0 : random.uniform(0, 0.3);
    const auto place = [&](const bent::Shape& shape) {
        Vec3s x;
        for (const Vec3& q : mesh.vertices) x.push_back(shape(q.x(), q.z()) + noise * random.on_sphere());
        return x;
    };
    const bent::Shape shape = bent::random_shape(random, size);
    p.x_t0 = place(shape);
    switch (random.below(4)) {
    case 0:
        p.x_t1 = place(bent::random_shape(random, size));
        break; // anything
    case 1:
        p.x_t1 = p.x_t0;
        break;
    case 2: { // turned as a whole: halfway it is smaller
        const Eigen::AngleAxisd turn(random.uniform(0, 2.5), random.on_sphere());
        for (const Vec3& x : p.x_t0) p.x_t1.push_back(turn * x);
        break;
    }
    default:
        p.x_t1 = place(shape);
        break;
    }
    return p;
}

/// What was found in patches.
struct CullCount {
    std::int64_t patches = 0;
    std::int64_t culling = 0;                              ///< patches of which something was culled
    std::int64_t near = 0;                                 ///< culled pairs that had to be looked at
    std::int64_t wrong = 0;                                ///< culled pairs that are closer than the cull says
    Real tightest = std::numeric_limits<Real>::infinity(); ///< distance of a culled pair over what the cull says

    void add(const CullCount& c)
    {
        patches += c.patches, culling += c.culling, near += c.near, wrong += c.wrong;
        tightest = std::min(tightest, c.tightest);
    }
};

/// Culls a random patch with a random radius and looks at the culled pairs at some times.
inline CullCount look_for_wrong_culls(std::uint64_t seed, Real threshold_factor = 1)
{
    Random random(seed);
    const BentPatch p = random_patch(random);
    const Surface& s = p.surface;
    const PairFilter filter(s);
    SurfaceTrees trees(s);
    const Real radius = 0.3 * std::pow(10.0, random.uniform(-1.5, 0));
    Rooms rooms;
    rooms.set({.x_t0 = p.x_t0, .x_t1 = p.x_t1, .uniform = radius});
    SelfCull cull(s, trees, filter, Culling::sound);
    cull.set_threshold_factor(threshold_factor);
    cull.look_at(rooms);
    CullCount count{.patches = 1};
    if (!cull.any()) return count;
    count.culling = 1;
    // Vertices may be anywhere in boxes of this half side, and reach as far as they are from its sides.
    const Real need = 2 * std::numbers::sqrt3 * radius;
    for (const Real t : {0.0, 0.3, 0.5, 0.8, 1.0}) {
        Vec3s x;
        for (std::size_t i = 0; i < p.x_t0.size(); ++i) x.push_back((1 - t) * p.x_t0[i] + t * p.x_t1[i]);
        Rooms around;
        around.set({.x_t0 = x, .x_t1 = x, .uniform = 0.6 * need});
        trees.update(around.boxes(), around.changed());
        CandidateChunks all, left;
        trees.collect({filter}, all);
        trees.collect({filter, nullptr, &cull}, left);
        const Candidates near = all.sorted(), kept = left.sorted();
        const auto look = [&](const std::vector<Pair>& of_all, const std::vector<Pair>& of_left, auto&& distance) {
            std::vector<Pair> culled;
            std::ranges::set_difference(of_all, of_left, std::back_inserter(culled));
            for (const Pair& pair : culled) {
                const Real d = distance(pair);
                ++count.near;
                count.wrong += d < need;
                count.tightest = std::min(count.tightest, d / need);
            }
        };
        look(near.vertex_face, kept.vertex_face, [&](const Pair& pair) {
            const auto& [a, b, c] = s.triangles[pair[1]];
            return closest_point_triangle(x[pair[0]], x[a], x[b], x[c]).distance;
        });
        look(near.edge_edge, kept.edge_edge, [&](const Pair& pair) {
            const Edge &e = s.edges[pair[0]], &g = s.edges[pair[1]];
            return closest_edge_edge(x[e[0]], x[e[1]], x[g[0]], x[g[1]]).distance;
        });
    }
    return count;
}

/// The same for many of them, from this seed on.
inline CullCount look_for_wrong_culls(std::uint64_t first, Index patches, Real threshold_factor)
{
    std::vector<CullCount> counts(static_cast<std::size_t>(patches));
    parallel_for(
        patches,
        [&](Index i) { counts[i] = look_for_wrong_culls(first + static_cast<std::uint64_t>(i), threshold_factor); },
        16);
    CullCount sum;
    for (const CullCount& c : counts) sum.add(c);
    return sum;
}

} // namespace pliant
