#include "pliant/bodies/tetrahedra.hpp"

#include "pliant/core/parallel.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

std::array<Vec3, 4> gather(const SolidElement& e, const Vec3s& x)
{
    return {x[e.nodes[0]], x[e.nodes[1]], x[e.nodes[2]], x[e.nodes[3]]};
}

Real largest_stretch(const Mat3& F)
{
    Eigen::SelfAdjointEigenSolver<Mat3> solver;
    solver.computeDirect(Mat3(F.transpose() * F), Eigen::EigenvaluesOnly);
    return std::sqrt(std::max(0.0, solver.eigenvalues()[2]));
}

class CorotationalRows final : public BatchRows {
public:
    CorotationalRows(const CorotationalBatch& batch, const MatrixRows* matrix)
        : batch_(batch), incidence_(incidence_of(batch)), elements_(batch.elements().size())
    {
        if (!matrix) return;
        slots_.reserve(incidence_.corners.size());
        for (const Incidence::Corner& c : incidence_.corners) {
            const Tet& nodes = batch.elements()[c.element].nodes;
            auto& slot = slots_.emplace_back();
            for (int j = 0; j < 4; ++j) slot[j] = matrix->pattern.slot(nodes[c.corner], nodes[j]);
        }
    }

    Index first_block() const override { return incidence_.first_block; }
    Index end_block() const override { return incidence_.end_block(); }

    void evaluate_system(Index begin, Index end, const Vec3s& x) override
    {
        for (Index i = begin; i < end; ++i) {
            const SolidElement& e = batch_.elements()[i];
            const Mat3 F = deformation_gradient(e, gather(e, x)), R = element_rotation(F);
            const Mat3 VP = e.volume * element_stress(batch_.elasticity(), F, R);
            for (int k = 0; k < 4; ++k) {
                elements_[i].gradient[k] = R * e.gradient[k];
                elements_[i].force[k] = -(VP * e.gradient[k]);
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
                const ElementState& e = elements_[c.element];
                f += e.force[c.corner];
                const Real volume = scale * batch_.elements()[c.element].volume;
                const Vec3& gi = e.gradient[c.corner];
                for (int j = 0; j < 4; ++j) {
                    Real* block = j == c.corner ? own.data() : A.block(slots_[k][j]).data();
                    Eigen::Map<Mat3>(block) +=
                        element_stiffness_block(volume, material.lambda, material.mu, gi, e.gradient[j]);
                }
            }
            A.block(A.pattern().diagonal[row]) += own;
            force[row] = f;
        }
    }

    void evaluate_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v) override
    {
        const Elasticity& material = batch_.elasticity();
        const Real beta = batch_.damping();
        for (Index i = begin; i < end; ++i) {
            const SolidElement& e = batch_.elements()[i];
            const Mat3 F = deformation_gradient(e, gather(e, x)), R = element_rotation(F);
            Mat3 P = element_stress(material, F, R);
            if (beta > 0) { // the warped stiffness times the velocity, as a stress
                const Mat3 rate = R.transpose() * deformation_gradient(e, gather(e, v));
                P += beta * R *
                     (material.mu * (rate + rate.transpose()) + material.lambda * rate.trace() * Mat3::Identity());
            }
            const Mat3 VP = e.volume * P;
            for (int k = 0; k < 4; ++k) elements_[i].force[k] = -(VP * e.gradient[k]);
        }
    }

    void add_forces(Index begin, Index end, const Vec3s&, const Vec3s&, Vec3s& force) const override
    {
        for (Index row = std::max(begin, first_block()); row < std::min(end, end_block()); ++row) {
            const Index* range = incidence_.begin.data() + (row - first_block());
            Vec3 f = Vec3::Zero();
            for (Index k = range[0]; k < range[1]; ++k)
                f += elements_[incidence_.corners[k].element].force[incidence_.corners[k].corner];
            force[row] += f;
        }
    }

private:
    /// Filled by evaluate_...(), read by the rows.
    struct ElementState {
        std::array<Vec3, 4> gradient; ///< R b_k
        std::array<Vec3, 4> force;    ///< [N]
    };

    const CorotationalBatch& batch_;
    Incidence incidence_;
    std::vector<std::array<Index, 4>> slots_; ///< per corner: of (row, node k)
    std::vector<ElementState> elements_;
};

} // namespace

CorotationalBatch::CorotationalBatch(const Solid& solid, Index first_block)
    : elasticity_(solid.elasticity), damping_(solid.material.damping), elements_(solid.elements)
{
    for (SolidElement& e : elements_)
        for (Index& n : e.nodes) n += first_block;
}

Real CorotationalBatch::energy(const Vec3s& x) const
{
    return parallel_sum(element_count(), 0.0,
                        [&](Index i) { return element_energy(elasticity_, elements_[i], gather(elements_[i], x)); });
}

std::unique_ptr<BatchRows> CorotationalBatch::make_rows(const MatrixRows* matrix) const
{
    return std::make_unique<CorotationalRows>(*this, matrix);
}

void CorotationalBatch::add_row_bounds(const Vec3s&, RowBounds& bounds) const
{
    for (const SolidElement& e : elements_)
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                bounds.add(e.nodes[i],
                           e.volume * (elasticity_.lambda + 2 * elasticity_.mu) * e.gradient[i].norm() *
                               e.gradient[j].norm(),
                           damping_);
}

Real CorotationalBatch::max_elongation(const Vec3s& x) const
{
    return parallel_max(element_count(), 0, [&](Index i) {
        return largest_stretch(deformation_gradient(elements_[i], gather(elements_[i], x))) - 1;
    });
}

// The elements are computed in parallel and summed in their order, so that the sums do not depend on the number of
// threads.
void CorotationalBatch::raise_stress(const Vec3s& x, std::vector<Real>& at_block) const
{
    std::vector<Real> stress(elements_.size());
    parallel_for(element_count(), [&](Index i) {
        const Mat3 F = deformation_gradient(elements_[i], gather(elements_[i], x)), R = element_rotation(F);
        stress[i] = von_mises_stress(R.transpose() * element_stress(elasticity_, F, R));
    });
    const Incidence incidence = incidence_of(*this);
    for (Index block = incidence.first_block; block < incidence.end_block(); ++block) {
        const Index* range = incidence.begin.data() + (block - incidence.first_block);
        Real sum = 0, volume = 0;
        for (Index k = range[0]; k < range[1]; ++k) {
            const Index e = incidence.corners[k].element;
            sum += elements_[e].volume * stress[e];
            volume += elements_[e].volume;
        }
        if (volume > 0) at_block[block] = std::max(at_block[block], sum / volume);
    }
}

} // namespace pliant
