#include "pliant/bodies/rigid.hpp"

#include <Eigen/LU>

namespace pliant {

// Signed tetrahedra (c, triangle) fill the enclosed volume; for each, with d = a . (b x c) and s = a + b + c,
// the integral of x is d/24 s and of x x^T is d/120 (a a^T + b b^T + c c^T + s s^T).
Rigid make_rigid(const TriangleMesh& mesh, const RigidMaterial& material)
{
    const Vec3 origin = mesh.vertices.empty() ? Vec3::Zero() : mesh.vertices.front();
    Real volume = 0;
    Vec3 first = Vec3::Zero();
    Mat3 second = Mat3::Zero();
    for (const Triangle& t : mesh.triangles) {
        const Vec3 a = mesh.vertices[t[0]] - origin, b = mesh.vertices[t[1]] - origin, c = mesh.vertices[t[2]] - origin;
        const Real d = a.dot(b.cross(c));
        const Vec3 s = a + b + c;
        volume += d / 6;
        first += d / 24 * s;
        second += d / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
    }
    Rigid rigid;
    rigid.material = material;
    rigid.mass = material.density * volume;
    const Vec3 center = first / volume;
    rigid.rest_center = origin + center;
    const Mat3 covariance = material.density * (second - volume * center * center.transpose());
    rigid.inertia = covariance.trace() * Mat3::Identity() - covariance;
    rigid.inertia_inv = rigid.inertia.inverse();
    return rigid;
}

Mat3 world_inertia(const Rigid& rigid, const Quat& orientation)
{
    const Mat3 R = orientation.toRotationMatrix();
    return R * rigid.inertia * R.transpose();
}

// Midpoint rule for Euler's equation in the body frame, with P = I w the body's momentum:
//   P1 - P0 = dt Pm x wm,  Pm = (P0 + P1)/2 = I wm   =>   I wm - P0 + dt/2 wm x (I wm) = 0.
// It rotates P by the Cayley map of -dt wm, so |P| and the energy P . I^-1 P are kept, and the orientation
// advanced by the Cayley map of dt wm keeps R P.
Vec3 free_rotation(const Rigid& rigid, const Quat& orientation, const Vec3& omega, Real dt)
{
    const Mat3& I = rigid.inertia;
    const Vec3 w0 = orientation.conjugate() * omega;
    const Vec3 P0 = I * w0;
    Vec3 w = w0;
    for (int iteration = 0; iteration < 30; ++iteration) {
        const Vec3 P = I * w;
        const Vec3 residual = P - P0 + dt / 2 * w.cross(P);
        if (residual.squaredNorm() <= 1e-30 * P0.squaredNorm()) break;
        const Mat3 jacobian = I + dt / 2 * (skew(w) * I - skew(P));
        const Vec3 change = jacobian.inverse() * residual;
        if (!change.allFinite()) return omega;
        w -= change;
        if (change.squaredNorm() <= 1e-32 * w.squaredNorm()) break;
    }
    return orientation * w;
}

Quat rotate_by(const Quat& orientation, const Vec3& omega, Real dt)
{
    const Vec3 half = dt / 2 * omega;
    return (Quat(1, half.x(), half.y(), half.z()) * orientation).normalized();
}

} // namespace pliant
