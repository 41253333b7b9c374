#include "pliant/contact/augmented_lagrangian.hpp"

#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"

#include <cmath>
#include <limits>

namespace pliant {
namespace {

constexpr int update_every = 4;        ///< iterations between updates of the multipliers, at most
constexpr int patient_iterations = 40; ///< then updates wait for better minima, with bounds of friction held fixed
constexpr int patient_update_every = 16;
constexpr Real nearly_solved = 0.1; ///< dynamics from which slow rows are stiffened, and bounds may follow the normals
constexpr int loaded_effort = 3;    ///< times the iterations for heavy loads: a step in halves would cost more
constexpr Real least_error = 0.3;   ///< of the tolerance: a velocity that a row may keep
constexpr Real heavy = 8;           ///< RowLanes::load() from which penalties go by it: at rest one layer has 0.3,
constexpr Real heavy_with_limits = 2; ///< and so with limits of length, which pull against what contacts carry
constexpr int max_stiffenings = 4;    ///< penalties beyond 16 times the first are too stiff for the preconditioner
constexpr double reduced_sq = 0.09;   ///< of the squared gradient since the last update: time for the next one
constexpr Real solved_share = 0.3;    ///< of the tolerance: dynamics that are solved
constexpr int newton_steps = 10;      ///< at most, for a Newton direction,
constexpr int loaded_steps = 40;      ///< or with heavy bodies, whose motions the multigrid does not know,
constexpr double newton_sq = 0.09;    ///< which leaves so much of the squared gradient: rows change sides before
constexpr Index few_chunks = 512;     ///< steps by the diagonal go over so few faster than threads meet
constexpr int line_search_steps = 20; ///< slopes looked at: in most searches one or two are
// Limits of length at an impact, where the step is too long for what has to be pulled along: in half of it or a quarter
// they converge in a dozen iterations. Others have dynamics below 0.1 by then.
constexpr int hopeless_iterations = 16;
constexpr Real hopeless_dynamics = 0.5, hopeless_strain = 5; ///< the latter in rooms

} // namespace

AugmentedLagrangian::AugmentedLagrangian(Multigrid& multigrid) : multigrid_(multigrid)
{
    dv_ = Adv_ = start_ = r0_ = force_ = gradient_[0] = gradient_[1] = d_ = Ad_ = p_ = Ap_ = Hp_ = left_ =
        multigrid.make_vectors();
}

double AugmentedLagrangian::norm_sq(const Multigrid::Region& region, const LaneVectors& v) const
{
    const LaneBlocks& D = multigrid_.diagonal_inverse();
    return sum_vectors(region.finest(), [&](Index lane) {
        const Float8x3 x = v.at(lane);
        return dot(x, D.multiply(lane, x)).sum();
    });
}

double AugmentedLagrangian::norm_sq_with_start(const Multigrid::Region& region, const LaneVectors& v) const
{
    const LaneBlocks& D = multigrid_.diagonal_inverse();
    return sum_vectors(region.finest(), [&](Index lane) {
        const Float8x3 x = v.at(lane) + start_.at(lane);
        return dot(x, D.multiply(lane, x)).sum();
    });
}

double AugmentedLagrangian::product(const Multigrid::Region& region, const LaneVectors& a, const LaneVectors& b) const
{
    return sum_vectors(region.finest(), [&](Index lane) { return dot(a.at(lane), b.at(lane)).sum(); });
}

void AugmentedLagrangian::find_newton_direction(const Multigrid::Region& region, Precondition by, int most_steps,
                                                const LaneVectors& g, RowLanes& rows)
{
    const Chunks chunks = region.finest();
    for_vectors(chunks, [&](Index lane) {
        d_.set(lane, {});
        Ad_.set(lane, {});
        left_.set(lane, g.at(lane));
    });
    const double enough = newton_sq * norm_sq(region, g);
    double rz = 0;
    for (int k = 0; k < most_steps; ++k) {
        const LaneVectors& z =
            by == Precondition::multigrid ? multigrid_.cycle(region, left_) : multigrid_.diagonal_step(region, left_);
        const double before = rz;
        rz = product(region, z, left_);
        const Float8 beta = k == 0 ? 0 : static_cast<float>(rz / before);
        for_vectors(chunks, [&](Index lane) { p_.set(lane, z.at(lane) + beta * p_.at(lane)); });
        for_chunks(chunks, [&](Index lane) {
            Ap_.set(lane, multigrid_.matrix().product(lane, p_));
            Hp_.set(lane, Ap_.at(lane));
        });
        rows.add_response(p_, Hp_);
        const double curvature = product(region, p_, Hp_);
        if (!(curvature > 0)) break;
        const Float8 step = static_cast<float>(rz / curvature);
        for_vectors(chunks, [&](Index lane) {
            d_.set(lane, d_.at(lane) + step * p_.at(lane));
            Ad_.set(lane, Ad_.at(lane) + step * Ap_.at(lane));
            left_.set(lane, left_.at(lane) - step * Hp_.at(lane));
        });
        if (norm_sq(region, left_) < enough) break;
    }
}

namespace {

/// Where the slope along the direction, slope + alpha curvature + that of the rows, is small beside the one at 0.
double find_step(const RowLanes& rows, double slope, double curvature)
{
    const auto at = [&](double alpha) {
        const std::array<double, 2> of_rows = rows.slope(static_cast<float>(alpha));
        return std::array{slope + alpha * curvature + of_rows[0], curvature + of_rows[1]};
    };
    const auto [first, first_curvature] = at(0);
    if (!(first < 0)) return 0;
    // Newton's method between bounds: where a row stops sliding, the slope rises as steeply as its penalty is stiff.
    double alpha = -first / first_curvature, below = 0, above = std::numeric_limits<double>::infinity();
    for (int k = 0; k < line_search_steps; ++k) {
        const auto [s, c] = at(alpha);
        if (std::abs(s) < 0.1 * std::abs(first)) break;
        (s < 0 ? below : above) = alpha;
        const double next = alpha - s / c;
        alpha = next > below && next < above ? next : (below + above) / 2;
    }
    return alpha;
}

/// When the multipliers take over what the penalties answer.
class UpdateRule {
public:
    /// loaded: multipliers that are fine wait for the dynamics, however long it takes.
    explicit UpdateRule(bool loaded) : loaded_(loaded) {}
    /// Whether it is time, with the squared gradient g_sq.
    bool is_due(double g_sq, const ContactResiduals& r, bool strained, const ContactSolverOptions& options)
    {
        const Real tolerance = options.tolerance;
        if (g_sq_ < 0) g_sq_ = g_sq;
        const bool solved =
            g_sq < reduced_sq * g_sq_ && r.dynamics < std::max(r.complementarity, strained ? 1.0 : tolerance);
        const bool fine = r.gap <= options.gap_tolerance && r.complementarity <= tolerance && !strained;
        const bool moved = loaded_ && r.dynamics < solved_share * tolerance; // only the multipliers are left
        return (since_ >= every_ && !(loaded_ && fine)) || (since_ > 0 && (solved || moved));
    }
    /// Whether the penalties should grow: the last update gained little.
    bool has_stalled(const ContactResiduals& r)
    {
        const bool stalled = r.complementarity > 0.6 * complementarity_ && r.dynamics < r.complementarity;
        complementarity_ = r.complementarity;
        return stalled && stiffenings_++ < max_stiffenings;
    }
    void updated(double g_sq)
    {
        g_sq_ = g_sq;
        since_ = 0;
    }
    void stepped() { ++since_; }
    void be_patient() { every_ = patient_update_every; }

private:
    bool loaded_;
    double g_sq_ = -1; ///< at the last update
    double complementarity_ = std::numeric_limits<double>::infinity();
    int since_ = 0; ///< iterations since the last update
    int every_ = update_every, stiffenings_ = 0;
};

} // namespace

ContactResult AugmentedLagrangian::solve(const ContactSystem& system, const Vec3s& free_residual,
                                         const ContactSolverOptions& options, LagrangianPart& part, Vec3s& dv,
                                         Multipliers& lambda)
{
    Multigrid::Region region = multigrid_.region(part.components);
    const Chunks chunks = region.finest();
    const LaneOrder& order = multigrid_.order();
    const LaneMatrix& A = multigrid_.matrix();
    RowLanes rows;
    rows.build(system, part.rows, part.balls, options.cone, order, dv, lambda);
    const bool loaded = part.loaded || rows.load() > (part.balls.empty() ? heavy : heavy_with_limits);
    if (loaded) rows.go_by_load();
    for_chunks(chunks, [&](Index first) {
        for (Index lane = first; lane < first + Float8::width; ++lane) {
            const Index block = order.block_of_lane[lane];
            if (block == none) continue;
            const Vec3 at_start = system.A.row_product(block, dv);
            start_.put(lane, at_start.cast<float>());
            r0_.put(lane, (free_residual[block] - at_start).cast<float>());
        }
    });
    for_vectors(chunks, [&](Index lane) {
        dv_.set(lane, {});
        Adv_.set(lane, {});
    });
    LaneVectors *g = &gradient_[0], *g_before = &gradient_[1];
    const auto find_gradient = [&] {
        for_vectors(chunks, [&](Index lane) { force_.set(lane, {}); });
        rows.add_impulses(force_);
        for_vectors(chunks, [&](Index lane) {
            const Float8x3 load = force_.at(lane) + r0_.at(lane);
            force_.set(lane, load);
            g->set(lane, load - Adv_.at(lane));
        });
        return norm_sq(region, *g);
    };
    ContactResult result;
    UpdateRule updates(loaded);
    const bool heavy_bodies = part.loaded && part.balls.empty(); // limits of length need the cloth to move as a whole
    const Serially alone(heavy_bodies && count(chunks) < few_chunks);
    const int most_iterations = (loaded && part.balls.empty() ? loaded_effort : 1) * options.max_iterations;
    const auto slow = static_cast<float>(least_error * options.tolerance * part.velocity_scale);
    double zg = 0;
    bool restart = true, stiffness_changed = true, patient = false, freed = false;
    for (;; ++result.iterations) {
        poll_interrupt();
        const RowLanes::Residuals of_rows = rows.answer();
        stiffness_changed |= of_rows.changed;
        std::swap(g, g_before);
        double g_sq = find_gradient();
        ContactResiduals& r = result.residuals;
        const double scale = std::sqrt(std::max(norm_sq_with_start(region, force_), norm_sq_with_start(region, Adv_)));
        r.dynamics = std::sqrt(g_sq) <= part.fine ? 0 : std::sqrt(g_sq) / scale;
        r.complementarity =
            part.rows.empty() ? 0 : std::sqrt(of_rows.natural_sq / double(part.rows.size())) / part.velocity_scale;
        r.gap = of_rows.gap;
        result.history.push_back(r.worst());
        const bool strained = of_rows.strain > 1;
        result.converged = r.worst() <= options.tolerance && r.gap <= options.gap_tolerance && !strained;
        result.given_up = options.may_give_up && !part.loaded && result.iterations >= hopeless_iterations &&
                          of_rows.strain > hopeless_strain && r.dynamics > hopeless_dynamics;
        if (result.converged || result.given_up || result.iterations >= most_iterations) break;
        if (!patient && (loaded || result.iterations == patient_iterations)) {
            patient = true;
            rows.freeze_bounds();
            updates.be_patient();
        }
        const bool near = loaded && r.dynamics < nearly_solved;
        if (near && !freed) {
            freed = true;
            rows.free_bounds();
        }
        if (updates.is_due(g_sq, r, strained, options)) {
            if (near) rows.stiffen_slow(slow);
            rows.update_multipliers();
            if (updates.has_stalled(r)) rows.stiffen(2);
            stiffness_changed |= rows.answer().changed;
            updates.updated(find_gradient());
            restart = true;
        }
        if (stiffness_changed) {
            LaneBlocks& C = multigrid_.added();
            for_vectors(chunks,
                        [&](Index lane) { std::fill(C.chunk(lane), C.chunk(lane) + LaneBlocks::floats, 0.0f); });
            rows.add_stiffness(C);
            multigrid_.use_added(region, rows.couplings());
            stiffness_changed = false;
        }
        if (patient) {
            const bool first = result.iterations < options.max_iterations; // stiff solids need the cycles
            find_newton_direction(region, heavy_bodies && first ? Precondition::diagonal : Precondition::multigrid,
                                  loaded ? loaded_steps : newton_steps, *g, rows);
        } else {
            const LaneVectors& z = multigrid_.cycle(region, *g);
            const double before = zg, across = restart ? 0 : product(region, z, *g_before);
            zg = product(region, z, *g);
            const Float8 beta =
                restart ? 0 : static_cast<float>(std::max(0.0, (zg - across) / before)); // Polak-Ribiere
            for_vectors(chunks, [&](Index lane) { d_.set(lane, z.at(lane) + beta * d_.at(lane)); });
            for_chunks(chunks, [&](Index lane) { Ad_.set(lane, A.product(lane, d_)); });
        }
        rows.set_direction(d_);
        const double slope = product(region, d_, Adv_) - product(region, d_, r0_);
        const double alpha = find_step(rows, slope, product(region, d_, Ad_));
        if (alpha == 0) { // no descent: the direction is spoilt by rounding or by friction's moving bounds
            if (restart || patient) break;
            restart = true;
            continue;
        }
        restart = false;
        const Float8 step = static_cast<float>(alpha);
        for_vectors(chunks, [&](Index lane) {
            dv_.set(lane, dv_.at(lane) + step * d_.at(lane));
            Adv_.set(lane, Adv_.at(lane) + step * Ad_.at(lane));
        });
        rows.advance(static_cast<float>(alpha));
        updates.stepped();
    }
    for_chunks(chunks, [&](Index first) {
        for (Index lane = first; lane < first + Float8::width; ++lane)
            if (order.block_of_lane[lane] != none) dv[order.block_of_lane[lane]] += dv_.get(lane).cast<Real>();
    });
    rows.read(part.rows, lambda, part.balls);
    return result;
}

} // namespace pliant
