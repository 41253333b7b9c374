#pragma once
// Four elements at a time: the same arithmetic on vectors of four numbers, for loops over elements that do nothing but
// arithmetic.

#include "pliant/core/types.hpp"

namespace pliant {

using Four = Eigen::Array<Real, 4, 1>;

struct FourVec {
    Four x, y, z;

    Vec3 operator[](Index lane) const { return {x[lane], y[lane], z[lane]}; }
    friend FourVec operator+(const FourVec& a, const FourVec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend FourVec operator-(const FourVec& a, const FourVec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend FourVec operator*(const Four& s, const FourVec& a) { return {s * a.x, s * a.y, s * a.z}; }
    friend FourVec operator-(const FourVec& a) { return {-a.x, -a.y, -a.z}; }
};

inline Four dot(const FourVec& a, const FourVec& b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

inline FourVec cross(const FourVec& a, const FourVec& b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Matrices by their columns.
using FourMat = std::array<FourVec, 3>;

/// M a.
inline FourVec times(const FourMat& M, const FourVec& a)
{
    return a.x * M[0] + a.y * M[1] + a.z * M[2];
}

/// sum_k a_k b_k^T over three pairs of vectors.
inline FourMat sum_of_products(const FourVec& a0, const FourVec& b0, const FourVec& a1, const FourVec& b1,
                               const FourVec& a2, const FourVec& b2)
{
    return {b0.x * a0 + b1.x * a1 + b2.x * a2, b0.y * a0 + b1.y * a1 + b2.y * a2, b0.z * a0 + b1.z * a1 + b2.z * a2};
}

/// Vectors of four places; numbers may repeat.
inline FourVec gather(const Vec3s& x, const Index* numbers, Index stride)
{
    const Vec3 &a = x[numbers[0]], &b = x[numbers[stride]], &c = x[numbers[2 * stride]], &d = x[numbers[3 * stride]];
    return {Four(a.x(), b.x(), c.x(), d.x()), Four(a.y(), b.y(), c.y(), d.y()), Four(a.z(), b.z(), c.z(), d.z())};
}

} // namespace pliant
