#include "pliant/bodies/seam_pull.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

class SeamRows final : public BatchRows {
public:
    SeamRows(const SeamPull& batch, const MatrixRows* matrix) : batch_(batch), incidence_(incidence_of(batch))
    {
        if (!matrix) return;
        for (Index row = first_block(); row < end_block(); ++row)
            for_threads(row, [&](Index, const Thread&, Index other) {
                const Index slot = matrix->pattern.slot(row, other);
                SlotUse& use = matrix->use[slot];
                slots_.push_back(use == SlotUse::untouched ? slot : -1 - slot); // another element was first: add to it
                if (use == SlotUse::untouched) use = SlotUse::assigned;
            });
    }

    Index first_block() const override { return incidence_.first_block; }
    Index end_block() const override { return incidence_.end_block(); }

    void evaluate_system(Index, Index, const Vec3s&, Real) override {}
    void add_system(Index begin, Index end, const Vec3s& x, Real dt, BlockMatrix& A, Vec3s& force) const override
    {
        for (Index row = std::max(begin, first_block()); row < std::min(end, end_block()); ++row)
            for_threads(row, [&](Index k, const Thread& t, Index other) {
                const Real stiffness = batch_.stiffness(t, x[row], x[other]);
                force[row] += stiffness * (x[other] - x[row]);
                const Mat3 K = (dt * dt + dt * batch_.damping()) * stiffness * Mat3::Identity();
                if (slots_[k] >= 0)
                    A.block(slots_[k]) = -K;
                else
                    A.block(-1 - slots_[k]) -= K;
                A.block(A.pattern().diagonal[row]) += K;
            });
    }

    void evaluate_forces(Index, Index, const Vec3s&, const Vec3s&) override {}
    void add_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v, Vec3s& force) const override
    {
        for (Index row = std::max(begin, first_block()); row < std::min(end, end_block()); ++row)
            for_threads(row, [&](Index, const Thread& t, Index other) {
                const Real stiffness = batch_.stiffness(t, x[row], x[other]);
                force[row] += stiffness * (x[other] - x[row] + batch_.damping() * (v[other] - v[row]));
            });
    }

private:
    /// use(k, thread, other end) for the threads at a block; k is the place in slots_.
    void for_threads(Index row, auto&& use) const
    {
        const Index local = row - incidence_.first_block;
        for (Index k = incidence_.begin[local]; k < incidence_.begin[local + 1]; ++k) {
            const Thread& t = batch_.threads()[incidence_.corners[k].element];
            use(k, t, incidence_.corners[k].corner == 0 ? t.b : t.a);
        }
    }

    const SeamPull& batch_;
    Incidence incidence_;
    std::vector<Index> slots_; ///< per corner: the block (row, other), or -1 - it where to add
};

} // namespace

SeamPull::SeamPull(std::vector<Thread> threads, Real slack, Real damping)
    : threads_(std::move(threads)), slack_(slack), damping_(damping)
{
    assert(slack > 0 && damping >= 0);
}

Real SeamPull::stiffness(const Thread& t, const Vec3& xa, const Vec3& xb) const
{
    return t.force / std::sqrt((xb - xa).squaredNorm() + slack_ * slack_);
}

Real SeamPull::energy(const Vec3s& x) const
{
    Real sum = 0;
    for (const Thread& t : threads_)
        sum += t.force * (std::sqrt((x[t.b] - x[t.a]).squaredNorm() + slack_ * slack_) - slack_);
    return sum;
}

std::unique_ptr<BatchRows> SeamPull::make_rows(const MatrixRows* matrix) const
{
    return std::make_unique<SeamRows>(*this, matrix);
}

void SeamPull::add_row_bounds(const Vec3s& x, RowBounds& bounds) const
{
    for (const Thread& t : threads_) {
        const Real k = stiffness(t, x[t.a], x[t.b]);
        bounds.add(t.a, 2 * k, damping_);
        bounds.add(t.b, 2 * k, damping_);
    }
}

// One thread after the other. The impulse p on block a of the step's end, r and w the distance and its rate:
//   p = dt k (r + dt w'),   w' = w - (1 / m_a + 1 / m_b) p.
// Without the thread's damping: by itself, an end would reach the rate that damping allows with a small part of the
// force, and what holds it back, limits of strain and contact, only comes later.
void SeamPull::kick(const Vec3s& x, const std::vector<Real>& inverse_mass, Real dt, Vec3s& v) const
{
    for (const Thread& t : threads_) {
        const Real k = dt * stiffness(t, x[t.a], x[t.b]);
        const Vec3 p =
            k * (x[t.b] - x[t.a] + dt * (v[t.b] - v[t.a])) / (1 + k * dt * (inverse_mass[t.a] + inverse_mass[t.b]));
        v[t.a] += inverse_mass[t.a] * p;
        v[t.b] -= inverse_mass[t.b] * p;
    }
}

std::shared_ptr<const ElementBatch> SeamPull::with_blocks(std::span<const Index> block) const
{
    std::vector<Thread> threads;
    for (const Thread& t : threads_)
        if (block[t.a] != block[t.b]) threads.push_back({block[t.a], block[t.b], t.force});
    return std::make_shared<SeamPull>(std::move(threads), slack_, damping_);
}

} // namespace pliant
