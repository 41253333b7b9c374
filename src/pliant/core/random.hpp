#pragma once
// Seeded random numbers that are the same on every platform and compiler (std distributions are not).

#include "pliant/core/types.hpp"

#include <cmath>
#include <numbers>

namespace pliant {

/// SplitMix64: 64 bits of state, passes BigCrush, any seed is good.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, 1).
    Real uniform() { return static_cast<Real>(bits() >> 11) * 0x1.0p-53; }
    /// Uniform in [lo, hi).
    Real uniform(Real lo, Real hi) { return lo + (hi - lo) * uniform(); }
    /// Uniform in {0, ..., n - 1}, n > 0.
    Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }
    Vec3 in_box(const Vec3& lo, const Vec3& hi)
    {
        const Real x = uniform(lo.x(), hi.x()), y = uniform(lo.y(), hi.y());
        return {x, y, uniform(lo.z(), hi.z())};
    }
    Vec3 on_sphere()
    {
        const Real z = uniform(-1, 1), phi = uniform(0, 2 * std::numbers::pi), r = std::sqrt(1 - z * z);
        return {r * std::cos(phi), r * std::sin(phi), z};
    }
    /// Uniformly distributed rotation (Shoemake 1992).
    Quat rotation()
    {
        const Real u = uniform(), a = uniform(0, 2 * std::numbers::pi), b = uniform(0, 2 * std::numbers::pi);
        const Real s = std::sqrt(1 - u), c = std::sqrt(u);
        return Quat(c * std::cos(b), s * std::sin(a), s * std::cos(a), c * std::sin(b));
    }

private:
    std::uint64_t state_;
};

} // namespace pliant
