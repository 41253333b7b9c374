#pragma once
// Threads that draw the two sides of a seam together.

#include "pliant/bodies/batch.hpp"

namespace pliant {

/// Two blocks and the force of the thread between them.
struct Thread {
    Index a, b;
    Real force; ///< [N]
};

/// Pulls with a force F that does not depend on the distance d but fades within `slack`: the energy is
/// F (sqrt(d^2 + slack^2) - slack), as stiff as a spring of F / d, which grows while the seam closes. The damping of
/// that spring makes two blocks approach at the rate d / damping where nothing else holds them, however strong the
/// thread. Explicit steps leave damping to SewingAid.
class SeamPull final : public ElementBatch {
public:
    SeamPull(std::vector<Thread> threads, Real slack, Real damping);

    const std::vector<Thread>& threads() const { return threads_; }
    /// Stiffness of a thread with its ends at these places [N/m].
    Real stiffness(const Thread& t, const Vec3& xa, const Vec3& xb) const;

    Index element_count() const override { return count(threads_); }
    std::span<const Index> blocks(Index element) const override { return {&threads_[element].a, 2}; }
    Real damping() const override { return damping_; }
    Real energy(const Vec3s& x) const override;
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override;
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override;
    bool kicks() const override { return true; }
    void kick(const Vec3s& x, const std::vector<Real>& inverse_mass, Real dt, Vec3s& v) const override;
    Real max_elongation(const Vec3s&) const override { return 0; }
    void raise_stress(const Vec3s&, std::vector<Real>&) const override {}
    std::shared_ptr<const ElementBatch> with_blocks(std::span<const Index> block) const override;

private:
    std::vector<Thread> threads_;
    Real slack_, damping_;
};

} // namespace pliant
