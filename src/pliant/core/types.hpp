#pragma once
// Scalars and Eigen aliases used by every module. All quantities are SI.

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <array>
#include <cstdint>
#include <vector>

namespace pliant {

using Real = double;
using Index = std::int32_t; ///< counts of vertices, elements, blocks; checked against overflow where input is read

using Vec2 = Eigen::Matrix<Real, 2, 1>;
using Vec3 = Eigen::Matrix<Real, 3, 1>;
using Vec4 = Eigen::Matrix<Real, 4, 1>;
using Mat2 = Eigen::Matrix<Real, 2, 2>;
using Mat3 = Eigen::Matrix<Real, 3, 3>;
using Quat = Eigen::Quaternion<Real>;

using Vec3s = std::vector<Vec3>;
using Edge = std::array<Index, 2>;
using Triangle = std::array<Index, 3>;
using Tet = std::array<Index, 4>;

inline constexpr Index none = -1; ///< "no such element"

/// Size of a container as an Index.
template <class Container>
Index count(const Container& c)
{
    return static_cast<Index>(c.size());
}

/// The cross-product matrix: skew(a) * b == a.cross(b).
inline Mat3 skew(const Vec3& a)
{
    Mat3 m;
    m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return m;
}

/// A rigid placement: x -> rotation * x + translation.
struct Pose {
    Vec3 translation = Vec3::Zero();
    Quat rotation = Quat::Identity();

    Vec3 operator()(const Vec3& x) const { return rotation * x + translation; }
};

} // namespace pliant
