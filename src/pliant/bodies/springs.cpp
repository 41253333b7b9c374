#include "pliant/bodies/springs.hpp"

#include "pliant/bodies/four.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

Real spring_energy(const Spring& s, const Vec3& xa, const Vec3& xb)
{
    const Real stretch = (xb - xa).norm() - s.rest_length;
    return s.stiffness * stretch * stretch / 2;
}

Vec3 spring_force(const Spring& s, const Vec3& xa, const Vec3& xb)
{
    const Vec3 d = xb - xa;
    const Real length = d.norm();
    if (length == 0) return Vec3::Zero(); // no direction to push in: the energy has a ridge there
    return s.stiffness * (1 - s.rest_length / length) * d;
}

Mat3 spring_stiffness_exact(const Spring& s, const Vec3& xa, const Vec3& xb)
{
    const Vec3 d = xb - xa;
    const Real length = d.norm();
    if (length == 0) return s.stiffness * Mat3::Identity();
    const Mat3 nn = d * d.transpose() / (length * length);
    return s.stiffness * (nn + (1 - s.rest_length / length) * (Mat3::Identity() - nn));
}

Mat3 spring_stiffness(const Spring& s, const Vec3& xa, const Vec3& xb)
{
    const Vec3 d = xb - xa;
    const Real length = d.norm();
    if (length == 0) return s.stiffness * Mat3::Identity();
    const Mat3 nn = d * d.transpose() / (length * length);
    return s.stiffness * (nn + std::max(0.0, 1 - s.rest_length / length) * (Mat3::Identity() - nn));
}

namespace {

/// A spring seen from one of its ends.
struct SpringEnd {
    Index other;      ///< block
    Index slot;       ///< of (row, other); none: without a matrix
    Real rest_length; ///< [m]
    Real stiffness;   ///< [N/m]
};

class SpringRows final : public BatchRows {
public:
    SpringRows(const SpringBatch& batch, const MatrixRows* matrix) : SpringRows(batch, incidence_of(batch), matrix) {}
    SpringRows(const SpringBatch& batch, const Incidence& incidence, const MatrixRows* matrix)
        : first_(incidence.first_block), damping_(batch.damping()), begin_(incidence.begin)
    {
        if (!matrix) {
            prepare_forces(batch, incidence);
            return;
        }
        ends_.reserve(incidence.corners.size());
        for (Index row = first_; row < end_block(); ++row)
            for (Index k = begin_[row - first_]; k < begin_[row - first_ + 1]; ++k) {
                const Incidence::Corner& c = incidence.corners[k];
                const Spring& s = batch.springs()[c.element];
                const Index other = c.corner == 0 ? s.b : s.a;
                const Index slot = matrix->pattern.slot(row, other);
                ends_.push_back({other, slot, s.rest_length, s.stiffness});
                SlotUse& use = matrix->use[slot];
                if (use != SlotUse::untouched) ends_.back().slot = -2 - slot; // another element was first: add to it
                if (use == SlotUse::untouched) use = SlotUse::assigned;
            }
    }

    Index first_block() const override { return first_; }
    Index end_block() const override { return first_ + count(begin_) - 1; }

    void evaluate_system(Index, Index, const Vec3s&, Real) override {}
    void evaluate_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v) override
    {
        for (Index i = begin; i < end; i += 4) {
            const FourSprings& s = fours_[i / 4];
            const FourVec d = gather(x, s.b.data(), 1) - gather(x, s.a.data(), 1);
            const Four length_sq = dot(d, d);
            const Four inverse = (length_sq > 0).select(1 / length_sq.sqrt(), Four::Zero());
            const Four ratio = 1 - s.rest_length * inverse;
            FourVec f = (s.stiffness * ratio) * d;
            if (damping_ > 0) { // the stiffness of spring_stiffness() times the velocity
                const FourVec w = gather(v, s.b.data(), 1) - gather(v, s.a.data(), 1);
                const Four along = dot(d, w) * inverse * inverse, across = ratio.max(0);
                f = f + (damping_ * s.stiffness) * (across * w + (along * (1 - across)) * d);
            }
            for (Index lane = 0; lane < 4; ++lane) force_[i + lane] = f[lane];
        }
    }

