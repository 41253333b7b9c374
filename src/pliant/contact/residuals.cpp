#include "pliant/contact/problem.hpp"
#include "pliant/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Per part: the sum of value(i) over its members, in their order.
template <class T, class Value>
std::vector<T> sum_by_part(const std::vector<Index>& part, Index parts, Value&& value)
{
    std::vector<T> values(part.size());
    parallel_for(count(part), [&](Index i) {
        if (part[i] != none) values[i] = value(i);
    });
    std::vector<T> sums(static_cast<std::size_t>(parts));
    std::vector<char> begun(sums.size(), 0);
    for (Index i = 0; i < count(part); ++i) {
        if (part[i] == none) continue;
        if (begun[part[i]])
            sums[part[i]] += values[i];
        else
            sums[part[i]] = values[i];
        begun[part[i]] = 1;
    }
    return sums;
}

} // namespace

std::vector<ContactResiduals> residuals_by_part(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda,
                                                FrictionCone cone)
{
    const ContactProblem& p = system.problem;
    const Index n = system.A.rows();
    Vec3s f(static_cast<std::size_t>(n), Vec3::Zero());
    for (Index j = 0; j < p.size(); ++j) {
        const Row& r = p.rows[j];
        p.add_impulse(r, r.world(lambda[j]), f);
    }
    const ContactParts& parts = system.parts;
    std::vector<ContactResiduals> residuals(static_cast<std::size_t>(parts.count));
    struct Sums {
        Real residual = 0, force = 0, moved = 0;
        Sums& operator+=(const Sums& o)
        {
            residual += o.residual, force += o.force, moved += o.moved;
            return *this;
        }
    };
    const std::vector<Sums> sums = sum_by_part<Sums>(parts.of_block, parts.count, [&](Index i) {
        const Mat3& D = system.diagonal_inverse[i];
        if (system.load) f[i] += (*system.load)[i];
        const Vec3 Adv = system.A.row_product(i, dv), r = f[i] - Adv;
        return Sums{r.dot(D * r), f[i].dot(D * f[i]), Adv.dot(D * Adv)};
    });
    for (Index q = 0; q < parts.count; ++q) {
        if (std::sqrt(sums[q].residual) <= parts.fine[q]) continue;
        const Real scale = std::sqrt(std::max(sums[q].force, sums[q].moved));
        if (scale > 0) residuals[q].dynamics = std::sqrt(sums[q].residual) / scale;
    }
    Vec3s v(dv.size());
    parallel_for(n, [&](Index i) { v[i] = system.free_velocity[i] + dv[i]; });
    struct RowSums {
        Real natural_sq = 0, gap = 0, rows = 1;
        RowSums& operator+=(const RowSums& o)
        {
            natural_sq += o.natural_sq;
            rows += o.rows;
            gap = std::max(gap, o.gap);
            return *this;
        }
    };
    const std::vector<RowSums> row_sums = sum_by_part<RowSums>(parts.of_row, parts.count, [&](Index j) {
        const Row& r = p.rows[j];
        const Vec3 world = r.u0 + p.relative_velocity(r, v);
        Vec3 u = r.local(world) - Vec3(r.rhs, 0, 0);
        Real trace = 0; // of the response W, without its off-diagonal terms
        for (Index k = r.entry_begin; k < r.entry_end; ++k)
            trace += p.entries[k].weight * p.entries[k].weight * system.diagonal_inverse[p.entries[k].block].trace();
        for (Index k = r.arm_begin; k < r.arm_end; ++k)
            trace += (skew(p.arms[k].arm) * system.diagonal_inverse[p.arms[k].block] * skew(p.arms[k].arm).transpose())
                         .trace();
        if (trace <= 0) return RowSums{};
        RowSums sums_of_row;
        if (r.room > 0) sums_of_row.gap = std::max(0.0, -system.dt * u[0] / r.room);
        const Real rho = 1 / trace;
        Vec3 natural;
        if (r.friction == 0) {
            natural = Vec3(lambda[j][0] - std::max(0.0, lambda[j][0] - rho * u[0]), 0, 0);
        } else if (cone == FrictionCone::pyramid) {
            // Box complementarity: each component against its own bound, the bound taken from lambda itself.
            const Real bound = r.friction * lambda[j][0];
            natural[0] = lambda[j][0] - std::max(0.0, lambda[j][0] - rho * u[0]);
            natural[1] = lambda[j][1] - std::clamp(lambda[j][1] - rho * u[1], -bound, bound);
            natural[2] = lambda[j][2] - std::clamp(lambda[j][2] - rho * u[2], -bound, bound);
        } else {
            u[0] += r.friction * std::hypot(u[1], u[2]); // De Saxce
            natural = lambda[j] - project_to_cone(lambda[j] - rho * u, r.friction, cone);
        }
        sums_of_row.natural_sq = natural.squaredNorm() / (rho * rho);
        return sums_of_row;
    });
    for (Index q = 0; q < parts.count; ++q) {
        residuals[q].gap = row_sums[q].gap;
        residuals[q].complementarity = std::sqrt(row_sums[q].natural_sq / row_sums[q].rows) / parts.velocity_scale[q];
    }
    return residuals;
}

ContactResiduals contact_residuals(const ContactSystem& system, const Vec3s& dv, const Multipliers& lambda,
                                   FrictionCone cone)
{
    return worst_of(residuals_by_part(system, dv, lambda, cone));
}

ContactResiduals worst_of(std::span<const ContactResiduals> parts)
{
    ContactResiduals worst;
    for (const ContactResiduals& r : parts) {
        worst.dynamics = std::max(worst.dynamics, r.dynamics);
        worst.gap = std::max(worst.gap, r.gap);
        worst.complementarity = std::max(worst.complementarity, r.complementarity);
    }
    return worst;
}

} // namespace pliant
