#pragma once
// Numbers of about 106 bits as an unevaluated sum hi + lo of two doubles, |lo| <= ulp(hi)/2 (Dekker 1971, Knuth). Each
// operation has a relative error below 2^-101 as long as nothing over- or underflows.

#include "pliant/core/types.hpp"

#include <cmath>

namespace pliant {

struct DoubleDouble {
    double hi = 0, lo = 0;

    /// a + b without error.
    static DoubleDouble sum(double a, double b)
    {
        const double s = a + b, z = s - a;
        return {s, (a - (s - z)) + (b - z)};
    }
    /// a - b without error.
    static DoubleDouble difference(double a, double b) { return sum(a, -b); }
    /// a b without error.
    static DoubleDouble product(double a, double b)
    {
        const double p = a * b;
        return {p, std::fma(a, b, -p)};
    }

    friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b)
    {
        // Both halves are added exactly and then renormalised twice: small also under cancellation.
        const DoubleDouble s = sum(a.hi, b.hi), t = sum(a.lo, b.lo);
        const DoubleDouble u = fast_sum(s.hi, s.lo + t.hi);
        return fast_sum(u.hi, u.lo + t.lo);
    }
    friend DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }
    friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
    friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b)
    {
        const DoubleDouble p = product(a.hi, b.hi);
        return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
    }
    friend DoubleDouble operator*(const DoubleDouble& a, double b)
    {
        const DoubleDouble p = product(a.hi, b);
        return fast_sum(p.hi, p.lo + a.lo * b);
    }

private:
    static DoubleDouble fast_sum(double a, double b) // |a| >= |b| or a == 0
    {
        const double s = a + b;
        return {s, b - (s - a)};
    }
};

struct DoubleDouble3 {
    DoubleDouble x, y, z;

    static DoubleDouble3 difference(const Vec3& a, const Vec3& b)
    {
        return {DoubleDouble::difference(a.x(), b.x()), DoubleDouble::difference(a.y(), b.y()),
                DoubleDouble::difference(a.z(), b.z())};
    }
    friend DoubleDouble3 operator+(const DoubleDouble3& a, const DoubleDouble3& b)
    {
        return {a.x + b.x, a.y + b.y, a.z + b.z};
    }
    friend DoubleDouble3 operator-(const DoubleDouble3& a, const DoubleDouble3& b)
    {
        return {a.x - b.x, a.y - b.y, a.z - b.z};
    }
    friend DoubleDouble3 operator-(const DoubleDouble3& a) { return {-a.x, -a.y, -a.z}; }
    friend DoubleDouble3 operator*(const DoubleDouble3& a, const DoubleDouble& s)
    {
        return {a.x * s, a.y * s, a.z * s};
    }
    friend DoubleDouble3 operator*(const DoubleDouble3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
    friend DoubleDouble dot(const DoubleDouble3& a, const DoubleDouble3& b)
    {
        return a.x * b.x + a.y * b.y + a.z * b.z;
    }
    friend DoubleDouble3 cross(const DoubleDouble3& a, const DoubleDouble3& b)
    {
        return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    }
    Vec3 rounded() const { return {x.hi, y.hi, z.hi}; }
};

} // namespace pliant
