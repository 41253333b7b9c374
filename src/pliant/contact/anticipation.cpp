#include "pliant/contact/anticipation.hpp"

#include "pliant/contact/local.hpp"
#include "pliant/core/interrupt.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/linalg/graph.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

namespace pliant {
namespace {

constexpr Index most_columns = 8000; ///< of the responses of one body: half a gigabyte
constexpr int check_every = 5;       ///< sweeps: a residual needs a solve with every factor
constexpr int most_rounds = 8;       ///< of rows that join
constexpr int patience = 50;         ///< sweeps that shall lower the residual ...
constexpr Real wedged = 0.5;         ///< ... to less than this share, or they are given up
constexpr int careful_rounds = 2;    ///< of them: rows join only where no other does, and leave again

/// Without friction a row pushes along its normal only.
Index multipliers_of(const Row& row)
{
    return row.friction == 0 ? 1 : 3;
}

/// Where a row acts on one connected part of the matrix (a body): its first multiplier among the part's.
struct Place {
    Index part;
    Index first;
};

/// One connected part of the matrix, the rows that act on it, and their responses to each other through it.
struct Part {
    Index number = 0; ///< among the factors
    Index columns = 0;
    std::vector<ColumnEntry> entries; ///< of J^T
    const TreeFactor* factor = nullptr;
    Eigen::MatrixXd B; ///< J A^-1 J^T
    Eigen::VectorXd u; ///< B l
};

/// Factors of a matrix without a rest shape: blocks are cut by their numbers.
PartFactors factors_by_number(const BlockMatrix& A)
{
    const std::vector<Index> root = connected_parts(A.pattern());
    std::vector<Index> number(root.size(), none), part;
    Index parts = 0;
    Vec3s rest;
    for (std::size_t i = 0; i < root.size(); ++i) {
        if (number[root[i]] == none) number[root[i]] = parts++;
        part.push_back(number[root[i]]);
        rest.push_back(Vec3(Real(i), 0, 0));
    }
    return PartFactors(A.pattern(), part, parts, std::move(rest));
}

/// Which rows act on which parts. A is block diagonal over the bodies, and so is its inverse: rows only meet through a
/// body that both touch. This keeps B at the sum of squares of the rows per body, where a dense B has the square of the
/// sum.
class RowPlaces {
public:
    RowPlaces(const ContactSystem& system, const PartFactors& factors)
    {
        const ContactProblem& p = system.problem;
        std::vector<Index> part_of(static_cast<std::size_t>(factors.parts()), none);
        for (const Row& r : p.rows) {
            const Mat3 R = r.frame();
            const Index size = multipliers_of(r);
            for (Index k = r.entry_begin; k < r.entry_end; ++k)
                add(system, factors, p.entries[k].block, size, p.entries[k].weight * R, part_of);
            for (Index k = r.arm_begin; k < r.arm_end; ++k) // u += omega x arm
                add(system, factors, p.arms[k].block, size, skew(p.arms[k].arm) * R, part_of);
            begin_.push_back(count(places_));
        }
    }
    std::vector<Part>& parts() { return parts_; }
    const std::vector<Part>& parts() const { return parts_; }
    std::span<const Place> places(Index row) const
    {
        return std::span<const Place>(places_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
    }

private:
    void add(const ContactSystem& system, const PartFactors& factors, Index block, Index size, const Mat3& Jt,
             std::vector<Index>& part_of)
    {
        if (system.diagonal_inverse[block].isZero(0)) return; // prescribed: no impulse moves it
        Index& part = part_of[factors.part_of(block)];
        if (part == none) {
            part = count(parts_);
            parts_.emplace_back().number = factors.part_of(block);
        }
        auto place = std::find_if(places_.begin() + begin_.back(), places_.end(),
                                  [&](const Place& known) { return known.part == part; });
        if (place == places_.end()) {
            place = places_.insert(place, {part, parts_[part].columns});
            parts_[part].columns += size;
        }
        parts_[part].entries.push_back({block, place->first, size, Jt});
    }

    std::vector<Part> parts_;
    std::vector<Place> places_;
    std::vector<Index> begin_ = {0}; ///< per row + 1: range in places_
};

/// Relative velocity of a row, minus what is required along its normal, in its frame.
Vec3 relative_velocity(const ContactSystem& system, const Row& r, const Vec3s& v)
{
    return r.local(r.u0 + system.problem.relative_velocity(r, v)) - Vec3(r.rhs, 0, 0);
}

/// All rows of a system by their exact responses to each other.
class Anticipation {
public:
    Anticipation(const ContactSystem& system, const PartFactors& factors) : system_(system), places_(system, factors)
    {
        std::atomic<bool> fine = true;
        parallel_for(
            count(places_.parts()),
            [&](Index c) {
                Part& part = places_.parts()[c];
                part.factor = factors.factor(system.A, part.number);
                if (part.factor)
                    part.B = part.factor->responses(part.entries, part.columns);
                else
                    fine = false;
            },
            1);
        ok_ = fine;
        if (!ok_) return;
        for (Index j = 0; j < system.problem.size(); ++j) {
            W_.push_back(diagonal(j));
            responses_.push_back(RowResponse(W_[j], system.problem.rows[j].friction));
            base_.push_back(relative_velocity(system, system.problem.rows[j], system.free_velocity));
        }
    }
    /// False when a factor does not exist.
    bool ok() const { return ok_; }

