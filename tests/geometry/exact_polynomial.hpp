#pragma once
// Polynomials with integer coefficients and their real roots in [0, 1], without rounding: what the CCD oracle needs.

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace pliant::exact {

using Int = boost::multiprecision::cpp_int;
using Poly = std::vector<Int>; ///< coefficients, lowest degree first; empty is zero

inline int sign(const Int& x)
{
    return x.sign();
}
inline void trim(Poly& p)
{
    while (!p.empty() && p.back() == 0) p.pop_back();
}
inline Poly add(const Poly& a, const Poly& b, int sign_b = 1)
{
    Poly r(std::max(a.size(), b.size()), 0);
    for (std::size_t i = 0; i < a.size(); ++i) r[i] += a[i];
    for (std::size_t i = 0; i < b.size(); ++i) sign_b > 0 ? r[i] += b[i] : r[i] -= b[i];
    trim(r);
    return r;
}
inline Poly sub(const Poly& a, const Poly& b)
{
    return add(a, b, -1);
}
inline Poly mul(const Poly& a, const Poly& b)
{
    if (a.empty() || b.empty()) return {};
    Poly r(a.size() + b.size() - 1, 0);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) r[i + j] += a[i] * b[j];
    trim(r);
    return r;
}
inline void make_primitive(Poly& p)
{
    Int g = 0;
    for (const Int& c : p) g = boost::multiprecision::gcd(g, c);
    if (g > 1)
        for (Int& c : p) c /= g;
}
/// Remainder of lead(b)^k a by b.
inline Poly pseudo_remainder(Poly a, const Poly& b)
{
    while (a.size() >= b.size() && !a.empty()) {
        const Int lead = a.back();
        const std::size_t shift = a.size() - b.size();
        for (Int& c : a) c *= b.back();
        for (std::size_t i = 0; i < b.size(); ++i) a[i + shift] -= lead * b[i];
        a.pop_back(); // cancelled
        trim(a);
    }
    return a;
}
inline Poly gcd(Poly a, Poly b)
{
    while (!b.empty()) {
        Poly r = pseudo_remainder(a, b);
        make_primitive(r);
        a = std::move(b);
        b = std::move(r);
    }
    make_primitive(a);
    return a;
}
/// a / b for a multiple a of b, up to a constant factor.
inline Poly quotient(Poly a, const Poly& b)
{
    Poly q(a.size() - b.size() + 1, 0);
    while (a.size() >= b.size()) {
        const Int lead = a.back();
        const std::size_t shift = a.size() - b.size();
        for (Int& c : q) c *= b.back();
        for (Int& c : a) c *= b.back();
        q[shift] += lead;
        for (std::size_t i = 0; i < b.size(); ++i) a[i + shift] -= lead * b[i];
        trim(a);
    }
    make_primitive(q);
    return q;
}
inline Poly derivative(const Poly& p)
{
    Poly d;
    for (std::size_t i = 1; i < p.size(); ++i) d.push_back(p[i] * static_cast<int>(i));
    return d;
}

/// The time k / 2^m.
struct Dyadic {
    Int k = 0;
    unsigned m = 0;
};
inline int sign_at(const Poly& p, const Dyadic& t)
{
    Int value = 0, power = 1; // sum a_i k^i 2^(m (n - i))
    for (std::size_t i = 0; i < p.size(); ++i) {
        value += (p[i] * power) << static_cast<unsigned>(t.m * (p.size() - 1 - i));
        power *= t.k;
    }
    return sign(value);
}

/// A root in [0, 1]: a dyadic number, or the only root of a square-free polynomial in the open interval (k, k+1) / 2^m.
struct Root {
    bool point = true;
    Dyadic at; ///< the root, or the lower end of its interval
    Poly polynomial;

    Dyadic upper() const { return {at.k + 1, at.m}; }
    void halve()
    {
        const Dyadic middle{2 * at.k + 1, at.m + 1};
        const int s = sign_at(polynomial, middle);
        if (s == 0) {
            point = true;
            at = middle;
        } else if (s == sign_at(polynomial, at))
            at = middle;
        else
            at = {2 * at.k, at.m + 1};
    }
};

