#pragma once
// A tetrahedron prepared for questions about points: where is it, how does it move in barycentric coordinates?

#include "pliant/core/types.hpp"

namespace pliant {

struct TetFrame {
    Vec3 origin;              ///< first corner [m]
    std::array<Vec3, 3> area; ///< e2 x e3, e3 x e1, e1 x e2 for the edges from the first corner [m^2]
    Real det = 0;             ///< six times the signed volume [m^3]

    TetFrame(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) : origin(a)
    {
        const Vec3 e1 = b - a, e2 = c - a, e3 = d - a;
        area = {e2.cross(e3), e3.cross(e1), e1.cross(e2)};
        det = e1.dot(area[0]);
    }

    /// Barycentric coordinates of p; det must not be 0.
    Vec4 weights(const Vec3& p) const { return from_last_three(p - origin, 1); }
    /// Their change when p moves by the vector.
    Vec4 weights_along(const Vec3& vector) const { return from_last_three(vector, 0); }

private:
    Vec4 from_last_three(const Vec3& r, Real sum) const
    {
        const Vec3 w(r.dot(area[0]) / det, r.dot(area[1]) / det, r.dot(area[2]) / det);
        return {sum - w.x() - w.y() - w.z(), w.x(), w.y(), w.z()};
    }
};

} // namespace pliant
