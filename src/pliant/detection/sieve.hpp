#pragma once
// Eight pairs at a time in single precision: drops those that a direction proves apart, so that the narrow phases in
// double precision see few others. It drops nothing that they could report: every bound includes what rounding does.

#include "pliant/detection/rooms.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace pliant {

class Sieve {
public:
    static constexpr Index width = 8;
    using Batch = std::array<Pair, width>;

    explicit Sieve(const Surface& surface) : surface_(surface) {}

    /// Positions are seen from here, where those of single precision are most exact: once in a while is enough.
    void look_from_the_middle_of(const Vec3s& x);
    /// Pairs are wanted up to the largest radius of one side's vertices plus that of the other's, each at its end.
    void look_at(const VertexBalls& balls);
    /// Pairs are wanted that may be so near while their vertices stay in their rooms. Only of those is anything done
    /// whose rooms have changed, if it looked at the others before.
    void look_at(const Rooms& rooms);

    /// Bit j is set when pair j may be wanted at some time. All eight must be pairs of the surface.
    unsigned vertex_face(const Batch& pairs) const;
    unsigned edge_edge(const Batch& pairs) const;
    /// Pairs of edges that are wanted only where the closest points of their lines are inside of both.
    unsigned crossing(const Batch& pairs) const;

    /// visit(pair) for those pairs of the list that wanted(pair) and then test(batch) leave, in their order.
    template <class Wanted, class Test, class Visit>
    static void for_each(std::span<const Pair> list, Wanted&& wanted, Test&& test, Visit&& visit)
    {
        Batch batch;
        std::size_t n = 0;
        const auto look = [&] {
            for (std::size_t j = n; j < width; ++j) batch[j] = batch[n - 1];
            const unsigned mask = test(batch);
            for (std::size_t j = 0; mask >> j && j < n; ++j)
                if (mask >> j & 1) visit(batch[j]);
            n = 0;
        };
        for (const Pair& p : list) {
            batch[n] = p;
            n += wanted(p);
            if (n == width) look();
        }
        if (n > 0) look();
    }
    template <class Test, class Visit>
    static void for_each(std::span<const Pair> list, Test&& test, Visit&& visit)
    {
        for_each(
            list, [](const Pair&) { return true; }, test, visit);
    }

private:
    struct Point {
        alignas(16) std::array<float, 4> xyzr; ///< seen from the middle of the scene; the radius rounded up
    };

    void prepare(std::size_t n, bool moving);
    Real put(Point& p, const Vec3& x, Real radius) const;
    void allow_for(Real extent);

    const Surface& surface_;
    Vec3 middle_ = Vec3::Zero();
    std::vector<Point> t0_, t1_; ///< t1 is empty for a single state
    bool in_rooms_ = false;
    Real extent_ = 0;       ///< farthest coordinate from the middle [m]
    float rounding_ = 0;    ///< what a distance may be wrong by, at most [m]
    float shortest_sq_ = 0; ///< squared length of an edge whose crossings can be judged [m^2]
};

} // namespace pliant
