#pragma once
// Springs as a batch of elements: cloth [Provot 1995], and any other pair of blocks.

#include "pliant/bodies/batch.hpp"

namespace pliant {

enum class SpringKind : std::uint8_t {
    structural,
    shear,
    flexion,
    edge ///< of a tetrahedron, which says what its stress is
};

struct Spring {
    Index a, b;
    Real rest_length; ///< [m]
    Real stiffness;   ///< [N/m]
    SpringKind kind;
};

/// Elastic energy of one spring, 1/2 k (l - L)^2 [J].
Real spring_energy(const Spring& spring, const Vec3& xa, const Vec3& xb);
/// Force on end a (end b gets the opposite) [N].
Vec3 spring_force(const Spring& spring, const Vec3& xa, const Vec3& xb);
/// -d force_a / d xa, exact: k [n n^T + (1 - L/l)(I - n n^T)].
Mat3 spring_stiffness_exact(const Spring& spring, const Vec3& xa, const Vec3& xb);
/// The same made positive semi-definite: the transverse part of a compressed spring is left out [Choi and Ko].
Mat3 spring_stiffness(const Spring& spring, const Vec3& xa, const Vec3& xb);

class SpringBatch final : public ElementBatch {
public:
    /// Springs between blocks of the world.
    SpringBatch(std::vector<Spring> springs, Real damping);

    const std::vector<Spring>& springs() const { return springs_; }

    Index element_count() const override { return count(springs_); }
    std::span<const Index> blocks(Index element) const override { return {&springs_[element].a, 2}; }
    Real damping() const override { return damping_; }
    Real energy(const Vec3s& x) const override;
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override;
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override;
    Real max_elongation(const Vec3s& x) const override;
    void raise_stress(const Vec3s& x, std::vector<Real>& at_block) const override;
    std::shared_ptr<const ElementBatch> with_blocks(std::span<const Index> block) const override;

private:
    std::vector<Spring> springs_;
    Real damping_;
};

} // namespace pliant