    void add_system(Index begin, Index end, const Vec3s& x, Real dt, BlockMatrix& A, Vec3s& force) const override
    {
        const Real scale = dt * dt + dt * damping_;
        for (Index row = std::max(begin, first_); row < std::min(end, end_block()); ++row) {
            const Vec3 x_row = x[row];
            Vec3 f = force[row];
            Mat3 diagonal = A.block(A.pattern().diagonal[row]);
            for (Index k = begin_[row - first_]; k < begin_[row - first_ + 1]; ++k) {
                const SpringEnd& s = ends_[k];
                const Vec3 d = x[s.other] - x_row;
                const Real length_sq = d.squaredNorm(), length = std::sqrt(length_sq);
                Mat3 K;
                if (length > 0) {
                    // k [n n^T + max(0, 1 - L/l) (I - n n^T)], see spring_stiffness()
                    const Real ratio = 1 - s.rest_length / length, transverse = std::max(0.0, ratio);
                    f += (s.stiffness * ratio) * d;
                    const Real a = scale * s.stiffness * (1 - transverse) / length_sq;
                    const Real c = scale * s.stiffness * transverse;
                    K = (a * d) * d.transpose();
                    K.diagonal().array() += c;
                } else {
                    K = scale * s.stiffness * Mat3::Identity();
                }
                if (s.slot >= 0)
                    A.block(s.slot) = -K;
                else
                    A.block(-2 - s.slot) -= K;
                diagonal += K;
            }
            A.block(A.pattern().diagonal[row]) = diagonal;
            force[row] = f;
        }
    }

    void add_forces(Index begin, Index end, const Vec3s&, const Vec3s&, Vec3s& force) const override
    {
        for (Index row = std::max(begin, first_); row < std::min(end, end_block()); ++row) {
            Vec3 f = Vec3::Zero();
            for (Index k = begin_[row - first_]; k < begin_[row - first_ + 1]; ++k) {
                if (signed_[k] >= 0)
                    f += force_[signed_[k]];
                else
                    f -= force_[-1 - signed_[k]];
            }
            force[row] += f;
        }
    }

private:
    struct FourSprings {
        std::array<Index, 4> a, b;
        Four rest_length, stiffness;
    };
    void prepare_forces(const SpringBatch& batch, const Incidence& incidence)
    {
        const std::vector<Spring>& springs = batch.springs();
        for (Index i = 0; i < count(springs); i += 4) {
            FourSprings& four = fours_.emplace_back();
            for (Index lane = 0; lane < 4; ++lane) {
                const Spring& s = springs[std::min(i + lane, count(springs) - 1)];
                four.a[lane] = s.a;
                four.b[lane] = s.b;
                four.rest_length[lane] = s.rest_length;
                four.stiffness[lane] = s.stiffness;
            }
        }
        force_.resize(4 * fours_.size());
        for (const Incidence::Corner& c : incidence.corners)
            signed_.push_back(c.corner == 0 ? c.element : -1 - c.element);
    }

    Index first_;
    Real damping_;
    std::vector<Index> begin_;    ///< per block from first_ on, + 1: range in ends_ or signed_
    std::vector<SpringEnd> ends_; ///< with a matrix
    // Without a matrix: four springs at a time.
    std::vector<FourSprings> fours_;
    Vec3s force_;               ///< per spring, on its end a [N]
    std::vector<Index> signed_; ///< the spring i whose end a is here, or -1 - i: its end b
};

} // namespace

SpringBatch::SpringBatch(std::vector<Spring> springs, Real damping) : springs_(std::move(springs)), damping_(damping) {}

Real SpringBatch::energy(const Vec3s& x) const
{
    return parallel_sum(element_count(), 0.0, [&](Index i) {
        const Spring& s = springs_[i];
        return spring_energy(s, x[s.a], x[s.b]);
    });
}

std::unique_ptr<BatchRows> SpringBatch::make_rows(const MatrixRows* matrix) const
{
    return std::make_unique<SpringRows>(*this, matrix);
}

// K has the eigenvalues k along the spring and k (1 - L/l) < k across it. Where a short spring makes those negative
// they let it buckle, but no step is too long for that: only the positive part of K bounds the step. |K_aa| + |K_ab| <=
// 2 k.
void SpringBatch::add_row_bounds(const Vec3s&, RowBounds& bounds) const
{
    for (const Spring& s : springs_) {
        bounds.add(s.a, 2 * s.stiffness, damping_);
        bounds.add(s.b, 2 * s.stiffness, damping_);
    }
}

Real SpringBatch::max_elongation(const Vec3s& x) const
{
    return parallel_max(element_count(), 0, [&](Index i) {
        const Spring& s = springs_[i];
        if (s.kind == SpringKind::flexion || !(s.rest_length > 0)) return Real(0);
        return (x[s.b] - x[s.a]).norm() / s.rest_length - 1;
    });
}

void SpringBatch::raise_stress(const Vec3s& x, std::vector<Real>& at_block) const
{
    for (const Spring& s : springs_) {
        if (s.kind == SpringKind::flexion || s.kind == SpringKind::edge) continue;
        const Real tension = s.stiffness * ((x[s.b] - x[s.a]).norm() - s.rest_length);
        at_block[s.a] = std::max(at_block[s.a], tension);
        at_block[s.b] = std::max(at_block[s.b], tension);
    }
}

std::shared_ptr<const ElementBatch> SpringBatch::with_blocks(std::span<const Index> block) const
{
    std::vector<Spring> springs;
    for (Spring s : springs_) {
        s.a = block[s.a];
        s.b = block[s.b];
        if (s.a != s.b) springs.push_back(s);
    }
    return std::make_shared<SpringBatch>(std::move(springs), damping_);
}

} // namespace pliant
