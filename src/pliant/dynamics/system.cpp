#include "pliant/dynamics/system.hpp"

#include "pliant/core/parallel.hpp"
#include "pliant/linalg/graph.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

/// Arithmetic of a factorisation that takes as long as one iteration does for one block of the matrix: the iteration
/// waits for memory.
constexpr Real flops_a_block = 40;
constexpr Index factor_turns = 16; ///< solves by the factor before iterations are tried again

std::vector<std::array<Index, 2>> coupled_blocks(const Model& model)
{
    std::vector<std::array<Index, 2>> pairs;
    for (const auto& batch : model.batches)
        for (Index e = 0; e < batch->element_count(); ++e) {
            const std::span<const Index> blocks = batch->blocks(e);
            for (std::size_t i = 0; i < blocks.size(); ++i)
                for (std::size_t j = i + 1; j < blocks.size(); ++j) pairs.push_back({blocks[i], blocks[j]});
        }
    return pairs;
}

std::vector<CoarseSpace::Part> coarse_parts(const Model& model)
{
    const std::vector<char> free = bodies_that_move_as_one(model);
    std::vector<CoarseSpace::Part> parts;
    for (std::size_t i = 0; i < free.size(); ++i)
        if (free[i]) parts.push_back({model.bodies[i].first_block, model.bodies[i].block_count});
    return parts;
}

} // namespace

LinearSystem::LinearSystem(const Model& model)
{
    const Index n = model.block_count();
    A_ = BlockMatrix(make_pattern(n, coupled_blocks(model)));
    const BlockPattern& pattern = A_.pattern();
    std::vector<SlotUse> use(static_cast<std::size_t>(pattern.slots()), SlotUse::untouched);
    for (const Index slot : pattern.diagonal) use[slot] = SlotUse::assigned; // by the inertia
    const MatrixRows matrix{pattern, use};
    batches_ = BatchSchedule(model, &matrix);
    for (Index row = 0; row < n; ++row)
        cleared_.push_back(!std::all_of(use.begin() + pattern.row_begin[row], use.begin() + pattern.row_begin[row + 1],
                                        [](SlotUse u) { return u == SlotUse::assigned; }));
    touches_pin_.assign(static_cast<std::size_t>(n), 0);
    for (const Pin& pin : model.pins)
        for (Index s = pattern.row_begin[pin.block]; s < pattern.row_begin[pin.block + 1]; ++s)
            touches_pin_[pattern.column[s]] = 1;
    part_ = connected_parts(pattern);
    std::vector<Index> number(part_.size(), none);
    for (Index& part : part_) {
        if (number[part] == none) number[part] = parts_++;
        part = number[part];
    }
    factors_ = std::make_unique<PartFactors>(pattern, part_, parts_, model.rest);
    coarse_ = CoarseSpace(pattern, coarse_parts(model), model.rest);
    std::vector<CgPart> parts(static_cast<std::size_t>(parts_));
    for (Index i = 0; i < n; ++i) parts[part_[i]].rows.push_back(i);
    for (Index q = 0; q < coarse_.parts(); ++q) parts[part_[coarse_.part(q).first]].coarse_parts.push_back(q);
    for (CgPart& part : parts)
        if (part.rows.size() > 1) cg_parts_.push_back(std::move(part)); // a single block needs no iteration
    b_.resize(static_cast<std::size_t>(n));
    diagonal_inverse_.resize(static_cast<std::size_t>(n));
    force_.resize(static_cast<std::size_t>(n));
    prescribed_.assign(static_cast<std::size_t>(n), Vec3::Zero());
}

/// Elements at positions x.
void LinearSystem::assemble_rows(const Model& model, const State& state, const Vec3s& x, Real dt, Index begin,
                                 Index end, std::span<BatchRows* const> batches)
{
    const BlockPattern& pattern = A_.pattern();
    for (Index row = begin; row < end; ++row) {
        if (cleared_[row])
            for (Index s = pattern.row_begin[row]; s < pattern.row_begin[row + 1]; ++s) A_.block(s).setZero();
        const Real mass = model.mass[row];
        A_.block(pattern.diagonal[row]) = (1 + dt * model.drag[row]) * mass * Mat3::Identity();
        force_[row] = mass * model.gravity;
    }
    for (const BatchRows* batch : batches) batch->add_system(begin, end, x, dt, A_, force_);
    for (Index row = begin; row < end; ++row) {
        b_[row] = dt * force_[row] + model.mass[row] * state.velocity[row];
        if (touches_pin_[row]) eliminate_prescribed(row, model);
        diagonal_inverse_[row] = Mat3(A_.block(pattern.diagonal[row])).inverse(); // while it is at hand
    }
}

