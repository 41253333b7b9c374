#pragma once
// Eight pairs at a time in single precision: drops those that a direction proves apart, so that the narrow phases in
// double precision see few others. It drops nothing that they could report: every bound includes what rounding does.

#include "pliant/detection/filter.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace pliant {

class Sieve {
public:
    static constexpr Index width = 8;
    using Batch = std::array<Pair, width>;

    explicit Sieve(const Surface& surface) : surface_(surface) {}

    /// Vertices move from x_t0 to x_t1 (the same array for a single state). Pairs are wanted up to the largest radius
    /// of one side's vertices plus that of the other's [m]; `uniform` is for all when radius is empty.
    void look_at(const Vec3s& x_t0, const Vec3s& x_t1, std::span<const Real> radius, Real uniform);

    /// Bit j is set when pair j may be wanted at some time. All eight must be pairs of the surface.
    unsigned vertex_face(const Batch& pairs) const;
    unsigned edge_edge(const Batch& pairs) const;
    /// Pairs of edges that are wanted only where the closest points of their lines are inside of both.
    unsigned crossing(const Batch& pairs) const;

    /// visit(pair) for those pairs of the list that test(batch) leaves, in their order.
    template <class Test, class Visit>
    static void for_each(const std::vector<Pair>& list, Test&& test, Visit&& visit)
    {
        Batch batch;
        for (std::size_t begin = 0; begin < list.size(); begin += width) {
            const std::size_t n = std::min<std::size_t>(width, list.size() - begin);
            for (std::size_t j = 0; j < width; ++j) batch[j] = list[begin + std::min(j, n - 1)];
            unsigned mask = test(batch);
            for (std::size_t j = 0; j < n; ++j)
                if (mask >> j & 1) visit(batch[j]);
        }
    }

private:
    struct Point {
        alignas(16) std::array<float, 4> xyzr; ///< seen from the middle of the scene; the radius rounded up
    };

    const Surface& surface_;
    std::vector<Point> t0_, t1_; ///< t1 is empty for a single state
    float rounding_ = 0;         ///< what a distance may be wrong by, at most [m]
    float shortest_sq_ = 0;      ///< squared length of an edge whose crossings can be judged [m^2]
};

} // namespace pliant
