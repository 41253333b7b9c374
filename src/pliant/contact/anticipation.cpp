#include "pliant/contact/anticipation.hpp"

#include "pliant/contact/local.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>

namespace pliant {

ContactResult solve_by_anticipation(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                    Multipliers& lambda)
{
    const ContactProblem& p = system.problem;
    const Index m = p.size(), n = system.A.rows();
    ContactResult result;
    dv.assign(static_cast<std::size_t>(n), Vec3::Zero());
    if (m == 0) {
        result.converged = true;
        return result;
    }
    const DirectSolver direct(system.A);
    if (!direct.ok()) return result;

    // Column c of row j: the response of all rows to a unit impulse along axis c of row j's frame.
    Eigen::MatrixXd B(3 * m, 3 * m);
    parallel_for(
        3 * m,
        [&](Index column) {
            const Row& source = p.rows[column / 3];
            const Vec3& axis = column % 3 == 0 ? source.normal : column % 3 == 1 ? source.tangent1 : source.tangent2;
            Vec3s f(static_cast<std::size_t>(n), Vec3::Zero()), response;
            p.add_impulse(source, axis, f);
            for (Index i = 0; i < n; ++i)
                if (system.diagonal_inverse[i].isZero(0)) f[i].setZero(); // prescribed
            direct.solve(f, response);
            for (Index j = 0; j < m; ++j) {
                const Row& r = p.rows[j];
                const Vec3 u = p.relative_velocity(r, response);
                B.block<3, 1>(3 * j, column) = Vec3(r.normal.dot(u), r.tangent1.dot(u), r.tangent2.dot(u));
            }
        },
        4);
    Eigen::VectorXd base(3 * m), l(3 * m);
    for (Index j = 0; j < m; ++j) {
        const Row& r = p.rows[j];
        const Vec3 u = r.u0 + p.relative_velocity(r, system.free_velocity);
        base.segment<3>(3 * j) = Vec3(r.normal.dot(u) - r.rhs, r.tangent1.dot(u), r.tangent2.dot(u));
        l.segment<3>(3 * j) = lambda[j];
    }
    const auto apply = [&] {
        for (Index j = 0; j < m; ++j) lambda[j] = l.segment<3>(3 * j);
        Vec3s f(static_cast<std::size_t>(n), Vec3::Zero());
        for (Index j = 0; j < m; ++j) {
            const Row& r = p.rows[j];
            p.add_impulse(r, lambda[j][0] * r.normal + lambda[j][1] * r.tangent1 + lambda[j][2] * r.tangent2, f);
        }
        for (Index i = 0; i < n; ++i)
            if (system.diagonal_inverse[i].isZero(0)) f[i].setZero();
        direct.solve(f, dv);
        result.residuals = contact_residuals(system, dv, lambda, options.cone);
        result.history.push_back(result.residuals.worst());
    };
    constexpr int check_every = 10;
    while (result.iterations < options.max_iterations && !result.converged) {
        for (Index j = 0; j < m; ++j) {
            const Row& r = p.rows[j];
            const Mat3 W = B.block<3, 3>(3 * j, 3 * j);
            if (W(0, 0) <= 0) continue;
            const Vec3 old = l.segment<3>(3 * j);
            const Vec3 u = B.middleRows<3>(3 * j) * l + base.segment<3>(3 * j);
            if (r.normal_only || r.friction == 0) {
                l.segment<3>(3 * j) = Vec3(std::max(0.0, old[0] - u[0] / W(0, 0)), 0, 0);
            } else {
                const Vec3 b = u - W * old;
                l.segment<3>(3 * j) = options.cone == FrictionCone::pyramid
                                          ? solve_local_pyramid(W, W.diagonal().cwiseInverse(), b, r.friction, old)
                                          : solve_local_disc(W, b, r.friction, old);
            }
        }
        ++result.iterations;
        if (result.iterations % check_every == 0 || result.iterations == options.max_iterations) {
            apply();
            result.converged =
                result.residuals.worst() <= options.tolerance && result.residuals.gap <= options.gap_tolerance;
        }
    }
    return result;
}

} // namespace pliant