/// The angular block of a rotor is its inertia, and turns freely.
void LinearSystem::assemble_rotors(const Model& model, const State& state, Real dt)
{
    for (std::size_t r = 0; r < model.rotors.size(); ++r) {
        const Rigid& rigid = model.rotors[r].rigid;
        const Index angular = model.rotors[r].angular_block();
        const Mat3 inertia = world_inertia(rigid, state.orientation[r]);
        A_.block(A_.pattern().diagonal[angular]) = inertia;
        diagonal_inverse_[angular] = inertia.inverse();
        b_[angular] = inertia * free_rotation(rigid, state.orientation[r], state.velocity[angular], dt);
    }
}

void LinearSystem::eliminate_prescribed(Index row, const Model& model)
{
    const BlockPattern& pattern = A_.pattern();
    if (model.is_prescribed(row)) {
        for (Index s = pattern.row_begin[row]; s < pattern.row_begin[row + 1]; ++s) A_.block(s).setZero();
        // A unit of mass keeps the row's weight in residual norms comparable with its neighbours'.
        A_.block(pattern.diagonal[row]) = model.mass[row] * Mat3::Identity();
        b_[row] = model.mass[row] * prescribed_[row];
        return;
    }
    for (Index s = pattern.row_begin[row]; s < pattern.row_begin[row + 1]; ++s) {
        const Index col = pattern.column[s];
        if (!model.is_prescribed(col)) continue;
        b_[row] -= A_.block(s) * prescribed_[col];
        A_.block(s).setZero();
    }
}

void LinearSystem::assemble(const Model& model, const State& state, Real dt, const Foreseen& foreseen)
{
    Vec3s ahead;
    if (!foreseen.empty()) {
        ahead = state.position;
        parallel_for(count(ahead), [&](Index i) { ahead[i] += dt * foreseen.w[i]; });
    }
    const Vec3s& x = foreseen.empty() ? state.position : ahead;
    batches_.for_each_piece(
        [&](BatchRows& batch, Index begin, Index end) { batch.evaluate_system(begin, end, x, dt); });
    prescribed_velocities(model, state, dt, prescribed_);
    batches_.for_each_chunk([&](Index begin, Index end, std::span<BatchRows* const> batches) {
        assemble_rows(model, state, x, dt, begin, end, batches);
    });
    // F(x1) = F(y) - K (x1 - y) with y = x0 + h w adds h^2 K w to b; A has (h^2 + h beta) K.
    for (const auto* bodies : {&foreseen.spinning, &foreseen.met})
        for (const FreeBody& body : *bodies)
            parallel_for(body.size, [&](Index k) {
                const Index i = body.first + k;
                const Vec3 inertia = (1 + dt * model.drag[i]) * model.mass[i] * foreseen.w[i];
                b_[i] += dt / (dt + body.damping) * (A_.row_product(i, foreseen.w) - inertia);
            });
    assemble_rotors(model, state, dt);
    for (const Pin& pin : model.pins) diagonal_inverse_[pin.block].setZero();
    coarse_.update(A_);
    factors_->forget();
    momentum_scale_ = part_norms([&](Index i) {
        const Vec3 p = dt * model.mass[i] * model.gravity, mv = model.mass[i] * state.velocity[i];
        return p.dot(diagonal_inverse_[i] * p) + mv.dot(diagonal_inverse_[i] * mv);
    });
}

