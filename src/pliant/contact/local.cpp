#include "pliant/contact/local.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace pliant {

Vec3 project_to_cone(const Vec3& l, Real mu, FrictionCone cone)
{
    Vec3 p = l;
    p[0] = std::max(0.0, l[0]);
    const Real bound = mu * p[0];
    if (cone == FrictionCone::pyramid) {
        p[1] = std::clamp(l[1], -bound, bound);
        p[2] = std::clamp(l[2], -bound, bound);
        return p;
    }
    // Euclidean projection onto the second-order cone |l_t| <= mu l_n.
    const Real t = std::hypot(l[1], l[2]);
    if (t <= mu * l[0]) return l;
    if (mu * t <= -l[0]) return Vec3::Zero();
    p[0] = (l[0] + mu * t) / (1 + mu * mu);
    const Real s = t > 0 ? mu * p[0] / t : 0;
    p[1] = s * l[1];
    p[2] = s * l[2];
    return p;
}

Vec3 solve_local_disc(const Mat3& W, const Vec3& b, Real mu, const Vec3& start)
{
    if (b[0] >= 0) return Vec3::Zero(); // leaves on its own
    const Vec3 stick = -(W.inverse() * b);
    if (stick[0] >= 0 && std::hypot(stick[1], stick[2]) <= mu * stick[0]) return stick;
    if (mu == 0) return {-b[0] / W(0, 0), 0, 0};

    // Sliding: l = l_n (1, mu cos a, mu sin a) with n . u = 0, and u_t opposite to l_t. Newton on the angle a of the
    // component of u_t orthogonal to l_t, from the direction against the start's sliding velocity.
    const auto normal_impulse = [&](Real c, Real s) { return -b[0] / (W(0, 0) + mu * (W(0, 1) * c + W(0, 2) * s)); };
    const auto velocity = [&](Real a) {
        const Real c = std::cos(a), s = std::sin(a), ln = normal_impulse(c, s);
        return Vec3(W * Vec3(ln, mu * ln * c, mu * ln * s) + b);
    };
    const auto orthogonal = [&](Real a) {
        const Vec3 u = velocity(a);
        return -u[1] * std::sin(a) + u[2] * std::cos(a);
    };
    Real angle =
        start[0] > 0 && (start[1] != 0 || start[2] != 0) ? std::atan2(start[2], start[1]) : std::atan2(-b[2], -b[1]);
    const Real scale = b.norm();
    for (int i = 0; i < 20; ++i) {
        const Real f = orthogonal(angle), eps = 1e-6;
        if (std::abs(f) <= 1e-13 * scale) break;
        const Real slope = (orthogonal(angle + eps) - orthogonal(angle - eps)) / (2 * eps);
        if (slope == 0 || !std::isfinite(slope)) break;
        angle -= std::clamp(f / slope, -0.7, 0.7);
    }
    {
        const Real c = std::cos(angle), s = std::sin(angle), ln = normal_impulse(c, s);
        const Vec3 u = velocity(angle);
        if (ln > 0 && std::isfinite(ln) && std::abs(orthogonal(angle)) <= 1e-10 * scale && u[1] * c + u[2] * s <= 0)
            return {ln, mu * ln * c, mu * ln * s};
    }
    // Fixed point of the natural map with De Saxce's correction.
    Vec3 l = project_to_cone(start, mu, FrictionCone::exact);
    const Real rho = 1 / W.trace();
    for (int i = 0; i < 200; ++i) {
        Vec3 u = W * l + b;
        u[0] += mu * std::hypot(u[1], u[2]);
        const Vec3 next = project_to_cone(l - rho * u, mu, FrictionCone::exact);
        const bool done = (next - l).squaredNorm() <= 1e-26 * next.squaredNorm();
        l = next;
        if (done) break;
    }
    return l;
}

} // namespace pliant
