#include "pliant/contact/local_response.hpp"

#include "pliant/contact/local.hpp"
#include "pliant/core/interrupt.hpp"

#include <algorithm>

namespace pliant {

ContactResult solve_locally(const ContactSystem& system, const std::vector<Real>& mass,
                            const ContactSolverOptions& options, Vec3s& dv, Multipliers& lambda)
{
    const ContactProblem& p = system.problem;
    ContactResult result;
    std::fill(dv.begin(), dv.end(), Vec3::Zero());
    const auto inverse_mass = [&](Index block) -> Mat3 {
        const Mat3& D = system.diagonal_inverse[block];
        if (mass[block] <= 0 || D.isZero(0)) return D;
        return Mat3::Identity() / mass[block];
    };
    const auto push = [&](const Row& r, const Vec3& l) { // dv += M^-1 J^T l
        const Vec3 impulse = r.world(l);
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            dv[p.entries[k].block] += inverse_mass(p.entries[k].block) * (p.entries[k].weight * impulse);
        for (Index k = r.arm_begin; k < r.arm_end; ++k)
            dv[p.arms[k].block] += inverse_mass(p.arms[k].block) * p.arms[k].arm.cross(impulse);
    };
    std::vector<RowResponse> responses(p.rows.size());
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        const Mat3 R = r.frame();
        responses[j] = RowResponse(R.transpose() * response_of_blocks(p, r, inverse_mass) * R, r.friction);
        push(r, lambda[j]);
    }
    while (result.iterations < options.max_iterations && !result.converged) {
        poll_interrupt();
        Real change = 0; // of a relative velocity, over what it is compared with
        for (Index j = 0; j < p.size(); ++j) {
            const Row& r = p.rows[j];
            if (!responses[j].moves()) continue;
            const Vec3 world = r.u0 + p.relative_velocity(r, system.free_velocity) + p.relative_velocity(r, dv);
            const Vec3 old = lambda[j];
            lambda[j] = solve_row(responses[j], r.local(world) - Vec3(r.rhs, 0, 0), old, options.cone);
            push(r, lambda[j] - old);
            change = std::max(change, (responses[j].W * (lambda[j] - old)).norm() /
                                          system.parts.velocity_scale[system.parts.of_row[j]]);
        }
        ++result.iterations;
        result.converged = change <= options.tolerance;
    }
    // Against the true system: the residual of the dynamics says how much was ignored.
    result.residuals = contact_residuals(system, dv, lambda, options.cone);
    result.history.push_back(result.residuals.worst());
    return result;
}

} // namespace pliant
