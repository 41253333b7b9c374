// The same advancement with 106 bits, for separation 0: tells pairs that touch from pairs that pass at a distance of a
// few units in the last place. Positions, and their differences, are exact here; so are the signs, up to 2^-90.

#include "pliant/geometry/ccd_kernel.hpp"

namespace pliant::ccd {
namespace {

constexpr int max_steps = 12; ///< a pair that needs more is taken to touch

bool less(const DoubleDouble& a, const DoubleDouble& b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

/// a / b with a relative error below 2^-95.
DoubleDouble divide(const DoubleDouble& a, const DoubleDouble& b)
{
    const double q0 = a.hi / b.hi;
    const DoubleDouble r0 = a - b * q0;
    const double q1 = r0.hi / b.hi;
    const DoubleDouble r1 = r0 - b * q1;
    return DoubleDouble::sum(q0, q1) + DoubleDouble{r1.hi / b.hi, 0};
}

struct Interval {
    DoubleDouble begin, end;
    bool empty;
};

template <int K>
Interval separated(const FineQuery<K>& q, const DoubleDouble3& d)
{
    // g = d . c is right to 2^-98 |d| |c|, the crossing time moves it by less than 2^-93 |d| |c|.
    const DoubleDouble level = {0x1p-88 * q.size * d.rounded().norm(), 0};
    Interval r = {{0, 0}, {1, 0}, false};
    for (int k = 0; k < K; ++k) {
        const DoubleDouble g0 = dot(d, q.c_t0[k]) - level, g1 = dot(d, q.c_t1[k]) - level;
        if (!(g0.hi > 0) && !(g1.hi > 0)) return {{1, 0}, {0, 0}, true};
        if (!(g1.hi > 0)) {
            const DoubleDouble t = divide(g0, g0 - g1);
            if (less(t, r.end)) r.end = t;
        } else if (!(g0.hi > 0)) {
            const DoubleDouble t = divide(g0, g0 - g1);
            if (less(r.begin, t)) r.begin = t;
        }
    }
    r.empty = less(r.end, r.begin);
    return r;
}

template <int K>
std::array<DoubleDouble3, K> at(const FineQuery<K>& q, const DoubleDouble& t)
{
    std::array<DoubleDouble3, K> c;
    for (int k = 0; k < K; ++k) c[k] = q.c_t0[k] + (q.c_t1[k] - q.c_t0[k]) * t;
    return c;
}

} // namespace

template <int K>
bool free_in_double_double(const FineQuery<K>& q, Real time)
{
    DoubleDouble t = {time, 0}, free_from = {2, 0};
    const DoubleDouble limit = {1, 0};
    for (int step = 0; step < max_steps; ++step) {
        // Forward from t and, alternately, backward from free_from: a pair that touches at the end stops one of them.
        DoubleDouble next = t;
        separating_directions<K>(at(q, t), [&](const DoubleDouble3& d) {
            const Interval i = separated(q, d);
            if (!i.empty && !less(t, i.begin) && less(next, i.end)) next = i.end;
        });
        if (!less(next, limit) || !less(next, free_from)) return true;
        if (!less(t, next)) return false;
        t = next;
        const DoubleDouble from = less(free_from, limit) ? free_from : limit;
        DoubleDouble previous = from;
        bool certified = false;
        separating_directions<K>(at(q, from), [&](const DoubleDouble3& d) {
            const Interval i = separated(q, d);
            if (i.empty || less(i.end, from)) return;
            certified = true;
            if (less(i.begin, previous)) previous = i.begin;
        });
        if (!certified) return false; // touches at the end
        free_from = previous;
        if (!less(t, free_from)) return true;
    }
    return false;
}

template bool free_in_double_double<3>(const FineQuery<3>&, Real);
template bool free_in_double_double<4>(const FineQuery<4>&, Real);

} // namespace pliant::ccd