    /// Sweeps until the system's own residuals meet the tolerances. Returns how many it took.
    int solve(const ContactSolverOptions& options, int most_sweeps, Anticipate how, Vec3s& dv, Multipliers& lambda)
    {
        Real before = std::numeric_limits<Real>::infinity();
        respond(lambda);
        for (int sweeps = 1;; ++sweeps) {
            poll_interrupt();
            sweep(options.cone, lambda);
            if (sweeps % check_every != 0 && sweeps != most_sweeps) continue;
            velocities(lambda, dv);
            const ContactResiduals residuals = contact_residuals(system_, dv, lambda, options.cone);
            const bool solved = residuals.worst() <= options.tolerance && residuals.gap <= options.gap_tolerance;
            if (solved || sweeps == most_sweeps) return sweeps;
            if (how == Anticipate::thrifty && sweeps % patience == 0) {
                if (residuals.worst() > wedged * before) return sweeps;
                before = residuals.worst();
            }
            respond(lambda); // without the rounding errors of the sweeps
        }
    }

private:
    /// B l of all parts.
    void respond(const Multipliers& lambda)
    {
        std::vector<Eigen::VectorXd> l;
        for (const Part& part : places_.parts()) l.push_back(Eigen::VectorXd::Zero(part.columns));
        for (Index j = 0; j < system_.problem.size(); ++j)
            for (const Place& place : places_.places(j))
                for (Index c = 0; c < multipliers_of(system_.problem.rows[j]); ++c)
                    l[place.part][place.first + c] = lambda[j][c];
        parallel_for(
            count(places_.parts()),
            [&](Index c) {
                Part& part = places_.parts()[c];
                part.u.noalias() = part.B * l[c];
            },
            1);
    }
    /// Projected Gauss-Seidel, once over the rows.
    void sweep(FrictionCone cone, Multipliers& lambda)
    {
        for (Index j = 0; j < system_.problem.size(); ++j) {
            if (!responses_[j].moves()) continue;
            const Index size = multipliers_of(system_.problem.rows[j]);
            const Vec3 u = base_[j] + response(j);
            const Vec3 next = solve_row(responses_[j], u, lambda[j], cone), change = next - lambda[j];
            lambda[j] = next;
            for (Index c = 0; c < size; ++c) {
                if (change[c] == 0) continue;
                for (const Place& place : places_.places(j)) {
                    Part& part = places_.parts()[place.part];
                    part.u.noalias() += change[c] * part.B.col(place.first + c);
                }
            }
        }
    }
    /// B l of one row.
    Vec3 response(Index j) const
    {
        Vec3 u = Vec3::Zero();
        for (const Place& place : places_.places(j))
            for (Index c = 0; c < multipliers_of(system_.problem.rows[j]); ++c)
                u[c] += places_.parts()[place.part].u[place.first + c];
        return u;
    }
    /// dv = A^-1 J^T l
    void velocities(const Multipliers& lambda, Vec3s& dv) const
    {
        Vec3s f(static_cast<std::size_t>(system_.A.rows()), Vec3::Zero());
        for (Index j = 0; j < system_.problem.size(); ++j) {
            const Row& r = system_.problem.rows[j];
            system_.problem.add_impulse(r, r.world(lambda[j]), f);
        }
        for (std::size_t i = 0; i < f.size(); ++i)
            if (system_.diagonal_inverse[i].isZero(0)) f[i].setZero();
        dv.assign(f.size(), Vec3::Zero());
        parallel_for(
            count(places_.parts()), [&](Index c) { places_.parts()[c].factor->solve(f, dv); }, 1);
    }
    Mat3 diagonal(Index j) const
    {
        const Index size = multipliers_of(system_.problem.rows[j]);
        Mat3 W = Mat3::Zero();
        for (const Place& place : places_.places(j))
            W.topLeftCorner(size, size) += places_.parts()[place.part].B.block(place.first, place.first, size, size);
        return W;
    }

