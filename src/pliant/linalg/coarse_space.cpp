#include "pliant/linalg/coarse_space.hpp"

#include "pliant/core/parallel.hpp"

#include <Eigen/Cholesky>

namespace pliant {

CoarseSpace::CoarseSpace(std::vector<Part> parts, Index blocks) : parts_(std::move(parts))
{
    part_of_block_.assign(static_cast<std::size_t>(blocks), none);
    for (Index p = 0; p < count(parts_); ++p)
        for (Index i = 0; i < parts_[p].size; ++i) part_of_block_[parts_[p].first + i] = p;
    arm_.assign(static_cast<std::size_t>(blocks), Vec3::Zero());
    inverse_.assign(parts_.size(), Mat6::Zero());
}

void CoarseSpace::update(const BlockMatrix& A, const Vec3s& x)
{
    const BlockPattern& pattern = A.pattern();
    parallel_for(
        parts(),
        [&](Index p) {
            const Part& part = parts_[p];
            Vec3 centre = Vec3::Zero();
            for (Index i = part.first; i < part.first + part.size; ++i) centre += x[i];
            centre /= part.size;
            for (Index i = part.first; i < part.first + part.size; ++i) arm_[i] = x[i] - centre;
            // P_i = (I, -[arm_i]). Sum the three 3x3 quarters of P^T A P row by row.
            Mat3 linear = Mat3::Zero(), mixed = Mat3::Zero(), angular = Mat3::Zero();
            for (Index i = part.first; i < part.first + part.size; ++i) {
                Mat3 sum = Mat3::Zero(), turned = Mat3::Zero(); // sum_j A_ij, sum_j A_ij (-[arm_j])
                for (Index s = pattern.row_begin[i]; s < pattern.row_begin[i + 1]; ++s) {
                    const Mat3 a = A.block(s);
                    sum += a;
                    turned -= a * skew(arm_[pattern.column[s]]);
                }
                linear += sum;
                mixed += turned;
                angular += skew(arm_[i]) * turned;
            }
            Mat6 coarse;
            coarse << linear, mixed, mixed.transpose(), angular;
            inverse_[p] = coarse.ldlt().solve(Mat6::Identity());
            inverse_[p] = (0.5 * (inverse_[p] + inverse_[p].transpose())).eval();
        },
        1);
}

Vec6 CoarseSpace::restrict(Index p, const Vec3s& r) const
{
    Vec6 sum = Vec6::Zero();
    for (Index i = parts_[p].first; i < parts_[p].first + parts_[p].size; ++i) {
        sum.head<3>() += r[i];
        sum.tail<3>() += arm_[i].cross(r[i]);
    }
    return sum;
}

void CoarseSpace::add_correction(const Vec3s& r, Vec3s& x) const
{
    parallel_for(
        parts(),
        [&](Index p) {
            const Vec6 z = inverse_[p]* restrict(p, r);
            for (Index i = parts_[p].first; i < parts_[p].first + parts_[p].size; ++i) x[i] += velocity(z, i);
        },
        4);
}

} // namespace pliant
