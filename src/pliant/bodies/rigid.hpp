#pragma once
// Rigid bodies: mass properties from a closed mesh, free rotation by implicit midpoint.

#include "pliant/bodies/materials.hpp"
#include "pliant/mesh/mesh.hpp"

namespace pliant {

struct Rigid {
    RigidMaterial material;
    Real mass = 0;                   ///< [kg]
    Mat3 inertia = Mat3::Identity(); ///< about the centre of mass, body frame [kg m^2]
    Mat3 inertia_inv = Mat3::Identity();
    Vec3 rest_center = Vec3::Zero(); ///< centre of mass in the rest shape [m]
};

/// Mass, centre and inertia of the volume enclosed by the mesh (exact for polyhedra). The mesh must be closed.
Rigid make_rigid(const TriangleMesh& mesh, const RigidMaterial& material);

/// Inertia in the world frame.
Mat3 world_inertia(const Rigid& rigid, const Quat& orientation);

/// Mean angular velocity of a free rotation over dt: implicit midpoint in the body frame. With the orientation
/// advanced by rotate_by(), angular momentum and energy are kept to rounding.
Vec3 free_rotation(const Rigid& rigid, const Quat& orientation, const Vec3& omega, Real dt);

/// q0 + dt G w, renormalised: the Cayley map of dt w (world frame).
Quat rotate_by(const Quat& orientation, const Vec3& omega, Real dt);

} // namespace pliant