    const ContactSystem& system_;
    RowPlaces places_;
    std::vector<Mat3> W_;
    std::vector<RowResponse> responses_;
    Vec3s base_; ///< per row: relative velocity without contact, minus what is required
    bool ok_ = false;
};

/// The rows that take part. Most of those that are found push nothing in the end, and those that do not push have no
/// friction: each column that is left out saves the square of it.
class WorkingSet {
public:
    /// All rows; or rows that push, with friction, and of those that would be broken without contact some without.
    WorkingSet(const ContactSystem& system, const Multipliers& lambda, Anticipate how)
        : system_(system), use_(static_cast<std::size_t>(system.problem.size()),
                                how == Anticipate::thorough ? Use::with_friction : Use::left_out)
    {
        if (how == Anticipate::thorough) return;
        for (std::size_t j = 0; j < use_.size(); ++j)
            if (lambda[j][0] > 0) use_[j] = Use::with_friction;
        add_broken(system.free_velocity, Choice::apart);
    }

    std::vector<Index> rows() const
    {
        std::vector<Index> rows;
        for (Index j = 0; j < count(use_); ++j)
            if (use_[j] != Use::left_out) rows.push_back(j);
        return rows;
    }
    ContactProblem problem(const std::vector<Index>& rows) const
    {
        ContactProblem problem = subproblem(system_.problem, rows);
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (use_[rows[k]] == Use::normal_only) problem.rows[k].friction = 0;
        return problem;
    }
    /// After a solution v, lambda of the set: what else belongs to it. False if nothing does.
    bool update(const Vec3s& v, const Multipliers& lambda, int round)
    {
        bool more = false;
        for (std::size_t j = 0; j < use_.size(); ++j) {
            if (use_[j] == Use::left_out) continue;
            const Row& row = system_.problem.rows[j];
            if (use_[j] == Use::normal_only && row.friction > 0 && lambda[j][0] > 0) {
                use_[j] = Use::with_friction;
                more = true;
            } else if (round <= careful_rounds && lambda[j][0] == 0) {
                use_[j] = Use::left_out;
            }
        }
        return add_broken(v, round <= careful_rounds ? Choice::apart : Choice::all) || more;
    }

private:
    enum class Use : char { left_out, normal_only, with_friction };
    enum class Choice { all, apart };

    /// The block of a row on each side that it moves most.
    std::array<Index, 2> main_blocks(const Row& row) const
    {
        std::array<Index, 2> blocks = {none, none};
        std::array<Real, 2> most = {0, 0};
        for (Index k = row.entry_begin; k < row.entry_end; ++k) {
            const RowEntry& e = system_.problem.entries[k];
            const int side = e.weight > 0 ? 0 : 1;
            if (system_.diagonal_inverse[e.block].isZero(0) || std::abs(e.weight) <= most[side]) continue;
            most[side] = std::abs(e.weight);
            blocks[side] = e.block;
        }
        return blocks;
    }
    bool add_broken(const Vec3s& v, Choice choice)
    {
        std::vector<std::pair<Real, Index>> broken;
        for (Index j = 0; j < count(use_); ++j) {
            if (use_[j] != Use::left_out) continue;
            const Real u = relative_velocity(system_, system_.problem.rows[j], v)[0];
            if (u < 0) broken.push_back({u, j});
        }
        std::sort(broken.begin(), broken.end());
        std::vector<char> taken(static_cast<std::size_t>(system_.A.rows()), 0);
        for (const auto& [u, j] : broken) {
            const std::array<Index, 2> blocks = main_blocks(system_.problem.rows[j]);
            bool free = true;
            for (const Index b : blocks) free &= b == none || !taken[b];
            if (!free && choice == Choice::apart) continue;
            use_[j] = Use::normal_only;
            for (const Index b : blocks)
                if (b != none) taken[b] = 1;
        }
        return !broken.empty();
    }

