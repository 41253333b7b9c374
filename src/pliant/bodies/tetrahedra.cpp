#include "pliant/bodies/tetrahedra.hpp"

#include "pliant/core/parallel.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

Real largest_stretch(const Mat3& F)
{
    Eigen::SelfAdjointEigenSolver<Mat3> solver;
    solver.computeDirect(Mat3(F.transpose() * F), Eigen::EigenvaluesOnly);
    return std::sqrt(std::max(0.0, solver.eigenvalues()[2]));
}

} // namespace

TetBatch::TetBatch(const Solid& solid, Index first_block)
    : elasticity_(solid.elasticity), damping_(solid.material.damping), elements_(solid.elements)
{
    for (SolidElement& e : elements_)
        for (Index& n : e.nodes) n += first_block;
    for (Index i = 0; i < count(elements_); i += 4) {
        FourElements& four = fours_.emplace_back();
        for (Index lane = 0; lane < 4; ++lane) {
            const SolidElement& e = elements_[std::min(i + lane, count(elements_) - 1)];
            four.volume[lane] = e.volume;
            four_nodes_.insert(four_nodes_.end(), e.nodes.begin(), e.nodes.end());
            for (int k = 0; k < 3; ++k) {
                four.gradient[k].x[lane] = e.gradient[k + 1].x();
                four.gradient[k].y[lane] = e.gradient[k + 1].y();
                four.gradient[k].z[lane] = e.gradient[k + 1].z();
            }
        }
    }
}

Real TetBatch::max_elongation(const Vec3s& x) const
{
    // Row sums bound the largest eigenvalue of F^T F: most elements need no more to be known as less stretched than
    // another one.
    constexpr Index at_once = 64;
    return parallel_max((four_count() + at_once - 1) / at_once, 0, [&](Index c) {
        Real most = 1;
        for (Index i = c * at_once; i < std::min((c + 1) * at_once, four_count()); ++i) {
            const FourMat F = four_gradients(four(i), four_corners(i, x));
            const Four xy = dot(F[0], F[1]).abs(), yz = dot(F[1], F[2]).abs(), zx = dot(F[2], F[0]).abs();
            const Four rows = (dot(F[0], F[0]) + xy + zx).max(dot(F[1], F[1]) + xy + yz).max(dot(F[2], F[2]) + yz + zx);
            for (int lane = 0; lane < 4; ++lane) {
                if (rows[lane] <= most * most) continue;
                Mat3 one;
                for (int k = 0; k < 3; ++k) one.col(k) = F[k][lane];
                most = std::max(most, largest_stretch(one));
            }
        }
        return most - 1;
    });
}

Index TetBatch::inverted(const Vec3s& x) const
{
    return parallel_sum(four_count(), Index(0), [&](Index i) {
        const FourMat F = four_gradients(four(i), four_corners(i, x));
        const Four det = dot(F[0], cross(F[1], F[2]));
        return Index((det.head(four_size(i)) <= 0).count());
    });
}

// The elements are computed in parallel and summed in their order, so that the sums do not depend on the number of
// threads.
void TetBatch::raise_stress(const Vec3s& x, std::vector<Real>& at_block) const
{
    std::vector<Real> at_element(elements_.size());
    parallel_for(element_count(), [&](Index i) {
        at_element[i] = stress(deformation_gradient(elements_[i], corners_of(elements_[i], x)));
    });
    const Incidence incidence = incidence_of(*this);
    for (Index block = incidence.first_block; block < incidence.end_block(); ++block) {
        const Index* range = incidence.begin.data() + (block - incidence.first_block);
        Real sum = 0, volume = 0;
        for (Index k = range[0]; k < range[1]; ++k) {
            const Index e = incidence.corners[k].element;
            sum += elements_[e].volume * at_element[e];
            volume += elements_[e].volume;
        }
        if (volume > 0) at_block[block] = std::max(at_block[block], sum / volume);
    }
}

std::vector<std::array<Index, 4>> corner_slots(const TetBatch& batch, const Incidence& incidence,
                                               const MatrixRows& matrix)
{
    std::vector<std::array<Index, 4>> slots;
    slots.reserve(incidence.corners.size());
    for (const Incidence::Corner& c : incidence.corners) {
        const Tet& nodes = batch.elements()[c.element].nodes;
        auto& slot = slots.emplace_back();
        for (int j = 0; j < 4; ++j) {
            slot[j] = matrix.pattern.slot(nodes[c.corner], nodes[j]);
            if (matrix.use[slot[j]] == SlotUse::untouched) matrix.use[slot[j]] = SlotUse::added;
        }
    }
    return slots;
}

} // namespace pliant
