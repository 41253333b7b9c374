#include "pliant/linalg/lane_solve.hpp"

#include "pliant/core/interrupt.hpp"

#include <cmath>

namespace pliant {
namespace {

constexpr Index small_region = 640; ///< chunks: up to about 5,000 blocks, more but cheaper iterations are faster

} // namespace

LaneSolver::LaneSolver(Multigrid& multigrid) : multigrid_(multigrid)
{
    p_ = Ap_ = multigrid.make_vectors();
}

CgResult LaneSolver::solve(const Multigrid::Region& region, Real fine, int max_iterations, LaneVectors& r,
                           LaneVectors& x)
{
    const Chunks chunks = region.finest();
    const bool small = count(chunks) <= small_region;
    const LaneBlocks& metric = multigrid_.diagonal_inverse();
    const auto product = [&](const LaneVectors& a, const LaneVectors& b) {
        return sum_vectors(chunks, [&](Index lane) { return dot(a.at(lane), b.at(lane)).sum(); });
    };
    CgResult result;
    for_vectors(chunks, [&](Index lane) { x.set(lane, {}); });
    double rz = 0;
    for (;; ++result.iterations) {
        poll_interrupt();
        const double norm_sq = sum_vectors(chunks, [&](Index lane) {
            const Float8x3 v = r.at(lane);
            return dot(v, metric.multiply(lane, v)).sum();
        });
        result.residual = std::sqrt(std::max(norm_sq, 0.0));
        result.converged = result.residual <= fine;
        if (result.converged || result.iterations >= max_iterations) return result;
        const LaneVectors& z = small ? multigrid_.diagonal_step(region, r) : multigrid_.cycle(region, r);
        const double before = rz;
        rz = small ? norm_sq : product(r, z);
        const Float8 beta = result.iterations == 0 ? 0 : static_cast<float>(rz / before);
        for_vectors(chunks, [&](Index lane) { p_.set(lane, z.at(lane) + beta * p_.at(lane)); });
        const double pAp = sum_chunks(chunks, [&](Index lane) {
            const Float8x3 Ap = multigrid_.matrix().product(lane, p_);
            Ap_.set(lane, Ap);
            return dot(Ap, p_.at(lane)).sum();
        });
        if (!(pAp > 0)) return result; // the residual cannot be lowered any further in this arithmetic
        const Float8 alpha = static_cast<float>(rz / pAp);
        for_vectors(chunks, [&](Index lane) {
            x.set(lane, x.at(lane) + alpha * p_.at(lane));
            r.set(lane, r.at(lane) - alpha * Ap_.at(lane));
        });
    }
}

} // namespace pliant
