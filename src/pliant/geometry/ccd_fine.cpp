// The same advancement with 106 bits, for separation 0: tells pairs that touch from pairs that pass at a distance of a
// few units in the last place. Positions, and their differences, are exact here; so are the signs, up to 2^-90.

#include "pliant/geometry/ccd_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant::ccd {
namespace {

constexpr int max_steps = 16; ///< a pair that needs more is taken to touch

bool less(const DoubleDouble& a, const DoubleDouble& b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

/// Scaled to a largest component in [1, 2), without rounding: lengths of directions differ by hundreds of orders of
/// magnitude, and squares of the short ones underflow. Zero stays zero.
DoubleDouble3 scaled(const DoubleDouble3& d)
{
    const double largest = d.rounded().cwiseAbs().maxCoeff();
    if (!(largest > 0)) return d;
    // two factors, because one may be beyond the range of doubles
    const int exponent = -std::ilogb(largest), half = exponent / 2;
    return d * std::ldexp(1.0, half) * std::ldexp(1.0, exponent - half);
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

/// d: from scaled().
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

/// See ccd_advance.cpp: the direction turns from d_a, with corners a, to d_b, with corners b; both from scaled(), so
/// that their lengths are below 4.
template <int K>
bool separated_turning(const FineQuery<K>& q, const std::array<DoubleDouble3, K>& a, const DoubleDouble3& d_a,
                       const std::array<DoubleDouble3, K>& b, const DoubleDouble3& d_b)
{
    const double level = 0x1p-86 * q.size;
    for (int k = 0; k < K; ++k) {
        if (!(dot(d_a, a[k]).hi > level && dot(d_b, b[k]).hi > level)) return false;
        if (!((dot(d_a, b[k]) + dot(d_b, a[k])).hi > 2 * level)) return false;
    }
    return true;
}

} // namespace

template <int K>
bool free_in_double_double(const FineQuery<K>& q, Real time)
{
    const DoubleDouble one = {1, 0};
    DoubleDouble t = {time, 0}, free_from = one; // certified on [free_from, 1] once `end_is_free`
    bool end_is_free = false;
    separating_directions<K>(q.c_t1, [&](const DoubleDouble3& d) {
        const Interval i = separated(q, scaled(d));
        if (i.empty || less(i.end, one)) return;
        end_is_free = true;
        if (less(i.begin, free_from)) free_from = i.begin;
    });
    if (!end_is_free) return false; // touches at the end

    double reach = 1; // how far a turning direction is tried, as a part of what is left
    std::array<DoubleDouble3, K> here = at(q, t);
    for (int step = 0; step < max_steps; ++step) {
        if (!less(t, free_from)) return true;
        DoubleDouble certified = t;
        DoubleDouble3 d = here[0];
        separating_directions<K>(here, [&](const DoubleDouble3& direction) {
            const DoubleDouble3 candidate = scaled(direction);
            const Interval i = separated(q, candidate);
            if (i.empty || less(t, i.begin) || !less(certified, i.end)) return;
            certified = i.end;
            d = candidate;
        });
        if (!less(certified, free_from)) return true;
        if (!less(t, certified)) return false;
        const DoubleDouble target = t + (free_from - t) * reach;
        if (less(certified, target)) {
            const std::array<DoubleDouble3, K> there = at(q, target);
            bool turned = false;
            separating_directions<K>(there, [&](const DoubleDouble3& e) {
                turned = turned || separated_turning<K>(q, here, d, there, scaled(e));
            });
            if (turned) {
                t = target;
                here = there;
                reach = std::min(1.0, 2 * reach);
                continue;
            }
            reach /= 4;
        } else
            reach = std::min(1.0, 2 * reach);
        t = certified;
        here = at(q, t);
    }
    return false;
}

template bool free_in_double_double<3>(const FineQuery<3>&, Real);
template bool free_in_double_double<4>(const FineQuery<4>&, Real);

} // namespace pliant::ccd
