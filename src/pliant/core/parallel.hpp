#pragma once
// Parallel loops whose results do not depend on the number of threads: work is cut into chunks of a fixed size,
// and reductions add the chunks' results in index order.
//
// A loop either does all of its work or throws what its body threw. TBB alone would not keep to that: what one body
// throws cancels the loops inside of the others, which then return as if they were done. So every loop is isolated.

#include "pliant/core/types.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

// ThreadSanitizer cannot see the synchronisation inside of TBB's library and takes every loop for a race: in its build
// the loops start threads of their own.
#ifdef PLIANT_SANITIZED_THREADS
#define PLIANT_PLAIN_THREADS 1
#else
#define PLIANT_PLAIN_THREADS 0
#endif

namespace pliant {

inline constexpr Index chunk_size = 1024; ///< items a reduction adds before it starts a new partial sum

/// Limits the threads used by every later parallel loop of the process; 0 means all cores.
void set_thread_count(int threads);
int thread_count();

/// While it lives, loops that its thread begins run on that thread alone: for many loops one after the other that are
/// too small to be shared.
class Serially {
public:
    explicit Serially(bool wanted = true);
    ~Serially();
    Serially(const Serially&) = delete;
    Serially& operator=(const Serially&) = delete;

private:
    bool before_;
};
bool runs_serially(); ///< one thread, or Serially

/// body(p) for p in [0, parts), each on a thread of its own; then throws what the first of them threw.
template <class Body>
void on_plain_threads(Index parts, Body&& body)
{
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(parts));
    const auto guarded = [&](Index p) {
        try {
            body(p);
        } catch (...) {
            thrown[p] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    for (Index p = 1; p < parts; ++p) threads.emplace_back(guarded, p);
    guarded(0);
    for (std::thread& t : threads) t.join();
    for (const std::exception_ptr& e : thrown)
        if (e) std::rethrow_exception(e);
}

/// body(begin, end) on disjoint ranges that cover [0, n). Small n runs on the calling thread.
template <class Body>
void parallel_ranges(Index n, Index grain, Body&& body)
{
    if (n <= 0) return;
    if (n <= grain || runs_serially()) {
        body(Index(0), n);
        return;
    }
    if constexpr (PLIANT_PLAIN_THREADS) {
        const Index parts = std::min<Index>(thread_count(), (n + grain - 1) / grain);
        const auto begin = [&](Index part) { return Index(std::int64_t(part) * n / parts); };
        on_plain_threads(parts, [&](Index p) { body(begin(p), begin(p + 1)); });
    } else {
        tbb::task_group_context alone(tbb::task_group_context::isolated);
        tbb::parallel_for(
            tbb::blocked_range<Index>(0, n, grain),
            [&](const tbb::blocked_range<Index>& r) { body(r.begin(), r.end()); }, alone);
    }
}

/// body(i) for every i in [0, n), each thread with the same part whenever n is the same: for loops that come again and
/// again over data that stays in its cache.
template <class Body>
void parallel_for_again(Index n, Body&& body, Index grain)
{
    const auto range = [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) body(i);
    };
    if (PLIANT_PLAIN_THREADS || n <= grain || runs_serially()) return parallel_ranges(n, grain, range);
    tbb::task_group_context alone(tbb::task_group_context::isolated);
    tbb::parallel_for(
        tbb::blocked_range<Index>(0, n), [&](const tbb::blocked_range<Index>& r) { range(r.begin(), r.end()); },
        tbb::static_partitioner(), alone);
}

/// Two tasks that are independent of each other.
template <class First, class Second>
void parallel_both(First&& first, Second&& second)
{
    if constexpr (PLIANT_PLAIN_THREADS) {
        on_plain_threads(2, [&](Index p) {
            if (p == 0)
                first();
            else
                second();
        });
    } else {
        tbb::task_group_context alone(tbb::task_group_context::isolated);
        tbb::parallel_invoke(first, second, alone);
    }
}

/// Sorts; where `less` calls two items equal, their order is not fixed.
template <class Iterator, class Less>
void parallel_sort(Iterator begin, Iterator end, Less&& less)
{
    if constexpr (PLIANT_PLAIN_THREADS)
        std::sort(begin, end, less);
    else
        parallel_both([&] { tbb::parallel_sort(begin, end, less); }, [] {}); // it takes no context of its own
}

/// body(i) for every i in [0, n); iterations must be independent of each other.
template <class Body>
void parallel_for(Index n, Body&& body, Index grain = 256)
{
    parallel_ranges(n, grain, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) body(i);
    });
}

/// Sum of value(i) over [0, n): chunks of chunk_size in parallel, added in order. T needs += and a zero.
template <class T, class Value>
T parallel_sum(Index n, T zero, Value&& value)
{
    const Index chunks = (n + chunk_size - 1) / chunk_size;
    const auto chunk_sum = [&](Index c) {
        T sum = zero;
        const Index end = std::min(n, (c + 1) * chunk_size);
        for (Index i = c * chunk_size; i < end; ++i) sum += value(i);
        return sum;
    };
    T total = zero;
    if (chunks <= 4 || runs_serially()) {
        for (Index c = 0; c < chunks; ++c) total += chunk_sum(c);
        return total;
    }
    std::vector<T> partial(static_cast<std::size_t>(chunks), zero);
    parallel_for(
        chunks, [&](Index c) { partial[static_cast<std::size_t>(c)] = chunk_sum(c); }, 4);
    for (const T& p : partial) total += p;
    return total;
}

/// Maximum of value(i) over [0, n), at least lowest.
template <class Value>
Real parallel_max(Index n, Real lowest, Value&& value)
{
    const Index chunks = (n + chunk_size - 1) / chunk_size;
    std::vector<Real> partial(static_cast<std::size_t>(chunks), lowest);
    parallel_for(
        chunks,
        [&](Index c) {
            Real m = lowest;
            const Index end = std::min(n, (c + 1) * chunk_size);
            for (Index i = c * chunk_size; i < end; ++i) m = std::max(m, value(i));
            partial[static_cast<std::size_t>(c)] = m;
        },
        4);
    Real total = lowest;
    for (Real p : partial) total = std::max(total, p);
    return total;
}

} // namespace pliant
