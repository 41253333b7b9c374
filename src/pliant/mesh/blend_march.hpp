#pragma once
// A surface where a field changes its sign, as triangles of a wanted size.

#include "pliant/mesh/mesh.hpp"

namespace pliant {

class MarchField {
public:
    virtual ~MarchField() = default;
    /// Negative inside; about a distance near the surface [m].
    virtual Real value(const Vec3& x) const = 0;
    /// False only if the field has one sign in the whole ball.
    virtual bool may_cross(const Vec3& centre, Real radius) const = 0;
    /// Holds all of the inside.
    virtual Eigen::AlignedBox<Real, 3> bounds() const = 0;
};

/// Closed, manifold, facing out; edges of about the given mean length [m].
TriangleMesh march(const MarchField& field, Real edge);

} // namespace pliant
