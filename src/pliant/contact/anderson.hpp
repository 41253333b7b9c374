#pragma once
// Anderson acceleration of the fixed point z -> G(z), z = (dv, lambda): the next iterate is the combination of the last
// ones whose residuals G(z) - z cancel best, in a metric that makes velocities and multipliers comparable.

#include "pliant/contact/problem.hpp"

#include <deque>

namespace pliant {

class Anderson {
public:
    /// depth 0: mix() does nothing. Velocities are weighted by sqrt(trace D), multipliers by sqrt(trace W).
    Anderson(int depth, const std::vector<Index>& blocks, const std::vector<Mat3>& diagonal_inverse,
             const std::vector<Mat3>& W);

    void begin(const Vec3s& dv, const Multipliers& lambda); ///< z, before the iteration
    /// On entry (dv, lambda) = G(z); on exit the accelerated iterate, multipliers back inside their cones.
    void mix(const ContactProblem& problem, FrictionCone cone, Vec3s& dv, Multipliers& lambda);

private:
    void pack(const Vec3s& dv, const Multipliers& lambda, Eigen::VectorXd& z) const;
    void unpack(const Eigen::VectorXd& z, Vec3s& dv, Multipliers& lambda) const;

    int depth_;
    const std::vector<Index>& blocks_;
    Eigen::VectorXd block_scale_, row_scale_;
    Eigen::VectorXd z_, g_, previous_g_, previous_r_;
    std::deque<Eigen::VectorXd> dg_, dr_; ///< differences of G(z) and of the residuals
    Eigen::MatrixXd gram_;                ///< of dr_
    Real best_ = 0;
};

} // namespace pliant
