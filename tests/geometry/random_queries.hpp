#pragma once
// Seeded CCD queries: random ones, and families built to be degenerate or a few units in the last place from it.

#include "pliant/core/random.hpp"
#include "pliant/geometry/ccd.hpp"

#include <cmath>
#include <limits>

namespace pliant {

struct RandomQuery {
    CcdPoints x_t0, x_t1;
};

inline constexpr int query_families = 10;

/// Query number i of a seed; family i % query_families.
inline RandomQuery random_query(std::uint64_t seed, std::int64_t i, bool vertex_face)
{
    Random random(seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(i));
    RandomQuery q;
    const auto each = [&](auto&& f) {
        for (int k = 0; k < 4; ++k) {
            f(q.x_t0[k]);
            f(q.x_t1[k]);
        }
    };
    const auto lattice = [&](Index n) {
        each([&](Vec3& p) {
            p = Vec3(random.below(2 * n + 1) - n, random.below(2 * n + 1) - n, random.below(2 * n + 1) - n);
        });
    };
    const auto ulps = [&](Index n) { // moves every coordinate by up to n units in the last place, or 0 by 2^-53
        each([&](Vec3& p) {
            for (Real& c : p)
                for (Index k = random.below(n + 1); k > 0; --k) {
                    const Real towards = random.below(2) ? -10.0 : 10.0;
                    c = c == 0 ? std::copysign(0x1p-53, towards) : std::nextafter(c, towards);
                }
        });
    };
    /// Makes the features meet at a random time: point of a (vertex or edge) on point of b, up to rounding.
    const auto plant = [&] {
        const Real t = random.below(17) / 16.0, u = random.below(9) / 8.0, v = (1 - u) * random.below(9) / 8.0;
        const auto at = [&](int k) { return Vec3((1 - t) * q.x_t0[k] + t * q.x_t1[k]); };
        Vec3 shift;
        if (vertex_face)
            shift = at(0) - ((1 - u - v) * at(1) + u * at(2) + v * at(3));
        else
            shift = (1 - u) * at(0) + u * at(1) - (1 - v) * at(2) - v * at(3);
        for (int k = 0; k < (vertex_face ? 1 : 2); ++k) {
            q.x_t0[k] -= shift;
            q.x_t1[k] -= shift;
        }
    };
    const auto uniform = [&] { each([&](Vec3& p) { p = random.in_box(Vec3::Constant(-1), Vec3::Constant(1)); }); };
    switch (i % query_families) {
    case 0:
        uniform();
        break;
    case 1:
        lattice(1 + random.below(3));
        break; // coplanar, coincident, touching in all ways
    case 2:
        lattice(1 + random.below(3));
        ulps(2);
        break;
    case 3: // exact contact where the lattice allows it
        lattice(8);
        each([](Vec3& p) { p *= 16; });
        plant();
        break;
    case 4:
        uniform();
        plant();
        ulps(random.below(4));
        break;
    case 5: { // all in one plane
        lattice(4);
        const Index axis = random.below(3);
        each([&](Vec3& p) { p[axis] = 1; });
        if (random.below(2)) ulps(1);
        break;
    }
    case 6: { // slivers: the four points near one line
        const Vec3 d = random.on_sphere();
        const Real width = std::pow(10.0, -random.uniform(0, 16));
        each([&](Vec3& p) { p = random.uniform(-1, 1) * d + width * random.on_sphere(); });
        if (random.below(2)) plant();
        break;
    }
    case 7: { // nearly parallel motion: both features move together, far or not at all
        uniform();
        const Vec3 move = random.below(2) ? Vec3(100 * random.on_sphere()) : Vec3(Vec3::Zero());
        const Real own = std::pow(10.0, -random.uniform(0, 12));
        plant();
        for (int k = 0; k < 4; ++k) q.x_t1[k] = q.x_t0[k] + move + own * (q.x_t1[k] - q.x_t0[k]);
        break;
    }
    case 8: { // a grazing pass: the relative motion lies in the plane of contact
        lattice(4);
        plant();
        const Vec3 along = q.x_t0[3] - q.x_t0[2];
        for (int k = 0; k < 4; ++k) q.x_t1[k] = q.x_t0[k] + (k < (vertex_face ? 1 : 2) ? along : Vec3(Vec3::Zero()));
        ulps(random.below(3));
        break;
    }
    case 9: // points so close to each other that products of their differences underflow
        lattice(1);
        each([&](Vec3& p) {
            for (Real& c : p)
                if (c == 0 && random.below(2)) c = std::ldexp(random.below(2) ? 1.0 : -1.0, -20 - random.below(180));
        });
        break;
    }
    // Scale, and put far from the origin: 1e-9 and 1e9 both occur.
    const Index placement = random.below(4);
    if (placement == 1) each([](Vec3& p) { p *= 0x1p-30; });
    if (placement == 2) each([](Vec3& p) { p *= 0x1p30; });
    if (placement == 3) each([](Vec3& p) { p = p + Vec3(0x1p30, -0x1p29, 0x1p20); }); // rounds to a coarse grid
    return q;
}

} // namespace pliant
