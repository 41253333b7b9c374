#pragma once
// Linear co-rotational tetrahedra as a batch of elements [Mueller and Gross 2004].

#include "pliant/bodies/tetrahedra.hpp"

namespace pliant {

/// Rotations closest to four deformation gradients, as element_rotation() gives them one by one.
FourMat four_rotations(const FourMat& F);

class CorotationalBatch final : public TetBatch {
public:
    using TetBatch::TetBatch;

    Real energy(const Vec3s& x) const override;
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override;
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override;

protected:
    Real stress(const Mat3& F) const override;
};

} // namespace pliant
