#pragma once
// What carries a garment while its seams are open.

#include "pliant/bodies/batch.hpp"

namespace pliant {

/// Takes the weight off blocks as long as some pairs of them are not tied to each other: panels stay at the height
/// where they were placed. In explicit steps it makes them move as in honey, too; in implicit ones threads have a
/// damping of their own.
class SewingAid final : public ElementBatch {
public:
    struct Load {
        Index block;
        Real mass; ///< [kg]
    };
    /// drag [1/s]: of explicit steps, mass-proportional.
    SewingAid(std::vector<Load> loads, std::vector<Edge> pairs, const Vec3& gravity, Real drag);

    const std::vector<Load>& loads() const { return loads_; }
    const std::vector<Edge>& pairs() const { return pairs_; }
    const Vec3& gravity() const { return gravity_; }
    Real drag() const { return drag_; }

    Index element_count() const override { return count(loads_); }
    std::span<const Index> blocks(Index element) const override { return {&loads_[element].block, 1}; }
    Real damping() const override { return 0; }
    Real energy(const Vec3s& x) const override;
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override;
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override;
    Real max_elongation(const Vec3s&) const override { return 0; }
    void raise_stress(const Vec3s&, std::vector<Real>&) const override {}
    /// Lets go of everything when all pairs are tied.
    std::shared_ptr<const ElementBatch> with_blocks(std::span<const Index> block) const override;

private:
    std::vector<Load> loads_; ///< by block
    std::vector<Edge> pairs_;
    Vec3 gravity_;
    Real drag_;
};

} // namespace pliant
