#include "pliant/contact/local_response.hpp"

#include "pliant/contact/local.hpp"

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
        const Vec3 impulse = l[0] * r.normal + l[1] * r.tangent1 + l[2] * r.tangent2;
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            dv[p.entries[k].block] += inverse_mass(p.entries[k].block) * (p.entries[k].weight * impulse);
        for (Index k = r.arm_begin; k < r.arm_end; ++k)
            dv[p.arms[k].block] += inverse_mass(p.arms[k].block) * p.arms[k].arm.cross(impulse);
    };
    std::vector<Mat3> W(static_cast<std::size_t>(p.size()));
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        Mat3 response = Mat3::Zero(), frame;
        frame << r.normal, r.tangent1, r.tangent2;
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            response += p.entries[k].weight * p.entries[k].weight * inverse_mass(p.entries[k].block);
        for (Index k = r.arm_begin; k < r.arm_end; ++k) {
            const Vec3& a = p.arms[k].arm;
            Mat3 cross; // of the arm
            cross << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
            response -= cross * inverse_mass(p.arms[k].block) * cross;
        }
        W[j] = frame.transpose() * response * frame;
        push(r, lambda[j]);
    }
    while (result.iterations < options.max_iterations && !result.converged) {
        Real change = 0; // of a relative velocity
        for (Index j = 0; j < p.size(); ++j) {
            const Row& r = p.rows[j];
            if (W[j](0, 0) <= 0) continue;
            const Vec3 world = r.u0 + p.relative_velocity(r, system.free_velocity) + p.relative_velocity(r, dv);
            const Vec3 u(r.normal.dot(world) - r.rhs, r.tangent1.dot(world), r.tangent2.dot(world));
            const Vec3 old = lambda[j], b = u - W[j] * old;
            if (r.normal_only || r.friction == 0)
                lambda[j] = Vec3(std::max(0.0, old[0] - u[0] / W[j](0, 0)), 0, 0);
            else
                lambda[j] = options.cone == FrictionCone::pyramid
                                ? solve_local_pyramid(W[j], W[j].diagonal().cwiseInverse(), b, r.friction, old)
                                : solve_local_disc(W[j], b, r.friction, old);
            push(r, lambda[j] - old);
            change = std::max(change, (W[j] * (lambda[j] - old)).norm());
        }
        ++result.iterations;
        result.converged = change <= options.tolerance * system.velocity_scale;
    }
    // Against the true system: the residual of the dynamics says how much was ignored.
    result.residuals = contact_residuals(system, dv, lambda, options.cone);
    result.history.push_back(result.residuals.worst());
    return result;
}

} // namespace pliant