    const ContactSystem& system_;
    std::vector<Use> use_; ///< per row
};

} // namespace

std::vector<Real> anticipation_costs(const ContactSystem& system, const Multipliers& lambda)
{
    constexpr Real sweeps = 60, wait = 4; // as many as usual; a sweep waits for memory
    std::vector<Real> costs(static_cast<std::size_t>(system.parts.count), 0);
    const PartFactors& factors = *system.factors;
    const WorkingSet set(system, lambda, Anticipate::thrifty);
    const ContactProblem problem = set.problem(set.rows());
    const ContactSystem of_set{system.A,    system.diagonal_inverse, system.free_velocity, problem, system.dt,
                               system.parts};
    const RowPlaces places(of_set, factors);
    for (const Part& part : places.parts()) {
        Real& cost = costs[system.parts.of_block[part.entries.front().block]];
        const TreeFactor& factor = factors.symbolic(system.A.pattern(), part.number);
        cost += factor.factor_flops() + factor.response_flops(part.entries, part.columns) +
                sweeps * wait * part.columns * Real(part.columns);
        if (part.columns > most_columns) cost = std::numeric_limits<Real>::infinity();
    }
    return costs;
}

ContactResult solve_by_anticipation(const ContactSystem& system, const ContactSolverOptions& options, Vec3s& dv,
                                    Multipliers& lambda, Anticipate how)
{
    ContactResult result;
    dv.assign(static_cast<std::size_t>(system.A.rows()), Vec3::Zero());
    if (system.problem.size() == 0) {
        result.converged = true;
        return result;
    }
    std::optional<PartFactors> own;
    if (!system.factors) own.emplace(factors_by_number(system.A));
    const PartFactors& factors = own ? *own : *system.factors;
    const std::vector<Index> component = connected_parts(system.A.pattern());
    WorkingSet set(system, lambda, how);
    ContactSolverOptions of_set = options;
    if (how == Anticipate::thrifty) of_set.tolerance /= 2; // rows left out add their share
    for (int round = 1; round <= most_rounds && result.iterations < options.max_iterations; ++round) {
        const std::vector<Index> rows = set.rows();
        const ContactProblem problem = set.problem(rows);
        const ContactParts parts = how == Anticipate::thorough
                                       ? system.parts
                                       : contact_parts(problem, component, system.free_velocity, system.parts.slowest);
        const ContactSystem subsystem{system.A, system.diagonal_inverse, system.free_velocity, problem, system.dt,
                                      parts};
        Anticipation anticipation(subsystem, factors);
        if (!anticipation.ok()) return result;
        Multipliers l;
        for (std::size_t k = 0; k < rows.size(); ++k)
            l.push_back(project_to_cone(lambda[rows[k]], problem.rows[k].friction, options.cone));
        result.iterations += anticipation.solve(of_set, options.max_iterations - result.iterations, how, dv, l);
        for (Vec3& of_row : lambda) of_row.setZero();
        for (std::size_t k = 0; k < rows.size(); ++k) lambda[rows[k]] = l[k];
        result.residuals = contact_residuals(system, dv, lambda, options.cone);
        result.history.push_back(result.residuals.worst());
        result.converged =
            result.residuals.worst() <= options.tolerance && result.residuals.gap <= options.gap_tolerance;
        Vec3s v = system.free_velocity;
        for (std::size_t i = 0; i < v.size(); ++i) v[i] += dv[i];
        if (result.converged || how == Anticipate::thorough || !set.update(v, lambda, round)) break;
    }
    return result;
}

} // namespace pliant