/// Bernstein coefficients of p on [k, k + 1] / 2^m, times a positive number.
inline Poly bernstein(const Poly& p, const Dyadic& t) // degree <= 4
{
    // Taylor shift: q(s) = sum a_i (k + s)^i 2^(m (n - i)), s in [0, 1]
    const std::size_t n = p.size() - 1;
    Poly q(n + 1);
    for (std::size_t i = 0; i <= n; ++i) q[i] = p[i] << static_cast<unsigned>(t.m * (n - i));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = n; j-- > i;) q[j] += t.k * q[j + 1];
    // power to Bernstein: b_j = sum_i C(j, i) / C(n, i) q_i, times the least common multiple of the C(n, i)
    constexpr int choose[5][5] = {{1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 2, 1, 0, 0}, {1, 3, 3, 1, 0}, {1, 4, 6, 4, 1}};
    constexpr int multiple[5] = {1, 1, 2, 3, 12};
    Poly b(n + 1, 0);
    for (std::size_t j = 0; j <= n; ++j)
        for (std::size_t i = 0; i <= j; ++i) b[j] += q[i] * (choose[j][i] * (multiple[n] / choose[n][i]));
    return b;
}
inline int sign_changes(const Poly& b)
{
    int changes = 0, last = 0;
    for (const Int& c : b) {
        const int s = sign(c);
        if (s != 0 && last != 0 && s != last) ++changes;
        if (s != 0) last = s;
    }
    return changes;
}

/// All roots of a non-zero polynomial in [0, 1], in increasing order.
inline std::vector<Root> roots(Poly p)
{
    std::vector<Root> found;
    trim(p);
    if (p.size() < 2) return found;
    make_primitive(p);
    if (sign_changes(bernstein(p, {0, 0})) == 0) { // only the ends are left
        if (sign_at(p, {0, 0}) == 0) found.push_back({true, {0, 0}, {}});
        if (sign_at(p, {1, 0}) == 0) found.push_back({true, {1, 0}, {}});
        return found;
    }
    const Poly common = gcd(p, derivative(p));
    if (common.size() > 1) p = quotient(p, common);
    const auto search = [&](const auto& self, const Dyadic& t) -> void { // open interval; ends are looked at elsewhere
        const int changes = sign_changes(bernstein(p, t));
        if (changes == 0) return;
        const bool ends_are_no_roots = sign_at(p, t) != 0 && sign_at(p, {t.k + 1, t.m}) != 0;
        if (changes == 1 && ends_are_no_roots) {
            found.push_back({false, t, p});
            return;
        }
        const Dyadic middle{2 * t.k + 1, t.m + 1};
        self(self, {2 * t.k, t.m + 1});
        if (sign_at(p, middle) == 0) found.push_back({true, middle, {}});
        self(self, middle);
    };
    if (sign_at(p, {0, 0}) == 0) found.push_back({true, {0, 0}, {}});
    search(search, {0, 0});
    if (sign_at(p, {1, 0}) == 0) found.push_back({true, {1, 0}, {}});
    return found;
}

/// Sign of q at the root; narrows the root's interval as far as needed.
inline int sign_at(const Poly& q, Root& root)
{
    if (q.empty()) return 0;
    if (q.size() == 1) return sign(q[0]);
    if (root.point) return sign_at(q, root.at);
    for (int halvings = 0; !root.point; ++halvings) {
        if (halvings == 40) { // so close to zero that it may be zero
            const Poly common = gcd(root.polynomial, q);
            if (common.size() > 1 && sign_at(common, root.at) * sign_at(common, root.upper()) < 0) return 0;
        }
        const Poly b = bernstein(q, root.at);
        if (std::all_of(b.begin(), b.end(), [](const Int& c) { return c > 0; })) return 1;
        if (std::all_of(b.begin(), b.end(), [](const Int& c) { return c < 0; })) return -1;
        root.halve();
    }
    return sign_at(q, root.at);
}

} // namespace pliant::exact
