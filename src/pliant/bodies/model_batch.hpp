#pragma once
// A batch of tetrahedra from the functions of one element. A model is a struct of static functions:
//   Real energy(m, e, x)                       of an element with its corners at x [J]
//   Corners forces(m, e, x)                    minus the gradient of the energy [N]
//   Mat12 stiffness_exact(m, e, x)             minus the derivative of the forces [N/m]
//   void add_stiffness(m, e, x, s, d, K)       adds s K~ + d K_d: K~ is the exact stiffness made positive
//                                              semi-definite, K_d its part that resists a change of shape
//   void four_forces(m, e4, x4, v4, beta, f4)  forces of four elements, with beta K_d v as damping
//   Real stiffness_bound(m, F)                 |K_ij| is at most this times V |b_i| |b_j| [Pa]
//   Real stress(m, F)                          von Mises stress [Pa]
//   bool keeps_orientation                     true: a step shall not turn an element inside out; may be left out
// with the material's Elasticity m and the rest data e.

#include "pliant/bodies/tetrahedra.hpp"
#include "pliant/core/parallel.hpp"

#include <optional>

namespace pliant {

/// The blocks (i, j) with i <= j of an element's 12 x 12 matrix.
class ElementBlocks {
public:
    Mat3& upper(int i, int j) { return blocks_[number(i, j)]; }
    Mat3 block(int i, int j) const { return i <= j ? blocks_[number(i, j)] : Mat3(blocks_[number(j, i)].transpose()); }
    void set_zero()
    {
        for (Mat3& b : blocks_) b.setZero();
    }

private:
    static int number(int i, int j) { return i * (7 - i) / 2 + j; }
    std::array<Mat3, 10> blocks_;
};

template <class Element>
class ModelRows final : public BatchRows {
public:
    ModelRows(const TetBatch& batch, const MatrixRows* matrix) : batch_(batch), incidence_(incidence_of(batch))
    {
        if (!matrix) {
            sums_.emplace(batch);
            return;
        }
        forces_.resize(batch.elements().size());
        slots_ = corner_slots(batch, incidence_, *matrix);
        stiffness_.resize(batch.elements().size());
    }

    Index first_block() const override { return incidence_.first_block; }
    Index end_block() const override { return incidence_.end_block(); }

    void evaluate_system(Index begin, Index end, const Vec3s& x, Real dt) override
    {
        const Elasticity& m = batch_.elasticity();
        for (Index i = begin; i < end; ++i) {
            const SolidElement& e = batch_.elements()[i];
            const Corners at = corners_of(e, x);
            forces_[i] = Element::forces(m, e, at);
            stiffness_[i].set_zero();
            Element::add_stiffness(m, e, at, dt * dt, dt * batch_.damping(), stiffness_[i]);
        }
    }

    void add_system(Index begin, Index end, const Vec3s&, Real, BlockMatrix& A, Vec3s& force) const override
    {
        for (Index row = std::max(begin, first_block()); row < std::min(end, end_block()); ++row) {
            const Index* range = incidence_.begin.data() + (row - first_block());
            for (Index k = range[0]; k < range[1]; ++k) {
                const auto [element, corner] = incidence_.corners[k];
                force[row] += forces_[element][corner];
                for (int j = 0; j < 4; ++j) A.block(slots_[k][j]) += stiffness_[element].block(corner, j);
            }
        }
    }

    void evaluate_forces(Index begin, Index end, const Vec3s& x, const Vec3s& v) override
    {
        const Elasticity& m = batch_.elasticity();
        const Real beta = batch_.damping();
        sums_->evaluate(begin, end, x, v, [&](auto, const FourElements& e, const auto& at, const auto& speed, auto& f) {
            Element::four_forces(m, e, at, speed, beta, f);
        });
    }

    void add_forces(Index begin, Index end, const Vec3s&, const Vec3s&, Vec3s& force) const override
    {
        sums_->add_rows(begin, end, force);
    }

private:
    const TetBatch& batch_;
    Incidence incidence_;
    std::optional<TetForces> sums_; ///< without a matrix
    // With a matrix, filled by evaluate_system():
    std::vector<Corners> forces_;             ///< per element [N]
    std::vector<std::array<Index, 4>> slots_; ///< per corner: of (row, node k)
    std::vector<ElementBlocks> stiffness_;    ///< times the step
};

template <class Element>
class ModelBatch final : public TetBatch {
public:
    using TetBatch::TetBatch;

    Real energy(const Vec3s& x) const override
    {
        return parallel_sum(element_count(), 0.0, [&](Index i) {
            return Element::energy(elasticity(), elements()[i], corners_of(elements()[i], x));
        });
    }
    std::unique_ptr<BatchRows> make_rows(const MatrixRows* matrix) const override
    {
        return std::make_unique<ModelRows<Element>>(*this, matrix);
    }
    void add_row_bounds(const Vec3s& x, RowBounds& bounds) const override
    {
        for (const SolidElement& e : elements())
            add_element_bounds(
                e, e.volume * Element::stiffness_bound(elasticity(), deformation_gradient(e, corners_of(e, x))),
                bounds);
    }
    bool stiffness_varies() const override { return true; }

    bool keeps_orientation() const override
    {
        if constexpr (requires { Element::keeps_orientation; }) return Element::keeps_orientation;
        return false;
    }

protected:
    Real stress(const Mat3& F) const override { return Element::stress(elasticity(), F); }
};

} // namespace pliant
