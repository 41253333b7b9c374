#pragma once
// Timing shared by the benchmarks.

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <vector>

namespace pliant {

/// Best of several runs [s]: the machine may be shared, the fastest run is the least disturbed.
template <class Body>
Real best_seconds(Body&& body, int runs = 9)
{
    Real best = 1e30;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        body();
        best = std::min(best, std::chrono::duration<Real>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

/// Time on the clock, and of the processor on all threads: the latter counts where others use the machine too [s].
struct Seconds {
    Real wall = 1e30, cpu = 1e30;
};

/// The least of each of several runs.
template <class Body>
Seconds best_of(Body&& body, int runs = 9)
{
    Seconds best;
    for (int i = 0; i < runs; ++i) {
        const std::clock_t start = std::clock();
        best.wall = std::min(best.wall, best_seconds(body, 1));
        best.cpu = std::min(best.cpu, Real(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
}

/// Time to read as many bytes as a pass over a matrix reads [s].
inline Real stream_seconds(std::size_t bytes)
{
    std::vector<Real> data(bytes / sizeof(Real) + 1, 1.0);
    volatile Real sink = 0;
    return best_seconds([&] {
        const Index chunks = 64;
        const std::size_t size = data.size() / chunks;
        std::vector<Real> sums(chunks, 0);
        parallel_for(
            chunks,
            [&](Index c) {
                Eigen::Map<const Eigen::ArrayXd> part(data.data() + size * c, Eigen::Index(size));
                sums[c] = part.sum();
            },
            1);
        sink = std::accumulate(sums.begin(), sums.end(), 0.0);
    });
}

} // namespace pliant
