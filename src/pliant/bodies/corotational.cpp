#include "pliant/bodies/corotational.hpp"

#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

class CorotationalRows final : public BatchRows {
public:
    CorotationalRows(const CorotationalBatch& batch, const MatrixRows* matrix)
        : batch_(batch), incidence_(incidence_of(batch))
    {
        if (!matrix) {
            sums_.emplace(batch);
            return;
        }
        forces_.resize(batch.elements().size());
        slots_ = corner_slots(batch, incidence_, *matrix);
        rotated_.resize(batch.elements().size());
    }

    Index first_block() const override { return incidence_.first_block; }
    Index end_block() const override { return incidence_.end_block(); }

    void evaluate_system(Index begin, Index end, const Vec3s& x, Real) override
    {
        for (Index i = begin; i < end; ++i) {
            const SolidElement& e = batch_.elements()[i];
            const Mat3 F = deformation_gradient(e, corners_of(e, x)), R = element_rotation(F);
            const Mat3 VP = e.volume * element_stress(batch_.elasticity(), F, R);
            for (int k = 0; k < 4; ++k) {
                rotated_[i][k] = R * e.gradient[k];
                forces_[i][k] = -(VP * e.gradient[k]);
            }
        }
    }

    void add_system(Index begin, Index end, const Vec3s&, Real dt, BlockMatrix& A, Vec3s& force) const override
    {
        const Elasticity& material = batch_.elasticity();
        const Real scale = dt * dt + dt * batch_.damping();
        for (Index row = std::max(begin, first_block()); row < std::min(end, end_block()); ++row) {
            Vec3 f = force[row];
            Mat3 own = Mat3::Zero();
            const Index* range = incidence_.begin.data() + (row - first_block());
            for (Index k = range[0]; k < range[1]; ++k) {
                const Incidence::Corner& c = incidence_.corners[k];
                const Corners& gradient = rotated_[c.element];
                f += forces_[c.element][c.corner];
                const Real volume = scale * batch_.elements()[c.element].volume;
                const Vec3& gi = gradient[c.corner];
                for (int j = 0; j < 4; ++j) {
                    Real* block = j == c.corner ? own.data() : A.block(slots_[k][j]).data();
                    Eigen::Map<Mat3>(block) +=
                        element_stiffness_block(volume, material.lambda, material.mu, gi, gradient[j]);
                }
            }
            A.block(A.pattern().diagonal[row]) += own;
            force[row] = f;
        }
    }

    void evaluate_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v) override
    {
        const Real lambda = batch_.elasticity().lambda, mu = batch_.elasticity().mu, beta = batch_.damping();
        sums_->evaluate(begin, end, x, v, [&](auto, const FourElements& e, const auto& at, const auto& speed, auto& f) {
            const FourMat F = four_gradients(e, at), R = four_rotations(F);
            Four spread = lambda * (dot(R[0], F[0]) + dot(R[1], F[1]) + dot(R[2], F[2]) - 3); // of R
            FourMat P;
            for (int c = 0; c < 3; ++c) P[c] = Four::Constant(2 * mu) * (F[c] - R[c]);
            if (beta > 0) {
                // The warped stiffness times the velocity, as a stress: beta (mu (dF + R dF^T R) + lambda tr(R^T dF) R)
                const FourMat rate = four_gradients(e, speed);
                spread += beta * lambda * (dot(R[0], rate[0]) + dot(R[1], rate[1]) + dot(R[2], rate[2]));
                for (int c = 0; c < 3; ++c) {
                    const FourVec back = {dot(rate[0], R[c]), dot(rate[1], R[c]), dot(rate[2], R[c])}; // dF^T R
                    P[c] = P[c] + Four::Constant(beta * mu) * (rate[c] + times(R, back));
                }
            }
            for (int c = 0; c < 3; ++c) P[c] = P[c] + spread * R[c];
            four_forces(e, P, f);
        });
    }

    void add_forces(Index begin, Index end, const Vec3s&, const Vec3s&, Vec3s& force) const override
    {
        sums_->add_rows(begin, end, force);
    }

private:
    const CorotationalBatch& batch_;
    Incidence incidence_;
    std::optional<TetForces> sums_; ///< without a matrix
    // With a matrix, filled by evaluate_system():
    std::vector<Corners> forces_;             ///< per element [N]
    std::vector<std::array<Index, 4>> slots_; ///< per corner: of (row, node k)
    std::vector<Corners> rotated_;            ///< R b_k
};

} // namespace

// Newton's iteration R <- (R + R^-T)/2 on all four until the slowest has converged: it is quadratic, so a change of c
// leaves an error of about c^2.
FourMat four_rotations(const FourMat& F)
{
    const auto cofactors = [](const FourMat& M) {
        return FourMat{cross(M[1], M[2]), cross(M[2], M[0]), cross(M[0], M[1])};
    };
    const Four size_sq = (dot(F[0], F[0]) + dot(F[1], F[1]) + dot(F[2], F[2])) / 3;
    const Four det = dot(F[0], cross(F[1], F[2]));
    const Eigen::Array<bool, 4, 1> regular = det > 0.02 * size_sq * size_sq.sqrt();
    FourMat R = F;
    if (!regular.all())
        for (int lane = 0; lane < 4; ++lane) { // flat or inverted
            if (regular[lane]) continue;
            Mat3 one;
            for (int c = 0; c < 3; ++c) one.col(c) = Vec3(F[c].x[lane], F[c].y[lane], F[c].z[lane]);
            one = element_rotation(one);
            for (int c = 0; c < 3; ++c) {
                R[c].x[lane] = one(0, c);
                R[c].y[lane] = one(1, c);
                R[c].z[lane] = one(2, c);
            }
        }
    for (int i = 0; i < 20; ++i) {
        const FourMat cofactor = cofactors(R);
        const Four inverse_det = 1 / dot(R[0], cofactor[0]);
        Four change_sq = Four::Zero();
        for (int c = 0; c < 3; ++c) {
            const FourVec next = Four::Constant(0.5) * (R[c] + inverse_det * cofactor[c]), change = next - R[c];
            change_sq += dot(change, change);
            R[c] = next;
        }
        if ((change_sq < 1e-16).all()) break;
    }
    return R;
}

Real CorotationalBatch::energy(const Vec3s& x) const
{
    const Elasticity& m = elasticity();
    return parallel_sum(four_count(), 0.0, [&](Index i) { // |S - I| = |F - R|
        const FourMat F = four_gradients(four(i), four_corners(i, x)), R = four_rotations(F);
        const FourMat off = {F[0] - R[0], F[1] - R[1], F[2] - R[2]};
        const Four trace = dot(R[0], F[0]) + dot(R[1], F[1]) + dot(R[2], F[2]) - 3;
        const Four squares = dot(off[0], off[0]) + dot(off[1], off[1]) + dot(off[2], off[2]);
        const Four each = four(i).volume * (m.mu * squares + m.lambda / 2 * trace * trace);
        return each.head(four_size(i)).sum();
    });
}

std::unique_ptr<BatchRows> CorotationalBatch::make_rows(const MatrixRows* matrix) const
{
    return std::make_unique<CorotationalRows>(*this, matrix);
}

void CorotationalBatch::add_row_bounds(const Vec3s&, RowBounds& bounds) const
{
    for (const SolidElement& e : elements())
        add_element_bounds(e, e.volume * (elasticity().lambda + 2 * elasticity().mu), bounds);
}

Real CorotationalBatch::stress(const Mat3& F) const
{
    const Mat3 R = element_rotation(F);
    return von_mises_stress(R.transpose() * element_stress(elasticity(), F, R));
}

} // namespace pliant