// The system takes it for E(y) - F(y).d + d.K d / 2, and A d = (1 + h alpha) M d + (h^2 + h beta) K d.
Real LinearSystem::energy_error(const Model& model, const FreeBody& body, const Vec3s& x, const Vec3s& y,
                                const Vec3s& d, Real dt) const
{
    Real error = 0;
    for (const Index k : body.batches) error += model.batches[k]->energy(x) - model.batches[k]->energy(y);
    for (Index i = body.first; i < body.first + body.size; ++i) {
        const Real mass = model.mass[i];
        const Vec3 stiff = A_.row_product(i, d) - (1 + dt * model.drag[i]) * mass * d[i];
        error += d[i].dot(force_[i] - mass * model.gravity - stiff / (2 * dt * (dt + body.damping)));
    }
    return error;
}

/// Per part: the root of the sum of square(i) over its blocks.
template <class Square>
std::vector<Real> LinearSystem::part_norms(Square&& square) const
{
    std::vector<Real> norm(static_cast<std::size_t>(parts_), 0);
    if (parts_ == 1)
        norm[0] = parallel_sum(A_.rows(), 0.0, square);
    else
        for (Index i = 0; i < A_.rows(); ++i) norm[part_[i]] += square(i);
    for (Real& n : norm) n = std::sqrt(n);
    return norm;
}

void extrapolate(const Vec3s& velocity, const Vec3s& change, Real dt, Real change_dt, Vec3s& v)
{
    v = velocity;
    if (change_dt > 0) parallel_for(count(v), [&](Index i) { v[i] += dt / change_dt * change[i]; });
}

std::vector<Real> LinearSystem::momentum_scales() const
{
    std::vector<Real> scale = part_norms([&](Index i) { return b_[i].dot(diagonal_inverse_[i] * b_[i]); });
    for (Index q = 0; q < parts_; ++q) scale[q] = std::max(scale[q], momentum_scale_[q]);
    return scale;
}

CgResult LinearSystem::solve(Real tolerance, Vec3s& v) const
{
    std::vector<Index> turns(static_cast<std::size_t>(parts_), 0);
    return solve(tolerance, std::vector<char>(static_cast<std::size_t>(parts_), 1), turns, v);
}

/// One connected part; all of the matrix where cg_part is null.
CgResult LinearSystem::solve_part(Index part, const CgOptions& options, const CgPart* cg_part, CgScratch* scratch,
                                  Index& turns, Vec3s& v) const
{
    CgResult result;
    const auto iterate = [&](const CgOptions& o) {
        return cg_part ? conjugate_gradients(A_, diagonal_inverse_, b_, v, o, *cg_part, *scratch)
                       : conjugate_gradients(A_, diagonal_inverse_, b_, v, o);
    };
    if (turns <= 0) {
        CgOptions hasty = options;
        hasty.worthwhile = [&] {
            const TreeFactor& factor = factors_->symbolic(A_.pattern(), part);
            Index slots = 0;
            for (const Index i : factor.blocks()) slots += A_.pattern().row_begin[i + 1] - A_.pattern().row_begin[i];
            return int(std::min(factor.factor_flops() / (flops_a_block * slots), Real(options.max_iterations)));
        };
        result = iterate(hasty);
        if (result.converged) return result;
        turns = factor_turns;
    }
    const TreeFactor* factor = factors_->factor(A_, part);
    if (!factor) return iterate(options); // not positive definite in this arithmetic
    Vec3s before;
    for (const Index i : factor->blocks()) before.push_back(v[i]);
    factor->solve(b_, v);
    Real residual_sq = 0;
    for (const Index i : factor->blocks()) {
        const Vec3 r = b_[i] - A_.row_product(i, v);
        residual_sq += r.dot(diagonal_inverse_[i] * r);
    }
    if (!std::isfinite(residual_sq)) { // numbers beyond what a factor can hold
        Index k = 0;
        for (const Index i : factor->blocks()) v[i] = before[k++];
        return iterate(options);
    }
    result.residual = options.scale > 0 ? std::sqrt(residual_sq) / options.scale : 0;
    result.converged = result.residual <= options.tolerance;
    return result;
}

