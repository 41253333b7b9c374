#include "pliant/contact/anderson.hpp"

#include <Eigen/Cholesky>

#include <cmath>

namespace pliant {

Anderson::Anderson(int depth, const std::vector<Index>& blocks, const std::vector<Mat3>& diagonal_inverse,
                   const std::vector<Mat3>& W)
    : depth_(depth), blocks_(blocks)
{
    if (depth_ == 0) return;
    block_scale_.resize(count(blocks));
    for (Index i = 0; i < count(blocks); ++i) {
        const Real compliance = diagonal_inverse[blocks[i]].trace();
        block_scale_[i] = compliance > 0 ? 1 / std::sqrt(compliance) : 0;
    }
    row_scale_.resize(count(W));
    for (Index j = 0; j < count(W); ++j) row_scale_[j] = std::sqrt(std::max(0.0, W[j].trace()));
}

void Anderson::pack(const Vec3s& dv, const Multipliers& lambda, Eigen::VectorXd& z) const
{
    const Index n = count(blocks_), m = count(lambda);
    z.resize(3 * (n + m));
    for (Index i = 0; i < n; ++i) z.segment<3>(3 * i) = block_scale_[i] * dv[blocks_[i]];
    for (Index j = 0; j < m; ++j) z.segment<3>(3 * (n + j)) = row_scale_[j] * lambda[j];
}

void Anderson::unpack(const Eigen::VectorXd& z, Vec3s& dv, Multipliers& lambda) const
{
    const Index n = count(blocks_), m = count(lambda);
    for (Index i = 0; i < n; ++i)
        if (block_scale_[i] > 0) dv[blocks_[i]] = z.segment<3>(3 * i) / block_scale_[i];
    for (Index j = 0; j < m; ++j)
        if (row_scale_[j] > 0) lambda[j] = z.segment<3>(3 * (n + j)) / row_scale_[j];
}

void Anderson::begin(const Vec3s& dv, const Multipliers& lambda)
{
    if (depth_ > 0) pack(dv, lambda, z_);
}

void Anderson::mix(const ContactProblem& problem, FrictionCone cone, Vec3s& dv, Multipliers& lambda)
{
    if (depth_ == 0) return;
    pack(dv, lambda, g_);
    const Eigen::VectorXd r = g_ - z_;
    const Real norm = r.norm();
    if (best_ == 0 || norm < best_) best_ = norm;
    if (norm > 2 * best_) { // the active set changed, or the mix went wrong: old differences mislead
        dg_.clear();
        dr_.clear();
        gram_.resize(0, 0);
        best_ = norm;
        previous_g_ = g_;
        previous_r_ = r;
        return;
    }
    if (previous_r_.size() == r.size()) {
        dg_.push_back(g_ - previous_g_);
        dr_.push_back(r - previous_r_);
        Eigen::Index old = gram_.rows();
        if (count(dg_) > depth_) {
            dg_.pop_front();
            dr_.pop_front();
            gram_ = gram_.bottomRightCorner(old - 1, old - 1).eval();
            --old;
        }
        gram_.conservativeResize(old + 1, old + 1);
        for (Eigen::Index a = 0; a <= old; ++a) gram_(a, old) = gram_(old, a) = dr_[std::size_t(a)].dot(dr_.back());
    }
    previous_g_ = g_;
    previous_r_ = r;
    const Index k = count(dr_);
    if (k == 0) return;
    Eigen::MatrixXd gram = gram_;
    Eigen::VectorXd rhs(k);
    for (Index a = 0; a < k; ++a) rhs[a] = dr_[a].dot(r);
    gram.diagonal().array() += 1e-10 * gram.trace() + 1e-300;
    const Eigen::VectorXd theta = gram.ldlt().solve(rhs);
    if (!theta.allFinite()) return;
    Eigen::VectorXd next = g_;
    for (Index a = 0; a < k; ++a) next -= theta[a] * dg_[a];
    unpack(next, dv, lambda);
    for (Index j = 0; j < count(lambda); ++j) {
        const Row& row = problem.rows[j];
        if (row.friction == 0)
            lambda[j] = Vec3(std::max(0.0, lambda[j][0]), 0, 0);
        else
            lambda[j] = project_to_cone(lambda[j], row.friction, cone);
    }
}

} // namespace pliant
