#pragma once
// Linear co-rotational tetrahedra as a batch of elements [Mueller and Gross 2004].

#include "pliant/bodies/batch.hpp"
#include "pliant/bodies/solid.hpp"

namespace pliant {

class CorotationalBatch final : public ElementBatch {
public:
    /// The elements of a solid whose nodes are the blocks from first_block on.
    CorotationalBatch(const Solid& solid, Index first_block);

    Index element_count() const override { return count(elements_); }
    std::span<const Index> blocks(Index element) const override { return elements_[element].nodes; }
    Real damping() const override { return damping_; }
    Real energy(const Vec3s& x) const override;
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override;
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override;
    Real max_elongation(const Vec3s& x) const override;
    /// Volume-weighted mean of the von Mises stress of the elements at a block.
    void raise_stress(const Vec3s& x, std::vector<Real>& at_block) const override;

    const std::vector<SolidElement>& elements() const { return elements_; } ///< nodes are blocks of the world
    const Elasticity& elasticity() const { return elasticity_; }

private:
    Elasticity elasticity_;
    Real damping_;
    std::vector<SolidElement> elements_;
};

} // namespace pliant