CgResult LinearSystem::solve(Real tolerance, std::span<const char> wanted, std::vector<Index>& turns, Vec3s& v) const
{
    turns.resize(static_cast<std::size_t>(parts_), 0);
    const BlockPattern& pattern = A_.pattern();
    const auto set_single_blocks = [&] {
        parallel_for(A_.rows(), [&](Index i) {
            if (pattern.row_begin[i + 1] == pattern.row_begin[i] + 1) v[i] = diagonal_inverse_[i] * b_[i];
            if (diagonal_inverse_[i].isZero(0)) v[i] = prescribed_[i];
        });
    };
    set_single_blocks();
    const std::vector<Real> scale = momentum_scales();
    CgOptions options;
    options.tolerance = tolerance;
    options.coarse = &coarse_;
    CgResult result;
    result.converged = true;
    if (parts_ == 1) {
        options.scale = scale[0];
        if (wanted[0]) result = solve_part(0, options, nullptr, nullptr, turns[0], v);
        set_single_blocks(); // the iteration moves them by rounding errors
        return result;
    }
    // Parts have nothing to do with each other: each takes the iterations that it needs, and no error of a light one
    // hides behind a heavy one.
    std::vector<CgResult> results(cg_parts_.size(), result);
    CgScratch scratch(A_.rows());
    parallel_for(
        count(cg_parts_),
        [&](Index q) {
            const Index part = part_[cg_parts_[q].rows.front()];
            if (!wanted[part]) return;
            CgOptions of_part = options;
            of_part.scale = scale[part];
            results[q] = solve_part(part, of_part, &cg_parts_[q], &scratch, turns[part], v);
        },
        1);
    for (const CgResult& r : results) {
        result.iterations = std::max(result.iterations, r.iterations);
        result.residual = std::max(result.residual, r.residual);
        result.converged &= r.converged;
    }
    set_single_blocks(); // the iteration moves them by rounding errors
    return result;
}

void prescribed_velocities(const Model& model, const State& state, Real dt, Vec3s& v)
{
    const Vec3s to = pin_positions(model, state.time + dt);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const Index block = model.pins[i].block;
        // What is tied gets its velocity when the step is taken: nothing asks for it before.
        v[block] = model.pins[i].tied_to != none ? state.velocity[block] : Vec3((to[i] - state.position[block]) / dt);
    }
}

void move_configuration(const Model& model, const State& start, const Vec3s& v, Real dt, State& end)
{
    end.time = start.time + dt;
    end.position.resize(start.position.size());
    end.orientation = start.orientation;
    parallel_for(count(start.position), [&](Index i) { end.position[i] = start.position[i] + dt * v[i]; });
    for (std::size_t r = 0; r < model.rotors.size(); ++r) {
        const Index angular = model.rotors[r].angular_block();
        end.position[angular].setZero();
        end.orientation[r] = rotate_by(start.orientation[r], v[angular], dt);
    }
    const Vec3s pinned = pin_positions(model, end.time);
    for (std::size_t i = 0; i < pinned.size(); ++i) {
        const Pin& pin = model.pins[i];
        end.position[pin.block] = pin.tied_to != none ? end.position[pin.tied_to] : pinned[i];
    }
}

void advance(const Model& model, State& state, const Vec3s& v, Real dt)
{
    State end;
    move_configuration(model, state, v, dt, end);
    std::vector<Vec3> turned(model.rotors.size());
    for (std::size_t r = 0; r < model.rotors.size(); ++r) {
        // A (w - w_free) is the angular impulse of the step; it adds to the momentum, which then fixes the velocity.
        const Rigid& rigid = model.rotors[r].rigid;
        const Index angular = model.rotors[r].angular_block();
        const Quat &q0 = state.orientation[r], &q1 = end.orientation[r];
        const Vec3 free = free_rotation(rigid, q0, state.velocity[angular], dt);
        const Vec3 momentum = world_inertia(rigid, q0) * (state.velocity[angular] + v[angular] - free);
        turned[r] = q1 * (rigid.inertia_inv * (q1.conjugate() * momentum));
    }
    state.velocity = v;
    for (const Pin& pin : model.pins)
        if (pin.tied_to != none) state.velocity[pin.block] = v[pin.tied_to];
    for (std::size_t r = 0; r < model.rotors.size(); ++r) state.velocity[model.rotors[r].angular_block()] = turned[r];
    state.position = std::move(end.position);
    state.orientation = std::move(end.orientation);
    state.time = end.time;
}

} // namespace pliant
